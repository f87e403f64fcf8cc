//! Sends the records of one partition, batch after batch.

use super::{Acks, Command, Core, Delivered, Identity, Pending};
use crate::cluster::Lane;
use crate::{Backoff, ClientError};
use bytes::Bytes;
use fanlog_model::{BaseSequence, Offset, TimestampMs, TopicPartition};
use fanlog_protocol::messages::produce_request::{
    PartitionProduceData, ProduceRequest, TopicProduceData,
};
use fanlog_protocol::messages::produce_response::PartitionProduceResponse;
use fanlog_protocol::records::{BatchBuilder, BuildError, HEADER_BYTES};
use fanlog_protocol::wire::RecordBytes;
use fanlog_protocol::{ApiKey, ErrorCode};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// How often the topic is looked at, for partitions that were added.
const TOPIC_CHECK_INTERVAL: Duration = Duration::from_secs(300);
/// The most records of one batch: their count has 31 bits, and answers list refused ones.
const BATCH_RECORDS_MAX: usize = 100_000;

pub(super) struct Worker {
    core: Arc<Core>,
    partition: TopicPartition,
    commands: mpsc::UnboundedReceiver<Command>,
    /// A record that did not fit in the batch before.
    carried: Option<Pending>,
    /// The batch that is being sent.
    under_way: Vec<Pending>,
    /// What the next batch goes under; none after a batch whose fate is not known.
    identity: Option<Identity>,
    sequence: BaseSequence,
    /// The identity that partitions share serves until something goes wrong here.
    has_left_shared_identity: bool,
    topic_checked: Option<Instant>,
}

/// A batch acknowledged: the first offset, and the broker's time where the topic wants that.
struct Acknowledged {
    base_offset: Option<Offset>,
    log_append_time: Option<TimestampMs>,
}

impl Worker {
    pub(super) const fn new(
        core: Arc<Core>,
        partition: TopicPartition,
        commands: mpsc::UnboundedReceiver<Command>,
    ) -> Self {
        Self {
            core,
            partition,
            commands,
            carried: None,
            under_way: Vec::new(),
            identity: None,
            sequence: BaseSequence(0),
            has_left_shared_identity: false,
            topic_checked: None,
        }
    }

    /// Runs until the producer is dropped and all is sent.
    pub(super) async fn run(mut self) {
        loop {
            let (batch, flushes, is_closed) = self.collect().await;
            if !batch.is_empty() {
                self.deliver(batch).await;
                self.check_topic().await;
            }
            for flush in flushes {
                // Whoever flushed may have stopped waiting.
                let _ = flush.send(());
            }
            if is_closed {
                return;
            }
        }
    }

    /// Collects a batch: until it is full, the linger is over, or a flush comes. Flushes are answered after all that came before them, so
    /// one that comes while a record is carried over waits for that record's batch.
    async fn collect(&mut self) -> (Vec<Pending>, Vec<oneshot::Sender<()>>, bool) {
        let mut batch = Vec::new();
        let mut bytes = HEADER_BYTES;
        let mut end = None;
        if let Some(carried) = self.carried.take() {
            bytes += carried.bytes;
            batch.push(carried);
        }
        loop {
            if !batch.is_empty() && end.is_none() {
                end = Some(Instant::now() + self.core.config.linger);
            }
            if bytes >= self.core.config.batch_bytes || batch.len() >= BATCH_RECORDS_MAX {
                return (batch, Vec::new(), false);
            }
            match self.next(end).await {
                Next::Closed => return (batch, Vec::new(), true),
                Next::LingerOver => return (batch, Vec::new(), false),
                Next::Command(Command::Flush(done)) => return (batch, vec![done], false),
                Next::Command(Command::Record(pending)) => {
                    if !batch.is_empty() && bytes + pending.bytes > self.core.config.batch_bytes {
                        self.carried = Some(pending);
                        return (batch, Vec::new(), false);
                    }
                    bytes += pending.bytes;
                    batch.push(pending);
                }
            }
        }
    }

    async fn next(&mut self, end: Option<Instant>) -> Next {
        // What is there already costs no waiting, whatever the linger.
        if let Ok(command) = self.commands.try_recv() {
            return Next::Command(command);
        }
        let received = match end {
            None => self.commands.recv().await,
            Some(end) => match tokio::time::timeout_at(end, self.commands.recv()).await {
                Err(_) => return Next::LingerOver,
                Ok(received) => received,
            },
        };
        received.map_or(Next::Closed, Next::Command)
    }

    /// Sends a batch until it is acknowledged or has failed for good; one that a broker finds too large goes in halves.
    async fn deliver(&mut self, batch: Vec<Pending>) {
        let mut queue = VecDeque::from([batch]);
        while let Some(batch) = queue.pop_front() {
            self.under_way = batch;
            let sent = self.send().await;
            let mut batch = std::mem::take(&mut self.under_way);
            match sent {
                Ok(acknowledged) => self.acknowledge(batch, &acknowledged),
                Err(error)
                    if error.code() == Some(ErrorCode::MessageTooLarge) && batch.len() > 1 =>
                {
                    let second = batch.split_off(batch.len() / 2);
                    queue.push_front(second);
                    queue.push_front(batch);
                }
                Err(error) => {
                    for pending in batch {
                        // Whoever sent it may have stopped waiting.
                        let _ = pending.delivery.send(Err(error.clone()));
                    }
                }
            }
        }
    }

    /// Keys go to new partitions once these are known; nobody says so unasked.
    async fn check_topic(&mut self) {
        let checked = *self.topic_checked.get_or_insert_with(Instant::now);
        if checked.elapsed() >= TOPIC_CHECK_INTERVAL {
            self.topic_checked = Some(Instant::now());
            // When nobody answers now, the next look tells.
            let _ = self
                .core
                .cluster
                .refresh(&[self.partition.topic.as_str()], false)
                .await;
        }
    }

    fn acknowledge(&self, batch: Vec<Pending>, acknowledged: &Acknowledged) {
        for (pending, number) in batch.into_iter().zip(0..) {
            let delivered = Delivered {
                partition: self.partition.clone(),
                offset: acknowledged.base_offset.map(|base| base.plus(number)),
                timestamp: acknowledged
                    .log_append_time
                    .unwrap_or(pending.record.timestamp),
            };
            // Whoever sent it may have stopped waiting.
            let _ = pending.delivery.send(Ok(delivered));
        }
    }

    async fn send(&mut self) -> Result<Acknowledged, ClientError> {
        let mut backoff = Backoff::new(self.core.config.delivery_timeout);
        let mut may_be_appended = false;
        loop {
            let error = match self.send_once().await {
                Ok(acknowledged) => {
                    let count =
                        i32::try_from(self.under_way.len()).expect("a batch's records are bounded");
                    self.sequence = self.sequence.plus(count);
                    return Ok(acknowledged);
                }
                Err(error) => error,
            };
            // The broker does not know where this producer stood. If this batch cannot be in the log, it goes under a new identity;
            // if it may be, sending it again could double it.
            let is_unknown = wants_new_identity(&error);
            may_be_appended |= error.is_outcome_unknown();
            let is_over = may_be_appended && is_unknown;
            if is_unknown {
                self.leave_identity();
            }
            if is_over || !(is_unknown || error.is_retriable()) {
                return Err(self.give_up(error, may_be_appended));
            }
            let is_stale = error.wants_metadata();
            if let Err(error) = backoff.wait_or(error).await {
                return Err(self.give_up(error, may_be_appended));
            }
            if is_stale {
                let topic = self.partition.topic.as_str();
                // When this fails too, the next attempt says why.
                let _ = self.core.cluster.refresh(&[topic], false).await;
            }
        }
    }

    /// After a batch whose fate is not known its sequence cannot be used again, nor the one after it: a new identity starts afresh.
    fn give_up(&mut self, error: ClientError, may_be_appended: bool) -> ClientError {
        if may_be_appended {
            self.leave_identity();
        }
        error
    }

    fn leave_identity(&mut self) {
        self.identity = None;
        self.has_left_shared_identity = true;
    }

    async fn identity(&mut self) -> Result<Identity, ClientError> {
        if let Some(identity) = self.identity {
            return Ok(identity);
        }
        let identity = if self.has_left_shared_identity {
            self.core.new_identity().await?
        } else {
            self.core.shared_identity().await?
        };
        self.identity = Some(identity);
        self.sequence = BaseSequence(0);
        Ok(identity)
    }

    async fn send_once(&mut self) -> Result<Acknowledged, ClientError> {
        let records = self.build().await?;
        let config = &self.core.config;
        let timeout = self.core.cluster.config().request_timeout;
        let data = PartitionProduceData {
            index: self.partition.partition.get(),
            records: Some(RecordBytes::Shared(vec![records])),
        };
        let topic = TopicProduceData {
            name: Cow::Borrowed(self.partition.topic.as_str()),
            partition_data: vec![data],
            ..TopicProduceData::default()
        };
        let request = ProduceRequest {
            acks: config.acks.number(),
            timeout_ms: i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX),
            topic_data: vec![topic],
            ..ProduceRequest::default()
        };
        let leader = self.core.cluster.leader(&self.partition).await?;
        let connection = self
            .core
            .cluster
            .broker(leader.broker, Lane::Produce)
            .await?;
        if config.acks == Acks::None {
            connection.send_unanswered(&request).await?;
            return Ok(Acknowledged {
                base_offset: None,
                log_append_time: None,
            });
        }
        // The broker's own limit comes first, so that it can say so.
        let reply = connection
            .call_within(&request, timeout + timeout / 2)
            .await?;
        let answer = reply.read()?;
        let one = answer
            .responses
            .first()
            .and_then(|topic| topic.partition_responses.first());
        let one = one.ok_or_else(|| ClientError::Incomplete {
            broker: connection.broker().to_owned(),
            api: ApiKey::Produce,
            about: self.partition.to_string(),
        })?;
        // A batch that was appended before under this sequence, so long ago that its offset is forgotten.
        if one.error_code != ErrorCode::DuplicateSequenceNumber.code() {
            let about = self.partition.to_string();
            let message = message_of(one);
            connection.check(ApiKey::Produce, &about, one.error_code, message.as_deref())?;
        }
        Ok(Acknowledged {
            base_offset: (one.base_offset >= 0).then_some(Offset(one.base_offset)),
            log_append_time: (one.log_append_time_ms >= 0)
                .then_some(TimestampMs(one.log_append_time_ms)),
        })
    }

    async fn build(&mut self) -> Result<Bytes, ClientError> {
        let mut builder = BatchBuilder::new(self.core.config.compression);
        if self.core.config.is_idempotent {
            let identity = self.identity().await?;
            builder = builder.producer(identity.id, identity.epoch, self.sequence);
        }
        let invalid = |error: BuildError| ClientError::Invalid(error.to_string());
        for pending in &self.under_way {
            let pushed = pending.record.with_view(|record| builder.push(record));
            pushed.map_err(invalid)?;
        }
        Ok(Bytes::from(builder.build().map_err(invalid)?))
    }
}

enum Next {
    Command(Command),
    LingerOver,
    Closed,
}

const fn is_sequence_error(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::OutOfOrderSequenceNumber
            | ErrorCode::UnknownProducerId
            | ErrorCode::InvalidProducerEpoch
            | ErrorCode::InvalidProducerIdMapping
    )
}

fn wants_new_identity(error: &ClientError) -> bool {
    error.code().is_some_and(is_sequence_error)
}

/// What the broker says, and of the records that it lists the first.
fn message_of(answer: &PartitionProduceResponse<'_>) -> Option<String> {
    let message = answer.error_message.as_deref().map(str::to_owned);
    let refused = answer.record_errors.first().map(|one| {
        let why = one
            .batch_index_error_message
            .as_deref()
            .unwrap_or("refused");
        format!("record {} of the batch: {why}", one.batch_index)
    });
    match (message, refused) {
        (Some(message), Some(refused)) => Some(format!("{message} ({refused})")),
        (message, refused) => message.or(refused),
    }
}
