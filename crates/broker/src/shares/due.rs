//! Which partitions of a waiting share fetch are due for a look, and how many bytes each has.
//!
//! Why it exists: a fetch may wait for very many partitions, and is woken by one: it looks at that one, not at all.
//! In -> out: what changed -> what is due, in the plan's order; the bytes of all partitions together.

use std::collections::{BTreeMap, BTreeSet};

/// Partitions by their place in the plan.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// Those that changed since they were looked at.
    positions: BTreeSet<usize>,
    /// Of these it is not known how many bytes they have.
    unmeasured: BTreeSet<usize>,
    measured: BTreeMap<usize, usize>,
    /// All that were measured, added up.
    bytes: u128,
}

impl Due {
    /// All are due.
    pub(super) fn all(positions: impl Iterator<Item = usize>) -> Self {
        let mut due = Self::default();
        due.changed(positions);
        due
    }

    /// These changed.
    pub(super) fn changed(&mut self, positions: impl IntoIterator<Item = usize>) {
        for position in positions {
            self.positions.insert(position);
            self.unmeasured.insert(position);
        }
    }

    /// Those that are due, from the first to the last. They have been looked at from now on, and have to be measured anew.
    pub(super) fn take(&mut self) -> BTreeSet<usize> {
        self.unmeasured.extend(&self.positions);
        std::mem::take(&mut self.positions)
    }

    /// Those whose bytes are to be found out.
    pub(super) fn unmeasured(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.unmeasured)
    }

    /// One has so many bytes.
    pub(super) fn measured(&mut self, position: usize, bytes: usize) {
        let before = self.measured.insert(position, bytes).unwrap_or(0);
        self.bytes = self.bytes + bytes as u128 - before as u128;
    }

    /// How many bytes all have together.
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_due_once_and_the_others_keep_their_bytes() {
        let mut due = Due::all(0..3);
        for position in due.unmeasured() {
            due.measured(position, 10);
        }
        assert_eq!(due.bytes(), 30);
        assert_eq!(due.take(), BTreeSet::from([0, 1, 2]));
        assert_eq!(due.unmeasured(), BTreeSet::from([0, 1, 2]));
        due.changed([2, 1, 2]);
        assert_eq!(due.unmeasured(), BTreeSet::from([1, 2]));
        due.measured(1, usize::MAX);
        assert_eq!(due.bytes(), usize::MAX);
        due.measured(1, 5);
        assert_eq!(due.bytes(), 25);
        assert_eq!(due.take(), BTreeSet::from([1, 2]));
        assert_eq!(due.take(), BTreeSet::new());
    }
}
