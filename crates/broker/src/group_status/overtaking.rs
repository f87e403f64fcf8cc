//! When retention reaches records that were not read.
//!
//! Pure: numbers in, an answer out. It is the earliest time: retention takes whole segments, so the record usually lives longer; and it
//! supposes that the reader stands still, for that is the case to be warned of.

use std::time::Duration;

/// When retention reaches the first record that was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overtaken {
    /// All is read.
    NothingUnread,
    /// Not at all: neither time nor size ends the record's life as things are.
    Never,
    /// After that long, at the earliest, if the reader stands still.
    In(Duration),
    /// What it takes to say so is not known.
    Unknown,
}

/// What is known of a partition and of a reader's place in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    /// How many records were not read.
    pub(super) lag: i64,
    /// How old the first of them is.
    pub(super) age: Option<Duration>,
    /// How many records the partition has.
    pub(super) records: i64,
    /// How many bytes they take.
    pub(super) bytes: Option<u64>,
    /// How many records come in a second.
    pub(super) rate_in: Option<f64>,
    /// Whether old records are deleted at all.
    pub(super) is_deleted: bool,
    /// `retention.ms`.
    pub(super) retention: Option<Duration>,
    /// `retention.bytes`.
    pub(super) retention_bytes: Option<u64>,
}

impl Known {
    pub(super) fn overtaken(&self) -> Overtaken {
        if self.lag <= 0 {
            return Overtaken::NothingUnread;
        }
        if !self.is_deleted {
            return Overtaken::Never;
        }
        match (self.by_time(), self.by_size()) {
            (Overtaken::In(time), Overtaken::In(size)) => Overtaken::In(time.min(size)),
            (Overtaken::Unknown, _) | (_, Overtaken::Unknown) => Overtaken::Unknown,
            (Overtaken::In(left), _) | (_, Overtaken::In(left)) => Overtaken::In(left),
            _ => Overtaken::Never,
        }
    }

    fn by_time(&self) -> Overtaken {
        match (self.retention, self.age) {
            (None, _) => Overtaken::Never,
            (Some(retention), Some(age)) => Overtaken::In(retention.saturating_sub(age)),
            (Some(_), None) => Overtaken::Unknown,
        }
    }

    /// By the mean size of records: their number is known where their sizes are not.
    fn by_size(&self) -> Overtaken {
        let Some(max) = self.retention_bytes else {
            return Overtaken::Never;
        };
        let Some(bytes) = self.bytes.filter(|_| self.records > 0) else {
            return Overtaken::Unknown;
        };
        let mean = bytes as f64 / self.records as f64;
        let room = max as f64 - mean * self.lag as f64;
        if room <= 0.0 {
            return Overtaken::In(Duration::ZERO);
        }
        match self.rate_in {
            None => Overtaken::Unknown,
            Some(rate) if rate * mean <= 0.0 => Overtaken::Never,
            Some(rate) => {
                let left = Duration::try_from_secs_f64(room / (rate * mean));
                // So long that it does not fit is never.
                left.map_or(Overtaken::Never, Overtaken::In)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn known() -> Known {
        Known {
            lag: 100,
            age: Some(HOUR),
            records: 1_000,
            bytes: Some(10_000),
            rate_in: Some(2.0),
            is_deleted: true,
            ..Known::default()
        }
    }

    #[test]
    fn what_comes_first_counts() {
        let check = |known: Known, expected: Overtaken| {
            assert_eq!(known.overtaken(), expected, "{known:?}");
        };
        let in_seconds = |seconds| Overtaken::In(Duration::from_secs(seconds));
        check(known(), Overtaken::Never);
        let of_time = Known {
            retention: Some(2 * HOUR),
            ..known()
        };
        check(of_time, in_seconds(3_600));
        check(
            Known {
                age: None,
                ..of_time
            },
            Overtaken::Unknown,
        );
        check(Known { lag: 0, ..of_time }, Overtaken::NothingUnread);
        check(
            Known {
                is_deleted: false,
                ..of_time
            },
            Overtaken::Never,
        );
        check(
            Known {
                age: Some(9 * HOUR),
                ..of_time
            },
            in_seconds(0),
        );
        // A hundred unread of ten bytes each leave 200 of 1,200 bytes: at 20 bytes a second that is 10 s.
        let of_size = Known {
            retention_bytes: Some(1_200),
            ..known()
        };
        check(of_size, in_seconds(10));
        let of_both = Known {
            retention_bytes: Some(1_200),
            ..of_time
        };
        check(of_both, in_seconds(10));
        check(
            Known {
                rate_in: Some(0.0),
                ..of_both
            },
            in_seconds(3_600),
        );
        check(
            Known {
                rate_in: None,
                ..of_size
            },
            Overtaken::Unknown,
        );
        check(
            Known {
                retention_bytes: Some(900),
                ..of_size
            },
            in_seconds(0),
        );
    }
}
