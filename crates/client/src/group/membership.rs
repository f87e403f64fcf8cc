//! A member's part of the classic protocol: join, sync, heartbeat, leave.

use super::assignor::{self, Subscriber};
use super::consumer::GroupConfig;
use super::offsets::assigned_partitions;
use crate::cluster::Lane;
use crate::connection::Connection;
use crate::{ClientError, Cluster};
use fanlog_model::TopicPartition;
use fanlog_protocol::messages::consumer_protocol_assignment::{
    ConsumerProtocolAssignment, TopicPartition as AssignedTopic,
};
use fanlog_protocol::messages::consumer_protocol_subscription::ConsumerProtocolSubscription;
use fanlog_protocol::messages::heartbeat_request::HeartbeatRequest;
use fanlog_protocol::messages::join_group_request::{JoinGroupRequest, JoinGroupRequestProtocol};
use fanlog_protocol::messages::join_group_response::JoinGroupResponse;
use fanlog_protocol::messages::leave_group_request::{LeaveGroupRequest, MemberIdentity};
use fanlog_protocol::messages::sync_group_request::{SyncGroupRequest, SyncGroupRequestAssignment};
use fanlog_protocol::{ApiKey, ErrorCode};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

const PROTOCOL_TYPE: &str = "consumer";
const ASSIGNOR: &str = "range";
/// The version that subscriptions and assignments are written in: every Kafka client reads it.
const CONSUMER_PROTOCOL_VERSION: i16 = 1;
/// How much longer than the group may take a join is awaited.
const JOIN_GRACE: Duration = Duration::from_secs(10);

/// Who we are in the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) id: String,
    pub(crate) instance_id: Option<String>,
    pub(crate) generation: i32,
}

/// What heartbeats tell.
#[derive(Clone, Debug)]
pub(super) enum Signal {
    /// All is well.
    Stable,
    /// The group wants everybody to join again.
    Rebalance,
    /// The group goes on without us.
    Lost(ClientError),
}

/// A generation that we are part of. Heartbeats go out as long as it lives.
#[derive(Debug)]
pub(super) struct Membership {
    pub(super) member: Member,
    pub(super) partitions: Vec<TopicPartition>,
    /// The number of partitions by topic that the assignment was made with, where we made it.
    pub(super) counts: Option<BTreeMap<String, i32>>,
    pub(super) signal: watch::Receiver<Signal>,
    heartbeats: AbortHandle,
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.heartbeats.abort();
    }
}

/// When the application last asked for records.
pub(super) type LastPoll = Arc<Mutex<Instant>>;

pub(super) fn touch(last_poll: &LastPoll) {
    *last_poll.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
}

/// Joins, or joins again under `member_id`, and starts heartbeats.
pub(super) async fn join(
    cluster: &Cluster,
    config: &GroupConfig,
    member_id: &mut String,
    last_poll: &LastPoll,
) -> Result<Membership, ClientError> {
    let mut backoff = cluster.backoff();
    loop {
        let error = match join_once(cluster, config, member_id).await {
            Ok((member, partitions, counts)) => {
                return Ok(started(
                    cluster, config, member, partitions, counts, last_poll,
                ));
            }
            Err(error) => error,
        };
        match error.code() {
            // The id that came with it is to be used from now on.
            Some(ErrorCode::MemberIdRequired) => continue,
            Some(ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration) => member_id.clear(),
            Some(ErrorCode::RebalanceInProgress) => {}
            _ if error.is_retriable() => {}
            _ => return Err(error),
        }
        backoff.wait_or(error).await?;
    }
}

type Joined = (Member, Vec<TopicPartition>, Option<BTreeMap<String, i32>>);

async fn join_once(
    cluster: &Cluster,
    config: &GroupConfig,
    member_id: &mut String,
) -> Result<Joined, ClientError> {
    let connection = cluster.coordinator(&config.group_id, Lane::Group).await?;
    let subscription = ConsumerProtocolSubscription {
        topics: config
            .topics
            .iter()
            .map(|topic| Cow::Borrowed(topic.as_str()))
            .collect(),
        ..ConsumerProtocolSubscription::default()
    };
    let metadata = subscription.encode_with_version_prefix(CONSUMER_PROTOCOL_VERSION);
    let metadata = metadata.map_err(|reason| encode_error(&connection, reason))?;
    let request = JoinGroupRequest {
        group_id: Cow::Borrowed(&config.group_id),
        session_timeout_ms: millis(config.session_timeout),
        rebalance_timeout_ms: millis(config.max_poll_interval),
        member_id: Cow::Owned(member_id.clone()),
        group_instance_id: config.instance_id.as_deref().map(Cow::Borrowed),
        protocol_type: Cow::Borrowed(PROTOCOL_TYPE),
        protocols: vec![JoinGroupRequestProtocol {
            name: Cow::Borrowed(ASSIGNOR),
            metadata: Cow::Owned(metadata),
        }],
        reason: None,
    };
    let timeout = config.max_poll_interval + JOIN_GRACE;
    let reply = connection.call_within(&request, timeout).await?;
    let answer = reply.read()?;
    if !answer.member_id.is_empty() {
        *member_id = answer.member_id.to_string();
    }
    connection.check(ApiKey::JoinGroup, &config.about(), answer.error_code, None)?;
    let member = Member {
        id: member_id.clone(),
        instance_id: config.instance_id.clone(),
        generation: answer.generation_id,
    };
    let (assignments, counts) = if answer.leader == answer.member_id && !answer.skip_assignment {
        let (assignments, counts) = assign(cluster, &connection, &answer).await?;
        (assignments, Some(counts))
    } else {
        (Vec::new(), None)
    };
    let partitions = sync(&connection, config, &member, assignments).await?;
    Ok((member, partitions, counts))
}

type Assigned = (
    Vec<SyncGroupRequestAssignment<'static>>,
    BTreeMap<String, i32>,
);

/// The leader's part: gives every partition of every topic to one member.
async fn assign(
    cluster: &Cluster,
    connection: &Connection,
    answer: &JoinGroupResponse<'_>,
) -> Result<Assigned, ClientError> {
    let mut subscribers = Vec::with_capacity(answer.members.len());
    let mut counts = BTreeMap::new();
    for member in &answer.members {
        let subscription =
            ConsumerProtocolSubscription::decode_with_version_prefix(&member.metadata);
        let subscription = subscription.map_err(|reason| ClientError::Decode {
            broker: connection.broker().to_owned(),
            api: ApiKey::JoinGroup,
            reason,
        })?;
        let topics: Vec<_> = subscription
            .topics
            .iter()
            .map(|topic| topic.to_string())
            .collect();
        for topic in &topics {
            if !counts.contains_key(topic) {
                counts.insert(topic.clone(), partition_count(cluster, topic).await?);
            }
        }
        let instance_id = member.group_instance_id.as_deref();
        subscribers.push(Subscriber::new(&member.member_id, instance_id, topics));
    }
    let mut assignments = Vec::with_capacity(subscribers.len());
    for (member_id, topics) in assignor::range(subscribers, &counts) {
        let topics = topics.into_iter().map(|(topic, partitions)| AssignedTopic {
            topic: Cow::Owned(topic),
            partitions,
        });
        let assignment = ConsumerProtocolAssignment {
            assigned_partitions: topics.collect(),
            user_data: None,
        };
        let bytes = assignment.encode_with_version_prefix(CONSUMER_PROTOCOL_VERSION);
        assignments.push(SyncGroupRequestAssignment {
            member_id: Cow::Owned(member_id),
            assignment: Cow::Owned(bytes.map_err(|reason| encode_error(connection, reason))?),
        });
    }
    Ok((assignments, counts))
}

/// How many partitions a topic has; none while it does not exist.
pub(super) async fn partition_count(cluster: &Cluster, topic: &str) -> Result<i32, ClientError> {
    match cluster.topic(topic).await {
        Err(error) if error.code() == Some(ErrorCode::UnknownTopicOrPartition) => Ok(0),
        view => Ok(i32::try_from(view?.partitions.len()).unwrap_or(i32::MAX)),
    }
}

async fn sync(
    connection: &Connection,
    config: &GroupConfig,
    member: &Member,
    assignments: Vec<SyncGroupRequestAssignment<'_>>,
) -> Result<Vec<TopicPartition>, ClientError> {
    let request = SyncGroupRequest {
        group_id: Cow::Borrowed(&config.group_id),
        generation_id: member.generation,
        member_id: Cow::Borrowed(&member.id),
        group_instance_id: member.instance_id.as_deref().map(Cow::Borrowed),
        protocol_type: Some(Cow::Borrowed(PROTOCOL_TYPE)),
        protocol_name: Some(Cow::Borrowed(ASSIGNOR)),
        assignments,
    };
    let timeout = config.max_poll_interval + JOIN_GRACE;
    let reply = connection.call_within(&request, timeout).await?;
    let answer = reply.read()?;
    connection.check(ApiKey::SyncGroup, &config.about(), answer.error_code, None)?;
    if answer.assignment.is_empty() {
        return Ok(Vec::new());
    }
    let assignment = ConsumerProtocolAssignment::decode_with_version_prefix(&answer.assignment);
    let assignment = assignment.map_err(|reason| ClientError::Decode {
        broker: connection.broker().to_owned(),
        api: ApiKey::SyncGroup,
        reason,
    })?;
    assigned_partitions(&assignment)
}

fn started(
    cluster: &Cluster,
    config: &GroupConfig,
    member: Member,
    partitions: Vec<TopicPartition>,
    counts: Option<BTreeMap<String, i32>>,
    last_poll: &LastPoll,
) -> Membership {
    touch(last_poll);
    let (sender, signal) = watch::channel(Signal::Stable);
    let heartbeats = Heartbeats {
        cluster: cluster.clone(),
        config: config.clone(),
        member: member.clone(),
        last_poll: Arc::clone(last_poll),
        signal: sender,
    };
    Membership {
        member,
        partitions,
        counts,
        signal,
        heartbeats: tokio::spawn(heartbeats.run()).abort_handle(),
    }
}

/// Tells the coordinator that we live, as long as the application does.
struct Heartbeats {
    cluster: Cluster,
    config: GroupConfig,
    member: Member,
    last_poll: LastPoll,
    signal: watch::Sender<Signal>,
}

impl Heartbeats {
    async fn run(self) {
        loop {
            tokio::time::sleep(self.config.heartbeat_interval).await;
            if let Err(error) = self.check_application().await {
                return self.send(Signal::Lost(error));
            }
            match self.beat().await {
                Ok(()) => {}
                Err(error) => match error.code() {
                    Some(ErrorCode::RebalanceInProgress) => self.send(Signal::Rebalance),
                    Some(
                        ErrorCode::UnknownMemberId
                        | ErrorCode::IllegalGeneration
                        | ErrorCode::FencedInstanceId,
                    ) => return self.send(Signal::Lost(error)),
                    // The session runs on at the coordinator: it says when it is over.
                    _ => tracing::debug!(%error, "a heartbeat failed"),
                },
            }
        }
    }

    fn send(&self, signal: Signal) {
        // Nobody listens when the membership has just been dropped.
        let _ = self.signal.send(signal);
    }

    /// A member that does not ask for records any more leaves its partitions to others.
    async fn check_application(&self) -> Result<(), ClientError> {
        let last_poll = *self
            .last_poll
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let silent = last_poll.elapsed();
        if silent <= self.config.max_poll_interval {
            return Ok(());
        }
        // It is leaving in any case: the session ends by itself where this fails.
        let _ = leave(&self.cluster, &self.config, &self.member).await;
        let (silent, allowed) = (
            silent.as_millis(),
            self.config.max_poll_interval.as_millis(),
        );
        Err(ClientError::Invalid(format!(
            "records were not asked for during {silent} ms, longer than max.poll.interval.ms ({allowed}): left group '{}'",
            self.config.group_id
        )))
    }

    async fn beat(&self) -> Result<(), ClientError> {
        let group = &self.config.group_id;
        let connection = self.cluster.coordinator(group, Lane::Group).await?;
        let request = HeartbeatRequest {
            group_id: Cow::Borrowed(group),
            generation_id: self.member.generation,
            member_id: Cow::Borrowed(&self.member.id),
            group_instance_id: self.member.instance_id.as_deref().map(Cow::Borrowed),
        };
        let reply = connection
            .call_within(&request, self.config.session_timeout)
            .await?;
        let answer = reply.read()?;
        connection.check(
            ApiKey::Heartbeat,
            &self.config.about(),
            answer.error_code,
            None,
        )
    }
}

/// Leaves the group, so that others get our partitions at once.
pub(super) async fn leave(
    cluster: &Cluster,
    config: &GroupConfig,
    member: &Member,
) -> Result<(), ClientError> {
    let connection = cluster.coordinator(&config.group_id, Lane::Group).await?;
    // From version 3 several members can leave at once, before it is one by its id.
    let request = if connection.version(ApiKey::LeaveGroup)? >= 3 {
        LeaveGroupRequest {
            group_id: Cow::Borrowed(&config.group_id),
            members: vec![MemberIdentity {
                member_id: Cow::Borrowed(&member.id),
                group_instance_id: member.instance_id.as_deref().map(Cow::Borrowed),
                ..MemberIdentity::default()
            }],
            ..LeaveGroupRequest::default()
        }
    } else {
        LeaveGroupRequest {
            group_id: Cow::Borrowed(&config.group_id),
            member_id: Cow::Borrowed(&member.id),
            ..LeaveGroupRequest::default()
        }
    };
    let reply = connection.call(&request).await?;
    let answer = reply.read()?;
    connection.check(ApiKey::LeaveGroup, &config.about(), answer.error_code, None)?;
    for one in &answer.members {
        connection.check(ApiKey::LeaveGroup, &config.about(), one.error_code, None)?;
    }
    Ok(())
}

fn millis(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX)
}

fn encode_error(
    connection: &Connection,
    reason: fanlog_protocol::wire::EncodeError,
) -> ClientError {
    ClientError::Encode {
        broker: connection.broker().to_owned(),
        api: ApiKey::JoinGroup,
        reason,
    }
}
