//! Why a group refuses. One enum for the operations, because they share their reasons; the listener maps each to a code once.

use super::{GroupState, InstanceId, MemberId, NAME_BYTES_MAX};
use fanlog_model::GroupId;
use std::sync::Arc;
use thiserror::Error;

/// Why a request about a group is refused as a whole, or for one leaving member.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GroupError {
    /// An empty group id where one is needed.
    #[error("group id is empty; set group.id")]
    InvalidGroupId,
    /// The group does not exist.
    #[error("group '{group}' does not exist")]
    GroupNotFound {
        /// The group asked for.
        group: GroupId,
    },
    /// The member is not (or no longer) in the group: it must join again without a member id.
    #[error("member '{member}' is not in group '{group}'; join again with an empty member id")]
    UnknownMember {
        /// The group asked for.
        group: GroupId,
        /// The member id given.
        member: MemberId,
    },
    /// Another process has taken this static member's place. Fate: fenced.
    #[error(
        "instance '{instance}' of group '{group}' now runs under another member id than '{member}'; stop this process"
    )]
    FencedInstance {
        /// The group.
        group: GroupId,
        /// The static member's name.
        instance: InstanceId,
        /// The member id that lost.
        member: MemberId,
    },
    /// The member speaks of a generation that is not the current one (GRP-2).
    #[error("group '{group}' is in generation {current}, not {given}; join again")]
    IllegalGeneration {
        /// The group.
        group: GroupId,
        /// The generation given.
        given: i32,
        /// The generation of the group; -1 if there is no group.
        current: i32,
    },
    /// The group is between two generations: the member must join again.
    #[error("group '{group}' is rebalancing; join again")]
    RebalanceInProgress {
        /// The group.
        group: GroupId,
    },
    /// The member's protocol type or protocols have nothing in common with the group's.
    #[error(
        "no protocol in common with the members of group '{group}'; offer one that all of them offer"
    )]
    InconsistentProtocol {
        /// The group.
        group: GroupId,
    },
    /// Not a refusal but a detour (KIP-394): join again with this member id.
    #[error("join again with member id '{member}'")]
    MemberIdRequired {
        /// The id given out.
        member: MemberId,
    },
    /// The session timeout lies outside the broker's bounds.
    #[error(
        "session timeout of {given} ms is outside {min} to {max} ms; change session.timeout.ms"
    )]
    InvalidSessionTimeout {
        /// The timeout asked for, in ms.
        given: i32,
        /// The least allowed.
        min: i32,
        /// The most allowed.
        max: i32,
    },
    /// The group has as many members as it may have.
    #[error(
        "group '{group}' is full with {max} members; raise group.max.size or use another group"
    )]
    GroupFull {
        /// The group.
        group: GroupId,
        /// The limit met.
        max: usize,
    },
    /// There is no memory for a new group or member.
    #[error(
        "no room for group '{group}': groups take the {max} bytes of fanlog.groups.memory.bytes; raise it, or delete groups"
    )]
    MemoryFull {
        /// The group.
        group: GroupId,
        /// The limit met.
        max: usize,
    },
    /// A member of the new protocol speaks of an epoch that is not its own (GRP-2). Fate: fenced.
    #[error(
        "member '{member}' of group '{group}' is in epoch {current}, not {given}; abandon all partitions and join again"
    )]
    FencedMemberEpoch {
        /// The group.
        group: GroupId,
        /// The member.
        member: MemberId,
        /// The epoch given.
        given: i32,
        /// The member's epoch.
        current: i32,
    },
    /// A commit or a fetch of offsets speaks of an epoch that is not the member's (GRP-2). Fate: retry with the present one.
    #[error(
        "member '{member}' of group '{group}' is in epoch {current}, not {given}; retry with it"
    )]
    StaleMemberEpoch {
        /// The group.
        group: GroupId,
        /// The member.
        member: MemberId,
        /// The epoch given.
        given: i32,
        /// The member's epoch.
        current: i32,
    },
    /// A static member's name is still borne by a process that has not left.
    #[error(
        "instance '{instance}' of group '{group}' is still in use; stop the process that has it, or wait for its session to end"
    )]
    UnreleasedInstance {
        /// The group.
        group: GroupId,
        /// The static member's name.
        instance: InstanceId,
    },
    /// The member prefers an assignor that the broker doesn't offer.
    #[error("assignor '{given}' is not offered; choose one of {offered}")]
    UnsupportedAssignor {
        /// The name given.
        given: Arc<str>,
        /// The names offered.
        offered: Arc<str>,
    },
    /// The regular expression is none.
    #[error("subscription of group '{group}': {reason}")]
    InvalidRegex {
        /// The group.
        group: GroupId,
        /// What is wrong with it.
        reason: Arc<str>,
    },
    /// The request contradicts itself.
    #[error("{reason}")]
    InvalidRequest {
        /// What is wrong with it, in Kafka's words.
        reason: &'static str,
    },
    /// A share consumer of a queue subscribes to what the queue does not read.
    #[error("'{group}' is a queue, which does not read topic '{topic}': subscribe to '{own}'")]
    NotOfQueue {
        /// The queue.
        group: GroupId,
        /// The topic given.
        topic: Arc<str>,
        /// The topic that the queue reads.
        own: Arc<str>,
    },
    /// A queue's name is no group's.
    #[error("'{group}' is a queue, not a group: see fanlog queue")]
    IsQueue {
        /// The queue.
        group: GroupId,
    },
    /// A member of the new protocol commits by a version that knows no member epochs.
    #[error("members of group '{group}' commit by OffsetCommit version 9 or above")]
    OldCommit {
        /// The group.
        group: GroupId,
    },
    /// The group still has members, so it can't be deleted.
    #[error("group '{group}' has members (state {state}); stop them first")]
    GroupNotEmpty {
        /// The group.
        group: GroupId,
        /// The state it is in.
        state: GroupState,
    },
    /// A name is longer than a record can hold.
    #[error("{what} of {given} bytes; at most {max}")]
    NameTooLong {
        /// Which name.
        what: &'static str,
        /// The bytes given.
        given: usize,
        /// The most allowed.
        max: usize,
    },
    /// A member's protocols are more than we keep.
    #[error(
        "{given} bytes of protocols (or too many protocols) for one member of group '{group}'; at most {max} bytes"
    )]
    ProtocolsTooLarge {
        /// The group.
        group: GroupId,
        /// The bytes given.
        given: usize,
        /// The most allowed.
        max: usize,
    },
    /// The generation's record would not fit in one batch.
    #[error(
        "group '{group}' needs {given} bytes of metadata and assignments, at most {max}; use fewer members or smaller metadata"
    )]
    GroupTooLarge {
        /// The group.
        group: GroupId,
        /// The bytes needed.
        given: usize,
        /// The most allowed.
        max: usize,
    },
}

impl GroupError {
    /// Checks names against [`NAME_BYTES_MAX`].
    pub(super) fn check_names(names: &[(&'static str, &str)]) -> Result<(), Self> {
        let max = NAME_BYTES_MAX;
        let too_long = names.iter().find(|(_, name)| name.len() > max);
        too_long.map_or(Ok(()), |(what, name)| {
            Err(Self::NameTooLong {
                what,
                given: name.len(),
                max,
            })
        })
    }
}

/// Why one partition of an OffsetCommit or OffsetDelete is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OffsetError {
    /// The client's note is too long.
    #[error("offset metadata of {given} bytes; at most {max} (offset.metadata.max.bytes)")]
    MetadataTooLarge {
        /// The bytes given.
        given: usize,
        /// The most allowed.
        max: usize,
    },
    /// There is no memory for an offset that is not there yet.
    #[error(
        "no room for another offset: groups take the {max} bytes of fanlog.groups.memory.bytes; raise it, or delete groups"
    )]
    MemoryFull {
        /// The limit met.
        max: usize,
    },
    /// The group reads that topic at this moment, so its offsets stay.
    #[error("group '{group}' is subscribed to the topic; stop it or unsubscribe first")]
    SubscribedTopic {
        /// The group.
        group: GroupId,
    },
}
