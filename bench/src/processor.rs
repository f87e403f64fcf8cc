//! Processor time of a process, as /proc has it.

use anyhow::Context;

/// User and system time of all threads of the process with this number, or of `self`.
pub(crate) fn seconds(process: &str) -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let ticks = ticks(&stat).with_context(|| format!("no times in {stat:?}"))?;
    Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Fields 14 and 15, counted behind the name, which may hold anything.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11);
    let mut time = || times.next()?.parse::<u64>().ok();
    Some(time()? + time()?)
}

#[cfg(test)]
mod tests {
    use super::{seconds, ticks};

    #[test]
    fn times_are_read_behind_a_name_with_brackets() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 1 0 0 0 250 50 0 0 20 0";
        assert_eq!(ticks(stat), Some(300));
        assert_eq!(ticks("7 (a) S 1"), None);
        assert!(seconds("self").unwrap() >= 0.0);
    }
}
