//! Publishes records: collects them into batches, one batch under way per partition, idempotent unless told otherwise.
//!
//! Why one batch under way: a batch that has to be sent again then cannot overtake another, so the order of a key holds under every
//! error, and while one is under way the next one fills.
//! Owns: records that are not acknowledged yet, within `buffer_bytes`.   Never: partitions' leaders (the cluster knows).
//! In -> out: a record -> a [`Delivery`] that tells its offset.
//! Invariants: OPS-1, PRD-1 (a batch keeps its sequence when it is sent again). Read next: `worker.rs`.

mod worker;

use crate::partitioner::StickyPartitioner;
use crate::{ClientError, Cluster};
use bytes::Bytes;
use fanlog_model::{Offset, PartitionIndex, ProducerEpoch, ProducerId, TimestampMs};
use fanlog_model::{TopicName, TopicPartition};
use fanlog_protocol::ApiKey;
use fanlog_protocol::messages::init_producer_id_request::InitProducerIdRequest;
use fanlog_protocol::records::{Compression, HEADER_BYTES, NewRecord, partition_for_key};
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use worker::Worker;

/// When a record counts as sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// When it was written to the socket: it may be lost, and its offset is not known.
    None,
    /// When the leader has appended it: it may be lost in a crash.
    Leader,
    /// When it is durable.
    All,
}

impl Acks {
    const fn number(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Leader => 1,
            Self::All => -1,
        }
    }
}

/// How to publish.
#[derive(Clone, Debug)]
pub struct ProducerConfig {
    /// When a record counts as sent.
    pub acks: Acks,
    /// Whether a batch that is sent again is appended once. Needs [`Acks::All`].
    pub is_idempotent: bool,
    /// How batches are compressed.
    pub compression: Compression,
    /// How long to wait for more records before a batch is sent.
    pub linger: Duration,
    /// The bytes at which a batch is sent without waiting longer.
    pub batch_bytes: usize,
    /// The most bytes of one record.
    pub record_bytes_max: usize,
    /// The most bytes that wait to be acknowledged; beyond, `send` waits.
    pub buffer_bytes: usize,
    /// How long a record is tried before it fails.
    pub delivery_timeout: Duration,
}

impl Default for ProducerConfig {
    fn default() -> Self {
        Self {
            acks: Acks::All,
            is_idempotent: true,
            compression: Compression::None,
            linger: Duration::from_millis(5),
            batch_bytes: 128 * 1024,
            record_bytes_max: 1024 * 1024,
            buffer_bytes: 32 * 1024 * 1024,
            delivery_timeout: Duration::from_secs(120),
        }
    }
}

/// A record to be published.
#[derive(Clone, Debug)]
pub struct ProducerRecord {
    /// Where to.
    pub topic: TopicName,
    /// Which partition; by default the key decides, and without a key the partitions take turns.
    pub partition: Option<PartitionIndex>,
    /// Its time.
    pub timestamp: TimestampMs,
    /// Its key, if any.
    pub key: Option<Bytes>,
    /// Its value, if any.
    pub value: Option<Bytes>,
    /// Its headers, in order.
    pub headers: Vec<(String, Option<Bytes>)>,
}

impl ProducerRecord {
    fn with_view<T>(&self, then: impl FnOnce(&NewRecord<'_>) -> T) -> T {
        let headers: Vec<_> = self
            .headers
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_deref()))
            .collect();
        then(&NewRecord {
            timestamp: self.timestamp,
            key: self.key.as_deref(),
            value: self.value.as_deref(),
            headers: &headers,
        })
    }
}

/// Where a record went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The partition.
    pub partition: TopicPartition,
    /// Its offset; none where `acks` is none.
    pub offset: Option<Offset>,
    /// Its time: the broker's where the topic says so.
    pub timestamp: TimestampMs,
}

/// Resolves when the record is acknowledged, or has failed for good.
#[derive(Debug)]
pub struct Delivery(oneshot::Receiver<Result<Delivered, ClientError>>);

impl Future for Delivery {
    type Output = Result<Delivered, ClientError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let closed = |_| Err(ClientError::Closed("producer"));
        Pin::new(&mut self.0)
            .poll(context)
            .map(|answer| answer.unwrap_or_else(closed))
    }
}

/// A record on its way.
#[derive(Debug)]
struct Pending {
    record: ProducerRecord,
    /// The most bytes it takes in a batch.
    bytes: usize,
    delivery: oneshot::Sender<Result<Delivered, ClientError>>,
    /// Its share of the buffer, given back when it is acknowledged.
    _share: OwnedSemaphorePermit,
}

#[derive(Debug)]
enum Command {
    Record(Pending),
    /// Send what has been collected, then answer.
    Flush(oneshot::Sender<()>),
}

/// What brokers know an idempotent producer by.
#[derive(Clone, Copy, Debug)]
struct Identity {
    id: ProducerId,
    epoch: ProducerEpoch,
}

/// What the workers share.
#[derive(Debug)]
struct Core {
    cluster: Cluster,
    config: ProducerConfig,
    identity: OnceCell<Identity>,
}

/// A publisher. Records still under way when it is dropped are sent, but nobody is told.
#[derive(Debug)]
pub struct Producer {
    core: Arc<Core>,
    buffer: Arc<Semaphore>,
    workers: Mutex<HashMap<TopicPartition, mpsc::UnboundedSender<Command>>>,
    sticky: StickyPartitioner,
}

impl Producer {
    /// A publisher over connections of its own.
    ///
    /// # Errors
    /// When the settings contradict each other.
    pub fn new(cluster: &Cluster, config: ProducerConfig) -> Result<Self, ClientError> {
        if config.is_idempotent && config.acks != Acks::All {
            let reason = "an idempotent producer needs acks=all: set it, or switch idempotence off";
            return Err(ClientError::Invalid(reason.to_owned()));
        }
        let permits = config
            .buffer_bytes
            .min(u32::MAX as usize)
            .min(Semaphore::MAX_PERMITS);
        // Producers that live for one record would else all start at the same partition.
        let start = std::hash::RandomState::new().hash_one(0_u8);
        Ok(Self {
            buffer: Arc::new(Semaphore::new(permits)),
            workers: Mutex::default(),
            sticky: StickyPartitioner::new(start, config.batch_bytes),
            core: Arc::new(Core {
                cluster: cluster.with_own_connections(),
                config,
                identity: OnceCell::new(),
            }),
        })
    }

    /// Takes a record in, waiting while the buffer is full. Records of one partition are appended in the order of their calls.
    ///
    /// # Errors
    /// When the record is too large, or its topic or partition does not exist. What happens later, the [`Delivery`] tells.
    pub async fn send(&self, record: ProducerRecord) -> Result<Delivery, ClientError> {
        let bytes = record.with_view(|view| view.bytes_max());
        let limit = self.core.config.record_bytes_max;
        if bytes + HEADER_BYTES > limit.min(self.core.config.buffer_bytes) {
            return Err(ClientError::RecordTooLarge { bytes, limit });
        }
        let count = self.partition_count(&record.topic).await?;
        let share = u32::try_from(bytes).expect("checked against the buffer, which has 32 bits");
        let share = Arc::clone(&self.buffer).acquire_many_owned(share).await;
        let share = share.map_err(|_| ClientError::Closed("producer"))?;
        let partition = self.choose_partition(&record, bytes, count)?;
        let (delivery, delivered) = oneshot::channel();
        let pending = Pending {
            record,
            bytes,
            delivery,
            _share: share,
        };
        self.hand_to_worker(partition, Command::Record(pending));
        Ok(Delivery(delivered))
    }

    /// Sends a record and waits until it is acknowledged.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub async fn send_and_wait(&self, record: ProducerRecord) -> Result<Delivered, ClientError> {
        self.send(record).await?.await
    }

    /// Sends what has been collected, and waits until all of it is acknowledged or has failed.
    pub async fn flush(&self) {
        let mut flushed = Vec::new();
        {
            let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
            for worker in workers.values() {
                let (done, is_done) = oneshot::channel();
                // A worker lives as long as its sender.
                let _ = worker.send(Command::Flush(done));
                flushed.push(is_done);
            }
        }
        for is_done in flushed {
            let _ = is_done.await;
        }
    }

    async fn partition_count(&self, topic: &TopicName) -> Result<u32, ClientError> {
        let cluster = &self.core.cluster;
        let known = cluster
            .view()
            .topics
            .get(topic.as_str())
            .map(|view| view.partitions.len());
        let count = match known {
            Some(count) => count,
            None => cluster
                .topic_or_create(topic.as_str(), true)
                .await?
                .partitions
                .len(),
        };
        u32::try_from(count)
            .ok()
            .filter(|count| *count > 0)
            .ok_or_else(|| ClientError::NoSuchPartition {
                topic: topic.to_string(),
                partition: 0,
                count,
            })
    }

    fn choose_partition(
        &self,
        record: &ProducerRecord,
        bytes: usize,
        count: u32,
    ) -> Result<TopicPartition, ClientError> {
        let index = match (record.partition, &record.key) {
            (Some(partition), _) => {
                let index = u32::try_from(partition.get())
                    .ok()
                    .filter(|index| *index < count);
                index.ok_or_else(|| ClientError::NoSuchPartition {
                    topic: record.topic.to_string(),
                    partition: partition.get(),
                    count: count as usize,
                })?
            }
            (None, Some(key)) => partition_for_key(key, count),
            (None, None) => self.sticky.partition(bytes, count),
        };
        let index = i32::try_from(index).expect("less than the number of partitions");
        Ok(TopicPartition {
            topic: record.topic.clone(),
            partition: PartitionIndex(index),
        })
    }

    fn hand_to_worker(&self, partition: TopicPartition, command: Command) {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = workers.entry(partition).or_insert_with_key(|partition| {
            // The buffer bounds what waits here.
            let (sender, commands) = mpsc::unbounded_channel();
            let worker = Worker::new(Arc::clone(&self.core), partition.clone(), commands);
            tokio::spawn(worker.run());
            sender
        });
        // Where the worker is gone, dropping the record tells its sender.
        let _ = worker.send(command);
    }
}

impl Core {
    /// The identity that partitions share until something goes wrong in one.
    async fn shared_identity(&self) -> Result<Identity, ClientError> {
        let identity = self
            .identity
            .get_or_try_init(|| self.new_identity())
            .await?;
        Ok(*identity)
    }

    async fn new_identity(&self) -> Result<Identity, ClientError> {
        let request = InitProducerIdRequest {
            transactional_id: None,
            transaction_timeout_ms: i32::MAX,
            ..InitProducerIdRequest::default()
        };
        let asked = self.cluster.retrying(|| async {
            let connection = self.cluster.any(crate::cluster::Lane::Produce).await?;
            let reply = connection.call(&request).await?;
            let answer = reply.read()?;
            let api = ApiKey::InitProducerId;
            connection.check(api, "an idempotent producer", answer.error_code, None)?;
            Ok(Identity {
                id: ProducerId(answer.producer_id),
                epoch: ProducerEpoch(answer.producer_epoch),
            })
        });
        asked.await
    }
}
