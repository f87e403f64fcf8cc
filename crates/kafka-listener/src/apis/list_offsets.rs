//! ListOffsets, versions 1-11: offsets by time, and the special ones: first, end, newest record.
//!
//! Behaviour: a time finds the first record at or after it that is visible, with its own time and leader epoch; none
//! is offset -1. -1 is the high watermark, or the last stable offset for committed reads. A partition named twice
//! is INVALID_REQUEST, as is a special timestamp that the version lacks UNSUPPORTED_VERSION.
//! Versions: 2 isolation level; 4 leader epochs; 6 flexible; 7 timestamp -3 (newest record); 8 -4 (first local offset,
//! here the first); 9 -5 (last tiered); 10 time-out; 11 -6 (first to be tiered).
//! Not implemented: tiered storage (-5 and -6 find nothing); asking as a replica (refused).

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::{Broker, Isolation, ListedOffset, OffsetSpec, TopicRef};
use fanlog_model::{LeaderEpoch, PartitionIndex, TimestampMs, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::list_offsets_request::ListOffsetsPartition;
use fanlog_protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use fanlog_protocol::messages::{ListOffsetsRequest, ListOffsetsResponse, RequestHeader};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

const READ_COMMITTED: i8 = 1;
const LEADER_EPOCHS_SINCE: i16 = 4;
const NONE: i64 = -1;

/// One lookup, taken out of the request so that it can run where blocking is allowed.
struct Lookup {
    topic: Option<TopicRef>,
    partition: i32,
    leader_epoch: Option<LeaderEpoch>,
    spec: Result<OffsetSpec, ErrorCode>,
}

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: ListOffsetsRequest<'_>,
    version: i16,
) -> ListOffsetsResponse<'static> {
    let lookups = lookups(&request, version);
    let isolation = match request.isolation_level {
        READ_COMMITTED => Isolation::ReadCommitted,
        _ => Isolation::ReadUncommitted,
    };
    let broker = Arc::clone(context.broker());
    let answer = move || -> Vec<_> {
        lookups
            .iter()
            .map(|lookup| partition(lookup, look_up(&broker, lookup, isolation), version))
            .collect()
    };
    let found = tokio::task::spawn_blocking(answer).await;
    let mut found = match found {
        Ok(found) => found.into_iter(),
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    };
    let topics = request.topics.iter().map(|topic| ListOffsetsTopicResponse {
        name: Cow::Owned(topic.name.to_string()),
        partitions: found.by_ref().take(topic.partitions.len()).collect(),
    });
    ListOffsetsResponse {
        topics: topics.collect(),
        ..Default::default()
    }
}

fn lookups(request: &ListOffsetsRequest<'_>, version: i16) -> Vec<Lookup> {
    let mut mentions: HashMap<(&str, i32), usize> = HashMap::new();
    for topic in &request.topics {
        for partition in &topic.partitions {
            *mentions
                .entry((&topic.name, partition.partition_index))
                .or_default() += 1;
        }
    }
    let mut lookups = Vec::new();
    for topic in &request.topics {
        let reference = TopicName::new(&topic.name).ok().map(TopicRef::Name);
        for partition in &topic.partitions {
            let epoch = partition.current_leader_epoch;
            let is_repeated = mentions[&(topic.name.as_ref(), partition.partition_index)] > 1;
            lookups.push(Lookup {
                topic: reference.clone(),
                partition: partition.partition_index,
                leader_epoch: (epoch >= 0).then_some(LeaderEpoch(epoch)),
                spec: match request.replica_id >= 0 {
                    true => Err(ErrorCode::ClusterAuthorizationFailed),
                    false if is_repeated => Err(ErrorCode::InvalidRequest),
                    false => spec(partition, version),
                },
            });
        }
    }
    lookups
}

fn spec(partition: &ListOffsetsPartition, version: i16) -> Result<OffsetSpec, ErrorCode> {
    let (spec, since) = match partition.timestamp {
        -1 => (OffsetSpec::Latest, 1),
        -2 => (OffsetSpec::Earliest, 1),
        -3 => (OffsetSpec::MaxTimestamp, 7),
        -4 => (OffsetSpec::EarliestLocal, 8),
        -5 => (OffsetSpec::LatestTiered, 9),
        -6 => (OffsetSpec::EarliestPendingUpload, 11),
        time if time >= 0 => (OffsetSpec::Timestamp(TimestampMs(time)), 1),
        _ => return Err(ErrorCode::UnsupportedVersion),
    };
    if version < since {
        return Err(ErrorCode::UnsupportedVersion);
    }
    Ok(spec)
}

fn look_up(
    broker: &Broker,
    lookup: &Lookup,
    isolation: Isolation,
) -> Result<ListedOffset, ErrorCode> {
    let spec = lookup.spec?;
    let topic = lookup
        .topic
        .as_ref()
        .ok_or(ErrorCode::UnknownTopicOrPartition)?;
    broker
        .list_offset(
            topic,
            PartitionIndex(lookup.partition),
            spec,
            isolation,
            lookup.leader_epoch,
        )
        .map_err(|error| errors::of_offsets(&error))
}

fn partition(
    lookup: &Lookup,
    found: Result<ListedOffset, ErrorCode>,
    version: i16,
) -> ListOffsetsPartitionResponse {
    let partition_index = lookup.partition;
    match found {
        Err(error) => ListOffsetsPartitionResponse {
            partition_index,
            error_code: error.code(),
            ..Default::default()
        },
        Ok(found) => ListOffsetsPartitionResponse {
            partition_index,
            error_code: ErrorCode::None.code(),
            timestamp: found.timestamp.map_or(NONE, |timestamp| timestamp.0),
            offset: found.offset.map_or(NONE, |offset| offset.0),
            leader_epoch: match version >= LEADER_EPOCHS_SINCE {
                true => found.leader_epoch.unwrap_or(LeaderEpoch::UNKNOWN).0,
                false => LeaderEpoch::UNKNOWN.0,
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_timestamps_are_known_from_their_versions_on() {
        let check = |timestamp: i64, since: i16| {
            let partition = ListOffsetsPartition {
                timestamp,
                ..Default::default()
            };
            for version in 1..=11 {
                assert_eq!(
                    spec(&partition, version).is_ok(),
                    version >= since,
                    "{timestamp} in {version}"
                );
            }
        };
        check(0, 1);
        check(i64::MAX, 1);
        check(-1, 1);
        check(-2, 1);
        check(-3, 7);
        check(-4, 8);
        check(-5, 9);
        check(-6, 11);
        check(-7, 12);
        check(i64::MIN, 12);
    }
}
