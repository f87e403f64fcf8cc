//! DeleteRecords: everything before an offset.

use super::Admin;
use crate::ClientError;
use crate::cluster::Lane;
use fanlog_model::{Offset, TopicPartition};
use fanlog_protocol::ApiKey;
use fanlog_protocol::messages::delete_records_request::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic,
};
use std::borrow::Cow;

impl Admin {
    /// Deletes the records of a partition before `before`, and gives the offset that it starts at now.
    /// `Offset(-1)` stands for the partition's end.
    ///
    /// # Errors
    /// When the partition does not reach so far.
    pub async fn delete_records(
        &self,
        partition: &TopicPartition,
        before: Offset,
    ) -> Result<Offset, ClientError> {
        let of_partition = DeleteRecordsPartition {
            partition_index: partition.partition.get(),
            offset: before.get(),
        };
        let topic = DeleteRecordsTopic {
            name: Cow::Borrowed(partition.topic.as_str()),
            partitions: vec![of_partition],
        };
        let request = DeleteRecordsRequest {
            topics: vec![topic],
            timeout_ms: self.timeout_ms(),
        };
        let about = partition.to_string();
        self.cluster
            .retrying(|| async {
                let leader = self.cluster.leader(partition).await?;
                let connection = self.cluster.broker(leader.broker, Lane::Calls).await?;
                let reply = connection.call(&request).await?;
                let answer = reply.read()?;
                let one = answer
                    .topics
                    .first()
                    .and_then(|topic| topic.partitions.first());
                let one = one.ok_or_else(|| ClientError::Incomplete {
                    broker: connection.broker().to_owned(),
                    api: ApiKey::DeleteRecords,
                    about: about.clone(),
                })?;
                connection.check(ApiKey::DeleteRecords, &about, one.error_code, None)?;
                Ok(Offset(one.low_watermark))
            })
            .await
    }
}
