//! A topic that remembers message ids.

use super::*;
use fanlog_broker::{AppendError, FetchError, IdsError};
use fanlog_coordinators::catalog::{
    ChangeKind, ConfigChange, ConfigResource, IncrementalAlteration, ResourceKind,
};
use fanlog_coordinators::transaction::{ClientVersion, Producer};

pub(crate) const WINDOW_MS: u64 = 60_000;

/// The topic "t" with a window of a minute.
pub(crate) async fn create_remembering(broker: &Arc<Broker>, partitions: i32) {
    let mut topic = new_topic("t", partitions);
    let window = Some(WINDOW_MS.to_string());
    topic.overrides = vec![("dedup.window.ms".to_owned(), window)];
    let created = drive(broker, broker.create_topics(vec![topic], false));
    created.await.unwrap().remove(0).unwrap();
}

pub(crate) async fn set_dedup(broker: &Arc<Broker>, kind: ResourceKind, name: &str, value: &str) {
    let change = IncrementalAlteration {
        resource: ConfigResource {
            kind,
            name: match kind {
                ResourceKind::Topic => "t".to_owned(),
                _ => String::new(),
            },
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

/// A batch whose records have these ids as values too; an empty one is none.
pub(crate) fn with_ids(builder: BatchBuilder, ids: &[&str]) -> Vec<u8> {
    let mut builder = builder;
    for id in ids {
        let header = [("message-id", Some(id.as_bytes()))];
        let record = NewRecord {
            timestamp: TimestampMs(1_700_000_000_000),
            value: Some(id.as_bytes()),
            headers: &header,
            ..NewRecord::default()
        };
        builder.push(&record).unwrap();
    }
    builder.build().unwrap()
}

pub(crate) fn plain() -> BatchBuilder {
    BatchBuilder::new(Compression::None)
}

pub(crate) fn of_producer(producer: i64, sequence: i32) -> BatchBuilder {
    plain().producer(
        ProducerId(producer),
        ProducerEpoch(0),
        BaseSequence(sequence),
    )
}

/// Appends by message ids, not durable on return.
pub(crate) async fn append_ids(
    partition: &Arc<Partition>,
    mut batch: Vec<u8>,
    allowed_at: Option<Offset>,
) -> Result<AppendReceipt, AppendError> {
    let identified = partition.identify(&mut batch, allowed_at)?;
    let claimed = identified.claim(Duration::from_secs(3_600)).await;
    claimed.map_err(AppendError::Ids)?.append()
}

/// Appends to a partition of "t" and waits until it is durable; the offset that is answered.
pub(crate) async fn send(
    broker: &Broker,
    index: i32,
    batch: Vec<u8>,
) -> Result<AppendReceipt, AppendError> {
    let partition = partition(broker, "t", index);
    drive(broker, append_ids(&partition, batch, None)).await
}

pub(crate) async fn send_durable(broker: &Broker, index: i32, batch: Vec<u8>) -> i64 {
    let receipt = send(broker, index, batch).await.unwrap();
    let first = receipt.first_offset();
    drive(broker, receipt.durable()).await.unwrap();
    first.0
}

/// One record with this id.
pub(crate) async fn send_id(broker: &Broker, index: i32, id: &str) -> i64 {
    send_durable(broker, index, with_ids(plain(), &[id])).await
}

pub(crate) fn ids_error(error: AppendError) -> IdsError {
    match error {
        AppendError::Ids(error) => error,
        other => panic!("{other}"),
    }
}

/// The offsets and values in a partition.
pub(crate) async fn stored(broker: &Broker, index: i32) -> Vec<(i64, String)> {
    let mut all = Vec::new();
    let mut from = 0;
    loop {
        let mut wanted_from = plan("t", from);
        wanted_from.partitions = vec![wanted("t", index, from)];
        let result = broker.fetch(wanted_from).await;
        let fetched = match &result.partitions[0] {
            Ok(fetched) => fetched,
            // A segment that has nothing but an empty batch is no loss to retention.
            Err(FetchError::OffsetOutOfRange {
                log_start_offset, ..
            }) if from < log_start_offset.0 => {
                from = log_start_offset.0;
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let pieces = &fetched.records;
        let mut next = from;
        for piece in pieces {
            for batch in BatchView::parse_all(piece) {
                next = batch.unwrap().next_offset().0;
            }
        }
        let more = records_in(pieces);
        all.extend(more.into_iter().filter(|(offset, _)| *offset >= from));
        if next == from {
            return all;
        }
        from = next;
    }
}

/// What a record is told that comes while the first one with its id is part of an open transaction: after some seconds, which pass at once.
pub(crate) async fn undecided(broker: &Arc<Broker>, id: &str) -> IdsError {
    let log = partition(broker, "t", 0);
    let waiting = append_ids(&log, with_ids(plain(), &[id]), None).await;
    ids_error(waiting.unwrap_err())
}

/// A producer in a transaction.
pub(crate) struct Transaction<'a> {
    pub(crate) broker: &'a Arc<Broker>,
    pub(crate) id: &'a str,
    pub(crate) producer: Producer,
    pub(crate) sequence: i32,
}

impl<'a> Transaction<'a> {
    pub(crate) async fn begin(broker: &'a Arc<Broker>, id: &'a str) -> Self {
        let transactions = broker.transactions();
        let init = transactions.init_producer_id(id.into(), 60_000, None);
        Self {
            broker,
            id,
            producer: drive(broker, init).await.unwrap(),
            sequence: 0,
        }
    }

    pub(crate) async fn send(&mut self, ids: &[&str]) -> Result<Offset, IdsError> {
        Ok(self.receipt(ids).await?.first_offset())
    }

    pub(crate) async fn receipt(&mut self, ids: &[&str]) -> Result<AppendReceipt, IdsError> {
        let log = partition(self.broker, "t", 0);
        let transactions = self.broker.transactions();
        let (id, partitions) = (self.id.into(), [log.clone()]);
        let allow = transactions.allow(&id, self.producer, &partitions, ClientVersion::Second);
        let allowed_at = drive(self.broker, allow).await.remove(0).unwrap();
        let builder = plain().transactional().producer(
            self.producer.id,
            self.producer.epoch,
            BaseSequence(self.sequence),
        );
        let appending = append_ids(&log, with_ids(builder, ids), allowed_at);
        let receipt = drive(self.broker, appending).await.map_err(ids_error)?;
        self.sequence += ids.len() as i32;
        Ok(receipt)
    }

    pub(crate) async fn end(self, is_commit: bool) {
        let transactions = self.broker.transactions();
        let end = transactions.end(
            self.id.into(),
            self.producer,
            is_commit,
            ClientVersion::Second,
        );
        drive(self.broker, end).await.unwrap();
    }
}
