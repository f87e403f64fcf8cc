//! ShareFetch, versions 1-2: records for a member of a share group, and acknowledgements on the way (KIP-932).
//!
//! Behaviour: whole batches, of which the member holds the ranges listed; a long poll until there are any, or
//! `min_bytes`. Acknowledgements are decided upon first and are durable when the answer goes. A session (epoch 0 opens,
//! each request counts on, -1 closes) keeps the partitions; after its first answer only those with news are listed.
//! Versions: 2 acquire modes (KIP-1206) and renewals of locks (KIP-1222): a request that renews fetches nothing.

use crate::context::ConnectionContext;
use crate::errors;
use crate::share_acks::{self, AckOutcome, Renewal};
use fanlog_broker::{
    FetchMemory, SessionKey, SessionPlan, ShareFetchError, ShareFetchPlan, ShareFetched,
    ShareFetchedRecords,
};
use fanlog_coordinators::share::AcquireMode;
use fanlog_model::{PartitionIndex, TopicId};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::share_fetch_response::{
    AcquiredRecords, PartitionData, ShareFetchableTopicResponse,
};
use fanlog_protocol::messages::{ShareFetchRequest, ShareFetchResponse};
use fanlog_protocol::wire::RecordBytes;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use uuid::Uuid;

type Place = (Uuid, i32);

/// An answer, and the share of the broker's memory that its records take up.
pub(crate) struct Shared {
    pub(crate) response: ShareFetchResponse<'static>,
    pub(crate) memory: Option<FetchMemory>,
}

impl Shared {
    fn refused(error: ErrorCode) -> Self {
        Self {
            response: ShareFetchResponse {
                error_code: error.code(),
                ..Default::default()
            },
            memory: None,
        }
    }
}

pub(crate) async fn handle(
    context: &ConnectionContext,
    request: ShareFetchRequest<'_>,
    version: i16,
) -> Shared {
    let (group, member) = (request.group_id.as_deref(), request.member_id.as_deref());
    let Some(session) = share_acks::session_key(group, member) else {
        return Shared::refused(ErrorCode::InvalidRequest);
    };
    let mode = match request.share_acquire_mode {
        0 => AcquireMode::WholeRanges,
        1 => AcquireMode::RecordLimit,
        _ => return Shared::refused(ErrorCode::UnknownServerError),
    };
    if !is_sound(&request) {
        return Shared::refused(ErrorCode::InvalidRequest);
    }
    let plan = match begin(context, &session, &request) {
        Ok(plan) => plan,
        Err(error) => return Shared::refused(error),
    };
    let acknowledging = acknowledge(context, &session, &request, version).await;
    let wants_records = !plan.is_closing && !request.is_renew_ack && request.max_records != 0;
    let fetched = match wants_records {
        true => Some(fetch(context, &session, &request, &plan, mode).await),
        false => None,
    };
    if plan.is_closing {
        share_acks::close(context, &session);
    }
    let acknowledged = share_acks::outcomes(acknowledging).await;
    answer(context, &session, &request, &plan, fetched, acknowledged)
}

/// A session is not opened with acknowledgements; and a renewal asks for no records.
fn is_sound(request: &ShareFetchRequest<'_>) -> bool {
    let mut partitions = request.topics.iter().flat_map(|topic| &topic.partitions);
    let acknowledges = partitions.any(|p| !p.acknowledgement_batches.is_empty());
    let limits = [
        request.max_bytes,
        request.min_bytes,
        request.max_records,
        request.max_wait_ms,
    ];
    let asks_for_records = limits.iter().any(|limit| *limit != 0);
    let opens_with_acks = request.share_session_epoch == 0 && acknowledges;
    let renews_and_asks = request.is_renew_ack && asks_for_records;
    !opens_with_acks && !renews_and_asks
}

fn begin(
    context: &ConnectionContext,
    session: &SessionKey,
    request: &ShareFetchRequest<'_>,
) -> Result<SessionPlan, ErrorCode> {
    let of = |topic: Uuid, partition: i32| (TopicId(topic), PartitionIndex(partition));
    let topics = request.topics.iter();
    let wanted = topics.flat_map(|topic| {
        let partitions = topic.partitions.iter();
        partitions.map(|p| of(topic.topic_id, p.partition_index))
    });
    let forgotten = request.forgotten_topics_data.iter();
    let forgotten = forgotten.flat_map(|topic| {
        let partitions = topic.partitions.iter();
        partitions.map(|p| of(topic.topic_id, *p))
    });
    let (wanted, forgotten): (Vec<_>, Vec<_>) = (wanted.collect(), forgotten.collect());
    let shares = context.broker().shares();
    let connection = context.share_connection();
    let epoch = request.share_session_epoch;
    let begun = shares.begin_fetch(session, epoch, connection, &wanted, &forgotten);
    begun.map_err(|error| errors::of_share_session(&error))
}

async fn acknowledge(
    context: &ConnectionContext,
    session: &SessionKey,
    request: &ShareFetchRequest<'_>,
    version: i16,
) -> Vec<share_acks::Acknowledging> {
    let renewal = Renewal {
        version,
        is_renew_ack: request.is_renew_ack,
    };
    let mut acknowledging = Vec::new();
    for topic in &request.topics {
        for partition in &topic.partitions {
            if partition.acknowledgement_batches.is_empty() {
                continue;
            }
            let place = (topic.topic_id, partition.partition_index);
            let ranges = partition.acknowledgement_batches.iter();
            let ranges = ranges.map(|b| (b.first_offset, b.last_offset, &*b.acknowledge_types));
            let one = share_acks::acknowledge(context, session, place, ranges, renewal);
            acknowledging.push(one.await);
        }
    }
    acknowledging
}

async fn fetch(
    context: &ConnectionContext,
    session: &SessionKey,
    request: &ShareFetchRequest<'_>,
    plan: &SessionPlan,
    mode: AcquireMode,
) -> Result<ShareFetched, ErrorCode> {
    let non_negative = |value: i32| usize::try_from(value).unwrap_or(0);
    let bytes_max = context.broker().settings().fetch_max_bytes as usize;
    let plan = ShareFetchPlan {
        group: session.group.clone(),
        member: session.member.clone(),
        partitions: plan.partitions.clone(),
        records_max: request.max_records.into(),
        batch_size: request.batch_size.into(),
        mode,
        bytes_min: non_negative(request.min_bytes),
        bytes_max: non_negative(request.max_bytes).min(bytes_max),
        wait_max: Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap_or(0)),
    };
    let fetched = context.broker().shares().fetch(plan).await;
    fetched.map_err(|error| errors::of_coordinator(&error))
}

fn answer(
    context: &ConnectionContext,
    session: &SessionKey,
    request: &ShareFetchRequest<'_>,
    plan: &SessionPlan,
    fetched: Option<Result<ShareFetched, ErrorCode>>,
    acknowledged: Vec<(Uuid, i32, AckOutcome)>,
) -> Shared {
    let lock = context.broker().share_lock(&session.group);
    let mut listed: BTreeMap<Place, PartitionData<'static>> = BTreeMap::new();
    for (topic, partition, outcome) in acknowledged {
        let data = listed
            .entry((topic, partition))
            .or_insert_with(|| none(partition));
        data.acknowledge_error_code = outcome.code;
        data.acknowledge_error_message = outcome.message.map(Cow::Owned);
    }
    let mut memory = None;
    let named = named(request);
    let wanted = plan
        .partitions
        .iter()
        .map(|(topic, index)| (topic.0, index.0));
    match fetched {
        None => {}
        Some(Ok(fetched)) => {
            memory = Some(fetched.memory);
            for (place, outcome) in wanted.zip(fetched.partitions) {
                let is_new = named.contains(&place);
                let has_news = outcome
                    .as_ref()
                    .map_or(true, |got| !got.acquired.is_empty());
                if is_new || has_news {
                    let data = listed.entry(place).or_insert_with(|| none(place.1));
                    fill(data, outcome);
                }
            }
        }
        Some(Err(error)) => {
            for place in wanted {
                let data = listed.entry(place).or_insert_with(|| none(place.1));
                data.error_code = error.code();
            }
        }
    }
    let mut response = ShareFetchResponse {
        acquisition_lock_timeout_ms: i32::try_from(lock.as_millis()).unwrap_or(i32::MAX),
        ..Default::default()
    };
    for ((topic, _), data) in listed {
        match response.responses.last_mut() {
            Some(last) if last.topic_id == topic => last.partitions.push(data),
            _ => response.responses.push(ShareFetchableTopicResponse {
                topic_id: topic,
                partitions: vec![data],
            }),
        }
    }
    Shared { response, memory }
}

/// The partitions that the request itself names.
fn named(request: &ShareFetchRequest<'_>) -> BTreeSet<Place> {
    let topics = request.topics.iter();
    let places = topics.flat_map(|topic| {
        let partitions = topic.partitions.iter();
        partitions.map(|p| (topic.topic_id, p.partition_index))
    });
    places.collect()
}

/// A partition without records; they are empty, never null (P7).
fn none(partition_index: i32) -> PartitionData<'static> {
    PartitionData {
        partition_index,
        records: Some(RecordBytes::Shared(Vec::new())),
        ..Default::default()
    }
}

fn fill(data: &mut PartitionData<'static>, outcome: Result<ShareFetchedRecords, ShareFetchError>) {
    match outcome {
        Ok(got) => {
            let acquired = got.acquired.iter().map(|range| AcquiredRecords {
                first_offset: range.first.0,
                last_offset: range.last.0,
                delivery_count: range.delivery_count,
            });
            data.acquired_records = acquired.collect();
            data.records = Some(RecordBytes::Shared(got.records));
        }
        Err(error) => {
            data.error_code = errors::of_share_fetch(&error).code();
            let is_lookup = matches!(error, ShareFetchError::Lookup(_));
            data.error_message = (!is_lookup).then(|| Cow::Owned(error.to_string()));
        }
    }
}
