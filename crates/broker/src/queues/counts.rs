//! How many messages of a queue can be received, are held, or are delayed.
//!
//! Why it exists: people and programs scale by these numbers. What nobody has looked at yet is read, up to a bound; beyond it the numbers
//! say that they are estimates.
//! Read next: `coordinators/queue/counts.rs`.

use super::Queues;
use super::begin::{Source, unreadable};
use super::live::Live;
use super::piece::{Part, Piece};
use super::take::{look_through, read};
use super::types::{QueueCounts, QueueError};
use crate::broker::Broker;
use crate::fetch_types::FetchError;
use fanlog_coordinators::queue::{Counts, count_found, count_unseen, counts};
use fanlog_model::{GroupId, Offset};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How much is read at a time.
const BYTES_AT_ONCE: usize = 512 * 1024;
/// How much is looked through for one answer, of all partitions.
const BYTES_MAX: usize = 32 * 1024 * 1024;
/// And for how long.
const TIME_MAX: Duration = Duration::from_secs(1);

/// What may still be looked at for an answer.
struct Bound {
    bytes_left: usize,
    until: Instant,
}

impl Queues {
    /// Counts the messages of a queue: right at the moment at which it is asked, if nothing else goes on; an estimate where
    /// more was to be looked at than may be.
    ///
    /// # Errors
    /// There is no such queue, or its messages cannot be read.
    pub async fn counts(self: &Arc<Self>, queue: &GroupId) -> Result<QueueCounts, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        let mut all = Counts::default();
        let mut bound = Bound {
            bytes_left: BYTES_MAX,
            until: Instant::now() + TIME_MAX,
        };
        for source in self.handed_out(&broker, queue).await? {
            self.begun(&broker, &live, &source).await?;
            let policy = self.policy(&broker, &live, source.kind, source.key.partition);
            self.settle_due(&source, &policy)?;
            all.add(self.count(&broker, &live, &source, &mut bound).await?);
        }
        Ok(QueueCounts {
            visible: all.visible,
            in_flight: all.in_flight,
            delayed: all.delayed,
            is_estimate: all.is_estimate,
        })
    }

    async fn count(
        &self,
        broker: &Arc<Broker>,
        live: &Live,
        source: &Source,
        bound: &mut Bound,
    ) -> Result<Counts, QueueError> {
        let below = live.readable_end(source.kind, &source.partition)?;
        let (mut all, mut from) = source.shard.look(&source.key, |ledger, waiting, now| {
            (counts(ledger, waiting, now), waiting.cursor(ledger))
        })?;
        let mut is_first = true;
        while from < below {
            if bound.bytes_left == 0 || Instant::now() >= bound.until {
                all.add(source.shard.look(&source.key, |ledger, _, _| {
                    count_unseen(ledger, from, below)
                })?);
                return Ok(all);
            }
            let Some(piece) = self.piece_at(broker, live, source, from, below).await? else {
                // Retention was here.
                let start = source.partition.with_log(|log| log.log_start_offset());
                let start = start.map_err(|e| unreadable(source.partition.topic(), &e))?;
                from = from.plus(1).max(start);
                continue;
            };
            if is_first {
                // Where the next receive reads, and who counts again soon.
                let memory = broker.settings().queues_memory_bytes;
                self.pieces.keep(&source.key, &live.queue, &piece, memory);
                is_first = false;
            }
            bound.bytes_left = bound.bytes_left.saturating_sub(piece.bytes());
            let found = piece.found_from(from);
            let found = &found[..found.partition_point(|found| found.first < below)];
            all.add(source.shard.look(&source.key, |ledger, _, now| {
                count_found(ledger, now, found)
            })?);
            from = piece.end();
            tokio::task::yield_now().await;
        }
        Ok(all)
    }

    /// What stands from an offset on; none where the log does not have it any more.
    async fn piece_at(
        &self,
        broker: &Arc<Broker>,
        live: &Live,
        source: &Source,
        from: Offset,
        below: Offset,
    ) -> Result<Option<Arc<Piece>>, QueueError> {
        if let Some(piece) = self.pieces.get(&source.key, &live.queue, from) {
            return Ok(Some(piece));
        }
        let failed = |error: &FetchError| unreadable(source.partition.topic(), error);
        let (read, _memory) = match read(broker, &source.partition, from, BYTES_AT_ONCE).await {
            Ok(read) => read,
            Err(FetchError::OffsetOutOfRange { .. }) => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let piece = look_through(
            live,
            source.kind,
            &source.partition,
            &read,
            Part::all(from, below),
        );
        let piece = piece.map_err(|error| failed(&error))?;
        Ok(Some(Arc::new(piece)))
    }
}
