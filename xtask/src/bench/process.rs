//! What a process costs, as /proc has it.

use anyhow::{Context, ensure};

/// Processor time that a process has used, in seconds, and the memory it holds, in MiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process(u32);

impl Process {
    pub(super) fn new(id: u32) -> Self {
        Self(id)
    }

    /// User and system time of all its threads.
    pub(super) fn cpu_seconds(self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0))?;
        let ticks = cpu_ticks(&stat).with_context(|| stat.clone())?;
        Ok(ticks as f64 / ticks_per_second())
    }

    /// `VmRSS` (now) or `VmHWM` (the most so far).
    pub(super) fn memory_mib(self, field: &str) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        Ok(kib.with_context(|| format!("{field} of process {}", self.0))? / 1024.0)
    }
}

/// Fields 14 and 15, counted behind the name, which may hold anything.
fn cpu_ticks(stat: &str) -> anyhow::Result<u64> {
    let (_, fields) = stat.rsplit_once(')').context("no name")?;
    let times: Vec<&str> = fields.split_whitespace().skip(11).take(2).collect();
    ensure!(times.len() == 2, "too few fields");
    Ok(times[0].parse::<u64>()? + times[1].parse::<u64>()?)
}

fn ticks_per_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

#[cfg(test)]
mod tests {
    use super::{Process, cpu_ticks};

    #[test]
    fn processor_time_is_read_behind_a_name_with_brackets() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 1 0 0 0 250 50 0 0 20 0";
        assert_eq!(cpu_ticks(stat).unwrap(), 300);
        assert!(cpu_ticks("7 (a) S 1").is_err());
    }

    #[test]
    fn this_process_has_memory() {
        let this = Process::new(std::process::id());
        assert!(this.memory_mib("VmRSS:").unwrap() > 0.5);
        assert!(this.memory_mib("VmNothing:").is_err());
    }
}
