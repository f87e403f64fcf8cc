//! Reads partitions that the caller names, from where the caller says.
//!
//! Owns: a position per partition, and at most one fetch under way per broker.   Never: groups, commits.
//! In -> out: positions -> records; positions move as records are handed out.
//! Invariants: OPS-1 (bytes per fetch and per batch are bounded; at most one answer per broker waits here).

use crate::cluster::Lane;
use crate::connection::Reply;
use crate::offsets::OffsetSpec;
use crate::{Backoff, ClientError, Cluster};
use bytes::Bytes;
use fanlog_model::{Offset, PartitionIndex, TimestampMs, TopicName, TopicPartition};
use fanlog_protocol::messages::fetch_request::{FetchPartition, FetchRequest, FetchTopic};
use fanlog_protocol::messages::fetch_response::PartitionData;
use fanlog_protocol::records::{BatchError, BatchView, Decompressor, RecordView};
use fanlog_protocol::wire::RecordBytes;
use fanlog_protocol::{ApiKey, ErrorCode};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How much is asked for at once, and how long a broker may wait for it.
#[derive(Clone, Debug)]
pub struct FetchConfig {
    /// How long a broker waits for `min_bytes`.
    pub max_wait: Duration,
    /// How many bytes a broker waits for.
    pub min_bytes: i32,
    /// The most bytes in one answer, but for one batch.
    pub max_bytes: i32,
    /// The most bytes of one partition in one answer, but for one batch.
    pub partition_max_bytes: i32,
    /// The most bytes that a batch may decompress to.
    pub batch_bytes_max: usize,
    /// What to do where the position is not in the log.
    pub reset: OffsetReset,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            max_wait: Duration::from_millis(500),
            min_bytes: 1,
            max_bytes: 16 * 1024 * 1024,
            partition_max_bytes: 1024 * 1024,
            batch_bytes_max: fanlog_model::limits::DECOMPRESSED_BATCH_BYTES_MAX,
            reset: OffsetReset::Fail,
        }
    }
}

/// Where to go on when the position is no longer, or not yet, in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetReset {
    /// At the first record that is kept.
    Earliest,
    /// At the next record.
    Latest,
    /// Nowhere: say so.
    Fail,
}

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartAt {
    /// At the first record that is kept.
    Earliest,
    /// At the next record to come.
    Latest,
    /// At this offset.
    Offset(Offset),
    /// At the first record of this time or later; at the next record where there is none.
    Timestamp(TimestampMs),
}

/// A record as a consumer gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumedRecord {
    /// Where it was read.
    pub partition: TopicPartition,
    /// Its offset.
    pub offset: Offset,
    /// Its time.
    pub timestamp: TimestampMs,
    /// Its key, if any.
    pub key: Option<Bytes>,
    /// Its value, if any.
    pub value: Option<Bytes>,
    /// Its headers, in order. What is not text in a name is shown as U+FFFD.
    pub headers: Vec<(String, Option<Bytes>)>,
}

/// Reads assigned partitions.
#[derive(Debug)]
pub struct Fetcher {
    cluster: Cluster,
    config: FetchConfig,
    positions: BTreeMap<TopicPartition, Offset>,
    paused: BTreeSet<TopicPartition>,
    under_way: JoinSet<Fetched>,
    busy_brokers: BTreeSet<i32>,
    decompressor: Decompressor,
    /// Runs since the first failure after a success.
    trouble: Option<Backoff>,
}

/// What one fetch brought.
#[derive(Debug)]
struct Fetched {
    broker: i32,
    asked: BTreeMap<TopicPartition, Offset>,
    reply: Result<Reply<FetchRequest<'static>>, ClientError>,
}

impl Fetcher {
    /// A reader of nothing, over connections of its own.
    pub fn new(cluster: &Cluster, config: FetchConfig) -> Self {
        let decompressor = Decompressor::new(config.batch_bytes_max);
        Self {
            cluster: cluster.with_own_connections(),
            config,
            positions: BTreeMap::new(),
            paused: BTreeSet::new(),
            under_way: JoinSet::new(),
            busy_brokers: BTreeSet::new(),
            decompressor,
            trouble: None,
        }
    }

    /// Reads this partition too, or from elsewhere.
    ///
    /// # Errors
    /// When it does not exist or its leader does not answer.
    pub async fn assign(
        &mut self,
        partition: TopicPartition,
        start: StartAt,
    ) -> Result<(), ClientError> {
        let offset = match start {
            StartAt::Offset(offset) => {
                self.cluster.leader(&partition).await?;
                offset
            }
            StartAt::Earliest => self.listed(&partition, OffsetSpec::Earliest).await?,
            StartAt::Latest => self.listed(&partition, OffsetSpec::Latest).await?,
            StartAt::Timestamp(timestamp) => {
                self.listed(&partition, OffsetSpec::Timestamp(timestamp))
                    .await?
            }
        };
        self.positions.insert(partition, offset);
        Ok(())
    }

    /// The offset asked for, or the partition's end where no record fits.
    async fn listed(
        &self,
        partition: &TopicPartition,
        spec: OffsetSpec,
    ) -> Result<Offset, ClientError> {
        let asked = std::slice::from_ref(partition);
        for spec in [spec, OffsetSpec::Latest] {
            let listed = self.cluster.list_offsets(asked, spec).await?;
            if let Some(offset) = listed.get(partition).and_then(|one| one.offset) {
                return Ok(offset);
            }
        }
        Err(ClientError::Incomplete {
            broker: self.cluster.config().bootstrap.join(","),
            api: ApiKey::ListOffsets,
            about: partition.to_string(),
        })
    }

    /// Goes on with this partition at this offset.
    pub fn seek(&mut self, partition: TopicPartition, offset: Offset) {
        self.positions.insert(partition, offset);
    }

    /// Reads nothing any more. Records under way are dropped.
    pub fn unassign_all(&mut self) {
        self.positions.clear();
        self.paused.clear();
    }

    /// Leaves these partitions out until they are resumed.
    pub fn pause(&mut self, partitions: impl IntoIterator<Item = TopicPartition>) {
        self.paused.extend(partitions);
    }

    /// Reads all partitions again.
    pub fn resume_all(&mut self) {
        self.paused.clear();
    }

    /// The offset of the next record to be handed out, by partition.
    pub const fn positions(&self) -> &BTreeMap<TopicPartition, Offset> {
        &self.positions
    }

    /// Waits for records, `max_wait` at the longest; none in that time gives an empty list. May be dropped at any point without
    /// losing a record.
    ///
    /// # Errors
    /// When a position is not in the log and there is no rule for that, or trouble lasts. The next call goes on.
    pub async fn poll(&mut self, max_wait: Duration) -> Result<Vec<ConsumedRecord>, ClientError> {
        let end = Instant::now() + max_wait;
        loop {
            if let Err(error) = self.send_fetches().await {
                self.recover(error).await?;
            }
            let next = self.under_way.join_next();
            let fetched = match tokio::time::timeout_at(end, next).await {
                Err(_) => return Ok(Vec::new()),
                Ok(None) => {
                    // Nothing is assigned, or all is paused.
                    tokio::time::sleep_until(end).await;
                    return Ok(Vec::new());
                }
                Ok(Some(fetched)) => fetched.expect("a fetch does not panic and is not aborted"),
            };
            self.busy_brokers.remove(&fetched.broker);
            match self.take(&fetched).await {
                Err(error) => self.recover(error).await?,
                Ok(records) => {
                    self.trouble = None;
                    if !records.is_empty() {
                        return Ok(records);
                    }
                }
            }
        }
    }

    /// After an error that may pass: waits, and asks who leads now.
    async fn recover(&mut self, error: ClientError) -> Result<(), ClientError> {
        if !error.is_retriable() {
            return Err(error);
        }
        let backoff = self.trouble.get_or_insert_with(|| self.cluster.backoff());
        if let Err(error) = backoff.wait_or(error).await {
            self.trouble = None;
            return Err(error);
        }
        let topics: BTreeSet<_> = self
            .positions
            .keys()
            .map(|one| one.topic.as_str())
            .collect();
        let topics: Vec<_> = topics.into_iter().collect();
        // When this fails too, the next fetch says why.
        let _ = self.cluster.refresh(&topics, false).await;
        Ok(())
    }

    /// Sends a fetch to every leader that has none under way.
    async fn send_fetches(&mut self) -> Result<(), ClientError> {
        let mut by_leader = BTreeMap::<i32, BTreeMap<TopicPartition, Offset>>::new();
        for (partition, offset) in &self.positions {
            if !self.paused.contains(partition) {
                let leader = self.cluster.leader(partition).await?.broker;
                let asked = by_leader.entry(leader).or_default();
                asked.insert(partition.clone(), *offset);
            }
        }
        for (broker, asked) in by_leader {
            if self.busy_brokers.contains(&broker) {
                continue;
            }
            let connection = self.cluster.broker(broker, Lane::Fetch).await?;
            let request = self.request(&asked);
            let timeout = self.config.max_wait + self.cluster.config().request_timeout;
            self.busy_brokers.insert(broker);
            self.under_way.spawn(async move {
                let reply = connection.call_within(&request, timeout).await;
                Fetched {
                    broker,
                    asked,
                    reply,
                }
            });
        }
        Ok(())
    }

    fn request(&self, asked: &BTreeMap<TopicPartition, Offset>) -> FetchRequest<'static> {
        let mut topics = BTreeMap::<&TopicName, Vec<FetchPartition>>::new();
        for (partition, offset) in asked {
            topics
                .entry(&partition.topic)
                .or_default()
                .push(FetchPartition {
                    partition: partition.partition.get(),
                    fetch_offset: offset.get(),
                    partition_max_bytes: self.config.partition_max_bytes,
                    ..FetchPartition::default()
                });
        }
        let topics = topics.into_iter().map(|(topic, partitions)| FetchTopic {
            topic: Cow::Owned(topic.to_string()),
            partitions,
            ..FetchTopic::default()
        });
        FetchRequest {
            max_wait_ms: i32::try_from(self.config.max_wait.as_millis()).unwrap_or(i32::MAX),
            min_bytes: self.config.min_bytes,
            max_bytes: self.config.max_bytes,
            topics: topics.collect(),
            ..FetchRequest::default()
        }
    }

    /// The records of an answer, for partitions that are still where they were when it was asked for.
    async fn take(&mut self, fetched: &Fetched) -> Result<Vec<ConsumedRecord>, ClientError> {
        let reply = fetched.reply.as_ref().map_err(ClientError::clone)?;
        let answer = reply.read()?;
        let api = ApiKey::Fetch;
        crate::connection::check_code(reply.broker(), api, "records", answer.error_code, None)?;
        let mut records = Vec::new();
        let mut failed = None;
        for topic in &answer.responses {
            for data in &topic.partitions {
                let asked = fetched.asked.iter().find(|(partition, _)| {
                    partition.topic.as_str() == topic.topic
                        && partition.partition == PartitionIndex(data.partition_index)
                });
                let Some((partition, offset)) = asked else {
                    continue;
                };
                if self.positions.get(partition) != Some(offset) {
                    continue;
                }
                if let Err(error) =
                    self.take_partition(reply.broker(), partition, data, &mut records)
                {
                    failed = Some((partition.clone(), error));
                }
            }
        }
        match failed {
            // What other partitions brought is handed out first; the failing one fails again.
            Some(_) if !records.is_empty() => Ok(records),
            Some((partition, error)) => self.reset(&partition, error).await.map(|()| records),
            None => Ok(records),
        }
    }

    fn take_partition(
        &mut self,
        broker: &str,
        partition: &TopicPartition,
        data: &PartitionData<'_>,
        records: &mut Vec<ConsumedRecord>,
    ) -> Result<(), ClientError> {
        let about = partition.to_string();
        crate::connection::check_code(broker, ApiKey::Fetch, &about, data.error_code, None)?;
        let Some(RecordBytes::Borrowed(bytes)) = data.records else {
            return Ok(());
        };
        let position = self
            .positions
            .get_mut(partition)
            .expect("the caller has just seen it");
        for batch in BatchView::parse_all(bytes) {
            let batch = match batch {
                // A broker may cut the last batch where the limit fell.
                Err(BatchError::Truncated { .. }) => break,
                batch => batch.map_err(|error| bad_records(partition, *position, &error))?,
            };
            batch
                .check_crc()
                .map_err(|error| bad_records(partition, *position, &error))?;
            if !batch.is_control() {
                let from = *position;
                take_batch(&batch, partition, from, &mut self.decompressor, records)?;
            }
            *position = batch.next_offset().max(*position);
        }
        Ok(())
    }

    /// Goes on elsewhere when the position is not in the log and there is a rule for that.
    async fn reset(
        &mut self,
        partition: &TopicPartition,
        error: ClientError,
    ) -> Result<(), ClientError> {
        let spec = match self.config.reset {
            _ if error.code() != Some(ErrorCode::OffsetOutOfRange) => return Err(error),
            OffsetReset::Fail => return Err(error),
            OffsetReset::Earliest => OffsetSpec::Earliest,
            OffsetReset::Latest => OffsetSpec::Latest,
        };
        let offset = self.listed(partition, spec).await?;
        tracing::warn!(%partition, %offset, "position is not in the log: going on elsewhere");
        self.positions.insert(partition.clone(), offset);
        Ok(())
    }
}

pub(crate) fn bad_records(
    partition: &TopicPartition,
    offset: Offset,
    reason: &impl ToString,
) -> ClientError {
    ClientError::BadRecords {
        about: partition.to_string(),
        offset: offset.get(),
        reason: reason.to_string(),
    }
}

/// Copies out the records at `from` and after it: a batch is served whole even where the position is inside.
fn take_batch(
    batch: &BatchView<'_>,
    partition: &TopicPartition,
    from: Offset,
    decompressor: &mut Decompressor,
    records: &mut Vec<ConsumedRecord>,
) -> Result<(), ClientError> {
    let walk = batch.records(decompressor);
    for record in walk.map_err(|error| bad_records(partition, from, &error))? {
        let record = record.map_err(|error| bad_records(partition, from, &error))?;
        if batch.offset_of(record.offset_delta) >= from {
            records.push(consumed(batch, partition, &record));
        }
    }
    Ok(())
}

fn consumed(
    batch: &BatchView<'_>,
    partition: &TopicPartition,
    record: &RecordView<'_>,
) -> ConsumedRecord {
    let headers = record.headers();
    let headers = headers.map(|(key, value)| {
        let key = String::from_utf8_lossy(key).into_owned();
        (key, value.map(Bytes::copy_from_slice))
    });
    ConsumedRecord {
        partition: partition.clone(),
        offset: batch.offset_of(record.offset_delta),
        timestamp: batch.timestamp_of(record.timestamp_delta),
        key: record.key.map(Bytes::copy_from_slice),
        value: record.value.map(Bytes::copy_from_slice),
        headers: headers.collect(),
    }
}
