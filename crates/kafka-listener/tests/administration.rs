//! What can't be done here is refused, with a code and a reason, and nothing is changed: access, quotas, features, places of partitions.
#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::alter_client_quotas_request as alter_quotas;
use fanlog_protocol::messages::alter_partition_reassignments_request as reassign;
use fanlog_protocol::messages::alter_user_scram_credentials_request as alter_scram;
use fanlog_protocol::messages::create_acls_request::AclCreation;
use fanlog_protocol::messages::delete_acls_request::DeleteAclsFilter;
use fanlog_protocol::messages::describe_client_quotas_request::ComponentData;
use fanlog_protocol::messages::describe_user_scram_credentials_request::UserName;
use fanlog_protocol::messages::update_features_request::FeatureUpdateKey;
use fanlog_protocol::messages::*;

#[tokio::test]
async fn acls_are_refused_as_kafka_without_an_authorizer_refuses_them() {
    let server = Server::start().await;
    let mut client = server.client().await;
    for version in 1..=3 {
        let described = client.call(&DescribeAclsRequest::default(), version).await;
        assert_eq!(error(described.error_code), ErrorCode::SecurityDisabled);
        assert!(described.error_message.is_some());
        let request = CreateAclsRequest {
            creations: vec![AclCreation::default(); 2],
        };
        let created = client.call(&request, version).await;
        let codes: Vec<_> = created
            .results
            .iter()
            .map(|r| error(r.error_code))
            .collect();
        assert_eq!(codes, [ErrorCode::SecurityDisabled; 2]);
        let request = DeleteAclsRequest {
            filters: vec![DeleteAclsFilter::default()],
        };
        let deleted = client.call(&request, version).await;
        let result = &deleted.filter_results[0];
        assert_eq!(error(result.error_code), ErrorCode::SecurityDisabled);
        assert!(result.matching_acls.is_empty());
    }
}

fn upsertion(
    name: &'static str,
    mechanism: i8,
    iterations: i32,
) -> alter_scram::ScramCredentialUpsertion<'static> {
    alter_scram::ScramCredentialUpsertion {
        name: name.into(),
        mechanism,
        iterations,
        salt: b"salt".as_slice().into(),
        salted_password: b"password".as_slice().into(),
    }
}

#[tokio::test]
async fn no_password_is_kept_and_whoever_sets_one_is_told() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let deletion = |name: &'static str| alter_scram::ScramCredentialDeletion {
        name: name.into(),
        mechanism: 1,
    };
    let request = AlterUserScramCredentialsRequest {
        deletions: vec![deletion("gone"), deletion("")],
        upsertions: vec![
            upsertion("alice", 1, 4096),
            upsertion("alice", 2, 4096),
            upsertion("few", 1, 4095),
            upsertion("odd", 3, 4096),
            upsertion("gone", 1, 4096),
        ],
    };
    let altered = client.call(&request, 0).await;
    let told: Vec<_> = altered
        .results
        .iter()
        .map(|r| (r.user.as_ref(), error(r.error_code)))
        .collect();
    let expected = [
        ("gone", ErrorCode::ResourceNotFound),
        ("", ErrorCode::UnacceptableCredential),
        ("alice", ErrorCode::SecurityDisabled),
        ("few", ErrorCode::UnacceptableCredential),
        ("odd", ErrorCode::UnsupportedSaslMechanism),
    ];
    assert_eq!(told, expected);
    assert!(
        altered
            .results
            .iter()
            .all(|result| result.error_message.is_some())
    );

    let everybody = client
        .call(&DescribeUserScramCredentialsRequest { users: None }, 0)
        .await;
    assert_eq!(error(everybody.error_code), ErrorCode::None);
    assert!(everybody.results.is_empty());
    let users = ["alice", "bob", "bob"].map(|name| UserName { name: name.into() });
    let request = DescribeUserScramCredentialsRequest {
        users: Some(users.into()),
    };
    let described = client.call(&request, 0).await;
    let told: Vec<_> = described
        .results
        .iter()
        .map(|r| (r.user.as_ref(), error(r.error_code)))
        .collect();
    assert_eq!(
        told,
        [
            ("alice", ErrorCode::ResourceNotFound),
            ("bob", ErrorCode::DuplicateResource)
        ]
    );
}

fn quota(
    kind: &'static str,
    key: &'static str,
    value: Option<f64>,
) -> alter_quotas::EntryData<'static> {
    alter_quotas::EntryData {
        entity: vec![alter_quotas::EntityData {
            entity_type: kind.into(),
            entity_name: Some("x".into()),
        }],
        ops: vec![alter_quotas::OpData {
            key: key.into(),
            value: value.unwrap_or_default(),
            remove: value.is_none(),
        }],
    }
}

#[tokio::test]
async fn no_quota_is_kept_and_whoever_sets_one_is_told() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let rate = "producer_byte_rate";
    for (version, validate_only) in [(0, false), (0, true), (1, false), (1, true)] {
        let request = AlterClientQuotasRequest {
            entries: vec![
                quota("user", rate, Some(1000.0)),
                quota("user", rate, None),
                quota("user", rate, Some(f64::NAN)),
                quota("user", "no_such_rate", Some(1.0)),
                quota("ip", rate, Some(1.0)),
                quota("planet", rate, Some(1.0)),
            ],
            validate_only,
        };
        let altered = client.call(&request, version).await;
        let codes: Vec<_> = altered
            .entries
            .iter()
            .map(|e| error(e.error_code))
            .collect();
        let mut expected = vec![ErrorCode::PolicyViolation, ErrorCode::None];
        expected.extend([ErrorCode::InvalidRequest; 4]);
        assert_eq!(codes, expected);
        assert_eq!(altered.entries[0].entity[0].entity_type, "user");

        let all = client
            .call(&DescribeClientQuotasRequest::default(), version)
            .await;
        assert_eq!(
            (error(all.error_code), all.entries),
            (ErrorCode::None, Some(Vec::new()))
        );
        let component = ComponentData {
            entity_type: "user".into(),
            match_type: 0,
            r#match: None,
        };
        let request = DescribeClientQuotasRequest {
            components: vec![component],
            strict: false,
        };
        let refused = client.call(&request, version).await;
        assert_eq!(
            (error(refused.error_code), refused.entries),
            (ErrorCode::InvalidRequest, None)
        );
    }
}

#[tokio::test]
async fn nobody_gets_a_delegation_token_without_being_authenticated() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let not_allowed = ErrorCode::DelegationTokenRequestNotAllowed;
    for version in 1..=3 {
        let request = CreateDelegationTokenRequest::default();
        let created = client.call(&request, version).await;
        assert_eq!(error(created.error_code), not_allowed);
        assert_eq!((created.hmac.len(), created.expiry_timestamp_ms), (0, -1));
        let request = DescribeDelegationTokenRequest::default();
        let described = client.call(&request, version).await;
        assert_eq!(error(described.error_code), not_allowed);
    }
    for version in 1..=2 {
        let renewed = client
            .call(&RenewDelegationTokenRequest::default(), version)
            .await;
        assert_eq!(error(renewed.error_code), not_allowed);
        let expired = client
            .call(&ExpireDelegationTokenRequest::default(), version)
            .await;
        assert_eq!(error(expired.error_code), not_allowed);
    }
}

#[tokio::test]
async fn a_partition_stays_on_the_only_broker() {
    let server = Server::start().await;
    server.topic("t", 2).await;
    let mut client = server.client().await;
    let cases: [(&str, i32, Option<Vec<i32>>, ErrorCode); 8] = [
        ("t", 0, Some(vec![NODE_ID]), ErrorCode::None),
        (
            "t",
            1,
            Some(vec![NODE_ID + 1]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        (
            "t",
            1,
            Some(vec![NODE_ID, NODE_ID + 1]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        (
            "t",
            1,
            Some(vec![NODE_ID, NODE_ID]),
            ErrorCode::InvalidReplicaAssignment,
        ),
        ("t", 1, Some(vec![]), ErrorCode::InvalidReplicaAssignment),
        ("t", 1, None, ErrorCode::NoReassignmentInProgress),
        (
            "t",
            2,
            Some(vec![NODE_ID]),
            ErrorCode::UnknownTopicOrPartition,
        ),
        ("u", 0, None, ErrorCode::UnknownTopicOrPartition),
    ];
    for (topic, index, replicas, expected) in cases {
        for version in 0..=1 {
            let partition = reassign::ReassignablePartition {
                partition_index: index,
                replicas: replicas.clone(),
            };
            let request = AlterPartitionReassignmentsRequest {
                topics: vec![reassign::ReassignableTopic {
                    name: topic.into(),
                    partitions: vec![partition],
                }],
                ..Default::default()
            };
            let answer = client.call(&request, version).await;
            let partition = &answer.responses[0].partitions[0];
            assert_eq!(
                error(partition.error_code),
                expected,
                "{topic} {index} {replicas:?}"
            );
            assert_eq!(
                partition.error_message.is_none(),
                expected == ErrorCode::None
            );
        }
    }
}

#[tokio::test]
async fn what_api_versions_calls_final_can_be_asked_for_and_nothing_else() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let named = ApiVersionsRequest {
        client_software_name: "test".into(),
        client_software_version: "1".into(),
        ..Default::default()
    };
    let versions = client.call(&named, 4).await;
    let names: Vec<_> = versions
        .supported_features
        .iter()
        .map(|f| f.name.to_string())
        .collect();
    let finalized: Vec<_> = versions
        .finalized_features
        .iter()
        .map(|f| f.name.to_string())
        .collect();
    assert_eq!(names, finalized);
    let is_any = !finalized.is_empty();
    assert_eq!(versions.finalized_features_epoch >= 0, is_any);
    let update = |name: String, level| UpdateFeaturesRequest {
        feature_updates: vec![FeatureUpdateKey {
            feature: name.into(),
            max_version_level: level,
            upgrade_type: 2,
            ..Default::default()
        }],
        ..Default::default()
    };
    for feature in versions.finalized_features {
        let level = feature.max_version_level;
        for (asked, expected) in [
            (level, ErrorCode::None),
            (level - 1, ErrorCode::InvalidUpdateVersion),
            (level + 1, ErrorCode::InvalidUpdateVersion),
        ] {
            let answer = client
                .call(&update(feature.name.to_string(), asked), 2)
                .await;
            assert_eq!(
                error(answer.error_code),
                expected,
                "{} {asked}",
                feature.name
            );
        }
    }
    let unknown = client
        .call(&update("metadata.version".to_owned(), 33), 2)
        .await;
    assert_eq!(error(unknown.error_code), ErrorCode::InvalidUpdateVersion);
    assert!(unknown.error_message.unwrap().contains("metadata.version"));
}
