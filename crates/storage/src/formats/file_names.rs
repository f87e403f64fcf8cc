//! The names of a log's files: a segment's base offset in twenty digits, and a suffix.

use fanlog_model::Offset;

/// The record batches.
pub const LOG: &str = "log";
/// Offset to position.
pub const OFFSET_INDEX: &str = "index";
/// Timestamp to offset.
pub const TIME_INDEX: &str = "timeindex";
/// Aborted transactions.
pub const TRANSACTION_INDEX: &str = "txnindex";
/// Producer state up to the offset in the name.
pub const PRODUCER_SNAPSHOT: &str = "snapshot";

/// Which epoch began at which offset.
pub const LEADER_EPOCH_CHECKPOINT: &str = "leader-epoch-checkpoint";
/// The id of the topic that the folder belongs to.
pub const PARTITION_METADATA: &str = "partition.metadata";
/// Where the log starts; Kafka keeps one such file for all logs, we keep one for each.
pub const LOG_START_OFFSET_CHECKPOINT: &str = "log-start-offset-checkpoint";
/// How far the log is known to be durable. Ours, not Kafka's.
pub const RECOVERY_MARK: &str = "recovery-mark";
/// Which offset a log is clean to; Kafka keeps one such file for all logs, we keep one for each.
pub const CLEANER_OFFSET_CHECKPOINT: &str = "cleaner-offset-checkpoint";
/// Where a log may have holes, and which segments are being replaced. Ours, not Kafka's.
pub const COMPACTION_STATE: &str = "compaction-state";
/// The producers at an offset below which the log is known to be durable. Ours, not Kafka's.
pub const RECOVERY_PRODUCERS: &str = "recovery-producers";
/// There after a failed sync, until the bytes have been read back from the disk.
pub const SYNC_FAILURE_MARKER: &str = "sync-failed";

/// `00000000000000000042.log` for base offset 42 and suffix `log`.
pub fn with_offset(offset: Offset, suffix: &str) -> String {
    format!("{:020}.{suffix}", offset.get())
}

/// The offset and suffix of a name made by [`with_offset`]; nothing for other names.
pub fn parse(name: &str) -> Option<(Offset, &str)> {
    let (digits, suffix) = name.split_once('.')?;
    let is_number = digits.len() == 20 && digits.bytes().all(|b| b.is_ascii_digit());
    let offset = is_number.then(|| digits.parse::<i64>().ok()).flatten()?;
    Some((Offset(offset), suffix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_kafkas() {
        assert_eq!(with_offset(Offset(42), LOG), "00000000000000000042.log");
        assert_eq!(parse("00000000000000000042.log"), Some((Offset(42), "log")));
        assert_eq!(parse("42.log"), None);
        assert_eq!(parse("leader-epoch-checkpoint"), None);
        assert_eq!(parse("+0000000000000000042.log"), None);
        assert_eq!(parse("99999999999999999999.log"), None, "over 63 bits");
    }

    proptest! {
        #[test]
        fn a_name_round_trips(offset in 0..=i64::MAX) {
            let name = with_offset(Offset(offset), TIME_INDEX);
            prop_assert_eq!(parse(&name), Some((Offset(offset), TIME_INDEX)));
        }
    }
}
