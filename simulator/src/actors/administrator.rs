//! Administrators: topics come, grow and go, and records are deleted.

use crate::promises::Verdict;
use crate::promises::catalog::{Creation, KINDS, Shown};
use crate::promises::records::Place;
use crate::world::World;
use fanlog_broker::TopicRef;
use fanlog_coordinators::catalog::{self, NewTopic, PartitionGrowth};
use fanlog_model::{Offset, PartitionIndex, TopicId};

const NAMES: [&str; 3] = ["orders", "events", "audit"];
const PARTITIONS_MAX: i32 = 4;

impl World {
    pub(crate) fn administer(&mut self) -> Verdict {
        match self.chance.weighted(&[(4, 0), (2, 1), (2, 2), (5, 3)]) {
            0 => self.create_topic(),
            1 => self.delete_topic(),
            2 => self.grow_topic(),
            _ => self.delete_records(),
        }
        Ok(())
    }

    pub(crate) fn create_topic(&mut self) {
        let creation = Creation {
            name: self.chance.pick(&NAMES).to_owned(),
            partitions: self.chance.pick(&[1, 1, 2, 3]),
            kind: self.chance.index(KINDS.len()),
        };
        self.create(creation);
    }

    pub(crate) fn create(&mut self, creation: Creation) {
        let own = KINDS[creation.kind].overrides.iter();
        let new = NewTopic {
            id: TopicId::ZERO,
            name: creation.name.clone(),
            partitions: creation.partitions,
            replication_factor: 1,
            assignments: Vec::new(),
            overrides: own
                .map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned())))
                .collect(),
        };
        self.catalog.creating(creation.clone());
        let broker = self.broker().clone();
        let create = async move { broker.create_topics(vec![new], false).await };
        let what = format!("create {creation:?}");
        self.call(what, create, move |world, answer| {
            let Some(Ok(mut created)) = answer else {
                return Ok(());
            };
            match created.remove(0) {
                Ok(created) => {
                    world.reached.created += 1;
                    world.catalog.created(&creation, &shown(&created.topic))
                }
                Err(refused) => {
                    world.trace.line(&refused.to_string());
                    world.catalog.not_created(&creation);
                    Ok(())
                }
            }
        });
    }

    fn some_topic(&mut self) -> Option<TopicId> {
        let topics: Vec<_> = self.catalog.live().map(|(id, _)| id).collect();
        (!topics.is_empty()).then(|| self.chance.pick(&topics))
    }

    fn delete_topic(&mut self) {
        let Some(id) = self.some_topic() else {
            return;
        };
        self.catalog.deleting(id);
        let broker = self.broker().clone();
        let topics = vec![catalog::TopicRef::Id(id)];
        let delete = async move { broker.delete_topics(topics).await };
        self.call(
            format!("delete topic {id}"),
            delete,
            move |world, answer| {
                let Some(Ok(mut deleted)) = answer else {
                    return Ok(());
                };
                if deleted.remove(0).is_ok() {
                    world.reached.deleted += 1;
                    world.catalog.deleted(id);
                }
                Ok(())
            },
        );
    }

    pub(super) fn grow_topic(&mut self) {
        let Some(id) = self.some_topic() else {
            return;
        };
        let Some(life) = self.catalog.life(id) else {
            return;
        };
        let count = life.partitions + 1;
        if count > PARTITIONS_MAX {
            return;
        }
        let growth = PartitionGrowth {
            topic: life.name.clone(),
            count,
            assignments: None,
        };
        self.catalog.growing(id, count);
        let broker = self.broker().clone();
        let grow = async move { broker.create_partitions(vec![growth], false).await };
        self.call(
            format!("grow {id} to {count}"),
            grow,
            move |world, answer| {
                if let Some(Ok(mut grown)) = answer
                    && let Ok(topic) = grown.remove(0)
                    && topic.id == id
                {
                    world.catalog.grown(id, count);
                }
                Ok(())
            },
        );
    }

    pub(super) fn delete_records(&mut self) {
        let Some(place) = self.some_place() else {
            return;
        };
        let high_watermark = self.records.high_watermark(place);
        let before = match self
            .chance
            .below(u64::try_from(high_watermark).unwrap_or(0) + 1)
        {
            before if self.chance.percent(80) => i64::try_from(before).unwrap_or(0),
            _ => high_watermark,
        };
        self.records.deleting(place, before);
        if let Some(home) = self.home(place) {
            self.queues.books.deleting(&home, before);
        }
        let broker = self.broker().clone();
        let topic = TopicRef::Id(place.topic);
        let index = PartitionIndex(place.partition);
        let delete = async move {
            broker
                .delete_records(&topic, index, Some(Offset(before)))
                .await
        };
        let what = format!("delete records of {place:?} before {before}");
        self.call(what, delete, move |world, answer| {
            world.trimmed(place, answer)
        });
    }

    fn trimmed(
        &mut self,
        place: Place,
        answer: Option<Result<Offset, fanlog_broker::DeleteRecordsError>>,
    ) -> Verdict {
        if let Some(Ok(start)) = answer {
            self.reached.trims += 1;
            self.records.deleted(place, start.0);
        }
        Ok(())
    }
}

/// A topic of the catalog, as it is shown.
pub(crate) fn shown(topic: &catalog::Topic) -> Shown {
    Shown {
        id: topic.id,
        name: topic.name.to_string(),
        partitions: topic.partitions,
        overrides: topic.overrides.clone().into_iter().collect(),
    }
}
