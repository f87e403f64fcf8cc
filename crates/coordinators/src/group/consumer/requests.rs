//! What members of the new protocol ask, and what they are answered.

use super::ConsumerMember;
use crate::CallId;
use crate::group::{InstanceId, MemberId, PartitionSets};
use fanlog_model::{GroupId, TopicId};
use std::sync::Arc;
use uuid::Uuid;

/// The epoch with which a member joins.
pub const JOIN_EPOCH: i32 = 0;
/// The epoch with which a member leaves.
pub const LEAVE_EPOCH: i32 = -1;
/// The epoch with which a static member says that it will come back.
pub const STATIC_LEAVE_EPOCH: i32 = -2;

/// ConsumerGroupHeartbeat. What is `None` has not changed since the member's request before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerHeartbeat {
    /// Who asks.
    pub call: CallId,
    /// The group.
    pub group: GroupId,
    /// The member's id; in version 0 a new member may leave the choice to the coordinator.
    pub member_id: MemberId,
    /// Its epoch, or one of those with a meaning of their own.
    pub member_epoch: i32,
    /// `group.instance.id`, for a static member.
    pub instance_id: Option<InstanceId>,
    /// `client.rack`.
    pub rack_id: Option<Arc<str>>,
    /// The client id of the request's header.
    pub client_id: Arc<str>,
    /// The client's address, as shown to operators.
    pub client_host: Arc<str>,
    /// How long it may take to give partitions up.
    pub rebalance_timeout_ms: Option<i32>,
    /// The topics that it reads.
    pub topics: Option<Vec<Arc<str>>>,
    /// The expression for more topics; an empty one is none.
    pub regex: Option<SubscribedRegex>,
    /// The assignor that it prefers.
    pub server_assignor: Option<Arc<str>>,
    /// What it owns, as it believes.
    pub owned: Option<Vec<(TopicId, Vec<i32>)>>,
    /// Version 1 and up: the member chooses its id.
    pub requires_member_id: bool,
    /// Randomness drawn by the runtime, for a member id should one be needed.
    pub fresh_id: Uuid,
}

/// A regular expression, and what the runtime found it to stand for: that takes time, which nobody else shall wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscribedRegex {
    /// The expression.
    pub pattern: Arc<str>,
    /// The topics, or why it is none.
    pub topics: Result<Arc<[Arc<str>]>, Arc<str>>,
}

/// The answer to a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberHeartbeat {
    /// The member's id.
    pub member_id: MemberId,
    /// Its epoch from now on.
    pub epoch: i32,
    /// When it shall report next, in ms; 0 to one that leaves.
    pub heartbeat_interval_ms: i32,
    /// What it owns from now on; `None`: as before.
    pub assignment: Option<PartitionSets>,
}

impl ConsumerHeartbeat {
    /// Whether the member says all there is to say, as it does when it may have missed an answer.
    pub(super) fn is_full(&self) -> bool {
        self.rebalance_timeout_ms.is_some()
            && (self.topics.is_some() || self.regex.is_some())
            && self.owned.is_some()
    }

    /// The member as it is after this request.
    pub(super) fn updated(&self, before: Option<&ConsumerMember>) -> ConsumerMember {
        let mut member = before.cloned().unwrap_or_default();
        if let Some(instance) = &self.instance_id {
            member.instance_id = Some(instance.clone());
        }
        if let Some(rack) = &self.rack_id {
            member.rack_id = Some(rack.clone());
        }
        if let Some(timeout) = self.rebalance_timeout_ms {
            member.rebalance_timeout_ms = timeout;
        }
        if let Some(assignor) = &self.server_assignor {
            member.server_assignor = Some(assignor.clone());
        }
        if let Some(topics) = &self.topics {
            member.topics = in_order(topics);
        }
        if let Some(regex) = &self.regex {
            member.regex = Some(regex.pattern.clone());
        }
        member.client_id = self.client_id.clone();
        member.client_host = self.client_host.clone();
        member.classic = None;
        member
    }
}

/// Names in order and each once.
pub(super) fn in_order(names: &[Arc<str>]) -> Arc<[Arc<str>]> {
    let mut names = names.to_vec();
    names.sort();
    names.dedup();
    names.into()
}
