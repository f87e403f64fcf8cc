//! What is wrong with a ConsumerGroupHeartbeat whatever the group's state is.

use super::assignors::Assignor;
use super::requests::{ConsumerHeartbeat, JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH};
use crate::group::{GroupError, InstanceId, PROTOCOLS_BYTES_MAX, memory};
use std::sync::Arc;

impl ConsumerHeartbeat {
    /// Checks the request in itself, in Kafka's order.
    pub(super) fn check(&self, offered: &[Assignor]) -> Result<(), GroupError> {
        let epoch = self.member_epoch;
        let needs_id = self.requires_member_id || epoch > JOIN_EPOCH || epoch == LEAVE_EPOCH;
        if needs_id && self.member_id.is_none() {
            return Err(invalid("MemberId can't be empty."));
        }
        if self.group.as_str().is_empty() {
            return Err(invalid("GroupId can't be empty."));
        }
        let is_empty = |name: &Option<Arc<str>>| name.as_ref().is_some_and(|name| name.is_empty());
        if self
            .instance_id
            .as_ref()
            .is_some_and(|id| id.as_str().is_empty())
        {
            return Err(invalid("InstanceId can't be empty."));
        }
        if is_empty(&self.rack_id) {
            return Err(invalid("RackId can't be empty."));
        }
        if epoch == JOIN_EPOCH {
            self.check_join()?;
        } else if epoch == STATIC_LEAVE_EPOCH && self.instance_id.is_none() {
            return Err(invalid("InstanceId can't be null."));
        } else if epoch < STATIC_LEAVE_EPOCH {
            return Err(invalid("MemberEpoch is invalid."));
        }
        if let Some(name) = &self.server_assignor
            && !offered.iter().any(|assignor| assignor.name() == &**name)
        {
            let offered: Vec<_> = offered.iter().map(|assignor| assignor.name()).collect();
            return Err(GroupError::UnsupportedAssignor {
                given: shortened(name),
                offered: offered.join(", ").into(),
            });
        }
        self.check_sizes()
    }

    fn check_join(&self) -> Result<(), GroupError> {
        if self.rebalance_timeout_ms.is_none() {
            return Err(invalid(
                "RebalanceTimeoutMs must be provided in first request.",
            ));
        }
        if self.owned.as_ref().is_none_or(|owned| !owned.is_empty()) {
            return Err(invalid("TopicPartitions must be empty when (re-)joining."));
        }
        if self.topics.is_none() && self.regex.is_none() {
            return Err(invalid(
                "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
            ));
        }
        Ok(())
    }

    /// Names go into records, whose strings are bounded; the rest is bounded because we keep it (OPS-1).
    fn check_sizes(&self) -> Result<(), GroupError> {
        GroupError::check_names(&[
            ("group id", self.group.as_str()),
            ("member id", self.member_id.as_str()),
            ("client id", &self.client_id),
            ("client host", &self.client_host),
            (
                "group.instance.id",
                self.instance_id.as_ref().map_or("", InstanceId::as_str),
            ),
            ("client.rack", self.rack_id.as_deref().unwrap_or_default()),
            (
                "regular expression",
                self.regex.as_ref().map_or("", |regex| &regex.pattern),
            ),
        ])?;
        let topics = self.topics.iter().flatten();
        let names: Vec<_> = topics.map(|name| ("topic name", &**name)).collect();
        GroupError::check_names(&names)?;
        let given = self.topics.as_deref().map_or(0, memory::of_names);
        if given > PROTOCOLS_BYTES_MAX {
            return Err(GroupError::ProtocolsTooLarge {
                group: self.group.clone(),
                given,
                max: PROTOCOLS_BYTES_MAX,
            });
        }
        Ok(())
    }
}

fn invalid(reason: &'static str) -> GroupError {
    GroupError::InvalidRequest { reason }
}

/// A name from outside, short enough for a message.
fn shortened(name: &str) -> Arc<str> {
    const SHOWN_MAX: usize = 100;
    name.chars().take(SHOWN_MAX).collect::<String>().into()
}
