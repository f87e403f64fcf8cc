//! The end of a run with queues: all that is left is handed out and acknowledged, and each record accounted for.

use super::queue_producer::mark_of;
use super::queue_worker::spot_of;
use crate::promises::queues::{Account, Copied, Copies, LOCK_MS_MAX, Spot};
use crate::promises::{Verdict, Violation, broken, holds};
use crate::world::World;
use fanlog_broker::{FetchPartition, FetchRequestPlan, Isolation, QueueStatus, Receive, TopicRef};
use fanlog_model::invariants::{LOG_4, QUE_2};
use fanlog_model::{GroupId, Offset, PartitionIndex};
use fanlog_protocol::records::{BatchView, Decompressor, RecordView};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Longer than any lock, backoff and delay together, in steps of a second; and what the order per key takes.
const ROUNDS: u32 = 90;
const ROUND: Duration = Duration::from_secs(1);

impl World {
    pub(crate) async fn finish_queues(&mut self) -> Verdict {
        for life in self.queues.books.there() {
            self.pause(life, false);
        }
        self.finish_calls().await?;
        self.drain().await?;
        self.check_books().await?;
        // Nothing of it comes back.
        self.end_process()?;
        self.power_failed();
        self.disk.crash(self.chance.next());
        self.start_well().await?;
        let wait = Duration::from_millis(LOCK_MS_MAX.unsigned_abs());
        self.clock.advance(wait);
        self.broker().queues().tick();
        self.receive_all().await?;
        self.end_process()
    }

    async fn drain(&mut self) -> Verdict {
        for _ in 0..ROUNDS {
            self.receive_all().await?;
            let is_empty = |status: &QueueStatus| status.depth == 0 && status.moving == 0;
            if self.statuses()?.values().all(is_empty) {
                return Ok(());
            }
            self.clock.advance(ROUND);
            self.broker().queues().tick();
            // A move has two steps to make durable, and nobody calls for it.
            for _ in 0..4 {
                self.settle().await?;
                self.broker().sync_all();
            }
            self.finish_calls().await?;
        }
        let left = self.statuses()?;
        let left = left
            .into_values()
            .find(|status| status.depth > 0 || status.moving > 0);
        Err(broken(QUE_2, format!("a queue is never empty: {left:?}")))
    }

    /// Receives once from each queue, and acknowledges.
    async fn receive_all(&mut self) -> Verdict {
        for life in self.queues.books.there() {
            let wanted = Receive {
                consumer: "worker-0".into(),
                records_max: 100,
                bytes_max: 1 << 20,
                wait_max: Duration::ZERO,
                lock: None,
            };
            self.receive_as(0, life, wanted, None);
            self.finish_calls().await?;
            self.acknowledge_all(0, life);
        }
        self.finish_calls().await
    }

    fn statuses(&self) -> Result<BTreeMap<usize, QueueStatus>, Violation> {
        let mut statuses = BTreeMap::new();
        for (life, name) in self.queues.books.to_account_for() {
            let status = self.broker().queues().status(&GroupId::from(name.as_str()));
            let status = status.map_err(|error| broken(QUE_2, error.to_string()))?;
            statuses.insert(life, status);
        }
        Ok(statuses)
    }

    async fn check_books(&mut self) -> Verdict {
        let mut accounts = BTreeMap::new();
        for (life, status) in self.statuses()? {
            self.list_dead(life);
            self.finish_calls().await?;
            let letters = self.queues.letters.get(&life);
            let listed: BTreeSet<Spot> = letters.into_iter().flatten().map(spot_of).collect();
            accounts.insert(
                life,
                Account {
                    acknowledged: status.acknowledged,
                    given_up: status.given_up,
                    lost: status.lost,
                    listed,
                },
            );
        }
        let copies = self.copies().await?;
        self.reached.dead_letters += copies.dead.len() as u64;
        self.reached.redriven += copies.redriven.len() as u64;
        self.queues
            .books
            .check_accounts(&copies, &accounts, &self.queues.discarded)
    }

    async fn copies(&mut self) -> Result<Copies, Violation> {
        let topics = self.broker().topics();
        let mut copies = Copies::default();
        for topic in topics.iter().filter(|topic| self.is_of_queues(&topic.name)) {
            let name = topic.name.as_str();
            let queue = name.strip_suffix(".redrive");
            let all = match queue {
                Some(_) => &mut copies.redriven,
                None => &mut copies.dead,
            };
            if name == fanlog_broker::AUDIT_TOPIC {
                continue;
            }
            for partition in 0..topic.partitions.len() {
                let partition = i32::try_from(partition).unwrap_or(i32::MAX);
                let id = TopicRef::Id(topic.id);
                let bytes = self.read_raw(&id, partition).await?;
                all.extend(copied(&bytes, (name, partition), queue)?);
            }
        }
        Ok(copies)
    }

    async fn read_raw(&self, topic: &TopicRef, partition: i32) -> Result<Vec<u8>, Violation> {
        let mut bytes = Vec::new();
        let mut from = Offset(0);
        loop {
            let plan = FetchRequestPlan {
                partitions: vec![FetchPartition {
                    topic: topic.clone(),
                    partition: PartitionIndex(partition),
                    offset: from,
                    bytes_max: 1 << 20,
                    leader_epoch: None,
                    last_fetched_epoch: None,
                }],
                bytes_min: 0,
                bytes_max: 1 << 20,
                wait_max: Duration::ZERO,
                isolation: Isolation::ReadCommitted,
                first: 0,
                sent_from_file_min: usize::MAX,
            };
            let mut result = self.broker().clone().fetch(plan).await;
            let fetched = result.partitions.remove(0);
            let fetched = fetched.map_err(|error| broken(LOG_4, error.to_string()))?;
            let before = bytes.len();
            fetched
                .records
                .iter()
                .for_each(|piece| bytes.extend_from_slice(piece));
            let mut last = None;
            for batch in BatchView::parse_all(&bytes[before..]) {
                let batch = batch.map_err(|error| broken(LOG_4, error.to_string()))?;
                last = Some(batch.next_offset());
            }
            match last {
                Some(next) => from = next,
                None => return Ok(bytes),
            }
        }
    }
}

/// The copies in a partition. Those of a redrive topic don't say of which queue they are.
fn copied(
    bytes: &[u8],
    (topic, partition): (&str, i32),
    queue: Option<&str>,
) -> Result<Vec<Copied>, Violation> {
    let mut all = Vec::new();
    let mut decompressor = Decompressor::default();
    for batch in BatchView::parse_all(bytes) {
        let batch = batch.map_err(|error| broken(LOG_4, error.to_string()))?;
        let records = batch.records(&mut decompressor);
        let records = records.map_err(|error| broken(LOG_4, error.to_string()))?;
        for record in records {
            let record = record.map_err(|error| broken(LOG_4, error.to_string()))?;
            let spot = Spot {
                home: (topic.into(), partition),
                offset: batch.offset_of(record.offset_delta).0,
            };
            let copied = copied_as(&record, &spot, queue);
            holds(copied.is_some(), QUE_2, || {
                format!("{spot:?} does not say of what it is a copy")
            })?;
            all.extend(copied);
        }
    }
    Ok(all)
}

fn copied_as(record: &RecordView<'_>, spot: &Spot, queue: Option<&str>) -> Option<Copied> {
    let text = |name: &str| {
        let name = format!("fanlog.dead.{name}");
        let mut headers = record.headers();
        let (_, value) = headers.find(|(header, _)| *header == name.as_bytes())?;
        std::str::from_utf8(value?).ok().map(str::to_owned)
    };
    let queue = queue.map(str::to_owned).or_else(|| text("queue"))?;
    Some(Copied {
        spot: spot.clone(),
        queue,
        origin: Spot {
            home: (text("topic")?.into(), text("partition")?.parse().ok()?),
            offset: text("offset")?.parse().ok()?,
        },
        redrives: text("redrives").map_or(Some(0), |text| text.parse().ok())?,
        mark: mark_of(record.value?)?,
    })
}
