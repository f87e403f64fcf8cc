//! Settings: described and altered, in every version.
#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_protocol::messages::alter_configs_request::{
    AlterConfigsResource as ReplacedResource, AlterableConfig as ReplacedConfig,
};
use fanlog_protocol::messages::describe_configs_request::DescribeConfigsResource;
use fanlog_protocol::messages::describe_configs_response::DescribeConfigsResourceResult;
use fanlog_protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig,
};
use fanlog_protocol::messages::{
    AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest,
    ListConfigResourcesRequest,
};
use fanlog_protocol::{ApiKey, ErrorCode};

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const BROKER_LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

type Described = Result<Vec<DescribeConfigsResourceResult<'static>>, ErrorCode>;

async fn describe(
    client: &mut Client,
    kind: i8,
    name: &'static str,
    keys: &[&'static str],
    version: i16,
) -> Described {
    let keys: Vec<_> = keys.iter().map(|key| (*key).into()).collect();
    let request = DescribeConfigsRequest {
        resources: vec![DescribeConfigsResource {
            resource_type: kind,
            resource_name: name.into(),
            configuration_keys: if keys.is_empty() { None } else { Some(keys) },
        }],
        include_synonyms: true,
        include_documentation: version >= 3,
    };
    let mut response = client.call(&request, version).await;
    let result = response.results.remove(0);
    assert_eq!(
        (result.resource_type, result.resource_name.as_ref()),
        (kind, name)
    );
    match error(result.error_code) {
        ErrorCode::None => Ok(result.configs),
        error => {
            assert!(result.error_message.is_some() && result.configs.is_empty());
            Err(error)
        }
    }
}

async fn value(client: &mut Client, topic: &'static str, key: &'static str) -> (String, i8) {
    let described = describe(client, TOPIC, topic, &[key], 4).await.unwrap();
    (
        described[0].value.as_deref().unwrap().to_owned(),
        described[0].config_source,
    )
}

#[tokio::test]
async fn every_setting_of_topic_and_broker_is_described_in_every_version() {
    let server = Server::start_with(&[("log.retention.hours", "5")]).await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    for version in versions(ApiKey::DescribeConfigs) {
        let topic = describe(&mut client, TOPIC, "t", &[], version)
            .await
            .unwrap();
        let policy = topic
            .iter()
            .find(|config| config.name == "cleanup.policy")
            .unwrap();
        assert_eq!(
            (policy.value.as_deref(), policy.config_source),
            (Some("delete"), 5)
        );
        assert_eq!(policy.config_type, if version >= 3 { 7 } else { 0 });
        assert_eq!(
            policy
                .documentation
                .as_ref()
                .is_some_and(|doc| !doc.is_empty()),
            version >= 3
        );
        assert_eq!(policy.synonyms[0].name, "log.cleanup.policy");
        let retention = topic
            .iter()
            .find(|config| config.name == "retention.ms")
            .unwrap();
        assert_eq!(retention.value.as_deref(), Some("18000000"));

        let broker = describe(&mut client, BROKER, "7", &[], version)
            .await
            .unwrap();
        assert!(broker.len() > 150, "{} settings", broker.len());
        let hours = broker
            .iter()
            .find(|config| config.name == "log.retention.hours")
            .unwrap();
        assert_eq!(
            (hours.value.as_deref(), hours.config_source, hours.read_only),
            (Some("5"), 4, true)
        );
        assert!(
            broker
                .iter()
                .filter(|config| config.is_sensitive)
                .all(|config| config.value.is_none())
        );
    }
}

#[tokio::test]
async fn resources_without_settings_are_empty_and_unknown_ones_refused() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    let cases: [(i8, &'static str, Result<usize, ErrorCode>); 12] = [
        (TOPIC, "none", Err(ErrorCode::UnknownTopicOrPartition)),
        (TOPIC, "a/b", Err(ErrorCode::InvalidTopicException)),
        (BROKER, "", Ok(0)),
        (BROKER, "8", Err(ErrorCode::InvalidRequest)),
        (BROKER, "x", Err(ErrorCode::InvalidRequest)),
        (BROKER_LOGGER, "7", Ok(0)),
        (BROKER_LOGGER, "8", Err(ErrorCode::InvalidRequest)),
        (CLIENT_METRICS, "m", Ok(0)),
        (CLIENT_METRICS, "", Err(ErrorCode::InvalidRequest)),
        (GROUP, "g", Ok(21)),
        (GROUP, "", Err(ErrorCode::InvalidRequest)),
        (3, "x", Err(ErrorCode::InvalidRequest)),
    ];
    for (kind, name, expected) in cases {
        let found = describe(&mut client, kind, name, &[], 4)
            .await
            .map(|configs| configs.len());
        assert_eq!(found, expected, "kind {kind} '{name}'");
    }
    let some = describe(&mut client, TOPIC, "t", &["retention.ms", "no.such"], 4)
        .await
        .unwrap();
    assert_eq!(some.len(), 1, "unknown names are left out");
}

fn alter(
    kind: i8,
    name: &'static str,
    changes: &[(&'static str, i8, Option<&'static str>)],
) -> IncrementalAlterConfigsRequest<'static> {
    let change =
        |(name, operation, value): &(&'static str, i8, Option<&'static str>)| AlterableConfig {
            name: (*name).into(),
            config_operation: *operation,
            value: value.map(Into::into),
        };
    IncrementalAlterConfigsRequest {
        resources: vec![AlterConfigsResource {
            resource_type: kind,
            resource_name: name.into(),
            configs: changes.iter().map(change).collect(),
        }],
        validate_only: false,
    }
}

#[tokio::test]
async fn settings_are_set_deleted_appended_and_subtracted() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    for version in versions(ApiKey::IncrementalAlterConfigs) {
        let mut change = async |changes: &[_], expected| {
            let response = client.call(&alter(TOPIC, "t", changes), version).await;
            assert_eq!(
                error(response.responses[0].error_code),
                expected,
                "{changes:?}"
            );
        };
        change(
            &[
                ("retention.ms", SET, Some("1000")),
                ("cleanup.policy", APPEND, Some("compact")),
            ],
            ErrorCode::None,
        )
        .await;
        change(&[("retention.ms", SET, None)], ErrorCode::InvalidRequest).await;
        change(&[("retention.ms", 9, Some("1"))], ErrorCode::InvalidRequest).await;
        change(
            &[("retention.ms", APPEND, Some("1"))],
            ErrorCode::InvalidConfig,
        )
        .await;
        change(
            &[
                ("retention.ms", SET, Some("2000")),
                ("no.such", SET, Some("1")),
            ],
            ErrorCode::InvalidConfig,
        )
        .await;
        let mut twice = alter(TOPIC, "t", &[]);
        twice.resources.extend(twice.resources.clone());
        let response = client.call(&twice, version).await;
        assert_eq!(
            error(response.responses[0].error_code),
            ErrorCode::InvalidRequest
        );
        assert_eq!(
            value(&mut client, "t", "retention.ms").await,
            ("1000".to_owned(), 1)
        );
        assert_eq!(
            value(&mut client, "t", "cleanup.policy").await,
            ("delete,compact".to_owned(), 1)
        );
        let mut only = alter(TOPIC, "t", &[("retention.ms", SET, Some("3000"))]);
        only.validate_only = true;
        assert_eq!(client.call(&only, version).await.responses[0].error_code, 0);
        assert_eq!(value(&mut client, "t", "retention.ms").await.0, "1000");
        let back = [
            ("retention.ms", DELETE, None),
            ("cleanup.policy", SUBTRACT, Some("compact")),
        ];
        let response = client.call(&alter(TOPIC, "t", &back), version).await;
        assert_eq!(response.responses[0].error_code, 0);
        assert_eq!(
            value(&mut client, "t", "retention.ms").await,
            ("604800000".to_owned(), 5)
        );
        assert_eq!(
            value(&mut client, "t", "cleanup.policy").await,
            ("delete".to_owned(), 1)
        );
    }
    let cases = [
        (
            alter(TOPIC, "none", &[]),
            ErrorCode::UnknownTopicOrPartition,
        ),
        (alter(BROKER, "8", &[]), ErrorCode::InvalidRequest),
        (alter(GROUP, "", &[]), ErrorCode::InvalidRequest),
        (
            alter(GROUP, "g", &[("retention.ms", SET, Some("1"))]),
            ErrorCode::InvalidConfig,
        ),
        (alter(BROKER_LOGGER, "7", &[]), ErrorCode::InvalidRequest),
        (
            alter(BROKER, "7", &[("log.dirs", SET, Some("/x"))]),
            ErrorCode::InvalidRequest,
        ),
    ];
    for (request, expected) in cases {
        let response = client.call(&request, 1).await;
        assert_eq!(error(response.responses[0].error_code), expected);
        assert!(response.responses[0].error_message.is_some());
    }
}

#[tokio::test]
async fn brokers_are_altered_one_or_all_and_topics_follow() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    let change = |broker, value| alter(BROKER, broker, &[("log.retention.ms", SET, Some(value))]);
    assert_eq!(
        client.call(&change("", "5000"), 1).await.responses[0].error_code,
        0
    );
    assert_eq!(
        value(&mut client, "t", "retention.ms").await,
        ("5000".to_owned(), 3)
    );
    let all = describe(&mut client, BROKER, "", &[], 4).await.unwrap();
    assert_eq!((all.len(), all[0].value.as_deref()), (1, Some("5000")));
    assert_eq!(
        client.call(&change("7", "6000"), 1).await.responses[0].error_code,
        0
    );
    assert_eq!(
        value(&mut client, "t", "retention.ms").await,
        ("6000".to_owned(), 2)
    );
}

#[tokio::test]
async fn alter_configs_replaces_all_settings() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    let replace = |configs: &[(&'static str, Option<&'static str>)]| AlterConfigsRequest {
        resources: vec![ReplacedResource {
            resource_type: TOPIC,
            resource_name: "t".into(),
            configs: configs
                .iter()
                .map(|(name, value)| ReplacedConfig {
                    name: (*name).into(),
                    value: value.map(Into::into),
                })
                .collect(),
        }],
        validate_only: false,
    };
    for version in versions(ApiKey::AlterConfigs) {
        let first = client
            .call(&replace(&[("retention.ms", Some("1000"))]), version)
            .await;
        assert_eq!(first.responses[0].error_code, 0);
        let second = client
            .call(&replace(&[("segment.bytes", Some("2097152"))]), version)
            .await;
        assert_eq!(second.responses[0].error_code, 0);
        assert_eq!(
            value(&mut client, "t", "retention.ms").await,
            ("604800000".to_owned(), 5)
        );
        assert_eq!(
            value(&mut client, "t", "segment.bytes").await,
            ("2097152".to_owned(), 1)
        );
        let bad = client
            .call(&replace(&[("segment.bytes", Some("-"))]), version)
            .await;
        assert_eq!(error(bad.responses[0].error_code), ErrorCode::InvalidConfig);
    }
}

#[tokio::test]
async fn everything_that_has_settings_is_listed_by_type() {
    let server = Server::start().await;
    server.topic("a", 1).await;
    server.topic("b", 1).await;
    let mut client = server.client().await;
    let asked = async |client: &mut Client, version: i16, types: &[i8]| {
        let request = ListConfigResourcesRequest {
            resource_types: types.to_vec(),
        };
        let response = client.call(&request, version).await;
        let listed: Vec<(i8, String)> = response
            .config_resources
            .iter()
            .map(|one| (one.resource_type, one.resource_name.to_string()))
            .collect();
        (error(response.error_code), listed)
    };
    let pairs = |pairs: &[(i8, &str)]| -> Vec<(i8, String)> {
        pairs
            .iter()
            .map(|(kind, name)| (*kind, (*name).to_owned()))
            .collect()
    };
    let (code, all) = asked(&mut client, 1, &[]).await;
    assert_eq!(code, ErrorCode::None);
    assert_eq!(all, pairs(&[(2, "a"), (2, "b"), (4, "7"), (8, "7")]));
    let (_, broker) = asked(&mut client, 1, &[4, 16, 32]).await;
    assert_eq!(broker, pairs(&[(4, "7")]));
    let refused = asked(&mut client, 1, &[4, 3]).await;
    assert_eq!(refused, (ErrorCode::UnsupportedVersion, Vec::new()));
    let metrics = asked(&mut client, 0, &[]).await;
    assert_eq!(metrics, (ErrorCode::None, Vec::new()));
}
