//! The settings that the machine obeys, and the limits that are not settings.

use std::time::Duration;

/// Broker settings of transactions; the runtime fills them from the broker's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionSettings {
    /// `transaction.max.timeout.ms`.
    pub timeout_ms_max: i32,
    /// `transactional.id.expiration.ms`.
    pub id_expiration: Duration,
    /// `transaction.remove.expired.transaction.cleanup.interval.ms`.
    pub id_expiration_check_interval: Duration,
    /// How long EndTxn waits for the markers before it answers without them.
    pub end_wait: Duration,
    /// `fanlog.transactions.memory.bytes`: what all transactional ids may take; new ones are refused beyond it.
    pub memory_bytes_max: usize,
    /// How much of it those of other partitions take at this moment.
    pub memory_bytes_elsewhere: usize,
}

impl Default for TransactionSettings {
    /// Kafka's defaults, and our own.
    fn default() -> Self {
        Self {
            timeout_ms_max: 900_000,
            id_expiration: Duration::from_secs(7 * 24 * 60 * 60),
            id_expiration_check_interval: Duration::from_secs(60 * 60),
            end_wait: Duration::from_secs(1),
            memory_bytes_max: 256 * 1024 * 1024,
            memory_bytes_elsewhere: 0,
        }
    }
}

/// The longest transactional id: with what is added to it, it must fit in a record's string.
pub const TRANSACTIONAL_ID_BYTES_MAX: usize = 32_000;
