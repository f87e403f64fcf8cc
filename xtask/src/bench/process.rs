//! What a process costs, as /proc has it.

use anyhow::{Context, ensure};

/// Processor time that a process has used, in seconds, and the memory it holds, in MiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process(u32);

impl Process {
    pub(super) fn new(id: u32) -> Self {
        Self(id)
    }

    pub(super) fn id(self) -> u32 {
        self.0
    }

    /// User and system time of all its threads.
    pub(super) fn cpu_seconds(self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0))?;
        let ticks = cpu_ticks(&stat).with_context(|| stat.clone())?;
        Ok(ticks as f64 / ticks_per_second())
    }

    /// Bytes that it has had written to the disk, or made the system write later.
    pub(super) fn disk_bytes(self) -> anyhow::Result<f64> {
        let io = std::fs::read_to_string(format!("/proc/{}/io", self.0))?;
        disk_bytes(&io).with_context(|| io.clone())
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

/// What it dirtied, but for what was deleted before it got to the disk.
fn disk_bytes(io: &str) -> anyhow::Result<f64> {
    let field = |name: &str| {
        let line = io.lines().find_map(|line| line.strip_prefix(name));
        line.with_context(|| format!("no {name}"))?
            .trim()
            .parse::<f64>()
            .with_context(|| format!("{name} is no number"))
    };
    Ok(field("write_bytes:")? - field("cancelled_write_bytes:")?)
}

fn ticks_per_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

#[cfg(test)]
mod tests {
    use super::{Process, cpu_ticks, disk_bytes};

    #[test]
    fn processor_time_is_read_behind_a_name_with_brackets() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 1 0 0 0 250 50 0 0 20 0";
        assert_eq!(cpu_ticks(stat).unwrap(), 300);
        assert!(cpu_ticks("7 (a) S 1").is_err());
    }

    #[test]
    fn bytes_that_never_got_to_the_disk_do_not_count() {
        let io = "rchar: 9\nread_bytes: 8\nwrite_bytes: 700\ncancelled_write_bytes: 50\n";
        assert_eq!(disk_bytes(io).unwrap(), 650.0);
        assert!(disk_bytes("rchar: 9\n").is_err());
    }

    #[test]
    fn this_process_has_memory() {
        let this = Process::new(std::process::id());
        assert!(this.memory_mib("VmRSS:").unwrap() > 0.5);
        assert!(this.memory_mib("VmNothing:").is_err());
    }
}
