//! Consumer groups over raw messages, in every version.

mod common;

use common::*;
use fanlog_protocol::messages::find_coordinator_request::FindCoordinatorRequest;
use fanlog_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use fanlog_protocol::messages::leave_group_request::MemberIdentity;
use fanlog_protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use fanlog_protocol::messages::offset_delete_request::{
    OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use fanlog_protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use fanlog_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use fanlog_protocol::messages::{
    DeleteGroupsRequest, DescribeGroupsRequest, HeartbeatRequest, JoinGroupRequest,
    JoinGroupResponse, LeaveGroupRequest, ListGroupsRequest, OffsetCommitRequest,
    OffsetDeleteRequest, OffsetFetchRequest, SyncGroupRequest,
};
use fanlog_protocol::{ApiKey, ErrorCode};
use uuid::Uuid;

fn group(version: i16) -> String {
    format!("group-{version}")
}

fn join(group: &str, member_id: &str, version: i16) -> JoinGroupRequest<'static> {
    JoinGroupRequest {
        group_id: group.to_owned().into(),
        session_timeout_ms: 20_000,
        rebalance_timeout_ms: if version >= 1 { 20_000 } else { -1 },
        member_id: member_id.to_owned().into(),
        protocol_type: "consumer".into(),
        protocols: vec![JoinGroupRequestProtocol {
            name: "range".into(),
            metadata: (&b"meta"[..]).into(),
        }],
        ..Default::default()
    }
}

/// Joins an empty group, going through the detour for a member id where the version has it.
async fn join_empty(client: &mut Client, group: &str, version: i16) -> JoinGroupResponse<'static> {
    let first = client.call(&join(group, "", version), version).await;
    if version < 4 {
        return first;
    }
    assert_eq!(error(first.error_code), ErrorCode::MemberIdRequired);
    assert!(!first.member_id.is_empty());
    client
        .call(&join(group, &first.member_id, version), version)
        .await
}

#[tokio::test]
async fn a_member_joins_syncs_beats_and_leaves_in_every_version() {
    let server = Server::start().await;
    let mut client = server.client().await;
    for version in versions(ApiKey::JoinGroup) {
        let group = group(version);
        let joined = join_empty(&mut client, &group, version).await;
        assert_eq!(
            (joined.error_code, joined.generation_id),
            (0, 1),
            "version {version}"
        );
        assert_eq!(
            (&joined.leader, joined.members.len()),
            (&joined.member_id, 1)
        );
        assert_eq!(joined.protocol_name.as_deref(), Some("range"));
        assert_eq!(joined.members[0].metadata.as_ref(), b"meta");
        let member = joined.member_id.to_string();
        let down_to = |highest: i16| version.min(highest);

        let sync = SyncGroupRequest {
            group_id: group.clone().into(),
            generation_id: 1,
            member_id: member.clone().into(),
            protocol_type: Some("consumer".into()),
            protocol_name: Some("range".into()),
            assignments: vec![SyncGroupRequestAssignment {
                member_id: member.clone().into(),
                assignment: (&b"all"[..]).into(),
            }],
            ..Default::default()
        };
        let synced = client.call(&sync, down_to(5)).await;
        assert_eq!(
            (synced.error_code, synced.assignment.as_ref()),
            (0, &b"all"[..])
        );

        let beat = |generation_id| HeartbeatRequest {
            group_id: group.clone().into(),
            generation_id,
            member_id: member.clone().into(),
            ..Default::default()
        };
        assert_eq!(client.call(&beat(1), down_to(4)).await.error_code, 0);
        let wrong = client.call(&beat(2), down_to(4)).await;
        assert_eq!(error(wrong.error_code), ErrorCode::IllegalGeneration);

        let described = DescribeGroupsRequest {
            groups: vec![group.clone().into()],
            include_authorized_operations: version >= 3,
        };
        let response = client.call(&described, down_to(6)).await;
        let found = &response.groups[0];
        assert_eq!(
            (found.error_code, found.group_state.as_ref()),
            (0, "Stable")
        );
        assert_eq!(found.members[0].member_assignment.as_ref(), b"all");
        assert_eq!(
            (
                found.members[0].client_id.as_ref(),
                found.members[0].client_host.as_ref()
            ),
            ("test", "/127.0.0.1")
        );

        let leave_version = down_to(5);
        let leave = match leave_version {
            3.. => LeaveGroupRequest {
                group_id: group.clone().into(),
                members: vec![MemberIdentity {
                    member_id: member.clone().into(),
                    ..Default::default()
                }],
                ..Default::default()
            },
            _ => LeaveGroupRequest {
                group_id: group.clone().into(),
                member_id: member.clone().into(),
                ..Default::default()
            },
        };
        let left = client.call(&leave, leave_version).await;
        assert_eq!(left.error_code, 0);
        assert!(left.members.iter().all(|member| member.error_code == 0));
        let late = client.call(&beat(1), down_to(4)).await;
        assert_eq!(error(late.error_code), ErrorCode::UnknownMemberId);
    }
}

#[tokio::test]
async fn a_second_member_makes_the_first_join_again() {
    let server = Server::start().await;
    let (mut a, mut b) = (server.client().await, server.client().await);
    let first = join_empty(&mut a, "g", 9).await;
    let second_asks = b.call(&join("g", "", 9), 9).await;
    let waiting = b.send(&join("g", &second_asks.member_id, 9), 9).await;
    let beat = HeartbeatRequest {
        group_id: "g".into(),
        generation_id: 1,
        member_id: first.member_id.to_string().into(),
        ..Default::default()
    };
    // The second join may not have been taken in hand yet.
    loop {
        match error(a.call(&beat, 4).await.error_code) {
            ErrorCode::RebalanceInProgress => break,
            ErrorCode::None => tokio::task::yield_now().await,
            other => panic!("{other}"),
        }
    }
    let again = a.call(&join("g", &first.member_id, 9), 9).await;
    let second = b.receive::<JoinGroupRequest<'static>>(waiting, 9).await;
    assert_eq!((again.generation_id, second.generation_id), (2, 2));
    assert_eq!(
        again.members.len() + second.members.len(),
        2,
        "only the leader learns of the members"
    );
}

fn commit(
    group: &str,
    topic: &'static str,
    partition: i32,
    offset: i64,
    version: i16,
    id: Uuid,
) -> OffsetCommitRequest<'static> {
    OffsetCommitRequest {
        group_id: group.to_owned().into(),
        generation_id_or_member_epoch: -1,
        topics: vec![OffsetCommitRequestTopic {
            name: if version < 10 {
                topic.into()
            } else {
                "".into()
            },
            topic_id: if version < 10 { Uuid::nil() } else { id },
            partitions: vec![OffsetCommitRequestPartition {
                partition_index: partition,
                committed_offset: offset,
                committed_metadata: Some("note".into()),
                ..Default::default()
            }],
        }],
        ..Default::default()
    }
}

/// Error on top, error of the partition, offset, metadata.
async fn committed(
    client: &mut Client,
    group: &str,
    topic: &'static str,
    version: i16,
    id: Uuid,
) -> (i16, i16, i64, String) {
    let request = match version {
        8.. => OffsetFetchRequest {
            groups: vec![OffsetFetchRequestGroup {
                group_id: group.to_owned().into(),
                topics: Some(vec![OffsetFetchRequestTopics {
                    name: if version < 10 {
                        topic.into()
                    } else {
                        "".into()
                    },
                    topic_id: if version < 10 { Uuid::nil() } else { id },
                    partition_indexes: vec![0],
                }]),
                ..Default::default()
            }],
            ..Default::default()
        },
        _ => OffsetFetchRequest {
            group_id: group.to_owned().into(),
            topics: Some(vec![OffsetFetchRequestTopic {
                name: topic.into(),
                partition_indexes: vec![0],
            }]),
            ..Default::default()
        },
    };
    let response = client.call(&request, version).await;
    if version >= 8 {
        let group = &response.groups[0];
        if group.error_code != 0 {
            return (group.error_code, 0, -1, String::new());
        }
        let partition = &group.topics[0].partitions[0];
        let note = partition.metadata.as_deref().unwrap_or_default().to_owned();
        return (
            group.error_code,
            partition.error_code,
            partition.committed_offset,
            note,
        );
    }
    let partition = &response.topics[0].partitions[0];
    let note = partition.metadata.as_deref().unwrap_or_default().to_owned();
    (
        response.error_code,
        partition.error_code,
        partition.committed_offset,
        note,
    )
}

#[tokio::test]
async fn offsets_are_committed_and_fetched_in_every_version() {
    let server = Server::start().await;
    let id = server.topic("t", 1).await;
    let mut client = server.client().await;
    for version in versions(ApiKey::OffsetCommit) {
        let group = group(version);
        let fetch_version = version.min(*versions(ApiKey::OffsetFetch).end());
        let none = committed(&mut client, &group, "t", fetch_version, id).await;
        assert_eq!(none, (0, 0, -1, String::new()), "version {version}");
        let request = commit(&group, "t", 0, i64::from(version) * 10, version, id);
        let response = client.call(&request, version).await;
        assert_eq!(
            response.topics[0].partitions[0].error_code, 0,
            "version {version}"
        );
        let found = committed(&mut client, &group, "t", fetch_version, id).await;
        assert_eq!(
            found,
            (0, 0, i64::from(version) * 10, "note".to_owned()),
            "version {version}"
        );
        let unknown = commit(&group, "none", 0, 1, version, Uuid::from_u128(5));
        let response = client.call(&unknown, version).await;
        let expected = match version {
            10.. => ErrorCode::UnknownTopicId,
            _ => ErrorCode::UnknownTopicOrPartition,
        };
        assert_eq!(error(response.topics[0].partitions[0].error_code), expected);
        let stranger = OffsetCommitRequest {
            generation_id_or_member_epoch: 3,
            member_id: "stranger".into(),
            ..commit(&group, "t", 0, 1, version, id)
        };
        let response = client.call(&stranger, version).await;
        assert_eq!(
            error(response.topics[0].partitions[0].error_code),
            ErrorCode::UnknownMemberId
        );
    }
    assert_eq!(
        committed(&mut client, "group-2", "t", 1, id).await.2,
        20,
        "version 1 reads it too"
    );
    // All offsets of a group.
    let all = OffsetFetchRequest {
        group_id: "group-3".into(),
        topics: None,
        ..Default::default()
    };
    let response = client.call(&all, 5).await;
    assert_eq!(response.topics[0].partitions[0].committed_offset, 30);
}

#[tokio::test]
async fn offsets_survive_a_restart_and_end_with_their_topic() {
    let server = Server::start().await;
    let id = server.topic("t", 1).await;
    let mut client = server.client().await;
    client.call(&commit("g", "t", 0, 42, 9, id), 9).await;
    let server = server.restart().await;
    let mut client = server.client().await;
    let found = loop {
        let found = committed(&mut client, "g", "t", 9, id).await;
        if found.0 != ErrorCode::CoordinatorLoadInProgress.code() {
            break found;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(found.2, 42);
    let delete = fanlog_protocol::messages::DeleteTopicsRequest {
        topic_names: vec!["t".into()],
        ..Default::default()
    };
    client.call(&delete, 5).await;
    server.topic("t", 1).await;
    assert_eq!(
        committed(&mut client, "g", "t", 9, id).await.2,
        -1,
        "another life of the topic"
    );
}

#[tokio::test]
async fn groups_are_listed_and_deleted() {
    let server = Server::start().await;
    let id = server.topic("t", 2).await;
    let mut client = server.client().await;
    for version in versions(ApiKey::DeleteGroups) {
        for partition in 0..2 {
            client
                .call(&commit(&group(version), "t", partition, 1, 9, id), 9)
                .await;
        }
    }
    for version in versions(ApiKey::ListGroups) {
        let response = client.call(&ListGroupsRequest::default(), version).await;
        assert_eq!((response.error_code, response.groups.len()), (0, 4));
        if version >= 4 {
            assert_eq!(response.groups[0].group_state, "Empty");
            let stable = ListGroupsRequest {
                states_filter: vec!["Stable".into()],
                ..Default::default()
            };
            assert!(client.call(&stable, version).await.groups.is_empty());
        }
    }
    let offsets = OffsetDeleteRequest {
        group_id: group(0).into(),
        topics: vec![OffsetDeleteRequestTopic {
            name: "t".into(),
            partitions: [0, 7]
                .map(|partition_index| OffsetDeleteRequestPartition { partition_index })
                .to_vec(),
        }],
    };
    let response = client.call(&offsets, 0).await;
    let outcome: Vec<_> = response.topics[0]
        .partitions
        .iter()
        .map(|p| error(p.error_code))
        .collect();
    assert_eq!(
        outcome,
        [ErrorCode::None, ErrorCode::UnknownTopicOrPartition]
    );
    assert_eq!(committed(&mut client, &group(0), "t", 9, id).await.2, -1);

    for version in versions(ApiKey::DeleteGroups) {
        let names = vec![group(version).into(), "none".into()];
        let response = client
            .call(
                &DeleteGroupsRequest {
                    groups_names: names,
                },
                version,
            )
            .await;
        let outcome: Vec<_> = response
            .results
            .iter()
            .map(|result| error(result.error_code))
            .collect();
        assert_eq!(
            outcome,
            [ErrorCode::None, ErrorCode::GroupIdNotFound],
            "version {version}"
        );
    }
    assert!(
        client
            .call(&ListGroupsRequest::default(), 5)
            .await
            .groups
            .is_empty()
    );
    for (version, state, code) in [
        (0, "Dead", ErrorCode::None),
        (6, "Dead", ErrorCode::GroupIdNotFound),
    ] {
        let request = DescribeGroupsRequest {
            groups: vec!["none".into()],
            ..Default::default()
        };
        let response = client.call(&request, version).await;
        assert_eq!(
            (
                response.groups[0].group_state.as_ref(),
                error(response.groups[0].error_code)
            ),
            (state, code)
        );
    }
}

#[tokio::test]
async fn this_broker_coordinates_groups_and_no_transactions() {
    let server = Server::start().await;
    let mut client = server.client().await;
    for version in versions(ApiKey::FindCoordinator) {
        let ask = |key_type: i8| match version {
            4.. => FindCoordinatorRequest {
                key_type,
                coordinator_keys: vec!["a".into(), "b".into()],
                ..Default::default()
            },
            _ => FindCoordinatorRequest {
                key: "a".into(),
                key_type,
                ..Default::default()
            },
        };
        let response = client.call(&ask(0), version).await;
        let (code, node, port) = match version {
            4.. => {
                assert_eq!(response.coordinators.len(), 2);
                let first = &response.coordinators[0];
                (first.error_code, first.node_id, first.port)
            }
            _ => (response.error_code, response.node_id, response.port),
        };
        assert_eq!(
            (code, node, port),
            (0, NODE_ID, i32::from(server.address.port())),
            "version {version}"
        );
        if version >= 1 {
            let response = client.call(&ask(1), version).await;
            let code = match version {
                4.. => response.coordinators[0].error_code,
                _ => response.error_code,
            };
            assert_eq!(code, 0, "transactions, version {version}");
        }
    }
}

#[tokio::test]
async fn an_error_of_the_group_is_told_in_every_version_and_never_as_no_offset() {
    let server = Server::start().await;
    let id = server.topic("t", 1).await;
    let mut client = server.client().await;
    client.call(&commit("g", "t", 0, 42, 9, id), 9).await;
    // The groups' logs are damaged where they were durable: nobody knows any more what was committed.
    let server = server
        .restart_after(|data| {
            for partition in 0..2 {
                let log = data.join(format!(
                    "__consumer_offsets-{partition}/00000000000000000000.log"
                ));
                std::fs::write(log, b"not a log").unwrap();
            }
        })
        .await;
    let mut client = server.client().await;
    for version in versions(ApiKey::OffsetFetch) {
        let topic = OffsetFetchRequestTopic {
            name: "t".into(),
            partition_indexes: vec![0],
        };
        let request = OffsetFetchRequest {
            group_id: "g".into(),
            topics: Some(vec![topic]),
            ..Default::default()
        };
        let told = loop {
            let told = if version < 8 {
                let response = client.call(&request, version).await;
                match version {
                    1 => response.topics[0].partitions[0].error_code,
                    _ => response.error_code,
                }
            } else {
                committed(&mut client, "g", "t", version, id).await.0
            };
            if error(told) != ErrorCode::CoordinatorLoadInProgress {
                break told;
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(
            error(told),
            ErrorCode::CoordinatorNotAvailable,
            "version {version}"
        );
    }
}
