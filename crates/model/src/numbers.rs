//! Numbers with a meaning: each is a newtype, so that one is never taken for another.

use std::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl $name {
            /// The bare number, for the wire and for arithmetic that a newtype would hide.
            pub const fn get(self) -> $inner {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$inner> for $name {
            fn from(value: $inner) -> Self {
                Self(value)
            }
        }
    };
}

number!(
    /// The position of a record in its partition: 0 for the first, never given twice (LOG-3).
    Offset(i64)
);
number!(
    /// Counts the terms of a partition's leader; it rises at every broker start.
    LeaderEpoch(i32)
);
number!(
    /// A partition's number within its topic, from 0.
    PartitionIndex(i32)
);
number!(
    /// Milliseconds since the Unix epoch, UTC. -1 means "none" where Kafka's protocol says so.
    TimestampMs(i64)
);
number!(
    /// Names an idempotent or transactional producer; -1 means none.
    ProducerId(i64)
);
number!(
    /// The fencing number of a producer id; -1 means none.
    ProducerEpoch(i16)
);
number!(
    /// The sequence number of a batch's first record; wraps to 0 after 2^31-1; -1 means none.
    BaseSequence(i32)
);

impl Offset {
    /// The first offset of every log.
    pub const ZERO: Self = Self(0);

    /// The offset `count` records further on.
    ///
    /// # Panics
    /// On overflow of `i64`, which 292 years at a billion records a second would reach.
    pub const fn plus(self, count: i64) -> Self {
        Self(
            self.0
                .checked_add(count)
                .expect("an offset fits in 63 bits"),
        )
    }
}

impl ProducerId {
    /// No producer id: the batch is not idempotent.
    pub const NONE: Self = Self(-1);
}

impl ProducerEpoch {
    /// No epoch: the batch is not idempotent.
    pub const NONE: Self = Self(-1);
}

impl BaseSequence {
    /// No sequence: the batch is not idempotent.
    pub const NONE: Self = Self(-1);

    /// The sequence `count` records further on, wrapping from 2^31-1 to 0 as Kafka's does.
    pub const fn plus(self, count: i32) -> Self {
        let sum = self.0 as i64 + count as i64;
        Self((sum % (1 << 31)) as i32)
    }
}

impl LeaderEpoch {
    /// The client does not know an epoch.
    pub const UNKNOWN: Self = Self(-1);
}

impl TimestampMs {
    /// No timestamp.
    pub const NONE: Self = Self(-1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_wraps_to_zero_after_the_largest() {
        assert_eq!(BaseSequence(i32::MAX).plus(1), BaseSequence(0));
        assert_eq!(BaseSequence(i32::MAX - 1).plus(3), BaseSequence(1));
        assert_eq!(BaseSequence(5).plus(0), BaseSequence(5));
    }
}
