//! Which topics there are: CAT-1, and that what was answered survives.

use super::{Verdict, holds};
use fanlog_model::TopicId;
use fanlog_model::invariants::CAT_1;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LifeState {
    /// Its creation was answered, or it was seen.
    Live,
    /// Its deletion was asked for.
    Deleting,
    /// It was answered that it is deleted, or seen that it is gone.
    Deleted,
}

/// One life of a topic.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) name: String,
    pub(crate) kind: usize,
    pub(crate) state: LifeState,
    /// It has these partitions for certain.
    pub(crate) partitions: i32,
    /// It may have so many.
    partitions_max: i32,
}

/// A creation that was asked for and whose topic was not identified yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Creation {
    pub(crate) name: String,
    pub(crate) partitions: i32,
    pub(crate) kind: usize,
}

/// A topic as the broker shows it.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) id: TopicId,
    pub(crate) name: String,
    pub(crate) partitions: i32,
    pub(crate) overrides: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
pub(crate) struct Catalog {
    lives: BTreeMap<TopicId, Life>,
    creations: Vec<Creation>,
    producer_ids: BTreeSet<i64>,
}

impl Catalog {
    pub(crate) fn live(&self) -> impl Iterator<Item = (TopicId, &Life)> {
        let lives = self.lives.iter().map(|(id, life)| (*id, life));
        lives.filter(|(_, life)| life.state == LifeState::Live)
    }

    pub(crate) fn life(&self, id: TopicId) -> Option<&Life> {
        self.lives.get(&id)
    }

    pub(crate) fn creating(&mut self, creation: Creation) {
        self.creations.push(creation);
    }

    /// A creation was refused for certain.
    pub(crate) fn not_created(&mut self, creation: &Creation) {
        let at = self.creations.iter().position(|known| known == creation);
        if let Some(at) = at {
            self.creations.remove(at);
        }
    }

    /// A creation was answered with this id.
    pub(crate) fn created(&mut self, creation: &Creation, shown: &Shown) -> Verdict {
        self.show(shown)?;
        let life = &self.lives[&shown.id];
        let is_ours = life.name == creation.name && life.kind == creation.kind;
        holds(
            is_ours && shown.partitions == creation.partitions,
            CAT_1,
            || format!("{creation:?} was answered with {shown:?}"),
        )
    }

    pub(crate) fn growing(&mut self, id: TopicId, partitions: i32) {
        if let Some(life) = self.lives.get_mut(&id) {
            life.partitions_max = life.partitions_max.max(partitions);
        }
    }

    pub(crate) fn grown(&mut self, id: TopicId, partitions: i32) {
        if let Some(life) = self.lives.get_mut(&id) {
            life.partitions = life.partitions.max(partitions);
        }
    }

    pub(crate) fn deleting(&mut self, id: TopicId) {
        if let Some(life) = self.lives.get_mut(&id)
            && life.state == LifeState::Live
        {
            life.state = LifeState::Deleting;
        }
    }

    pub(crate) fn deleted(&mut self, id: TopicId) {
        if let Some(life) = self.lives.get_mut(&id) {
            life.state = LifeState::Deleted;
        }
    }

    /// A producer id was handed out.
    pub(crate) fn producer_id(&mut self, id: i64) -> Verdict {
        holds(self.producer_ids.insert(id), CAT_1, || {
            format!("producer id {id} was handed out twice")
        })
    }

    /// The broker shows these topics and no others.
    pub(crate) fn observe(&mut self, topics: &[Shown]) -> Verdict {
        for shown in topics {
            self.show(shown)?;
        }
        let is_shown = |id: &TopicId| topics.iter().any(|shown| shown.id == *id);
        for (id, life) in &mut self.lives {
            match life.state {
                LifeState::Live => holds(is_shown(id), CAT_1, || {
                    format!("topic {} ({id}) was created and is gone", life.name)
                })?,
                LifeState::Deleting if !is_shown(id) => life.state = LifeState::Deleted,
                LifeState::Deleting | LifeState::Deleted => {}
            }
        }
        Ok(())
    }

    fn show(&mut self, shown: &Shown) -> Verdict {
        let Some(life) = self.lives.get_mut(&shown.id) else {
            return self.identify(shown);
        };
        holds(life.state != LifeState::Deleted, CAT_1, || {
            format!("{shown:?} was deleted and is there")
        })?;
        let range = life.partitions..=life.partitions_max;
        let is_same = life.name == shown.name && range.contains(&shown.partitions);
        holds(is_same && KINDS[life.kind].is(shown), CAT_1, || {
            format!("{life:?} is shown as {shown:?}")
        })?;
        life.partitions = shown.partitions;
        Ok(())
    }

    fn identify(&mut self, shown: &Shown) -> Verdict {
        let is_it = |known: &Creation| {
            known.name == shown.name
                && known.partitions == shown.partitions
                && KINDS[known.kind].is(shown)
        };
        let at = self.creations.iter().position(is_it);
        holds(at.is_some(), CAT_1, || {
            format!("{shown:?} was created by nobody")
        })?;
        let creation = self.creations.remove(at.unwrap_or_default());
        let life = Life {
            name: creation.name,
            kind: creation.kind,
            state: LifeState::Live,
            partitions: creation.partitions,
            partitions_max: creation.partitions,
        };
        self.lives.insert(shown.id, life);
        Ok(())
    }
}

/// A choice of settings for a topic.
pub(crate) struct Kind {
    pub(crate) overrides: &'static [(&'static str, &'static str)],
    pub(crate) retention: super::records::Retention,
    /// Whether producers fill it so fast that snapshots are due between two rolls.
    pub(crate) has_large_batches: bool,
}

impl Kind {
    fn is(&self, shown: &Shown) -> bool {
        let own = self.overrides.iter().map(|(name, value)| (*name, *value));
        let there = shown.overrides.iter();
        own.collect::<BTreeMap<_, _>>()
            == there
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect()
    }
}

/// Kafka's default.
const UNHURRIED: (&str, &str) = ("segment.ms", "604800000");

/// Full indexes make segments of a few batches, which the smallest `segment.bytes` would not.
/// The broker's own segments are rolled after three seconds, so that there is something to compact; those of topics are not.
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        overrides: &[("segment.bytes", "1048576"), UNHURRIED],
        retention: super::records::Retention::Nothing,
        has_large_batches: true,
    },
    Kind {
        overrides: &[UNHURRIED],
        retention: super::records::Retention::Nothing,
        has_large_batches: false,
    },
    Kind {
        overrides: &[
            ("index.interval.bytes", "0"),
            ("segment.index.bytes", "40"),
            UNHURRIED,
        ],
        retention: super::records::Retention::Nothing,
        has_large_batches: false,
    },
    Kind {
        overrides: &[
            ("index.interval.bytes", "0"),
            ("retention.ms", "20000"),
            ("segment.index.bytes", "64"),
            UNHURRIED,
        ],
        retention: super::records::Retention::OlderThanMs(20_000),
        has_large_batches: false,
    },
    Kind {
        overrides: &[
            ("index.interval.bytes", "100"),
            ("retention.bytes", "3000"),
            ("segment.index.bytes", "32"),
            ("segment.ms", "5000"),
        ],
        retention: super::records::Retention::BeyondBytes(3_000),
        has_large_batches: false,
    },
];
