//! Partitions placed by hand: with one broker there is one place.

use fanlog_model::BrokerId;
use thiserror::Error;

/// Why a manual assignment is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AssignmentError {
    /// The partitions aren't numbered from 0 without a gap.
    #[error("partition {index} is assigned; number {count} partitions from 0 without a gap")]
    NotConsecutive {
        /// The first number out of order.
        index: i32,
        /// How many are assigned.
        count: usize,
    },
    /// A partition has no copies.
    #[error("partition {index} is assigned to no broker; assign it to broker {broker}")]
    Empty {
        /// The partition.
        index: usize,
        /// The only broker.
        broker: i32,
    },
    /// A partition has a copy elsewhere.
    #[error(
        "partition {index} is assigned to broker {given}, which is not there; assign it to broker {broker}"
    )]
    UnknownBroker {
        /// The partition.
        index: usize,
        /// The broker given.
        given: i32,
        /// The only broker.
        broker: i32,
    },
    /// A partition has two copies on one broker.
    #[error("partition {index} is assigned to broker {given} more than once")]
    RepeatedBroker {
        /// The partition.
        index: usize,
        /// The broker given.
        given: i32,
    },
    /// There are more or fewer assignments than new partitions.
    #[error("{given} assignments for {wanted} new partitions; give one for each, or none at all")]
    WrongCount {
        /// How many were given.
        given: usize,
        /// How many are needed.
        wanted: usize,
    },
}

/// Each partition must have exactly one copy, on this broker. `first` is the number of the first partition.
pub(super) fn check_copies(
    copies: &[&[i32]],
    first: usize,
    broker: BrokerId,
) -> Result<(), AssignmentError> {
    let broker = broker.0;
    for (index, brokers) in (first..).zip(copies) {
        match brokers {
            [] => return Err(AssignmentError::Empty { index, broker }),
            [only] if *only == broker => {}
            _ => {
                let stranger = brokers.iter().find(|b| **b != broker);
                return Err(match stranger {
                    Some(&given) => AssignmentError::UnknownBroker {
                        index,
                        given,
                        broker,
                    },
                    None => AssignmentError::RepeatedBroker {
                        index,
                        given: broker,
                    },
                });
            }
        }
    }
    Ok(())
}

/// Sorted by partition, the numbers must be 0, 1, 2...
pub(super) fn check_consecutive(
    assignments: &[(i32, Vec<i32>)],
) -> Result<Vec<&[i32]>, AssignmentError> {
    let mut sorted: Vec<_> = assignments.iter().collect();
    sorted.sort_by_key(|(index, _)| *index);
    for (expected, (index, _)) in sorted.iter().enumerate() {
        if usize::try_from(*index) != Ok(expected) {
            return Err(AssignmentError::NotConsecutive {
                index: *index,
                count: sorted.len(),
            });
        }
    }
    Ok(sorted.into_iter().map(|(_, b)| b.as_slice()).collect())
}
