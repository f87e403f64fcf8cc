//! Produce, versions 3-13: appends batches, and answers when they are as safe as the client asked for.
//!
//! Behaviour: `acks=-1` answers when the batches are durable, `acks=1` after the append, `acks=0` not at all (an
//! error then closes the connection). The append happens before the next frame is read, so that the batches of
//! one connection keep their order; waiting to be durable does not hold up the next Produce.
//! Versions: 5 log start offset; 7 zstd; 8 record errors; 9 flexible; 10 current leader; 12 transactions 2; 13 topic ids.
//! Announced from 0, refused below 3, as Kafka 4 does.
//! Not implemented: transactional batches (refused; see docs/not-implemented.md).

use crate::context::ConnectionContext;
use crate::decode_memory;
use crate::dispatch::{self, Answer, AnswerFuture, RequestLine};
use crate::errors::{self, Refusal};
use bytes::BytesMut;
use fanlog_broker::{AppendReceipt, TopicRef};
use fanlog_model::{PartitionIndex, TopicId, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::produce_response::{
    BatchIndexAndErrorMessage, PartitionProduceResponse, TopicProduceResponse,
};
use fanlog_protocol::messages::{ProduceRequest, ProduceResponse, RequestHeader};
use fanlog_protocol::records::{BatchView, Compression};
use fanlog_protocol::wire::{DecodeError, Reader};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

const ZSTD_SINCE: i16 = 7;
const TOPIC_IDS_SINCE: i16 = 13;
/// A batch that may stand for more is unpacked beside the threads that serve connections: handing the others over to another thread
/// costs more than to unpack so much.
const UNPACKED_BYTES_LONG: usize = 1024 * 1024;
/// The same for a compressed batch that doesn't tell what it stands for.
const COMPRESSED_BYTES_LONG: usize = 16 * 1024;

/// When a Produce is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Acks {
    None,
    Appended,
    Durable,
}

/// A Produce request taken out of its frame: where in the frame each partition's batches lie.
struct Plan {
    acks: Result<Acks, ErrorCode>,
    timeout: Duration,
    is_transactional: bool,
    topics: Vec<PlannedTopic>,
}

struct PlannedTopic {
    name: String,
    id: Uuid,
    partitions: Vec<(i32, Range<usize>)>,
}

struct AppendedTopic {
    name: String,
    id: Uuid,
    partitions: Vec<(i32, Result<AppendReceipt, Refusal>)>,
}

/// Appends at once, or in its turn where much may have to be unpacked; the future that it gives waits as `acks` says and encodes the answer.
pub(crate) async fn start(
    context: Arc<ConnectionContext>,
    line: RequestLine,
    mut frame: BytesMut,
) -> AnswerFuture {
    let plan = match plan(&frame, line) {
        Ok(plan) => plan,
        Err(error) => {
            let reason = format!("bad Produce version {}: {error}", line.version);
            return Box::pin(std::future::ready(Answer::Close(reason)));
        }
    };
    let Plan {
        acks,
        timeout,
        is_transactional,
        topics,
    } = plan;
    let refused = match (acks, is_transactional) {
        (Err(code), _) => Some(Refusal::of_code(code)),
        (Ok(_), true) => Some(Refusal::transactional()),
        (Ok(_), false) => None,
    };
    context.broker().room().await;
    let version = line.version;
    let may_take_long = topics.iter().any(|topic| topic.may_take_long(&frame));
    let append =
        |topic: PlannedTopic| append_topic(&context, topic, version, refused.as_ref(), &mut frame);
    let append_all = || topics.into_iter().map(append).collect();
    let appended: Vec<AppendedTopic> = if may_take_long {
        let turn = context.listener.unpacking.acquire().await;
        let _turn = turn.expect("this semaphore is never closed");
        beside_others(append_all)
    } else {
        append_all()
    };
    match acks {
        Ok(Acks::None) => Box::pin(std::future::ready(unacknowledged(&appended))),
        Ok(Acks::Durable) => Box::pin(acknowledge(context, line, appended, Some(timeout))),
        Ok(Acks::Appended) | Err(_) => Box::pin(acknowledge(context, line, appended, None)),
    }
}

fn plan(frame: &[u8], line: RequestLine) -> Result<Plan, DecodeError> {
    let share = decode_memory::share(line.api, frame.len());
    let mut reader = Reader::with_budget(frame, share);
    RequestHeader::decode(&mut reader, line.api.request_header_version(line.version))?;
    let request = ProduceRequest::decode(&mut reader, line.version)?;
    let position = |records: &[u8]| {
        let from = records.as_ptr().addr() - frame.as_ptr().addr();
        from..from + records.len()
    };
    let batches = request
        .topic_data
        .iter()
        .flat_map(|topic| &topic.partition_data);
    let mut batches = batches.filter_map(|p| p.records.as_ref()?.as_borrowed());
    let has_transactional = batches.any(is_transactional);
    let topics = request.topic_data.iter().map(|topic| PlannedTopic {
        name: topic.name.to_string(),
        id: topic.topic_id,
        partitions: topic
            .partition_data
            .iter()
            .map(|p| {
                let records = p
                    .records
                    .as_ref()
                    .and_then(|r| r.as_borrowed())
                    .unwrap_or_default();
                (
                    p.index,
                    if records.is_empty() {
                        0..0
                    } else {
                        position(records)
                    },
                )
            })
            .collect(),
    });
    Ok(Plan {
        acks: match request.acks {
            -1 => Ok(Acks::Durable),
            0 => Ok(Acks::None),
            1 => Ok(Acks::Appended),
            _ => Err(ErrorCode::InvalidRequiredAcks),
        },
        timeout: Duration::from_millis(u64::try_from(request.timeout_ms).unwrap_or(0)),
        is_transactional: request.transactional_id.is_some() || has_transactional,
        topics: topics.collect(),
    })
}

fn append_topic(
    context: &ConnectionContext,
    topic: PlannedTopic,
    version: i16,
    refused: Option<&Refusal>,
    frame: &mut [u8],
) -> AppendedTopic {
    let PlannedTopic {
        name,
        id,
        partitions,
    } = topic;
    let reference = match version >= TOPIC_IDS_SINCE {
        true => Ok(TopicRef::Id(TopicId(id))),
        false => TopicName::new(&name)
            .map(TopicRef::Name)
            .map_err(|e| Refusal::invalid_topic(&e)),
    };
    let mut append = |index: i32, batches: Range<usize>| {
        if let Some(refusal) = refused {
            return Err(refusal.clone());
        }
        if version < ZSTD_SINCE && is_zstd(&frame[batches.clone()]) {
            return Err(Refusal::old_zstd());
        }
        append_partition(
            context,
            reference.as_ref().map_err(Clone::clone)?,
            index,
            &mut frame[batches],
        )
    };
    let partitions = partitions
        .into_iter()
        .map(|(index, at)| (index, append(index, at)))
        .collect();
    AppendedTopic {
        name,
        id,
        partitions,
    }
}

impl PlannedTopic {
    /// Whether a batch may stand for so many bytes that the other connections should not wait for it.
    fn may_take_long(&self, frame: &[u8]) -> bool {
        self.partitions
            .iter()
            .filter_map(|(_, at)| BatchView::parse(&frame[at.clone()]).ok())
            .filter(|batch| batch.compression() != Compression::None)
            .any(|batch| {
                let records = batch.compressed_records();
                match batch.compression().decompressed_bytes_max(records) {
                    Some(max) => max > UNPACKED_BYTES_LONG,
                    None => batch.total_len() >= COMPRESSED_BYTES_LONG,
                }
            })
    }
}

/// Runs what may keep a thread for long, and lets another thread serve the other connections meanwhile.
fn beside_others<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        // There is no other thread.
        _ => work(),
    }
}

/// Whether the batch, if there is one, says that it belongs to a transaction.
fn is_transactional(batch: &[u8]) -> bool {
    BatchView::parse(batch).is_ok_and(|batch| batch.is_transactional())
}

/// Whether the batch (there is one) is compressed with zstd.
fn is_zstd(batches: &[u8]) -> bool {
    BatchView::parse(batches).is_ok_and(|batch| batch.compression() == Compression::Zstd)
}

fn append_partition(
    context: &ConnectionContext,
    topic: &TopicRef,
    index: i32,
    batches: &mut [u8],
) -> Result<AppendReceipt, Refusal> {
    let topics = context.broker().topics();
    let owner = topics.topic(topic).map_err(|e| Refusal::of_lookup(&e))?;
    if owner.is_internal {
        return Err(Refusal::internal_topic(&owner.name));
    }
    let partition = topics
        .partition(topic, PartitionIndex(index))
        .map_err(|e| Refusal::of_lookup(&e))?;
    partition.append(batches).map_err(|e| errors::of_append(&e))
}

/// `acks=0`: there is no answer to put an error in, so an error closes the connection, as in Kafka.
fn unacknowledged(appended: &[AppendedTopic]) -> Answer {
    let mut outcomes = appended.iter().flat_map(|topic| &topic.partitions);
    match outcomes
        .find_map(|(index, outcome)| outcome.as_ref().err().map(|refusal| (index, refusal)))
    {
        Some((index, refusal)) => Answer::Close(format!(
            "a Produce with acks=0 failed on partition {index}: {}",
            refusal.message.as_deref().unwrap_or(refusal.code.name())
        )),
        None => Answer::None,
    }
}

/// Waits until all is durable where a time-out is given, then answers.
async fn acknowledge(
    context: Arc<ConnectionContext>,
    line: RequestLine,
    appended: Vec<AppendedTopic>,
    wait: Option<Duration>,
) -> Answer {
    let deadline = wait.map(|wait| Instant::now() + wait);
    let mut responses = Vec::with_capacity(appended.len());
    for topic in appended {
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for (index, outcome) in topic.partitions {
            partitions.push(acknowledge_partition(index, outcome, deadline).await);
        }
        responses.push(TopicProduceResponse {
            name: Cow::Owned(topic.name),
            topic_id: topic.id,
            partition_responses: partitions,
        });
    }
    let response = ProduceResponse {
        responses,
        ..Default::default()
    };
    dispatch::count_errors(&context, line.api, &response);
    dispatch::reply(line, |out| response.encode(out, line.version))
}

async fn acknowledge_partition(
    index: i32,
    outcome: Result<AppendReceipt, Refusal>,
    deadline: Option<Instant>,
) -> PartitionProduceResponse<'static> {
    let receipt = match outcome {
        Ok(receipt) => receipt,
        Err(refusal) => return refused(index, refusal),
    };
    let response = PartitionProduceResponse {
        index,
        base_offset: receipt.first_offset().0,
        log_append_time_ms: receipt.log_append_time().map_or(-1, |time| time.0),
        log_start_offset: receipt.log_start_offset().0,
        ..Default::default()
    };
    let Some(deadline) = deadline else {
        return response;
    };
    match timeout_at(deadline, receipt.durable()).await {
        Ok(Ok(())) => response,
        Ok(Err(error)) => refused(index, Refusal::of_unavailable(&error)),
        Err(_) => refused(index, Refusal::of_code(ErrorCode::RequestTimedOut)),
    }
}

fn refused(index: i32, refusal: Refusal) -> PartitionProduceResponse<'static> {
    let record_error = |(batch_index, message): (i32, String)| BatchIndexAndErrorMessage {
        batch_index,
        batch_index_error_message: Some(Cow::Owned(message)),
    };
    PartitionProduceResponse {
        index,
        error_code: refusal.code.code(),
        base_offset: -1,
        log_append_time_ms: -1,
        log_start_offset: -1,
        record_errors: refusal
            .record_errors
            .into_iter()
            .map(record_error)
            .collect(),
        error_message: refusal.message.map(Cow::Owned),
        ..Default::default()
    }
}
