//! Share groups as groups: members come and go, and their offsets are looked at and moved.
//!
//! Why it exists: what a share group is lies in `__consumer_offsets`, and what became of its records in
//! `__share_group_state`; here the one follows the other.

use super::CoordinatorError;
use super::{GroupRequestError, Groups, answer};
use crate::broker::Broker;
use crate::lookup::TopicRef;
use crate::shares::SharePartitionRef;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::share::{
    DescribedShareGroup, ShareHeartbeat, ShareHeartbeatAnswer, ShareRules, ShareStatesChanged,
    ShareTopic,
};
use fanlog_coordinators::group::{Answer, GroupError, GroupState, Input, PartitionSets};
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

impl Groups {
    /// ShareGroupHeartbeat; partitions that the group is to read have a state once it answers. `call` and `rules` are filled
    /// in here.
    ///
    /// # Errors
    /// The group refuses, or its coordinator cannot answer.
    pub async fn share_heartbeat(
        &self,
        heartbeat: ShareHeartbeat,
    ) -> Result<ShareHeartbeatAnswer, GroupRequestError> {
        let group = heartbeat.group.clone();
        let rules = self.share_rules(&group);
        if let Some(broker) = self.broker_of_queue(&group) {
            let heartbeat = ShareHeartbeat { rules, ..heartbeat };
            return Ok(broker.queues().share_heartbeat(&heartbeat)?);
        }
        let shard = self.shard(&group).await?;
        let heartbeat = |call| {
            Input::ShareHeartbeat(ShareHeartbeat {
                call,
                rules,
                ..heartbeat
            })
        };
        let answered = answer!(shard.ask(heartbeat).await?, ShareHeartbeat)?;
        if !answered.without_state.is_empty() {
            self.make_states(&group, &answered).await?;
        }
        Ok(answered)
    }

    /// The broker, if that is the name of a queue: its share consumers are no group.
    fn broker_of_queue(&self, name: &GroupId) -> Option<Arc<Broker>> {
        let broker = self.broker()?;
        broker.queues().is_queue(name).then_some(broker)
    }

    /// What concerns offsets is not for a queue's name.
    fn check_no_queue(&self, name: &GroupId) -> Result<(), GroupError> {
        match self.broker_of_queue(name) {
            Some(_) => Err(GroupError::IsQueue {
                group: name.clone(),
            }),
            None => Ok(()),
        }
    }

    fn share_rules(&self, group: &GroupId) -> ShareRules {
        let Some(broker) = self.broker() else {
            return ShareRules::default();
        };
        let settings = broker.share_group_settings(group);
        let ms = u64::try_from(settings.session_timeout_ms).unwrap_or(0);
        ShareRules {
            heartbeat_interval_ms: settings.heartbeat_interval_ms,
            session_timeout: Duration::from_millis(ms),
            members_max: broker.settings().share.group_size_max as usize,
        }
    }

    async fn make_states(
        &self,
        group: &GroupId,
        answered: &ShareHeartbeatAnswer,
    ) -> Result<(), GroupRequestError> {
        let Some(broker) = self.broker() else {
            return Ok(());
        };
        for (topic, indexes) in &answered.without_state {
            for partition in indexes {
                let of = SharePartitionRef {
                    topic: *topic,
                    partition: *partition,
                };
                let shares = broker.shares();
                shares
                    .ensure_initialized(group, of, answered.group_epoch)
                    .await?;
            }
        }
        let initialized = self.share_topics(&answered.without_state);
        self.note_states(group, initialized, Vec::new(), false)
            .await
            .map(|_| ())
    }

    /// Topics with their names; those that are gone are left out.
    fn share_topics(&self, sets: &PartitionSets) -> Vec<ShareTopic> {
        let Some(topics) = self.broker().map(|broker| broker.topics()) else {
            return Vec::new();
        };
        let found = sets.iter().filter_map(|(id, partitions)| {
            let topic = topics.by_id(*id)?;
            Some(ShareTopic {
                id: *id,
                name: topic.name.as_str().into(),
                partitions: partitions.clone(),
            })
        });
        found.collect()
    }

    async fn note_states(
        &self,
        group: &GroupId,
        initialized: Vec<ShareTopic>,
        removed: Vec<TopicId>,
        is_for_offsets: bool,
    ) -> Result<i32, GroupRequestError> {
        let shard = self.shard(group).await?;
        let changed = |call: CallId| {
            Input::ShareStatesChanged(ShareStatesChanged {
                call,
                group: group.clone(),
                initialized,
                removed,
                is_for_offsets,
            })
        };
        Ok(answer!(shard.ask(changed).await?, ShareStatesChanged)?)
    }

    /// ShareGroupDescribe, for one group.
    ///
    /// # Errors
    /// There is no such share group, or its coordinator cannot answer.
    pub async fn describe_share(
        &self,
        group: GroupId,
    ) -> Result<DescribedShareGroup, GroupRequestError> {
        if let Some(broker) = self.broker_of_queue(&group) {
            return Ok(broker.queues().describe_share(&group)?);
        }
        let shard = self.shard(&group).await?;
        let describe = |call| Input::DescribeShare { call, group };
        Ok(answer!(shard.ask(describe).await?, DescribeShare)?)
    }

    /// AlterShareGroupOffsets: a share group without members, which need not exist, begins anew at these offsets. The caller has
    /// checked that the partitions exist.
    ///
    /// # Errors
    /// The group has members or is of another kind, or a coordinator cannot answer.
    pub async fn alter_share_offsets(
        &self,
        group: &GroupId,
        offsets: &BTreeMap<(TopicId, PartitionIndex), Offset>,
    ) -> Result<(), GroupRequestError> {
        self.check_no_queue(group)?;
        let mut sets = PartitionSets::new();
        for (topic, partition) in offsets.keys() {
            sets.entry(*topic).or_default().insert(*partition);
        }
        let topics = self.share_topics(&sets);
        let epoch = self.note_states(group, topics, Vec::new(), true).await?;
        let Some(broker) = self.broker() else {
            return Ok(());
        };
        for ((topic, partition), start) in offsets {
            let of = SharePartitionRef {
                topic: *topic,
                partition: *partition,
            };
            let shares = broker.shares();
            shares.initialize(group, of, epoch, Some(*start)).await?;
        }
        Ok(())
    }

    /// DeleteShareGroupOffsets: what a share group without members knows of these topics is forgotten.
    ///
    /// # Errors
    /// The group has members or is of another kind, or a coordinator cannot answer.
    pub async fn delete_share_offsets(
        &self,
        group: &GroupId,
        topics: &[TopicId],
    ) -> Result<(), GroupRequestError> {
        self.check_no_queue(group)?;
        self.note_states(group, Vec::new(), topics.to_vec(), true)
            .await?;
        let Some(broker) = self.broker() else {
            return Ok(());
        };
        for topic in topics {
            broker.shares().delete_states(group, Some(*topic)).await?;
        }
        Ok(())
    }

    /// Whether a share group is there that has a state of a partition.
    pub(crate) async fn has_share_state(
        &self,
        group: &GroupId,
        of: SharePartitionRef,
    ) -> Result<bool, CoordinatorError> {
        let described = match self.describe_share(group.clone()).await {
            Ok(described) => described,
            Err(GroupRequestError::Refused(_)) => return Ok(false),
            Err(GroupRequestError::Coordinator(error)) => return Err(error),
        };
        let mut known = described.partitions.initialized.iter();
        Ok(known.any(|topic| topic.id == of.topic && topic.partitions.contains(&of.partition)))
    }

    /// What a share group knows of records goes before the group itself: were it the other way round, a later group of the
    /// same name could begin where this one stood.
    pub(super) async fn forget_share_states(
        &self,
        group: &GroupId,
    ) -> Result<(), GroupRequestError> {
        self.check_no_queue(group)?;
        let described = match self.describe_share(group.clone()).await {
            Ok(described) => described,
            // Of another kind, or none: that is for the group's own machine to say. Nothing is left of one that was there.
            Err(GroupRequestError::Refused(_)) => {
                if let Some(broker) = self.broker()
                    && let Ok(left) = broker.shares().partitions_of(group)
                    && !left.is_empty()
                {
                    broker.shares().delete_states(group, None).await?;
                }
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if described.state != GroupState::Empty {
            return Err(GroupError::GroupNotEmpty {
                group: group.clone(),
                state: described.state,
            }
            .into());
        }
        // First the list: a fetch makes states of what stands there.
        let topics = described.partitions.initialized.iter();
        let topics = topics.map(|topic| topic.id).collect();
        self.note_states(group, Vec::new(), topics, true).await?;
        if let Some(broker) = self.broker() {
            broker.shares().delete_states(group, None).await?;
        }
        Ok(())
    }

    /// The topic with this name, and how many partitions it has.
    pub fn share_topic(&self, name: &str) -> Option<(TopicId, i32)> {
        let name = fanlog_model::TopicName::new(name).ok()?;
        let broker = self.broker()?;
        let topics = broker.topics();
        let topic = topics.topic(&TopicRef::Name(name)).ok()?;
        Some((topic.id, i32::try_from(topic.partitions.len()).unwrap_or(0)))
    }
}
