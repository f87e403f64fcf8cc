//! OffsetFetch, versions 1-10: where a group will read on.
//!
//! Behaviour: answers only what is durable (GRP-3). A partition without an offset answers -1 and no error. An
//! offset of an earlier life of a topic is shown as none.
//! Versions: 2 an error on top (before, each partition carries it), and all partitions where none are named; 5
//! leader epochs; 6 flexible; 7 stable offsets only, where asked for; 8 several groups; 9 member
//! epochs, which are checked in groups of the new protocol; 10 topic ids.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::{GroupRequestError, TopicsView};
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{CommittedOffset, FetchOffsets, FetchedOffset, MemberId};
use fanlog_model::{GroupId, PartitionIndex, TopicId, TopicName, TopicPartition};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use fanlog_protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};
use fanlog_protocol::messages::{OffsetFetchRequest, OffsetFetchResponse, RequestHeader};
use std::borrow::Cow;
use std::collections::HashMap;
use uuid::Uuid;

const ERROR_ON_TOP_SINCE: i16 = 2;
const SEVERAL_GROUPS_SINCE: i16 = 8;
const TOPIC_IDS_SINCE: i16 = 10;
/// What is answered for a partition without an offset.
const NO_OFFSET: i64 = -1;

/// One topic that a request names; `name` is none where its id is unknown.
struct AskedTopic {
    name: Option<TopicName>,
    given_name: String,
    id: Uuid,
    partitions: Vec<i32>,
}

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: OffsetFetchRequest<'_>,
    version: i16,
) -> OffsetFetchResponse<'static> {
    if version < SEVERAL_GROUPS_SINCE {
        return single(context, request, version).await;
    }
    let mut groups = Vec::with_capacity(request.groups.len());
    for group in &request.groups {
        groups.push(one_of_several(context, group, request.require_stable, version).await);
    }
    OffsetFetchResponse {
        groups,
        ..Default::default()
    }
}

async fn single(
    context: &ConnectionContext,
    request: OffsetFetchRequest<'_>,
    version: i16,
) -> OffsetFetchResponse<'static> {
    let asked = request.topics.as_ref().map(|topics| {
        let topic =
            |t: &fanlog_protocol::messages::offset_fetch_request::OffsetFetchRequestTopic<'_>| {
                AskedTopic::by_name(&t.name, &t.partition_indexes)
            };
        topics.iter().map(topic).collect::<Vec<_>>()
    });
    let (topics, error) = fetch(
        context,
        &request.group_id,
        None,
        asked,
        request.require_stable,
        version,
    )
    .await;
    // P9: version 1 has no other place for the error, and "no offset" would send the consumer back to the start.
    let (on_top, on_each) = match version >= ERROR_ON_TOP_SINCE {
        true => (error, ErrorCode::None),
        false => (ErrorCode::None, error),
    };
    let partition = |p: OffsetFetchResponsePartitions<'static>| OffsetFetchResponsePartition {
        partition_index: p.partition_index,
        committed_offset: p.committed_offset,
        committed_leader_epoch: p.committed_leader_epoch,
        metadata: p.metadata,
        error_code: if p.error_code == 0 {
            on_each.code()
        } else {
            p.error_code
        },
    };
    let topic = |t: OffsetFetchResponseTopics<'static>| OffsetFetchResponseTopic {
        name: t.name,
        partitions: t.partitions.into_iter().map(partition).collect(),
    };
    OffsetFetchResponse {
        topics: topics.into_iter().map(topic).collect(),
        error_code: on_top.code(),
        ..Default::default()
    }
}

async fn one_of_several(
    context: &ConnectionContext,
    group: &OffsetFetchRequestGroup<'_>,
    require_stable: bool,
    version: i16,
) -> OffsetFetchResponseGroup<'static> {
    let topics = context.broker().topics();
    let asked = group.topics.as_ref().map(|asked| {
        let topic =
            |t: &fanlog_protocol::messages::offset_fetch_request::OffsetFetchRequestTopics<'_>| {
                match version >= TOPIC_IDS_SINCE {
                    true => AskedTopic::by_id(&topics, t.topic_id, &t.partition_indexes),
                    false => AskedTopic::by_name(&t.name, &t.partition_indexes),
                }
            };
        asked.iter().map(topic).collect::<Vec<_>>()
    });
    let member = member_of(group);
    let (topics, error) = fetch(
        context,
        &group.group_id,
        member,
        asked,
        require_stable,
        version,
    )
    .await;
    OffsetFetchResponseGroup {
        group_id: Cow::Owned(group.group_id.to_string()),
        topics,
        error_code: error.code(),
    }
}

/// Who asks, where it says so: a tool has neither name nor epoch.
fn member_of(group: &OffsetFetchRequestGroup<'_>) -> Option<(MemberId, i32)> {
    if group.member_id.is_none() && group.member_epoch < 0 {
        return None;
    }
    let id = group.member_id.as_deref().unwrap_or_default();
    Some((MemberId::from(id), group.member_epoch))
}

impl AskedTopic {
    fn by_name(name: &str, partitions: &[i32]) -> Self {
        Self {
            name: TopicName::new(name).ok(),
            given_name: name.to_owned(),
            id: Uuid::nil(),
            partitions: partitions.to_vec(),
        }
    }

    fn by_id(topics: &TopicsView, id: Uuid, partitions: &[i32]) -> Self {
        let name = topics.by_id(TopicId(id)).map(|topic| topic.name.clone());
        Self {
            name,
            given_name: String::new(),
            id,
            partitions: partitions.to_vec(),
        }
    }

    fn wanted(&self) -> impl Iterator<Item = TopicPartition> {
        let name = self.name.clone();
        let partition = |topic: TopicName, index: &i32| TopicPartition {
            topic,
            partition: PartitionIndex(*index),
        };
        self.partitions
            .iter()
            .filter_map(move |index| Some(partition(name.clone()?, index)))
    }
}

/// Asks the group's machine, and shapes its answer as the request was.
async fn fetch(
    context: &ConnectionContext,
    group: &str,
    member: Option<(MemberId, i32)>,
    asked: Option<Vec<AskedTopic>>,
    require_stable: bool,
    version: i16,
) -> (Vec<OffsetFetchResponseTopics<'static>>, ErrorCode) {
    let fetch = FetchOffsets {
        call: CallId(0),
        group: GroupId::from(group),
        member,
        partitions: asked
            .as_ref()
            .map(|topics| topics.iter().flat_map(AskedTopic::wanted).collect()),
        require_stable,
    };
    let (fetched, error) = match context.broker().groups().fetch_offsets(fetch).await {
        Ok(fetched) => (fetched, ErrorCode::None),
        Err(failure) => (Vec::new(), code_of(&failure)),
    };
    let topics = context.broker().topics();
    match asked {
        Some(asked) if error.is_none() || version < ERROR_ON_TOP_SINCE => {
            (as_asked(&topics, asked, &fetched, version), error)
        }
        Some(_) => (Vec::new(), error),
        None => (all(&topics, &fetched, version), error),
    }
}

fn code_of(failure: &GroupRequestError) -> ErrorCode {
    errors::of_group_failure(failure)
}

fn as_asked(
    topics: &TopicsView,
    asked: Vec<AskedTopic>,
    fetched: &[FetchedOffset],
    version: i16,
) -> Vec<OffsetFetchResponseTopics<'static>> {
    let by_partition: HashMap<&TopicPartition, &FetchedOffset> = fetched
        .iter()
        .map(|offset| (&offset.partition, offset))
        .collect();
    let answer = |topic: &AskedTopic, index: i32| {
        let Some(name) = &topic.name else {
            let is_by_id = version >= TOPIC_IDS_SINCE;
            return no_offset(
                index,
                if is_by_id {
                    ErrorCode::UnknownTopicId
                } else {
                    ErrorCode::None
                },
            );
        };
        let place = TopicPartition {
            topic: name.clone(),
            partition: PartitionIndex(index),
        };
        let found = by_partition.get(&place);
        if found.is_some_and(|offset| offset.is_unstable) {
            return no_offset(index, ErrorCode::UnstableOffsetCommit);
        }
        match found.and_then(|offset| current(topics, offset)) {
            Some(committed) => offset(index, committed),
            None => no_offset(index, ErrorCode::None),
        }
    };
    let topic = |topic: AskedTopic| OffsetFetchResponseTopics {
        partitions: topic
            .partitions
            .iter()
            .map(|index| answer(&topic, *index))
            .collect(),
        name: Cow::Owned(topic.given_name),
        topic_id: topic.id,
    };
    asked.into_iter().map(topic).collect()
}

/// Everything that the group has stored, by topic; the machine gives it in order.
fn all(
    topics: &TopicsView,
    fetched: &[FetchedOffset],
    version: i16,
) -> Vec<OffsetFetchResponseTopics<'static>> {
    let is_same_topic =
        |a: &FetchedOffset, b: &FetchedOffset| a.partition.topic == b.partition.topic;
    let entries = fetched.chunk_by(is_same_topic).filter_map(|of_topic| {
        let name = &of_topic[0].partition.topic;
        let topic_id = topics.by_name(name).map_or(Uuid::nil(), |topic| topic.id.0);
        if version >= TOPIC_IDS_SINCE && topic_id.is_nil() {
            return None;
        }
        let known = of_topic.iter().filter_map(|o| {
            let committed = current(topics, o)?;
            Some((
                o.partition.partition.0,
                (!o.is_unstable).then_some(committed),
            ))
        });
        Some(OffsetFetchResponseTopics {
            name: Cow::Owned(name.to_string()),
            topic_id,
            partitions: known
                .map(|(index, found)| match found {
                    Some(committed) => offset(index, committed),
                    None => no_offset(index, ErrorCode::UnstableOffsetCommit),
                })
                .collect(),
        })
    });
    entries
        .filter(|topic| !topic.partitions.is_empty())
        .collect()
}

/// The offset, unless it belongs to an earlier life of its topic.
fn current<'a>(topics: &TopicsView, fetched: &'a FetchedOffset) -> Option<&'a CommittedOffset> {
    let committed = fetched.committed.as_ref()?;
    let now = topics
        .by_name(&fetched.partition.topic)
        .map(|topic| topic.id);
    let is_same_life =
        committed.topic_id.is_zero() || now.is_none_or(|id| id == committed.topic_id);
    is_same_life.then_some(committed)
}

fn offset(
    partition_index: i32,
    committed: &CommittedOffset,
) -> OffsetFetchResponsePartitions<'static> {
    OffsetFetchResponsePartitions {
        partition_index,
        committed_offset: committed.offset.0,
        committed_leader_epoch: committed.leader_epoch.0,
        metadata: Some(Cow::Owned(committed.metadata.to_string())),
        error_code: 0,
    }
}

fn no_offset(partition_index: i32, error: ErrorCode) -> OffsetFetchResponsePartitions<'static> {
    OffsetFetchResponsePartitions {
        partition_index,
        committed_offset: NO_OFFSET,
        committed_leader_epoch: -1,
        metadata: Some(Cow::Borrowed("")),
        error_code: error.code(),
    }
}
