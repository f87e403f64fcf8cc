//! A schedule that is kept whatever the broker does (an open loop).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Ends loads before their time is over.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// From now on.
    pub fn give(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_given(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far behind its schedule a sender may end, before it gives up what is still due.
const BEHIND_MAX: Duration = Duration::from_secs(2);

/// What a sender does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It sends. The time until the acknowledgement counts from `from`: when it was due, where the sender was held up by the broker, and
    /// when it woke, where it merely woke late, as threads do.
    Send {
        /// When it was due.
        due: Instant,
        /// When counting begins.
        from: Instant,
    },
    /// The time is over and all that was due was sent.
    Over,
    /// The time is over and so much is still due that nobody will send it.
    Late,
}

/// One sender's schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    due: Instant,
    interval: Duration,
    end: Instant,
}

impl Pace {
    /// `per_second` turns over all `senders`, of which this is `number`; they take turns instead of sending in step.
    pub(crate) fn new(
        started: Instant,
        span: Duration,
        per_second: f64,
        number: usize,
        senders: usize,
    ) -> Self {
        let turn = 1.0 / per_second.max(0.001);
        Self {
            due: started + Duration::from_secs_f64(turn * number as f64),
            interval: Duration::from_secs_f64(turn * senders as f64).max(Duration::from_nanos(1)),
            end: started + span,
        }
    }

    /// Waits until the next turn is due, if that lies ahead.
    pub(crate) fn turn(&mut self) -> Turn {
        let due = self.due;
        let now = Instant::now();
        if due >= self.end {
            return Turn::Over;
        }
        if now > self.end + BEHIND_MAX {
            return Turn::Late;
        }
        self.due += self.interval;
        if now >= due {
            return Turn::Send { due, from: due };
        }
        std::thread::sleep(due - now);
        let from = Instant::now();
        Turn::Send { due, from }
    }

    /// How long each turn that was not taken has waited by `now`.
    pub(crate) fn missed(mut self, now: Instant) -> impl Iterator<Item = Duration> {
        std::iter::from_fn(move || {
            let due = self.due;
            (due < self.end).then(|| {
                self.due += self.interval;
                now.saturating_duration_since(due)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_share_the_rate_and_a_late_one_counts_from_when_it_was_due() {
        let ms = Duration::from_millis;
        // It began a second ago and has not sent anything yet.
        let started = Instant::now() - ms(1000);
        let mut pace = Pace::new(started, ms(1000), 100.0, 1, 2);
        let expected = started + ms(10);
        let first = pace.turn();
        assert_eq!(
            first,
            Turn::Send {
                due: expected,
                from: expected
            }
        );
        let mut turns = 1;
        while pace.turn() != Turn::Over {
            turns += 1;
        }
        assert_eq!(turns, 50);
    }

    #[test]
    fn what_was_never_sent_counts_with_the_time_it_had_waited() {
        let ms = Duration::from_millis;
        let started = Instant::now() - ms(5000);
        let mut pace = Pace::new(started, ms(100), 100.0, 0, 1);
        assert_eq!(pace.turn(), Turn::Late);
        let missed: Vec<_> = pace.missed(started + ms(1100)).collect();
        assert_eq!(missed.len(), 10);
        assert_eq!(missed[0], ms(1100));
        assert_eq!(missed[9], ms(1010));
    }
}
