//! A consumer in a group: what it owns changes, and the application is told.
//!
//! Owns: the membership, and the positions of owned partitions.   Never: when to commit; that is the application's.
//! In -> out: `poll` -> one event: assigned, revoked, lost, or records. After `Revoked` the application may still commit; the next `poll`
//! joins again.

use super::membership::{self, LastPoll, Membership, Signal, partition_count, touch};
use super::offsets::{commit, fetch_committed};
use crate::cluster::Lane;
use crate::fetcher::{FetchConfig, Fetcher, OffsetReset, StartAt};
use crate::{ClientError, Cluster, ConsumedRecord};
use fanlog_model::{Offset, TopicPartition};
use fanlog_protocol::ErrorCode;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// How often the leader looks whether topics have grown.
const TOPICS_CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// How to be a member.
#[derive(Clone, Debug)]
pub struct GroupConfig {
    /// The group.
    pub group_id: String,
    /// What to read.
    pub topics: Vec<String>,
    /// A lasting name, which makes a static member.
    pub instance_id: Option<String>,
    /// After how long without heartbeats the group goes on without us.
    pub session_timeout: Duration,
    /// How often to send heartbeats: a third of the session at most.
    pub heartbeat_interval: Duration,
    /// After how long without a `poll` we leave.
    pub max_poll_interval: Duration,
    /// How records are fetched; `reset` says where to begin where nothing was committed.
    pub fetch: FetchConfig,
}

impl GroupConfig {
    /// A member with Kafka's usual times, who begins at the end.
    pub fn new(group_id: impl Into<String>, topics: Vec<String>) -> Self {
        let fetch = FetchConfig {
            reset: OffsetReset::Latest,
            ..FetchConfig::default()
        };
        Self {
            group_id: group_id.into(),
            topics,
            instance_id: None,
            session_timeout: Duration::from_secs(45),
            heartbeat_interval: Duration::from_secs(3),
            max_poll_interval: Duration::from_secs(300),
            fetch,
        }
    }

    pub(super) fn about(&self) -> String {
        format!("group '{}'", self.group_id)
    }
}

/// What `poll` brings.
#[derive(Clone, Debug)]
pub enum GroupEvent {
    /// These partitions, and no others, are ours from now on.
    Assigned(Vec<TopicPartition>),
    /// These are about to be given away: commit now what was done.
    Revoked(Vec<TopicPartition>),
    /// These were given away already: what was not committed will be done again by others.
    Lost(Vec<TopicPartition>, ClientError),
    /// Records of owned partitions.
    Records(Vec<ConsumedRecord>),
}

/// A member of a group.
#[derive(Debug)]
pub struct GroupConsumer {
    cluster: Cluster,
    config: GroupConfig,
    fetcher: Fetcher,
    member_id: String,
    membership: Option<Membership>,
    /// The application was told to commit; the next `poll` joins again.
    is_rejoining: bool,
    /// Another process took our instance id: to take it back would go to and fro without end.
    fenced: Option<ClientError>,
    last_poll: LastPoll,
    topics_checked: Instant,
}

impl GroupConsumer {
    /// A member-to-be over connections of its own; the first `poll` joins.
    pub fn new(cluster: &Cluster, config: GroupConfig) -> Self {
        let cluster = cluster.with_own_connections();
        let fetcher = Fetcher::new(&cluster, config.fetch.clone());
        Self {
            cluster,
            config,
            fetcher,
            member_id: String::new(),
            membership: None,
            is_rejoining: false,
            fenced: None,
            last_poll: Arc::new(Mutex::new(Instant::now())),
            topics_checked: Instant::now(),
        }
    }

    /// The partitions that we own.
    pub fn assignment(&self) -> &[TopicPartition] {
        self.membership.as_ref().map_or(&[], |one| &one.partitions)
    }

    /// The offset of the next record to be handed out, by partition.
    pub const fn positions(&self) -> &BTreeMap<TopicPartition, Offset> {
        self.fetcher.positions()
    }

    /// Goes on with an owned partition at this offset.
    pub fn seek(&mut self, partition: TopicPartition, offset: Offset) {
        if self.fetcher.positions().contains_key(&partition) {
            self.fetcher.seek(partition, offset);
        }
    }

    /// Waits for the next event, about `max_wait` at the longest once joined; none in that time gives `None`.
    ///
    /// # Errors
    /// When trouble lasts, or the group refuses us for good. The next call goes on.
    pub async fn poll(&mut self, max_wait: Duration) -> Result<Option<GroupEvent>, ClientError> {
        touch(&self.last_poll);
        if let Some(error) = &self.fenced {
            return Err(error.clone());
        }
        if self.membership.is_none() || self.is_rejoining {
            return self.join().await.map(Some);
        }
        if let Some(event) = self.take_signal() {
            return Ok(Some(event));
        }
        if self.have_topics_grown().await {
            return Ok(Some(self.revoke()));
        }
        let membership = self.membership.as_mut().expect("checked above");
        let signalled = membership.signal.changed();
        tokio::select! {
            // Whether it changed or the task ended, the signal tells.
            _ = signalled => Ok(self.take_signal()),
            records = self.fetcher.poll(max_wait) => {
                let records = records?;
                Ok((!records.is_empty()).then_some(GroupEvent::Records(records)))
            }
        }
    }

    async fn join(&mut self) -> Result<GroupEvent, ClientError> {
        self.fetcher.unassign_all();
        self.membership = None;
        self.is_rejoining = false;
        let (cluster, config) = (&self.cluster, &self.config);
        let joined =
            membership::join(cluster, config, &mut self.member_id, &self.last_poll).await?;
        self.start(&joined.partitions).await?;
        self.topics_checked = Instant::now();
        let partitions = joined.partitions.clone();
        self.membership = Some(joined);
        Ok(GroupEvent::Assigned(partitions))
    }

    /// Goes to the committed offsets, or where the rule says.
    async fn start(&mut self, partitions: &[TopicPartition]) -> Result<(), ClientError> {
        let group = &self.config.group_id;
        let committed = self.cluster.retrying(|| async {
            let connection = self.cluster.coordinator(group, Lane::Group).await?;
            fetch_committed(&connection, group, Some(partitions)).await
        });
        let committed = committed.await?;
        for partition in partitions {
            let start = match (committed.get(partition), self.config.fetch.reset) {
                (Some(committed), _) => StartAt::Offset(committed.offset),
                (None, OffsetReset::Earliest) => StartAt::Earliest,
                (None, OffsetReset::Latest) => StartAt::Latest,
                (None, OffsetReset::Fail) => {
                    return Err(ClientError::Invalid(format!(
                        "group '{group}' has committed no offset for {partition}, and no rule says where to begin"
                    )));
                }
            };
            self.fetcher.assign(partition.clone(), start).await?;
        }
        Ok(())
    }

    /// What heartbeats have told since the last look.
    fn take_signal(&mut self) -> Option<GroupEvent> {
        let signal = self.membership.as_mut()?.signal.borrow_and_update().clone();
        match signal {
            Signal::Stable => None,
            Signal::Rebalance => Some(self.revoke()),
            Signal::Lost(error) => {
                if error.code() == Some(ErrorCode::FencedInstanceId) {
                    self.fenced = Some(error.clone());
                }
                let event = GroupEvent::Lost(self.assignment().to_vec(), error);
                self.forget();
                Some(event)
            }
        }
    }

    /// Commits still go under this generation, and heartbeats go on, until the next `poll` joins again.
    fn revoke(&mut self) -> GroupEvent {
        let partitions = self.assignment().to_vec();
        self.is_rejoining = true;
        GroupEvent::Revoked(partitions)
    }

    fn forget(&mut self) {
        self.fetcher.unassign_all();
        self.membership = None;
        self.member_id.clear();
    }

    /// Whether a topic has partitions that the assignment which we made does not know.
    async fn have_topics_grown(&mut self) -> bool {
        if self.topics_checked.elapsed() < TOPICS_CHECK_INTERVAL {
            return false;
        }
        self.topics_checked = Instant::now();
        let counts = self.membership.as_ref().and_then(|one| one.counts.clone());
        for (topic, count) in counts.unwrap_or_default() {
            // When nobody answers now, the next look tells.
            if partition_count(&self.cluster, &topic)
                .await
                .is_ok_and(|now| now != count)
            {
                return true;
            }
        }
        false
    }

    /// Commits the positions: everything that `poll` has handed out counts as done.
    ///
    /// # Errors
    /// When the group has gone on without us: others will do it again.
    pub async fn commit(&self) -> Result<(), ClientError> {
        self.commit_offsets(self.positions()).await
    }

    /// Commits these offsets: of each partition, the next record to be done.
    ///
    /// # Errors
    /// When the group has gone on without us: others will do it again.
    pub async fn commit_offsets(
        &self,
        offsets: &BTreeMap<TopicPartition, Offset>,
    ) -> Result<(), ClientError> {
        if offsets.is_empty() {
            return Ok(());
        }
        let Some(membership) = &self.membership else {
            return Err(ClientError::Closed("membership"));
        };
        let group = &self.config.group_id;
        let commits = self.cluster.retrying(|| async {
            let connection = self.cluster.coordinator(group, Lane::Group).await?;
            commit(&connection, group, Some(&membership.member), offsets).await
        });
        commits.await
    }

    /// Leaves the group, so that others get our partitions at once. A static member stays, to come back.
    ///
    /// # Errors
    /// When the coordinator does not answer; the session then ends by itself.
    pub async fn close(mut self) -> Result<(), ClientError> {
        let Some(membership) = self.membership.take() else {
            return Ok(());
        };
        if self.config.instance_id.is_some() {
            return Ok(());
        }
        match membership::leave(&self.cluster, &self.config, &membership.member).await {
            // It is what we wanted.
            Err(error) if error.code() == Some(ErrorCode::UnknownMemberId) => Ok(()),
            left => left,
        }
    }
}
