//! Consumers without a group: they read on from where they are, and wait for more.

use crate::promises::records::Place;
use crate::promises::{Verdict, broken};
use crate::world::World;
use fanlog_broker::{
    FetchError, FetchPartition, FetchRequestPlan, FetchResult, FetchedRecords, Isolation, TopicRef,
};
use fanlog_model::invariants::LOG_4;
use fanlog_model::{Offset, PartitionIndex};
use fanlog_protocol::records::BatchView;
use std::collections::BTreeMap;
use std::time::Duration;

/// How far a consumer has read.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    positions: BTreeMap<Place, i64>,
    is_waiting: bool,
}

impl Reader {
    pub(crate) fn cast() -> Vec<Self> {
        vec![Self::default(), Self::default()]
    }
}

fn wanted(place: Place, offset: i64, bytes_max: usize) -> FetchPartition {
    FetchPartition {
        topic: TopicRef::Id(place.topic),
        partition: PartitionIndex(place.partition),
        offset: Offset(offset),
        bytes_max,
        leader_epoch: None,
        last_fetched_epoch: None,
    }
}

impl World {
    pub(crate) fn poll(&mut self) -> Verdict {
        let reader = self.chance.index(self.readers.len());
        if self.readers[reader].is_waiting {
            return Ok(());
        }
        let mut places = self.places();
        places.retain(|_| self.chance.percent(60));
        if places.is_empty() {
            return Ok(());
        }
        let bytes_max = self.chance.pick(&[1, 200, 1_000, 1 << 20]);
        let position = |place: &Place| self.readers[reader].positions.get(place).copied();
        let partitions = places
            .iter()
            .map(|place| wanted(*place, position(place).unwrap_or(0), bytes_max))
            .collect();
        let plan = FetchRequestPlan {
            partitions,
            bytes_min: 1,
            bytes_max: self.chance.pick(&[500, 1 << 20]),
            // The runtime's clock moves by a millisecond at each step.
            wait_max: Duration::from_millis(self.chance.pick(&[0, 5, 40])),
            isolation: Isolation::ReadUncommitted,
            first: 0,
            sent_from_file_min: usize::MAX,
        };
        self.readers[reader].is_waiting = true;
        let broker = self.broker().clone();
        let fetch = async move { broker.fetch(plan).await };
        self.call(
            format!("reader {reader} polls"),
            fetch,
            move |world, result| {
                world.readers[reader].is_waiting = false;
                match result {
                    Some(result) => world.polled(reader, &places, result),
                    None => Ok(()),
                }
            },
        );
        Ok(())
    }

    fn polled(&mut self, reader: usize, places: &[Place], result: FetchResult) -> Verdict {
        for (place, fetched) in places.iter().zip(result.partitions) {
            match fetched {
                Ok(fetched) => {
                    let from = self.readers[reader].positions.get(place).copied();
                    let batches = self.shown(*place, from.unwrap_or(0), &fetched)?;
                    let next = batches.last().map(|(_, next)| *next);
                    if let Some(next) = next {
                        self.readers[reader].positions.insert(*place, next);
                    }
                }
                Err(FetchError::OffsetOutOfRange {
                    log_start_offset, ..
                }) => {
                    let positions = &mut self.readers[reader].positions;
                    positions.insert(*place, log_start_offset.0);
                }
                Err(error) => self.trace.line(&format!("{place:?}: {error}")),
            }
        }
        Ok(())
    }

    /// Takes in what a fetch from `from` on has shown: the offsets of each batch and behind it.
    pub(crate) fn shown(
        &mut self,
        place: Place,
        from: i64,
        fetched: &FetchedRecords,
    ) -> Result<Vec<(i64, i64)>, crate::Violation> {
        let (watermark, start) = (fetched.high_watermark.0, fetched.log_start_offset.0);
        // What waited for long may be answered late: only the watermark must not have gone back meanwhile.
        let mut next = from;
        let mut offsets = Vec::new();
        for piece in &fetched.records {
            let mut rest: &[u8] = piece;
            while !rest.is_empty() {
                let batch = BatchView::parse(rest)
                    .map_err(|error| broken(LOG_4, format!("{place:?} at {next}: {error}")))?;
                let (bytes, after) = rest.split_at(batch.total_len());
                let is_next = match offsets.is_empty() {
                    true => batch.base_offset().0 <= next && next < batch.next_offset().0,
                    false => batch.base_offset().0 == next,
                };
                let is_visible = batch.next_offset().0 <= watermark;
                if !is_next || !is_visible {
                    let what = format!(
                        "{place:?} shows offset {} where {next} was wanted, below {watermark}",
                        batch.base_offset()
                    );
                    return Err(broken(LOG_4, what));
                }
                self.records.seen(place, &batch, bytes)?;
                self.reached.seen += 1;
                offsets.push((batch.base_offset().0, batch.next_offset().0));
                next = batch.next_offset().0;
                rest = after;
            }
        }
        self.stands(place, watermark, Some(start))?;
        Ok(offsets)
    }

    /// Takes in where a partition stands.
    pub(crate) fn stands(&mut self, place: Place, watermark: i64, start: Option<i64>) -> Verdict {
        let retention = self.retention(place.topic);
        let now = self.wall_ms();
        self.records
            .standing(place, watermark, start, retention, now)
    }

    /// Reads a partition from its start to its end, and compares it with all that was promised.
    pub(crate) async fn read_whole(&mut self, place: Place) -> Verdict {
        let mut offsets = Vec::new();
        let mut from = 0;
        let start = loop {
            let plan = FetchRequestPlan {
                partitions: vec![wanted(
                    place,
                    from,
                    self.chance.pick(&[300, 5_000, 1 << 20]),
                )],
                bytes_min: 0,
                bytes_max: 1 << 20,
                wait_max: Duration::ZERO,
                isolation: Isolation::ReadUncommitted,
                first: 0,
                sent_from_file_min: usize::MAX,
            };
            let mut result = self.broker().clone().fetch(plan).await;
            match result.partitions.remove(0) {
                Ok(fetched) => {
                    let more = self.shown(place, from, &fetched)?;
                    let Some((_, next)) = more.last() else {
                        break fetched.log_start_offset.0;
                    };
                    from = *next;
                    offsets.extend(fetched_ids(self, &fetched)?);
                }
                Err(FetchError::OffsetOutOfRange {
                    log_start_offset, ..
                }) if from == 0 => {
                    from = log_start_offset.0;
                }
                Err(error) => {
                    let what = format!("{place:?} cannot be read at {from}: {error}");
                    return Err(broken(fanlog_model::invariants::LOG_1, what));
                }
            }
        };
        self.records.check_whole(place, &offsets, start)?;
        self.queue_read(place, &offsets);
        Ok(())
    }
}

type Identified = Vec<(i64, crate::promises::records::BatchId)>;

fn fetched_ids(world: &World, fetched: &FetchedRecords) -> Result<Identified, crate::Violation> {
    let mut all = Vec::new();
    for piece in &fetched.records {
        let mut rest: &[u8] = piece;
        while let Ok(batch) = BatchView::parse(rest) {
            let (bytes, after) = rest.split_at(batch.total_len());
            all.push((batch.base_offset().0, world.records.identify(bytes)?));
            rest = after;
        }
    }
    Ok(all)
}
