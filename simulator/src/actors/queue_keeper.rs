//! Who keeps queues: makes, pauses and ends them, and cancels messages.

use super::queue_worker::spot_of;
use crate::promises::catalog::Creation;
use crate::promises::queues::{KINDS, Life, Spot, Stage};
use crate::promises::{Verdict, broken, holds};
use crate::world::World;
use fanlog_broker::{CancelOutcome, MessageId, NewQueue, QueueDescription, QueueError, Start};
use fanlog_model::invariants::CAT_1;
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicName};
use std::collections::BTreeMap;

const NAMES: [&str; 4] = ["mail", "bills", "parcels", "alarms"];
/// What is put behind a queue's name for its topics.
const SUFFIXES: [&str; 2] = [".dead", ".redrive"];

impl World {
    /// The first topics and queues.
    pub(crate) async fn prepare_queues(&mut self) -> Verdict {
        self.cast_workers();
        for (name, partitions, kind) in [("orders", 2, 1), ("events", 1, 2)] {
            self.create(Creation {
                name: name.to_owned(),
                partitions,
                kind,
            });
        }
        self.finish_calls().await?;
        for _ in 0..3 {
            self.create_queue();
        }
        self.finish_calls().await
    }

    pub(crate) fn keep_queues(&mut self) -> Verdict {
        match self
            .chance
            .weighted(&[(4, 0), (1, 1), (5, 2), (8, 3), (1, 4), (1, 5)])
        {
            0 => self.create_queue(),
            1 => self.delete_queue(),
            2 => self.pause_or_resume(),
            3 => self.cancel_some(),
            4 => self.grow_topic(),
            _ => self.delete_records(),
        }
        Ok(())
    }

    /// Whether a topic is one that queues have made.
    pub(crate) fn is_of_queues(&self, topic: &TopicName) -> bool {
        let name = topic.as_str();
        self.queues.is_on
            && (SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
                || name == "bin"
                || name == fanlog_broker::AUDIT_TOPIC)
    }

    /// What anyone can see of queues.
    pub(crate) fn look_at_queues(&mut self, is_start: bool) -> Verdict {
        if !self.queues.is_on {
            return Ok(());
        }
        let shown = self.broker().queues().list();
        let shown: Vec<_> = shown
            .iter()
            .map(|queue| (queue.name.to_string(), queue.topic.to_string()))
            .collect();
        self.queues.books.observe(&shown, is_start)
    }

    /// The broker has started on a disk without faults: queues are there, and their states are read.
    pub(crate) async fn queues_started(&mut self) -> Verdict {
        self.queues.is_disk_short = false;
        self.look_at_queues(true)?;
        let queues = self.broker().queues().clone();
        for life in self.queues.books.there() {
            let name = self.queues.books.lives[life].name.clone();
            match queues.describe(&GroupId::from(name.as_str())) {
                Ok(described) => {
                    self.queues.books.lives[life].is_paused = Some(described.is_paused)
                }
                Err(error) => return Err(broken(CAT_1, format!("{name}: {error}"))),
            }
            let status = queues.status(&GroupId::from(name.as_str()));
            let hindrances = status.map(|status| status.hindrances);
            let is_well = hindrances.as_ref().is_ok_and(|hindrances| {
                let mut hindrances = hindrances.iter();
                !hindrances.any(|one| {
                    matches!(
                        one,
                        fanlog_broker::Hindrance::Unavailable { .. }
                            | fanlog_broker::Hindrance::Loading { .. }
                    )
                })
            });
            holds(is_well, "serves", || {
                format!("queue {name} does not serve after a start: {hindrances:?}")
            })?;
        }
        queues.tick();
        Ok(())
    }

    pub(crate) fn create_queue(&mut self) {
        let lives = &self.queues.books.lives;
        let is_free = |name: &&&str| {
            let mut of_name = lives.iter().filter(|life| life.name == ***name);
            of_name.all(|life| life.stage == Stage::Gone)
        };
        let free: Vec<&str> = NAMES.iter().filter(is_free).copied().collect();
        let topics: Vec<_> = self.catalog.live().map(|(id, _)| id).collect();
        if free.is_empty() || topics.is_empty() {
            return;
        }
        let name = self.chance.pick(&free);
        let id = self.chance.pick(&topics);
        let Some(topic) = self.topic_name(id) else {
            return;
        };
        let kind = self.chance.index(KINDS.len());
        let start = self.chance.pick(&[Start::Earliest, Start::Latest]);
        let partitions = self.catalog.life(id).map_or(0, |life| life.partitions);
        let firsts: Vec<i64> = (0..partitions)
            .map(|partition| {
                let topic = id;
                let place = crate::promises::records::Place { topic, partition };
                match start {
                    Start::Latest => self.records.high_watermark(place),
                    _ => 0,
                }
            })
            .collect();
        let settings = KINDS[kind].settings.iter();
        let new = NewQueue {
            name: GroupId::from(name),
            topic: topic.clone(),
            settings: settings
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            start,
        };
        let at = self.queues.books.lives.len();
        let life = Life::new(name.to_owned(), topic.as_str().into(), kind);
        self.queues.books.lives.push(life);
        let queues = self.broker().queues().clone();
        let what = format!("create queue {name} of kind {kind} on {topic} from {start:?}");
        let create = async move { queues.create(new).await };
        self.call(what, create, move |world, answer| {
            world.has_created(at, &firsts, start, answer);
            Ok(())
        });
    }

    fn has_created(
        &mut self,
        life: usize,
        firsts: &[i64],
        start: Start,
        answer: Option<Result<QueueDescription, QueueError>>,
    ) {
        let topic = self.queues.books.lives[life].topic.clone();
        let starts = firsts.iter().zip(0..).map(|(first, partition)| {
            let end = self.queues.books.end(&(topic.clone(), partition));
            match start {
                Start::Earliest => (0, 0),
                _ => (*first, end),
            }
        });
        let starts = starts.collect();
        let life = &mut self.queues.books.lives[life];
        life.starts = starts;
        life.stage = match answer {
            Some(Ok(_)) => Stage::There,
            Some(Err(error)) => {
                self.trace.line(&error.to_string());
                match error {
                    QueueError::Unavailable(_) | QueueError::Read { .. } => Stage::MayBe,
                    _ => Stage::Gone,
                }
            }
            None => Stage::MayBe,
        };
    }

    fn some_queue(&mut self) -> Option<(usize, GroupId)> {
        let lives = self.queues.books.there();
        if lives.is_empty() {
            return None;
        }
        let life = self.chance.pick(&lives);
        let name = self.queues.books.lives[life].name.as_str();
        Some((life, GroupId::from(name)))
    }

    fn delete_queue(&mut self) {
        let Some((life, name)) = self.some_queue() else {
            return;
        };
        self.queues.books.lives[life].stage = Stage::Ending;
        let queues = self.broker().queues().clone();
        let what = format!("delete queue {name}");
        let delete = async move { queues.delete(&name).await };
        self.call(what, delete, move |world, answer| {
            if matches!(answer, Some(Ok(()))) {
                world.reached.queues_ended += 1;
                world.queues.books.lives[life].stage = Stage::Gone;
            }
            Ok(())
        });
    }

    fn pause_or_resume(&mut self) {
        let Some((life, _)) = self.some_queue() else {
            return;
        };
        let is_paused = self.queues.books.lives[life].is_paused;
        let pauses = is_paused == Some(false) && self.chance.percent(40);
        self.pause(life, pauses);
    }

    pub(super) fn pause(&mut self, life: usize, pauses: bool) {
        let name = GroupId::from(self.queues.books.lives[life].name.as_str());
        self.queues.books.lives[life].is_paused = None;
        self.queues.books.lives[life].pauses += 1;
        let changes = BTreeMap::from([("paused".to_owned(), Some(pauses.to_string()))]);
        let queues = self.broker().queues().clone();
        let what = format!("{name} is paused: {pauses}");
        let alter = async move { queues.alter(&name, changes).await };
        self.call(what, alter, move |world, answer| {
            if matches!(answer, Some(Ok(_))) {
                world.queues.books.lives[life].is_paused = Some(pauses);
            }
            Ok(())
        });
    }

    fn cancel_some(&mut self) {
        let Some((life, name)) = self.some_queue() else {
            return;
        };
        let topic = self.queues.books.lives[life].topic.clone();
        let spots = self.queues.books.spots(&topic);
        let recent = spots.len().saturating_sub(60);
        if spots.is_empty() {
            return;
        }
        let spot = self.chance.pick(&spots[recent..]);
        let Some(id) = id_of(&spot) else {
            return;
        };
        let was_over = self.queues.books.cancelling(life, &spot);
        let queues = self.broker().queues().clone();
        let what = format!("cancel {id} in {name}");
        let cancel = async move { queues.cancel(Some(&name), vec![id]).await };
        self.call(what, cancel, move |world, answer| {
            world.has_cancelled(life, (&spot, was_over), answer)
        });
    }

    fn has_cancelled(
        &mut self,
        life: usize,
        (spot, was_over): (&Spot, bool),
        answer: Option<Result<Vec<CancelOutcome>, QueueError>>,
    ) -> Verdict {
        let outcome = match answer {
            Some(Ok(mut outcomes)) => outcomes.pop().and_then(|mut one| one.queues.pop()),
            _ => None,
        };
        let is_there = self.queues.books.is_there(life);
        let answer = match outcome {
            Some((_, Ok(was_there))) if is_there => Some(was_there),
            Some((_, Err(QueueError::NoSuchMessage { .. }))) => {
                self.queues.books.not_cancelled(life, spot);
                return Ok(());
            }
            _ => None,
        };
        self.trace.line(&format!("{spot:?}: {answer:?}"));
        self.reached.cancelled += u64::from(answer == Some(true));
        self.queues.books.cancelled(life, (spot, was_over), answer)
    }
}

pub(super) fn id_of(spot: &Spot) -> Option<MessageId> {
    let id = MessageId {
        topic: TopicName::new(&spot.home.0).ok()?,
        partition: PartitionIndex(spot.home.1),
        offset: Offset(spot.offset),
    };
    debug_assert_eq!(spot_of(&id), *spot);
    Some(id)
}
