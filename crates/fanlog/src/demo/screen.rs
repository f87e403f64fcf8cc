//! The sale as it runs: a table redrawn in place on a terminal, a line a second elsewhere.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

const BAR_CELLS: usize = 30;
/// Moves the cursor to the top left and clears what follows.
const REDRAW: &str = "\x1b[H\x1b[J";

/// One group at this moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupLine {
    pub(crate) name: String,
    /// Records consumed and committed in the last second.
    pub(crate) per_second: u64,
    /// Records published and not yet consumed.
    pub(crate) lag: u64,
    /// What is worth telling of it.
    pub(crate) remark: &'static str,
}

/// The whole sale at this moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moment {
    pub(crate) elapsed: Duration,
    pub(crate) acknowledged: u64,
    pub(crate) acknowledged_per_second: u64,
    /// Over the last second.
    pub(crate) ack_p50: Duration,
    /// Over the last second.
    pub(crate) ack_p99: Duration,
    pub(crate) groups: Vec<GroupLine>,
    pub(crate) phase: &'static str,
}

/// Where the sale is shown.
pub(crate) struct Screen {
    is_terminal: bool,
    lag_max: u64,
}

impl Screen {
    pub(crate) fn new() -> Self {
        Self {
            is_terminal: io::stdout().is_terminal(),
            lag_max: 1,
        }
    }

    pub(crate) fn show(&mut self, moment: &Moment) -> io::Result<()> {
        let deepest = moment.groups.iter().map(|g| g.lag).max().unwrap_or(0);
        self.lag_max = self.lag_max.max(deepest);
        let text = if self.is_terminal {
            table(moment, self.lag_max)
        } else {
            line(moment)
        };
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn table(m: &Moment, lag_max: u64) -> String {
    let mut text = String::from(REDRAW);
    let mut add = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    add(format!(
        "Fanlog flash sale    {:>4.0} s    {}",
        m.elapsed.as_secs_f64(),
        m.phase
    ));
    add(format!(
        "checkout     {:>8} events acknowledged   {:>6}/s   p50 {:.1} ms   p99 {:.1} ms",
        m.acknowledged,
        m.acknowledged_per_second,
        ms(m.ack_p50),
        ms(m.ack_p99)
    ));
    add(String::new());
    add(format!("{:<12} {:>8} {:>9}", "group", "read/s", "lag"));
    for group in &m.groups {
        let cells =
            usize::try_from(group.lag * BAR_CELLS as u64 / lag_max.max(1)).unwrap_or(BAR_CELLS);
        let bar = "#".repeat(cells.min(BAR_CELLS));
        add(format!(
            "{:<12} {:>8} {:>9}  {bar:<BAR_CELLS$}  {}",
            group.name, group.per_second, group.lag, group.remark
        ));
    }
    text
}

fn line(m: &Moment) -> String {
    let mut text = format!(
        "{:>3.0} s  {}  acknowledged {} ({}/s, p50 {:.1} ms, p99 {:.1} ms)  lag:",
        m.elapsed.as_secs_f64(),
        m.phase,
        m.acknowledged,
        m.acknowledged_per_second,
        ms(m.ack_p50),
        ms(m.ack_p99)
    );
    for group in &m.groups {
        write!(text, " {} {}", group.name, group.lag).expect("writing to a string cannot fail");
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_with_every_group() {
        let moment = Moment {
            groups: vec![GroupLine {
                name: "email".into(),
                lag: 50,
                ..Default::default()
            }],
            phase: "selling",
            ..Default::default()
        };
        assert!(line(&moment).contains("email 50"));
        let table = table(&moment, 100);
        assert!(table.contains(&"#".repeat(BAR_CELLS / 2)));
        assert!(!table.contains(&"#".repeat(BAR_CELLS / 2 + 1)));
    }
}
