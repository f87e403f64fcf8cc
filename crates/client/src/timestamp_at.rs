//! The time of the record at an offset: how long a group's oldest unread record has waited.

use crate::cluster::Lane;
use crate::fetcher::bad_records;
use crate::{ClientError, Cluster};
use fanlog_model::{Offset, TimestampMs, TopicPartition};
use fanlog_protocol::ApiKey;
use fanlog_protocol::messages::fetch_request::{FetchPartition, FetchRequest, FetchTopic};
use fanlog_protocol::records::{BatchError, BatchView, Decompressor};
use fanlog_protocol::wire::RecordBytes;
use std::borrow::Cow;

impl Cluster {
    /// The time of the first record at `offset` or after it in the batch that holds it; none at the end of the log.
    ///
    /// # Errors
    /// When the offset is not in the log or the leader does not answer.
    pub async fn timestamp_at(
        &self,
        partition: &TopicPartition,
        offset: Offset,
    ) -> Result<Option<TimestampMs>, ClientError> {
        let of_partition = FetchPartition {
            partition: partition.partition.get(),
            fetch_offset: offset.get(),
            // A broker sends one whole batch however little is asked for.
            partition_max_bytes: 1,
            ..FetchPartition::default()
        };
        let topic = FetchTopic {
            topic: Cow::Borrowed(partition.topic.as_str()),
            partitions: vec![of_partition],
            ..FetchTopic::default()
        };
        let request = FetchRequest {
            max_wait_ms: 0,
            min_bytes: 0,
            max_bytes: 1,
            topics: vec![topic],
            ..FetchRequest::default()
        };
        self.retrying(|| async {
            let leader = self.leader(partition).await?;
            let connection = self.broker(leader.broker, Lane::Calls).await?;
            let reply = connection.call(&request).await?;
            let answer = reply.read()?;
            let mut data = answer.responses.iter().flat_map(|topic| &topic.partitions);
            let Some(data) = data.next() else {
                return Ok(None);
            };
            let about = partition.to_string();
            connection.check(ApiKey::Fetch, &about, data.error_code, None)?;
            match &data.records {
                Some(RecordBytes::Borrowed(bytes)) => first_timestamp(bytes, partition, offset),
                _ => Ok(None),
            }
        })
        .await
    }
}

fn first_timestamp(
    bytes: &[u8],
    partition: &TopicPartition,
    from: Offset,
) -> Result<Option<TimestampMs>, ClientError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let bad = |error: BatchError| bad_records(partition, from, &error);
    let batch = BatchView::parse(bytes).map_err(bad)?;
    let mut decompressor = Decompressor::default();
    let mut records = batch.records(&mut decompressor).map_err(bad)?;
    let first = records.find_map(|record| {
        record
            .ok()
            .filter(|one| batch.offset_of(one.offset_delta) >= from)
    });
    // Compaction may have left nothing of the batch from there on.
    let timestamp = first.map_or(batch.max_timestamp(), |one| {
        batch.timestamp_of(one.timestamp_delta)
    });
    Ok(Some(timestamp))
}
