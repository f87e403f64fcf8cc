//! Appending to a topic that remembers message ids: check, claim, append.
//!
//! Why it exists: finding out which records are new may have to wait, and a log's lock is not held meanwhile; so an append is three
//! steps, of which only the middle one waits.
//! In -> out: `Partition::identify` -> `Identified::claim` -> `Claimed::append` -> a receipt that knows of each record where it is.
//! Invariants: PRD-3, PRD-1: what a producer sends again has the sequences that its log knows, whatever was taken out of the batch.

use super::MESSAGE_ID_HEADER;
use super::claim::{Claim, Fate, IdsError};
use super::id_map::Id;
use super::topic_ids::TopicIds;
use crate::append_types::{AppendError, AppendReceipt, Appender};
use crate::partition::Partition;
use fanlog_model::{Offset, ProducerId};
use fanlog_protocol::records::RecordView;
use fanlog_storage::{AppendOrigin, CheckedBatches, Durability};
use std::sync::Arc;
use std::time::Duration;

/// A batch that is checked, and the message ids in it.
#[derive(Debug)]
pub struct Identified<'a> {
    partition: Arc<Partition>,
    ids: Option<(Arc<TopicIds>, Vec<Option<Id>>)>,
    batch: Prepared<'a>,
}

/// A batch whose message ids are its own.
#[derive(Debug)]
pub struct Claimed<'a> {
    partition: Arc<Partition>,
    claim: Option<Claim>,
    batch: Prepared<'a>,
}

/// What an append needs beside the ids.
#[derive(Debug)]
struct Prepared<'a> {
    checked: CheckedBatches<'a>,
    durability: Durability,
    appended_at: Duration,
    has_producer: bool,
    /// The producer of the transaction that the batch belongs to.
    in_transaction_of: Option<ProducerId>,
}

/// The id that a record bears.
pub(super) fn message_id<'a>(record: &RecordView<'a>) -> Option<&'a [u8]> {
    let ids = record.headers();
    let last = ids
        .filter(|(name, _)| *name == MESSAGE_ID_HEADER.as_bytes())
        .last();
    last.and_then(|(_, value)| value)
        .filter(|value| !value.is_empty())
}

impl Partition {
    /// Checks a client's batch as [`Partition::append`] does, and takes out the message ids in it, where its topic remembers them. Walks
    /// all of the batch.
    ///
    /// # Errors
    /// As there.
    pub fn identify<'a>(
        self: &Arc<Self>,
        batches: &'a mut [u8],
        allowed_at: Option<Offset>,
    ) -> Result<Identified<'a>, AppendError> {
        self.check_clients_topic()?;
        let appended_at = self.monotonic();
        let (mut checked, durability) = self.check_batches(batches, AppendOrigin::Client)?;
        checked = checked.allowed_at(allowed_at);
        let topic_ids = self.message_ids();
        let mut ids = Vec::new();
        let (mut has_producer, mut in_transaction_of) = (false, None);
        let each = checked.each_record(|batch, record| {
            has_producer = batch.has_producer_id();
            in_transaction_of = batch.is_transactional().then(|| batch.producer_id());
            let topic_ids = topic_ids.as_ref();
            ids.push(topic_ids.and_then(|t| message_id(record).map(|id| t.id_of(id))));
        });
        each.map_err(AppendError::Refused)?;
        let has_ids = ids.iter().any(Option::is_some);
        Ok(Identified {
            partition: self.clone(),
            ids: topic_ids.filter(|_| has_ids).map(|topic| (topic, ids)),
            batch: Prepared {
                checked,
                durability,
                appended_at,
                has_producer,
                in_transaction_of,
            },
        })
    }
}

impl<'a> Identified<'a> {
    /// Waits, no longer than `wait` and some seconds, until it is decided which of the ids are new, and claims them.
    ///
    /// # Errors
    /// It is not decided then, or no more ids are remembered.
    pub async fn claim(self, wait: Duration) -> Result<Claimed<'a>, IdsError> {
        let claim = match &self.ids {
            None => None,
            Some((topic, ids)) => {
                let producer = self.batch.in_transaction_of;
                Some(topic.claim(ids, producer, wait).await?)
            }
        };
        Ok(Claimed {
            partition: self.partition,
            claim,
            batch: self.batch,
        })
    }
}

impl Claimed<'_> {
    /// Appends what is new of the batch. A batch without anything new is appended empty where its producer counts on its sequences, and
    /// not at all otherwise. May have to compress the batch anew.
    ///
    /// # Errors
    /// As [`Partition::append`].
    pub fn append(self) -> Result<AppendReceipt, AppendError> {
        let Self {
            partition,
            claim,
            mut batch,
        } = self;
        let Some(claim) = claim else {
            let Prepared {
                checked,
                durability,
                appended_at,
                ..
            } = batch;
            return partition.append_prepared(
                checked,
                Appender::Client,
                durability,
                appended_at,
                None,
            );
        };
        let fates = claim.fates().to_vec();
        let is_new = |fate: &Fate| *fate == Fate::New;
        if fates.iter().all(is_new) {
            return batch.append(&partition, claim);
        }
        if !batch.has_producer && !fates.iter().any(is_new) {
            let receipt = AppendReceipt::of_nothing(partition, batch.appended_at);
            return Ok(receipt.with_fates(fates));
        }
        let retained = batch.checked.retain(|record| {
            let number = usize::try_from(record.offset_delta).unwrap_or(usize::MAX);
            fates.get(number).is_none_or(is_new)
        });
        retained.map_err(AppendError::Refused)?;
        Ok(batch.append(&partition, claim)?.with_fates(fates))
    }
}

impl Prepared<'_> {
    fn append(
        self,
        partition: &Arc<Partition>,
        claim: Claim,
    ) -> Result<AppendReceipt, AppendError> {
        partition.append_prepared(
            self.checked,
            Appender::Client,
            self.durability,
            self.appended_at,
            Some((claim, self.in_transaction_of)),
        )
    }
}

impl From<IdsError> for AppendError {
    fn from(error: IdsError) -> Self {
        Self::Ids(error)
    }
}
