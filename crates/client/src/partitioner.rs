//! Which partition a record without a key goes to. Those with a key go where the Java client puts them (`fanlog_protocol::records`).

use std::sync::atomic::{AtomicU64, Ordering};

/// Where records without a key go: to one partition until a batch's worth of bytes went there, then to the next. So batches fill, and
/// over time every partition gets as much.
#[derive(Debug)]
pub(crate) struct StickyPartitioner {
    bytes: AtomicU64,
    batch_bytes: u64,
}

impl StickyPartitioner {
    /// Starts at the partition that `start` falls on, which should differ from producer to producer.
    pub(crate) fn new(start: u64, batch_bytes: usize) -> Self {
        let batch_bytes = batch_bytes.max(1) as u64;
        let start = start % (1 << 20);
        Self {
            bytes: AtomicU64::new(start * batch_bytes),
            batch_bytes,
        }
    }

    /// The partition of a record of this size.
    pub(crate) fn partition(&self, record_bytes: usize, count: u32) -> u32 {
        let before = self.bytes.fetch_add(record_bytes as u64, Ordering::Relaxed);
        let number = (before / self.batch_bytes) % u64::from(count);
        u32::try_from(number).expect("less than a 32-bit count")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_without_a_key_fill_one_partition_after_the_other() {
        let sticky = StickyPartitioner::new(1, 100);
        let went: Vec<_> = (0..8).map(|_| sticky.partition(50, 3)).collect();
        assert_eq!(went, [1, 1, 2, 2, 0, 0, 1, 1]);
    }
}
