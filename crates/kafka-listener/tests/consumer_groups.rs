//! Consumer groups of the new protocol over raw messages, in every version.

mod common;

use common::*;
use fanlog_protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use fanlog_protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig,
};
use fanlog_protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use fanlog_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
    IncrementalAlterConfigsRequest, ListGroupsRequest, OffsetFetchRequest,
};
use fanlog_protocol::{ApiKey, ErrorCode};
use uuid::Uuid;

const GROUP: i8 = 32;

fn join(group: &str, member: &str) -> ConsumerGroupHeartbeatRequest<'static> {
    ConsumerGroupHeartbeatRequest {
        group_id: group.to_owned().into(),
        member_id: member.to_owned().into(),
        rebalance_timeout_ms: 30_000,
        subscribed_topic_names: Some(vec!["t".into()]),
        topic_partitions: Some(Vec::new()),
        ..Default::default()
    }
}

fn beat(group: &str, member: &str, epoch: i32) -> ConsumerGroupHeartbeatRequest<'static> {
    ConsumerGroupHeartbeatRequest {
        group_id: group.to_owned().into(),
        member_id: member.to_owned().into(),
        member_epoch: epoch,
        ..Default::default()
    }
}

fn assigned(response: &ConsumerGroupHeartbeatResponse<'_>) -> Vec<(Uuid, Vec<i32>)> {
    let assignment = response.assignment.iter();
    let topics = assignment.flat_map(|assignment| &assignment.topic_partitions);
    topics
        .map(|topic| (topic.topic_id, topic.partitions.clone()))
        .collect()
}

#[tokio::test]
async fn a_member_joins_beats_and_leaves_in_every_version() {
    let server = Server::start().await;
    let topic = server.topic("t", 3).await;
    let mut client = server.client().await;
    for version in versions(ApiKey::ConsumerGroupHeartbeat) {
        let group = format!("group-{version}");
        let joined = client.call(&join(&group, "m"), version).await;
        assert_eq!((joined.error_code, joined.member_epoch), (0, 2));
        assert_eq!(joined.heartbeat_interval_ms, 5_000);
        assert_eq!(assigned(&joined), [(topic, vec![0, 1, 2])]);
        let beaten = client.call(&beat(&group, "m", 2), version).await;
        assert_eq!((beaten.error_code, &beaten.assignment), (0, &None));
        let fenced = client.call(&beat(&group, "m", 3), version).await;
        assert_eq!(error(fenced.error_code), ErrorCode::FencedMemberEpoch);
        let left = client.call(&beat(&group, "m", -1), version).await;
        assert_eq!((left.error_code, left.member_epoch), (0, -1));
        let gone = client.call(&beat(&group, "m", 2), version).await;
        assert_eq!(error(gone.error_code), ErrorCode::UnknownMemberId);
    }
}

#[tokio::test]
async fn a_member_without_an_id_is_given_one_in_version_0_alone() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    let joined = client.call(&join("g", ""), 0).await;
    assert_eq!(joined.error_code, 0);
    assert!(joined.member_id.is_some_and(|id| !id.is_empty()));
    let refused = client.call(&join("g", ""), 1).await;
    assert_eq!(error(refused.error_code), ErrorCode::InvalidRequest);
}

#[tokio::test]
async fn what_members_were_told_survives_a_restart() {
    let server = Server::start().await;
    let topic = server.topic("t", 2).await;
    let mut client = server.client().await;
    client.call(&join("g", "m"), 1).await;
    drop(client);
    let server = server.restart().await;
    let mut client = server.client().await;
    let full = ConsumerGroupHeartbeatRequest {
        member_epoch: 2,
        topic_partitions: Some(vec![TopicPartitions {
            topic_id: topic,
            partitions: vec![0, 1],
        }]),
        ..join("g", "m")
    };
    let mut beaten = client.call(&full, 1).await;
    while error(beaten.error_code) == ErrorCode::CoordinatorLoadInProgress {
        tokio::task::yield_now().await;
        beaten = client.call(&full, 1).await;
    }
    assert_eq!((beaten.error_code, beaten.member_epoch), (0, 2));
    assert_eq!(assigned(&beaten), [(topic, vec![0, 1])]);
}

#[tokio::test]
async fn a_regular_expression_finds_topics_that_come_later_too() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let by_regex = |pattern: &'static str| ConsumerGroupHeartbeatRequest {
        subscribed_topic_names: None,
        subscribed_topic_regex: Some(pattern.into()),
        ..join("g", "m")
    };
    let refused = client.call(&by_regex("("), 1).await;
    assert_eq!(
        error(refused.error_code),
        ErrorCode::InvalidRegularExpression
    );
    let joined = client.call(&by_regex("late-.*"), 1).await;
    assert_eq!((joined.error_code, joined.member_epoch), (0, 2));
    assert_eq!(assigned(&joined), []);
    let settings = IncrementalAlterConfigsRequest {
        resources: vec![AlterConfigsResource {
            resource_type: GROUP,
            resource_name: "g".into(),
            configs: vec![
                AlterableConfig {
                    name: "consumer.assignment.interval.ms".into(),
                    value: Some("0".into()),
                    ..Default::default()
                },
                AlterableConfig {
                    name: "consumer.heartbeat.interval.ms".into(),
                    value: Some("6000".into()),
                    ..Default::default()
                },
            ],
        }],
        ..Default::default()
    };
    let altered = client.call(&settings, 1).await;
    assert_eq!(altered.responses[0].error_code, 0);
    let topic = server.topic("late-one", 1).await;
    // The expression is resolved anew behind the topic's creation.
    let (mut epoch, mut found) = (joined.member_epoch, Vec::new());
    while found.is_empty() {
        let beaten = client.call(&beat("g", "m", epoch), 1).await;
        assert_eq!(
            (beaten.error_code, beaten.heartbeat_interval_ms),
            (0, 6_000)
        );
        (epoch, found) = (beaten.member_epoch, assigned(&beaten));
    }
    assert_eq!(found, [(topic, vec![0])]);
}

#[tokio::test]
async fn an_administrator_sees_members_epochs_and_assignments() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    client.call(&join("g", "m"), 1).await;
    for version in versions(ApiKey::ConsumerGroupDescribe) {
        let request = ConsumerGroupDescribeRequest {
            group_ids: vec!["g".into(), "unknown".into(), "".into()],
            ..Default::default()
        };
        let described = client.call(&request, version).await;
        let codes: Vec<_> = described
            .groups
            .iter()
            .map(|g| error(g.error_code))
            .collect();
        assert_eq!(
            codes,
            [
                ErrorCode::None,
                ErrorCode::GroupIdNotFound,
                ErrorCode::InvalidGroupId
            ]
        );
        let group = &described.groups[0];
        assert_eq!(
            (&*group.group_state, &*group.assignor_name),
            ("Stable", "uniform")
        );
        assert_eq!((group.group_epoch, group.assignment_epoch), (2, 2));
        let member = &group.members[0];
        assert_eq!((&*member.member_id, member.member_epoch), ("m", 2));
        assert_eq!(member.assignment, member.target_assignment);
        assert_eq!(member.assignment.topic_partitions[0].topic_name, "t");
        assert_eq!(member.member_type, if version >= 1 { 1 } else { -1 });
    }
    let listed = client.call(&ListGroupsRequest::default(), 5).await;
    let groups: Vec<_> = listed
        .groups
        .iter()
        .map(|g| (&*g.group_id, &*g.group_type))
        .collect();
    assert_eq!(groups, [("g", "consumer")]);
    for (epoch, code) in [(2, ErrorCode::None), (1, ErrorCode::StaleMemberEpoch)] {
        let fetch = OffsetFetchRequest {
            groups: vec![OffsetFetchRequestGroup {
                group_id: "g".into(),
                member_id: Some("m".into()),
                member_epoch: epoch,
                topics: None,
            }],
            ..Default::default()
        };
        let fetched = client.call(&fetch, 9).await;
        assert_eq!(error(fetched.groups[0].error_code), code);
    }
}
