//! Produce, versions 3-13: appends batches, and answers when they are as safe as the client asked for.
//!
//! Behaviour: `acks=-1` answers when the batches are durable, `acks=1` after the append, `acks=0` not at all (an
//! error then closes the connection). The append happens before the next frame is read, so that the batches of
//! one connection keep their order; waiting to be durable does not hold up the next Produce.
//! Versions: 5 log start offset; 7 zstd; 8 record errors; 9 flexible; 10 current leader; 12 transactions 2; 13 topic ids.
//! Announced from 0, refused below 3, as Kafka 4 does.
//! A batch of a transaction is appended once its transaction durably knows of the partition: from version 12 on the partition becomes
//! part of it by this request, before the producer has added it.

use crate::context::ConnectionContext;
use crate::decode_memory;
use crate::dispatch::{self, Answer, AnswerFuture, RequestLine};
use crate::errors::{self, Refusal};
use bytes::BytesMut;
use fanlog_broker::{AppendReceipt, Partition, Topic, TopicRef, TopicsView};
use fanlog_coordinators::transaction::{ClientVersion, Producer, TransactionalId};
use fanlog_model::{Offset, PartitionIndex, TopicId, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::produce_response::{
    BatchIndexAndErrorMessage, PartitionProduceResponse, TopicProduceResponse,
};
use fanlog_protocol::messages::{ProduceRequest, ProduceResponse, RequestHeader};
use fanlog_protocol::records::{BatchView, Compression};
use fanlog_protocol::wire::{DecodeError, Reader};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

const ZSTD_SINCE: i16 = 7;
const SECOND_GENERATION_SINCE: i16 = 12;
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
    transaction: Transaction,
    topics: Vec<PlannedTopic>,
}

struct PlannedTopic {
    name: String,
    id: Uuid,
    partitions: Vec<(i32, Range<usize>)>,
}

/// What a request has to do with a transaction.
enum Transaction {
    None,
    /// A batch says that it belongs to one, and the request does not say to which.
    Nameless,
    Named(TransactionalId),
}

/// What a partition's batch may do, where it belongs to a transaction: by topic and partition as the request has them.
type Leaves = HashMap<(usize, usize), Result<Option<Offset>, Refusal>>;

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
        transaction,
        topics,
    } = plan;
    let refused = match (acks, &transaction) {
        (Err(code), _) => Some(Refusal::of_code(code)),
        (Ok(_), Transaction::Nameless) => Some(Refusal::no_transactional_id()),
        (Ok(_), Transaction::None | Transaction::Named(_)) => None,
    };
    context.broker().room().await;
    let version = line.version;
    let leaves = match (&refused, &transaction) {
        (None, Transaction::Named(id)) => ask_leave(&context, id, &topics, version, &frame).await,
        _ => Leaves::new(),
    };
    let may_take_long = topics.iter().any(|topic| topic.may_take_long(&frame));
    let permits = |number| Permits {
        refused: refused.as_ref(),
        leaves: &leaves,
        topic: number,
    };
    let topics = topics.into_iter().enumerate();
    let appended: Vec<AppendedTopic> = if context.broker().remembers_ids() {
        let mut appended = Vec::new();
        for (number, topic) in topics {
            let permits = permits(number);
            let append =
                append_topic_by_ids(&context, topic, version, &permits, &mut frame, timeout);
            appended.push(append.await);
        }
        appended
    } else {
        let append =
            |(number, topic)| append_topic(&context, topic, version, &permits(number), &mut frame);
        let append_all = || topics.map(append).collect();
        in_turn(&context, may_take_long, append_all).await
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
        transaction: match (&request.transactional_id, has_transactional) {
            (_, false) => Transaction::None,
            (None, true) => Transaction::Nameless,
            (Some(id), true) => Transaction::Named(TransactionalId::from(&**id)),
        },
        topics: topics.collect(),
    })
}

fn append_topic(
    context: &ConnectionContext,
    topic: PlannedTopic,
    version: i16,
    permits: &Permits<'_>,
    frame: &mut [u8],
) -> AppendedTopic {
    let reference = topic.reference(version);
    let mut append = |number: usize, index: i32, batches: Range<usize>| {
        let (partition, allowed_at) = place(
            context,
            &reference,
            index,
            version,
            permits.of(number),
            &frame[batches.clone()],
        )?;
        let batches = &mut frame[batches];
        let appended = match allowed_at {
            None => partition.append(batches),
            Some(at) => partition.append_allowed(batches, at),
        };
        appended.map_err(|e| errors::of_append(&e))
    };
    let partitions = topic
        .partitions
        .into_iter()
        .enumerate()
        .map(|(number, (index, at))| (index, append(number, index, at)))
        .collect();
    AppendedTopic {
        name: topic.name,
        id: topic.id,
        partitions,
    }
}

/// As `append_topic`, where topics may remember message ids: then the batches of one partition after the other wait until it is decided
/// what is new of them, no longer than `timeout` and some seconds. What waits holds no ids: no two requests wait for each other.
async fn append_topic_by_ids(
    context: &ConnectionContext,
    topic: PlannedTopic,
    version: i16,
    permits: &Permits<'_>,
    frame: &mut [u8],
    timeout: Duration,
) -> AppendedTopic {
    let reference = topic.reference(version);
    let mut partitions = Vec::with_capacity(topic.partitions.len());
    for (number, (index, at)) in topic.partitions.into_iter().enumerate() {
        let leave = permits.of(number);
        let found = place(
            context,
            &reference,
            index,
            version,
            leave,
            &frame[at.clone()],
        );
        let outcome = match found {
            Ok((partition, allowed_at)) => {
                append_by_ids(context, &partition, &mut frame[at], allowed_at, timeout).await
            }
            Err(refusal) => Err(refusal),
        };
        partitions.push((index, outcome));
    }
    AppendedTopic {
        name: topic.name,
        id: topic.id,
        partitions,
    }
}

async fn append_by_ids(
    context: &ConnectionContext,
    partition: &Arc<Partition>,
    batches: &mut [u8],
    allowed_at: Option<Offset>,
    timeout: Duration,
) -> Result<AppendReceipt, Refusal> {
    if !partition.remembers_ids() {
        let appended = match allowed_at {
            None => partition.append(batches),
            Some(at) => partition.append_allowed(batches, at),
        };
        return appended.map_err(|e| errors::of_append(&e));
    }
    let is_long = may_take_long(batches);
    let identified = in_turn(context, is_long, || partition.identify(batches, allowed_at)).await;
    let identified = identified.map_err(|e| errors::of_append(&e))?;
    let claimed = identified.claim(timeout).await;
    let claimed = claimed.map_err(|e| errors::of_append(&e.into()))?;
    let appended = in_turn(context, is_long, || claimed.append()).await;
    appended.map_err(|e| errors::of_append(&e))
}

/// Does what may take long beside others, a few at a time.
async fn in_turn<T>(
    context: &ConnectionContext,
    may_take_long: bool,
    work: impl FnOnce() -> T,
) -> T {
    if !may_take_long {
        return work();
    }
    let turn = context.listener.unpacking.acquire().await;
    let _turn = turn.expect("this semaphore is never closed");
    beside_others(work)
}

/// The partition that a batch is for, and whether it may be appended there.
fn place(
    context: &ConnectionContext,
    reference: &Result<TopicRef, Refusal>,
    index: i32,
    version: i16,
    leave: Result<Option<Offset>, Refusal>,
    batches: &[u8],
) -> Result<(Arc<Partition>, Option<Offset>), Refusal> {
    let allowed_at = leave?;
    if version < ZSTD_SINCE && is_zstd(batches) {
        return Err(Refusal::old_zstd());
    }
    let reference = reference.as_ref().map_err(Clone::clone)?;
    let topics = context.broker().topics();
    let owner = topics
        .topic(reference)
        .map_err(|e| Refusal::of_lookup(&e))?;
    if owner.is_internal {
        return Err(Refusal::internal_topic(&owner.name));
    }
    let partition = topics
        .partition(reference, PartitionIndex(index))
        .map_err(|e| Refusal::of_lookup(&e))?;
    let checked = context.broker().check_due_times(owner, batches);
    checked.map_err(|error| Refusal::of_overtaken(&error))?;
    Ok((partition.clone(), allowed_at))
}

/// Whether the partitions of one topic may be appended to.
struct Permits<'a> {
    refused: Option<&'a Refusal>,
    leaves: &'a Leaves,
    topic: usize,
}

impl Permits<'_> {
    fn of(&self, partition: usize) -> Result<Option<Offset>, Refusal> {
        if let Some(refusal) = self.refused {
            return Err(refusal.clone());
        }
        let leave = self.leaves.get(&(self.topic, partition));
        leave.cloned().unwrap_or(Ok(None))
    }
}

/// Has the transaction know of the partitions whose batches belong to it.
async fn ask_leave(
    context: &ConnectionContext,
    id: &TransactionalId,
    topics: &[PlannedTopic],
    version: i16,
    frame: &[u8],
) -> Leaves {
    let view = context.broker().topics();
    let (mut places, mut partitions) = (Vec::new(), Vec::new());
    let mut producers = Vec::new();
    for (number, topic) in topics.iter().enumerate() {
        let Some(found) = topic.find(&view, version) else {
            continue;
        };
        for (i, (index, at)) in topic.partitions.iter().enumerate() {
            let batch = BatchView::parse(&frame[at.clone()]);
            let Some(batch) = batch.ok().filter(BatchView::is_transactional) else {
                continue;
            };
            if let Some(partition) = found.partition(PartitionIndex(*index)) {
                places.push((number, i));
                partitions.push(partition.clone());
                producers.push(Producer {
                    id: batch.producer_id(),
                    epoch: batch.producer_epoch(),
                });
            }
        }
    }
    let Some(producer) = producers.first().copied() else {
        return Leaves::new();
    };
    if producers.iter().any(|other| *other != producer) {
        let refuse = |place| (place, Err(Refusal::several_producers()));
        return places.into_iter().map(refuse).collect();
    }
    let generation = match version >= SECOND_GENERATION_SINCE {
        true => ClientVersion::Second,
        false => ClientVersion::First,
    };
    let transactions = context.broker().transactions();
    let allowed = transactions
        .allow(id, producer, &partitions, generation)
        .await;
    let of_error = |error| Refusal::of_allow(&error, version);
    let allowed = allowed.into_iter().map(|leave| leave.map_err(of_error));
    places.into_iter().zip(allowed).collect()
}

impl PlannedTopic {
    fn find(&self, view: &TopicsView, version: i16) -> Option<Arc<Topic>> {
        let found = match version >= TOPIC_IDS_SINCE {
            true => view.by_id(TopicId(self.id)),
            false => view.by_name(&TopicName::new(&self.name).ok()?),
        };
        found.filter(|topic| !topic.is_internal).cloned()
    }

    fn reference(&self, version: i16) -> Result<TopicRef, Refusal> {
        match version >= TOPIC_IDS_SINCE {
            true => Ok(TopicRef::Id(TopicId(self.id))),
            false => TopicName::new(&self.name)
                .map(TopicRef::Name)
                .map_err(|e| Refusal::invalid_topic(&e)),
        }
    }

    fn may_take_long(&self, frame: &[u8]) -> bool {
        let mut batches = self.partitions.iter();
        batches.any(|(_, at)| may_take_long(&frame[at.clone()]))
    }
}

/// Whether a batch may stand for so many bytes that the other connections should not wait for it.
fn may_take_long(batch: &[u8]) -> bool {
    let batch = BatchView::parse(batch).ok();
    let batch = batch.filter(|batch| batch.compression() != Compression::None);
    batch.is_some_and(|batch| {
        let records = batch.compressed_records();
        match batch.compression().decompressed_bytes_max(records) {
            Some(max) => max > UNPACKED_BYTES_LONG,
            None => batch.total_len() >= COMPRESSED_BYTES_LONG,
        }
    })
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

#[cfg(test)]
mod tests;
