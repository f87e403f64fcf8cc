//! OffsetDelete, version 0: forgets offsets of a group, partition by partition.
//!
//! Behaviour: refused for topics that a live consumer group still reads (KIP-496).

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::DeleteOffsets;
use fanlog_model::{GroupId, PartitionIndex, TopicName, TopicPartition};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::offset_delete_response::{
    OffsetDeleteResponsePartition, OffsetDeleteResponseTopic,
};
use fanlog_protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse, RequestHeader};
use std::borrow::Cow;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: OffsetDeleteRequest<'_>,
    _version: i16,
) -> OffsetDeleteResponse<'static> {
    let topics = context.broker().topics();
    let mut partitions = Vec::new();
    let mut response = Vec::with_capacity(request.topics.len());
    for topic in &request.topics {
        let known = TopicName::new(&topic.name)
            .ok()
            .and_then(|name| topics.by_name(&name));
        let mut check = |index: i32| {
            let owner = known.filter(|topic| topic.partition(PartitionIndex(index)).is_some());
            let topic = owner
                .ok_or(ErrorCode::UnknownTopicOrPartition)?
                .name
                .clone();
            partitions.push(TopicPartition {
                topic,
                partition: PartitionIndex(index),
            });
            Ok::<_, ErrorCode>(())
        };
        let entries = topic
            .partitions
            .iter()
            .map(|p| OffsetDeleteResponsePartition {
                partition_index: p.partition_index,
                error_code: check(p.partition_index)
                    .err()
                    .unwrap_or(ErrorCode::None)
                    .code(),
            });
        let partitions = entries.collect();
        response.push(OffsetDeleteResponseTopic {
            name: Cow::Owned(topic.name.to_string()),
            partitions,
        });
    }
    let group = GroupId::from(request.group_id.as_ref());
    let delete = DeleteOffsets {
        call: CallId(0),
        group,
        partitions,
    };
    match context.broker().groups().delete_offsets(delete).await {
        Err(failure) => OffsetDeleteResponse {
            error_code: errors::of_group_failure(&failure).code(),
            ..Default::default()
        },
        Ok(outcomes) => {
            let open = response
                .iter_mut()
                .flat_map(|topic| &mut topic.partitions)
                .filter(|partition| partition.error_code == 0);
            for (partition, outcome) in open.zip(outcomes) {
                let error = outcome.result.as_ref().err();
                partition.error_code = error.map_or(0, |error| errors::of_offset(error).code());
            }
            OffsetDeleteResponse {
                topics: response,
                ..Default::default()
            }
        }
    }
}
