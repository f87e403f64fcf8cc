//! Producers: with `acks` 0, 1 and all, and idempotent ones.

use super::stream::Stream;
use crate::chance::Chance;
use crate::promises::Verdict;
use crate::promises::records::{BatchId, Place};
use crate::world::World;
use fanlog_broker::{AppendError, AppendReceipt, PartitionUnavailable, RefusedBatch};
use fanlog_model::{BaseSequence, ProducerEpoch, ProducerId, TimestampMs};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use std::collections::BTreeMap;

/// How a producer sends.
#[derive(Clone, Debug)]
pub(crate) enum Producer {
    /// `acks=all`, without a producer id.
    All,
    /// `acks=1`: told an offset, and promised nothing.
    One,
    /// `acks=0`: told nothing.
    Zero,
    /// Idempotent: its id once it has one, and where it stands in each partition.
    Idempotent {
        id: Option<i64>,
        is_asking: bool,
        streams: BTreeMap<Place, Stream>,
    },
}

/// How an attempt to append ended.
pub(crate) enum Attempt {
    Appended(AppendReceipt),
    OutOfOrder(String),
    /// The partition cannot serve, or the disk is full.
    NotNow,
}

impl Producer {
    pub(crate) fn cast(chance: &mut Chance) -> Vec<Self> {
        let idempotent = || Self::Idempotent {
            id: None,
            is_asking: false,
            streams: BTreeMap::new(),
        };
        let mut cast = vec![Self::All, Self::One, Self::Zero];
        cast.extend((0..=chance.below(3)).map(|_| idempotent()));
        cast
    }
}

impl World {
    pub(crate) fn produce(&mut self) -> Verdict {
        let producer = self.chance.index(self.producers.len());
        let Some(place) = self.some_place() else {
            return Ok(());
        };
        match self.producers[producer] {
            Producer::Idempotent { .. } => self.produce_in_sequence(producer, place),
            _ => self.produce_plain(producer, place),
        }
    }

    /// Many batches for one partition before anything of them is synced: several segments at once.
    pub(crate) fn produce_in_a_burst(&mut self) -> Verdict {
        let Some(place) = self.some_place() else {
            return Ok(());
        };
        for _ in 0..3 + self.chance.below(8) {
            let batch = self.new_batch(place, None);
            match self.append(batch)? {
                Attempt::Appended(receipt) if self.chance.percent(50) => {
                    self.await_ack(batch, receipt, |_, _| Ok(()));
                }
                Attempt::Appended(_) => {}
                Attempt::OutOfOrder(_) | Attempt::NotNow => return Ok(()),
            }
        }
        Ok(())
    }

    fn produce_plain(&mut self, producer: usize, place: Place) -> Verdict {
        let batch = self.new_batch(place, None);
        let Attempt::Appended(receipt) = self.append(batch)? else {
            return Ok(());
        };
        if matches!(self.producers[producer], Producer::All) {
            self.await_ack(batch, receipt, |_, _| Ok(()));
        }
        Ok(())
    }

    /// Waits for the promise, and holds the broker to it.
    pub(crate) fn await_ack(
        &mut self,
        batch: BatchId,
        receipt: AppendReceipt,
        then: impl FnOnce(&mut World, bool) -> Verdict + 'static,
    ) {
        let offset = receipt.first_offset().0;
        let place = self.records.batch(batch).place;
        let what = format!("ack of {batch:?} at {offset} of {place:?}");
        self.call(what, receipt.durable(), move |world, answer| {
            let is_promised = matches!(answer, Some(Ok(())));
            if is_promised {
                world.reached.acknowledged += 1;
                world.records.acknowledged(batch, offset)?;
            }
            if let Some(Err(PartitionUnavailable::Deleted { .. })) = answer {
                world.trace.line("deleted meanwhile");
            }
            then(world, is_promised)
        });
    }

    /// A batch that nobody sent before.
    pub(crate) fn new_batch(&mut self, place: Place, sequence: Option<(i64, i32)>) -> BatchId {
        if self.queues.is_on {
            return self.new_queue_batch(place, sequence);
        }
        let token = self.token();
        let compression = self.chance.weighted(&[
            (8, Compression::None),
            (1, Compression::Lz4),
            (1, Compression::Snappy),
        ]);
        let mut builder = BatchBuilder::new(compression);
        if let Some((id, sequence)) = sequence {
            builder = builder.producer(ProducerId(id), ProducerEpoch(0), BaseSequence(sequence));
        }
        let timestamp = self.wall_ms();
        let length = match self.chance.below(20) {
            0..8 if self.has_large_batches(place.topic) => 40_000,
            0 => 3_000,
            1..4 => 600,
            _ => 40,
        };
        let padding = self.chance.below(length);
        for number in 0..1 + self.chance.below(4) {
            let mut value = format!("{token}/{number} ").into_bytes();
            for _ in 0..padding / 8 {
                value.extend_from_slice(&self.chance.next().to_le_bytes());
            }
            let record = NewRecord {
                timestamp: TimestampMs(timestamp),
                key: Some(b"key"),
                value: Some(&value),
                headers: &[],
            };
            builder
                .push(&record)
                .expect("a small record fits in a batch");
        }
        let bytes = builder.build().expect("a batch with a record can be built");
        let sequence = sequence.map_or(-1, |(_, sequence)| sequence);
        self.records.sending(place, bytes, sequence, timestamp)
    }

    /// Sends a batch, perhaps not for the first time.
    pub(crate) fn append(&mut self, batch: BatchId) -> Result<Attempt, crate::Violation> {
        let place = self.records.batch(batch).place;
        let Some(partition) = self.partition(place) else {
            return Ok(Attempt::NotNow);
        };
        let mut bytes = self.records.batch(batch).bytes.clone();
        let result = partition.append(&mut bytes);
        self.appended(batch, result)
    }

    /// Takes in what an append said.
    pub(crate) fn appended(
        &mut self,
        batch: BatchId,
        result: Result<AppendReceipt, AppendError>,
    ) -> Result<Attempt, crate::Violation> {
        let place = self.records.batch(batch).place;
        if self.is_crashed() {
            self.records.may_be_there(batch);
        }
        match result {
            Ok(receipt) => {
                let offset = receipt.first_offset().0;
                let is_duplicate = receipt.is_duplicate();
                self.trace.line(&format!(
                    "append {batch:?} to {place:?}: offset {offset}, duplicate: {is_duplicate}"
                ));
                self.reached.duplicates += u64::from(is_duplicate);
                let epoch = self.broker().leader_epoch().0;
                self.records.appended(batch, epoch, offset, is_duplicate)?;
                self.queue_appended(batch, offset);
                Ok(Attempt::Appended(receipt))
            }
            Err(error) => {
                self.trace
                    .line(&format!("append {batch:?} to {place:?}: {error}"));
                match error {
                    AppendError::Refused(RefusedBatch::Failed(_)) => {
                        self.records.may_be_there(batch);
                        Ok(Attempt::NotNow)
                    }
                    AppendError::Refused(RefusedBatch::Io { .. }) | AppendError::Unavailable(_) => {
                        Ok(Attempt::NotNow)
                    }
                    refused => Ok(Attempt::OutOfOrder(refused.to_string())),
                }
            }
        }
    }
}
