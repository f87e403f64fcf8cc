//! Fetch, versions 4-18: records from many partitions, waiting for them if need be.
//!
//! Behaviour: a long poll until `min_bytes` are there, at most `max_wait_ms`; whole batches, the first of them at
//! any size (KIP-74); fetch sessions (KIP-227). Partitions without records answer zero bytes, never null.
//! Versions: 5 log start offset; 7 sessions; 9 leader epochs; 11 rack; 12 flexible, diverging epochs; 13 topic ids;
//! 15 replica state; 16 node endpoints; 17 directory ids; 18 the replica's high watermark.
//! Not implemented: fetching as a replica (refused), reading from a follower (there is none), tiered storage.

use crate::context::ConnectionContext;
use crate::errors;
use crate::fetch_sessions::{
    Found, PartitionKey, SESSION_NONE, SessionError, SessionPlan, SessionRequest, TopicKey, Wanted,
};
use fanlog_broker::{
    FetchError, FetchMemory, FetchPartition, FetchRequestPlan, FetchResult, FetchedRecords,
    FileSlice, Isolation, LookupError, TopicRef,
};
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TopicId, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::fetch_response::{
    AbortedTransaction, EpochEndOffset, FetchableTopicResponse, LeaderIdAndEpoch, PartitionData,
};
use fanlog_protocol::messages::{FetchRequest, FetchResponse};
use fanlog_protocol::wire::RecordBytes;
use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// An answer may say who leads from this version on.
const CURRENT_LEADER_SINCE: i16 = 12;
/// Topics are named by their ids from this version on.
const TOPIC_IDS_SINCE: i16 = 13;
/// `isolation_level` of a consumer that sees committed transactions only.
const READ_COMMITTED: i8 = 1;

type Outcome = Result<FetchedRecords, ErrorCode>;

/// An answer, and what it consists of beside its own bytes.
pub(crate) struct Fetched {
    pub(crate) response: FetchResponse<'static>,
    /// The records that are sent from their files, in the answer's order.
    pub(crate) files: Vec<FileSlice>,
    /// The share of the broker's memory that the other records take up.
    pub(crate) memory: Option<FetchMemory>,
}

impl Fetched {
    fn without_records(response: FetchResponse<'static>) -> Self {
        Self {
            response,
            files: Vec::new(),
            memory: None,
        }
    }
}

pub(crate) async fn handle(
    context: &ConnectionContext,
    request: FetchRequest<'_>,
    version: i16,
) -> Fetched {
    if request.replica_id.max(request.replica_state.replica_id) >= 0 {
        return Fetched::without_records(refused_replica(&request));
    }
    let session = session_request(context, &request, version >= TOPIC_IDS_SINCE);
    let plan = match context.listener.fetch_sessions.lock().begin(session) {
        Ok(plan) => plan,
        Err(error) => return Fetched::without_records(refused(session_error(error))),
    };
    let (outcomes, memory) = fetch(context, &request, &plan).await;
    let told = context
        .listener
        .fetch_sessions
        .lock()
        .retain_news(&plan, outcomes, summary);
    let mut files = Vec::new();
    let response = FetchResponse {
        session_id: plan.session_id,
        responses: by_topic(context, told, &request, version, &mut files),
        ..Default::default()
    };
    Fetched {
        response,
        files,
        memory: Some(memory),
    }
}

fn refused(error: ErrorCode) -> FetchResponse<'static> {
    FetchResponse {
        error_code: error.code(),
        ..Default::default()
    }
}

/// Said of each partition too: before version 7 there is no error on top, and no error would mean no records.
fn refused_replica(request: &FetchRequest<'_>) -> FetchResponse<'static> {
    let error = ErrorCode::ClusterAuthorizationFailed;
    let responses = request.topics.iter().map(|topic| FetchableTopicResponse {
        topic: Cow::Owned(topic.topic.to_string()),
        topic_id: topic.topic_id,
        partitions: topic
            .partitions
            .iter()
            .map(|wanted| partition_error(wanted.partition, error, LeaderIdAndEpoch::default()))
            .collect(),
    });
    FetchResponse {
        responses: responses.collect(),
        ..refused(error)
    }
}

fn session_error(error: SessionError) -> ErrorCode {
    match error {
        SessionError::NotFound(_) => ErrorCode::FetchSessionIdNotFound,
        SessionError::Epoch { .. } => ErrorCode::InvalidFetchSessionEpoch,
        SessionError::TopicNaming(_) => ErrorCode::FetchSessionTopicIdError,
    }
}

fn session_request(
    context: &ConnectionContext,
    request: &FetchRequest<'_>,
    uses_topic_ids: bool,
) -> SessionRequest {
    let topics = context.broker().topics();
    let key = |name: &Cow<'_, str>, id: uuid::Uuid| match uses_topic_ids {
        true => TopicKey::Id(id),
        false => TopicKey::Name(name.as_ref().into()),
    };
    let wanted = request.topics.iter().flat_map(|topic| {
        let topic_key = key(&topic.topic, topic.topic_id);
        topic.partitions.iter().map(move |p| {
            let wanted = Wanted {
                fetch_offset: p.fetch_offset,
                max_bytes: p.partition_max_bytes,
                current_leader_epoch: p.current_leader_epoch,
                last_fetched_epoch: p.last_fetched_epoch,
            };
            (
                PartitionKey {
                    topic: topic_key.clone(),
                    partition: p.partition,
                },
                wanted,
            )
        })
    });
    let forgotten = request.forgotten_topics_data.iter().flat_map(|topic| {
        let topic_key = key(&topic.topic, topic.topic_id);
        topic.partitions.iter().map(move |p| PartitionKey {
            topic: topic_key.clone(),
            partition: *p,
        })
    });
    let name_of = |id| {
        topics
            .by_id(TopicId(id))
            .map(|topic| (id, topic.name.clone()))
    };
    let mut draw = [0; 4];
    context.broker().environment().entropy.fill(&mut draw);
    SessionRequest {
        session_id: request.session_id,
        epoch: request.session_epoch,
        uses_topic_ids,
        partitions: wanted.collect(),
        forgotten: forgotten.collect(),
        names: request
            .topics
            .iter()
            .filter_map(|topic| name_of(topic.topic_id))
            .collect(),
        draw: u32::from_be_bytes(draw),
        now: context.broker().environment().clock.monotonic(),
    }
}

/// Reads every partition of the plan. A name that no topic can have is as unknown as one that none has.
async fn fetch(
    context: &ConnectionContext,
    request: &FetchRequest<'_>,
    plan: &SessionPlan,
) -> (Vec<(PartitionKey, Outcome)>, FetchMemory) {
    let legal: Vec<Option<FetchPartition>> = plan.partitions.iter().map(fetch_partition).collect();
    let has_illegal = legal.iter().any(Option::is_none);
    let non_negative = |value: i32| usize::try_from(value).unwrap_or(0);
    let bytes_max = context.broker().settings().fetch_max_bytes as usize;
    let FetchResult { partitions, memory } = context
        .broker()
        .fetch(FetchRequestPlan {
            partitions: legal.iter().flatten().cloned().collect(),
            // An error is told at once.
            bytes_min: if has_illegal {
                0
            } else {
                non_negative(request.min_bytes)
            },
            bytes_max: non_negative(request.max_bytes).min(bytes_max),
            wait_max: Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap_or(0)),
            isolation: match request.isolation_level {
                READ_COMMITTED => Isolation::ReadCommitted,
                _ => Isolation::ReadUncommitted,
            },
            first: match plan.session_id {
                // A session has its own turns.
                SESSION_NONE => context.fetches.fetch_add(1, Ordering::Relaxed),
                _ => 0,
            },
            sent_from_file_min: context.listener.config.sent_from_file_min,
        })
        .await;
    let mut results = partitions.into_iter();
    let outcome = |(key, legal): (&PartitionKey, Option<FetchPartition>)| {
        let outcome = match legal {
            None => Err(ErrorCode::UnknownTopicOrPartition),
            Some(_) => results
                .next()
                .expect("a fetch answers every partition of its plan")
                .map_err(|error| code_of(context, plan, &error)),
        };
        (key.clone(), outcome)
    };
    let outcomes = plan
        .partitions
        .iter()
        .map(|(key, _)| key)
        .zip(legal)
        .map(outcome)
        .collect();
    (outcomes, memory)
}

fn fetch_partition((key, wanted): &(PartitionKey, Wanted)) -> Option<FetchPartition> {
    let topic = match &key.topic {
        TopicKey::Name(name) => TopicRef::Name(TopicName::new(name).ok()?),
        TopicKey::Id(id) => TopicRef::Id(TopicId(*id)),
    };
    let epoch = wanted.current_leader_epoch;
    let last_epoch = wanted.last_fetched_epoch;
    Some(FetchPartition {
        topic,
        partition: PartitionIndex(key.partition),
        offset: Offset(wanted.fetch_offset),
        bytes_max: usize::try_from(wanted.max_bytes).unwrap_or(0),
        leader_epoch: (epoch >= 0).then_some(LeaderEpoch(epoch)),
        last_fetched_epoch: (last_epoch >= 0).then_some(LeaderEpoch(last_epoch)),
    })
}

/// A topic that was deleted and created again is told from one that is only gone, where a session remembers it.
fn code_of(context: &ConnectionContext, plan: &SessionPlan, error: &FetchError) -> ErrorCode {
    if let FetchError::Lookup(LookupError::UnknownTopicId(id)) = error {
        let sessions = context.listener.fetch_sessions.lock();
        let name = sessions.name_of(plan.session_id, id.0);
        if plan.is_incremental
            && name.is_some_and(|n| context.broker().topics().by_name(n).is_some())
        {
            return ErrorCode::InconsistentTopicId;
        }
    }
    errors::of_fetch(error)
}

fn summary(outcome: &Outcome) -> Found {
    match outcome {
        Ok(records) => Found {
            has_records: records.bytes() > 0,
            has_error: false,
            is_diverging: records.diverging.is_some(),
            high_watermark: records.high_watermark.0,
            log_start_offset: records.log_start_offset.0,
        },
        Err(_) => Found {
            has_records: false,
            has_error: true,
            is_diverging: false,
            high_watermark: -1,
            log_start_offset: -1,
        },
    }
}

/// Groups neighbours of one topic, keeping the order in which they were read.
fn by_topic(
    context: &ConnectionContext,
    told: Vec<(PartitionKey, Outcome)>,
    request: &FetchRequest<'_>,
    version: i16,
    files: &mut Vec<FileSlice>,
) -> Vec<FetchableTopicResponse<'static>> {
    let mut topics: Vec<FetchableTopicResponse<'static>> = Vec::new();
    let mut last: Option<TopicKey> = None;
    for (key, outcome) in told {
        if last.as_ref() != Some(&key.topic) {
            let (topic, topic_id) = match &key.topic {
                TopicKey::Name(name) => (Cow::Owned(name.to_string()), uuid::Uuid::nil()),
                TopicKey::Id(id) => (Cow::Borrowed(""), *id),
            };
            topics.push(FetchableTopicResponse {
                topic,
                topic_id,
                ..Default::default()
            });
            last = Some(key.topic.clone());
        }
        let data = match outcome {
            Ok(records) => partition_data(key.partition, records, request.isolation_level, files),
            Err(error) => {
                let leader = current_leader(context, error, version);
                partition_error(key.partition, error, leader)
            }
        };
        topics
            .last_mut()
            .expect("pushed above")
            .partitions
            .push(data);
    }
    topics
}

fn partition_data(
    partition_index: i32,
    records: FetchedRecords,
    isolation_level: i8,
    files: &mut Vec<FileSlice>,
) -> PartitionData<'static> {
    let aborted = |a: &fanlog_broker::AbortedTransaction| AbortedTransaction {
        producer_id: a.producer_id.0,
        first_offset: a.first_offset.0,
    };
    let diverging = records.diverging.map(|d| EpochEndOffset {
        epoch: d.epoch.0,
        end_offset: d.end_offset.0,
    });
    let record_bytes = match records.in_files.is_empty() {
        true => RecordBytes::Shared(records.records),
        false => {
            let length = records.in_files.iter().map(|slice| slice.length).sum();
            files.extend(records.in_files);
            RecordBytes::Apart(length)
        }
    };
    PartitionData {
        partition_index,
        diverging_epoch: diverging.unwrap_or_default(),
        high_watermark: records.high_watermark.0,
        last_stable_offset: records.last_stable_offset.0,
        log_start_offset: records.log_start_offset.0,
        aborted_transactions: (isolation_level == READ_COMMITTED)
            .then(|| records.aborted_transactions.iter().map(aborted).collect()),
        records: Some(record_bytes),
        ..Default::default()
    }
}

/// Who leads now, for a client that believes in an earlier epoch; older versions have no place for it.
fn current_leader(context: &ConnectionContext, error: ErrorCode, version: i16) -> LeaderIdAndEpoch {
    if error != ErrorCode::FencedLeaderEpoch || version < CURRENT_LEADER_SINCE {
        return LeaderIdAndEpoch::default();
    }
    LeaderIdAndEpoch {
        leader_id: context.broker().node_id().0,
        leader_epoch: context.broker().leader_epoch().0,
    }
}

fn partition_error(
    partition_index: i32,
    error: ErrorCode,
    current_leader: LeaderIdAndEpoch,
) -> PartitionData<'static> {
    PartitionData {
        partition_index,
        error_code: error.code(),
        high_watermark: -1,
        current_leader,
        aborted_transactions: None,
        records: Some(RecordBytes::Shared(Vec::new())),
        ..Default::default()
    }
}
