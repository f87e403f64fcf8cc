//! The settings that a group machine obeys, and the limits that are not settings.

use super::consumer::assignors::Assignor;
use fanlog_model::GroupId;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Broker settings of groups; the runtime fills them from the broker's configuration.
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
    /// `group.share.session.timeout.ms`: how long members of share groups have to report after a start.
    pub share_session_timeout: Duration,
    /// What concerns consumer groups of the new protocol.
    pub consumer: ConsumerSettings,
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
            share_session_timeout: Duration::from_secs(45),
            consumer: ConsumerSettings::default(),
            memory_bytes_max: 512 * 1024 * 1024,
            memory_bytes_elsewhere: 0,
        }
    }
}

/// Settings of consumer groups of the new protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerSettings {
    /// `group.consumer.assignors`, the default first.
    pub assignors: Vec<Assignor>,
    /// The paces of groups that have none of their own.
    pub paces: ConsumerPaces,
    /// Those of groups that have their own.
    pub own_paces: Arc<BTreeMap<GroupId, ConsumerPaces>>,
    /// `group.consumer.max.size`; [`MEMBERS_PER_GROUP_MAX`] holds above it.
    pub group_size_max: usize,
    /// `group.consumer.migration.policy`.
    pub migration_policy: MigrationPolicy,
}

/// How fast one group goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerPaces {
    /// `consumer.session.timeout.ms`: a member not heard of for so long is out.
    pub session_timeout: Duration,
    /// `consumer.heartbeat.interval.ms`.
    pub heartbeat_interval_ms: i32,
    /// `consumer.assignment.interval.ms`: two assignments of the group are at least so far apart.
    pub assignment_interval: Duration,
}

impl Default for ConsumerPaces {
    /// Kafka's defaults.
    fn default() -> Self {
        Self {
            session_timeout: Duration::from_secs(45),
            heartbeat_interval_ms: 5_000,
            assignment_interval: Duration::from_secs(1),
        }
    }
}

/// Which way groups may change between the classic protocol and the new one while they have members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MigrationPolicy {
    /// Both ways.
    #[default]
    Bidirectional,
    /// To the new protocol.
    Upgrade,
    /// To the classic protocol.
    Downgrade,
    /// Not at all.
    Disabled,
}

impl MigrationPolicy {
    /// The policy of that name, whatever its case.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            ("bidirectional", Self::Bidirectional),
            ("upgrade", Self::Upgrade),
            ("downgrade", Self::Downgrade),
            ("disabled", Self::Disabled),
        ];
        let mut all = all.into_iter();
        all.find_map(|(of, policy)| of.eq_ignore_ascii_case(name).then_some(policy))
    }

    /// Whether a classic group with members may become one of the new protocol.
    pub fn may_upgrade(self) -> bool {
        matches!(self, Self::Bidirectional | Self::Upgrade)
    }

    /// Whether a group of the new protocol may become a classic one.
    pub fn may_downgrade(self) -> bool {
        matches!(self, Self::Bidirectional | Self::Downgrade)
    }
}

impl Default for ConsumerSettings {
    /// Kafka's defaults.
    fn default() -> Self {
        Self {
            assignors: Assignor::ALL.to_vec(),
            paces: ConsumerPaces::default(),
            own_paces: Arc::default(),
            group_size_max: i32::MAX as usize,
            migration_policy: MigrationPolicy::default(),
        }
    }
}

impl ConsumerSettings {
    /// How fast a group goes.
    pub fn paces(&self, group: &GroupId) -> ConsumerPaces {
        self.own_paces.get(group).copied().unwrap_or(self.paces)
    }

    /// The most members of a group.
    pub(super) fn members_max(&self) -> usize {
        self.group_size_max.min(MEMBERS_PER_GROUP_MAX)
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
