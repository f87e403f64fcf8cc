//! The settings that a group machine obeys, and the limits that are not settings.

use std::time::Duration;

/// Broker settings of the classic group protocol; the runtime fills them from the broker's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSettings {
    /// `group.initial.rebalance.delay.ms`: how long an empty group waits for more members before its first generation.
    pub initial_rebalance_delay: Duration,
    /// `group.min.session.timeout.ms`.
    pub session_timeout_ms_min: i32,
    /// `group.max.session.timeout.ms`.
    pub session_timeout_ms_max: i32,
    /// `group.max.size`; [`MEMBERS_PER_GROUP_MAX`] holds above it.
    pub group_size_max: usize,
    /// `offset.metadata.max.bytes`.
    pub offset_metadata_bytes_max: usize,
    /// `offsets.retention.minutes`.
    pub offsets_retention: Duration,
    /// `offsets.retention.check.interval.ms`.
    pub offsets_retention_check_interval: Duration,
    /// `fanlog.groups.memory.bytes`: what all groups may take; new ones and new offsets are refused beyond it.
    pub memory_bytes_max: usize,
    /// How much of it the groups of other partitions take at this moment.
    pub memory_bytes_elsewhere: usize,
}

impl Default for GroupSettings {
    /// Kafka's defaults, and our own.
    fn default() -> Self {
        Self {
            initial_rebalance_delay: Duration::from_secs(3),
            session_timeout_ms_min: 6_000,
            session_timeout_ms_max: 1_800_000,
            group_size_max: i32::MAX as usize,
            offset_metadata_bytes_max: 4096,
            offsets_retention: Duration::from_secs(7 * 24 * 60 * 60),
            offsets_retention_check_interval: Duration::from_secs(600),
            memory_bytes_max: 512 * 1024 * 1024,
            memory_bytes_elsewhere: 0,
        }
    }
}

/// How long a JoinGroup of a new member may stay parked: such a member cannot send heartbeats, because it doesn't know its id.
pub const NEW_MEMBER_JOIN_TIMEOUT: Duration = Duration::from_secs(300);
/// The most members that a group may have, whatever `group.max.size` says.
pub const MEMBERS_PER_GROUP_MAX: usize = 10_000;
/// The most member ids that a group may have given out and not yet seen again.
pub const PENDING_MEMBERS_PER_GROUP_MAX: usize = 10_000;
/// The most bytes of protocol names and metadata that one member may bring.
pub const PROTOCOLS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The most protocols that one member may offer.
pub const PROTOCOLS_PER_MEMBER_MAX: usize = 100;
/// The most bytes of metadata and assignments that one group's record may carry: it must fit in one batch.
pub const GROUP_RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The longest group id, client id, instance id or protocol type: with what is added to it, it must fit in a record's string.
pub const NAME_BYTES_MAX: usize = 32_000;
/// The longest offset metadata, whatever `offset.metadata.max.bytes` says: a record's string holds no more.
pub(super) const OFFSET_METADATA_BYTES_LIMIT: usize = 32_767;

const _: () = assert!(PROTOCOLS_BYTES_MAX < GROUP_RECORD_BYTES_MAX);
