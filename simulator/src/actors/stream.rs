//! One idempotent producer in one partition: it numbers its batches, has several under way, and sends again, in order,
//! what it has no answer for.

use super::producer::{Attempt, Producer};
use crate::promises::records::{BatchId, Place};
use crate::promises::{Verdict, broken, holds};
use crate::world::World;
use fanlog_model::invariants::{PRD_1, PRD_2};
use std::collections::VecDeque;

/// As many batches as a broker remembers of a producer, and as a client has under way.
const WINDOW: usize = 5;

/// Where a producer stands in a partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    next: i32,
    /// Not acknowledged yet, by sequence.
    under_way: VecDeque<UnderWay>,
    /// The last batches sent, acknowledged or not.
    recent: VecDeque<BatchId>,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    batch: BatchId,
    /// Nobody will answer for it: it must be sent again.
    is_lost: bool,
}

impl World {
    fn stream(&mut self, producer: usize, place: Place) -> Option<&mut Stream> {
        match &mut self.producers[producer] {
            Producer::Idempotent { streams, .. } => Some(streams.entry(place).or_default()),
            _ => None,
        }
    }

    pub(crate) fn produce_in_sequence(&mut self, producer: usize, place: Place) -> Verdict {
        let Producer::Idempotent { id, is_asking, .. } = &mut self.producers[producer] else {
            return Ok(());
        };
        let Some(id) = *id else {
            if !std::mem::replace(is_asking, true) {
                self.ask_for_id(producer);
            }
            return Ok(());
        };
        let Some(stream) = self.stream(producer, place) else {
            return Ok(());
        };
        let stream = stream.clone();
        if stream.under_way.iter().any(|sent| sent.is_lost) {
            return self.send_again(producer, place, &stream);
        }
        match self.chance.below(20) {
            0 => self.send_acknowledged(&stream),
            1 => self.leave_a_gap(id, place, &stream),
            _ if stream.under_way.len() < WINDOW => self.send_next(producer, id, place),
            _ => Ok(()),
        }
    }

    fn ask_for_id(&mut self, producer: usize) {
        let broker = self.broker().clone();
        let ask = async move { broker.init_producer_id().await };
        self.call(
            format!("producer {producer} asks for an id"),
            ask,
            move |world, answer| {
                let Producer::Idempotent { id, is_asking, .. } = &mut world.producers[producer]
                else {
                    return Ok(());
                };
                *is_asking = false;
                let Some(Ok(given)) = answer else {
                    return Ok(());
                };
                *id = Some(given.0);
                world.catalog.producer_id(given.0)
            },
        );
    }

    fn send_next(&mut self, producer: usize, id: i64, place: Place) -> Verdict {
        let next = self.stream(producer, place).map_or(0, |stream| stream.next);
        let batch = self.new_batch(place, Some((id, next)));
        let records = self.records.batch(batch).records;
        let Some(stream) = self.stream(producer, place) else {
            return Ok(());
        };
        stream.next += i32::try_from(records).unwrap_or(i32::MAX);
        stream.under_way.push_back(UnderWay {
            batch,
            is_lost: true,
        });
        stream.recent.push_back(batch);
        if stream.recent.len() > WINDOW {
            stream.recent.pop_front();
        }
        self.send(producer, place, batch).map(|_| ())
    }

    /// Everything from the first lost batch on, in order; batches that wait for their answer are left alone.
    fn send_again(&mut self, producer: usize, place: Place, stream: &Stream) -> Verdict {
        for sent in stream.under_way.iter().filter(|sent| sent.is_lost) {
            if !self.send(producer, place, sent.batch)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether it was appended, or was there.
    fn send(
        &mut self,
        producer: usize,
        place: Place,
        batch: BatchId,
    ) -> Result<bool, crate::Violation> {
        let receipt = match self.append(batch)? {
            Attempt::Appended(receipt) => receipt,
            Attempt::NotNow => return Ok(false),
            Attempt::OutOfOrder(why) => {
                let what = format!("{batch:?} to {place:?} was sent in order, and refused: {why}");
                return Err(broken(PRD_2, what));
            }
        };
        // Now and then the answer gets lost: the producer sends again while the first attempt is still under way.
        if self.chance.percent(8) {
            return Ok(true);
        }
        self.set_lost(producer, place, batch, false);
        self.await_ack(batch, receipt, move |world, is_promised| {
            if is_promised {
                if let Some(stream) = world.stream(producer, place) {
                    stream.under_way.retain(|sent| sent.batch != batch);
                }
            } else {
                world.set_lost(producer, place, batch, true);
            }
            Ok(())
        });
        Ok(true)
    }

    fn set_lost(&mut self, producer: usize, place: Place, batch: BatchId, is_lost: bool) {
        if let Some(stream) = self.stream(producer, place)
            && let Some(sent) = stream.under_way.iter_mut().find(|sent| sent.batch == batch)
        {
            sent.is_lost = is_lost;
        }
    }

    /// A retry that comes late: the answer must be the one that the producer had.
    fn send_acknowledged(&mut self, stream: &Stream) -> Verdict {
        let known = |batch: &&BatchId| self.records.batch(**batch).offset.is_some();
        let Some(batch) = stream.recent.iter().find(known).copied() else {
            return Ok(());
        };
        match self.append(batch)? {
            // That it names the first offset has been checked.
            Attempt::Appended(_) | Attempt::NotNow => Ok(()),
            Attempt::OutOfOrder(why) => {
                let what =
                    format!("{batch:?} was acknowledged, and sent again it is refused: {why}");
                Err(broken(PRD_1, what))
            }
        }
    }

    /// A sequence that does not follow must not get in.
    fn leave_a_gap(&mut self, id: i64, place: Place, stream: &Stream) -> Verdict {
        let known = |batch: &BatchId| self.records.batch(*batch).offset.is_some();
        if !stream.recent.iter().any(known) {
            return Ok(());
        }
        let ahead = 1 + i32::try_from(self.chance.below(3)).unwrap_or_default();
        let batch = self.new_batch(place, Some((id, stream.next + ahead)));
        let attempt = self.append(batch)?;
        self.reached.gaps_refused += u64::from(matches!(attempt, Attempt::OutOfOrder(_)));
        holds(!matches!(attempt, Attempt::Appended(_)), PRD_2, || {
            format!(
                "{batch:?} left a gap in the sequences of producer {id} in {place:?}, and was taken"
            )
        })
    }
}
