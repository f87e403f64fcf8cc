//! A share group in a test.

use super::*;
use fanlog_broker::{ShareAckError, ShareFetchPlan, ShareFetched, SharePartitionRef};
use fanlog_coordinators::CallId;
use fanlog_coordinators::catalog::{
    ChangeKind, ConfigChange, ConfigResource, IncrementalAlteration, ResourceKind,
};
use fanlog_coordinators::group::share::{ShareHeartbeat, ShareRules};
use fanlog_coordinators::share::{AckRange, AckType, AcquireMode};
use fanlog_model::GroupId;

pub(crate) fn id(broker: &Broker) -> TopicId {
    broker.topics().by_name(&name("t")).unwrap().id
}

/// A member of "g" that reads the topic: what it reads has a state from now on.
pub(crate) async fn subscribe(broker: &Arc<Broker>) {
    let heartbeat = ShareHeartbeat {
        call: CallId(0),
        group: "g".into(),
        member_id: "subscriber".into(),
        member_epoch: 0,
        rack_id: None,
        topics: Some(vec!["t".into()]),
        client_id: "client".into(),
        client_host: "/127.0.0.1".into(),
        rules: ShareRules::default(),
    };
    let groups = broker.groups();
    drive(broker, groups.share_heartbeat(heartbeat))
        .await
        .unwrap();
}

/// A topic with a batch of each size, and the share group "g", which reads it from the beginning.
pub(crate) async fn started(machine: &Machine, sizes: &[usize]) -> Arc<Broker> {
    let broker = machine.start();
    create(&broker, "t", 1).await;
    for size in sizes {
        produce(&broker, "t", &vec!["v"; *size]).await;
    }
    set(&broker, "share.auto.offset.reset", "earliest").await;
    subscribe(&broker).await;
    broker
}

pub(crate) async fn set(broker: &Arc<Broker>, name: &str, value: &str) {
    let change = IncrementalAlteration {
        resource: ConfigResource {
            kind: ResourceKind::Group,
            name: "g".to_owned(),
        },
        changes: vec![ConfigChange {
            name: name.to_owned(),
            kind: ChangeKind::Set,
            value: Some(value.to_owned()),
        }],
    };
    let altered = drive(
        broker,
        broker.incremental_alter_configs(vec![change], false),
    );
    altered.await.unwrap().remove(0).unwrap();
}

pub(crate) fn wanted_by(broker: &Broker, member: &str) -> ShareFetchPlan {
    ShareFetchPlan {
        group: "g".into(),
        member: member.into(),
        partitions: vec![(id(broker), PartitionIndex(0))],
        records_max: 1000,
        batch_size: 1000,
        mode: AcquireMode::RecordLimit,
        bytes_min: 1,
        bytes_max: 1 << 20,
        wait_max: Duration::ZERO,
    }
}

pub(crate) fn shown(fetched: &ShareFetched) -> String {
    let partition = fetched.partitions[0].as_ref().unwrap();
    let each = partition.acquired.iter();
    let each = each.map(|a| format!("{}-{} x{}", a.first, a.last, a.delivery_count));
    each.collect::<Vec<_>>().join(" ")
}

pub(crate) async fn take(broker: &Arc<Broker>, member: &str, records_max: i64) -> String {
    let plan = ShareFetchPlan {
        records_max,
        ..wanted_by(broker, member)
    };
    shown(&drive(broker, broker.shares().fetch(plan)).await.unwrap())
}

pub(crate) async fn acknowledge(
    broker: &Arc<Broker>,
    member: &str,
    (first, last): (i64, i64),
    kind: AckType,
) -> Result<(), ShareAckError> {
    let ranges = [AckRange {
        first: Offset(first),
        last: Offset(last),
        types: vec![kind],
    }];
    let group = GroupId::from("g");
    let partition = PartitionIndex(0);
    let shares = broker.shares();
    let decided = shares.acknowledge(&group, member, id(broker), partition, &ranges);
    drive(broker, decided.await?.durable()).await
}

/// The start, and how many records are not done with.
pub(crate) fn standing(broker: &Broker) -> Option<(i64, i64)> {
    let of = SharePartitionRef {
        topic: id(broker),
        partition: PartitionIndex(0),
    };
    let offset = broker.shares().offset(&"g".into(), of).unwrap()?;
    Some((offset.start?.0, offset.lag?))
}

/// Waits until the machines have replayed their logs.
pub(crate) async fn loaded(broker: &Arc<Broker>) {
    while broker.shares().partitions_of(&"g".into()).is_err() {
        tokio::task::yield_now().await;
    }
}
