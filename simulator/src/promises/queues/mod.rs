//! What queues have handed out, and what was said of it: QUE-1 to QUE-4, and one end for each record.
//!
//! A record is known by the spot where it stands. What an answer has said is certain; what was asked and not answered may have counted or
//! not, and so may what a crash has cut off. Only what is certain breaks a promise.
//! Read next: `given.rs`, `settled.rs`, `accounts.rs`.

mod accounts;
mod given;
mod kinds;
mod known;
mod settled;

pub(crate) use accounts::{Account, Copied, Copies};
pub(crate) use given::Given;
pub(crate) use kinds::{FILTERED_KIND, KINDS, Kind};
pub(crate) use settled::{Answer, Asked, Said};

use super::{Verdict, holds};
use fanlog_model::invariants::{CAT_1, QUE_2};
use known::{Known, Sure};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A record by what its value says: the number of its batch, and its own in it.
pub(crate) type Mark = (u64, u64);
/// A partition, by its topic's name: the topics of queues are not deleted here.
pub(crate) type Home = (Arc<str>, i32);

/// Where a record stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) home: Home,
    pub(crate) offset: i64,
}

/// What a producer said of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) key: Option<u8>,
    /// Not to be delivered before.
    pub(crate) due: Option<i64>,
    /// Whether queues with a filter want it.
    pub(crate) is_of_kind: bool,
}

/// How certain it is that there is a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its creation is not answered yet.
    Creating,
    /// Nobody knows before the next start.
    MayBe,
    There,
    /// Its deletion was asked for.
    Ending,
    Gone,
}

/// One queue, from its creation to its deletion; a later one of its name is another one.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) name: String,
    pub(crate) topic: Arc<str>,
    pub(crate) kind: usize,
    pub(crate) stage: Stage,
    /// Where it begins in the partitions that its topic had: not before the first, and not behind the second.
    pub(crate) starts: Vec<(i64, i64)>,
    /// None while that is not certain.
    pub(crate) is_paused: Option<bool>,
    /// How often somebody has asked to pause it, or to go on.
    pub(crate) pauses: u64,
    records: BTreeMap<Spot, Known>,
    /// How many deliveries nobody has seen: a process ended, or somebody went, before they were answered.
    unseen: u16,
    /// Who may hold something that nobody has seen, and until when.
    shadows: BTreeMap<usize, i64>,
    /// Who broke a receive off: what it was given is given back, and that may be lost.
    broken_off: Vec<usize>,
}

/// What stands in a partition, as far as that is known.
#[derive(Debug, Default)]
struct Content {
    records: BTreeMap<i64, Mark>,
    /// Deletions up to here were asked for.
    deletable: i64,
}

/// All queues that there ever were.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub(crate) lives: Vec<Life>,
    sent: BTreeMap<Mark, Sent>,
    contents: BTreeMap<Home, Content>,
    /// How often somebody was told that a record is over.
    pub(crate) endings: u64,
    /// A sync may fail in this process: what is not durable may be lost as in a power cut.
    is_unsure: bool,
}

/// Why a record is over that somebody cancelled: its holder may still settle it.
const CANCELLED: &str = "cancelled";
/// The longest lock that anybody asks for, in milliseconds.
pub(crate) const LOCK_MS_MAX: i64 = 4_000;

impl Life {
    pub(crate) fn new(name: String, topic: Arc<str>, kind: usize) -> Self {
        Self {
            name,
            topic,
            kind,
            stage: Stage::Creating,
            starts: Vec::new(),
            is_paused: Some(false),
            pauses: 0,
            records: BTreeMap::new(),
            unseen: 0,
            shadows: BTreeMap::new(),
            broken_off: Vec::new(),
        }
    }

    pub(crate) fn kind(&self) -> &'static Kind {
        &KINDS[self.kind]
    }

    /// Where the queue begins in a partition of its topic.
    fn start(&self, home: &Home) -> (i64, i64) {
        let at = usize::try_from(home.1).ok();
        let known = at.and_then(|at| self.starts.get(at).copied());
        known.filter(|_| home.0 == self.topic).unwrap_or((0, 0))
    }

    fn wants(&self, sent: &Sent) -> bool {
        sent.is_of_kind || !self.kind().is_filtered
    }

    /// Somebody may have been given something, and nobody saw what.
    fn unseen(&mut self, worker: usize, now: i64) {
        self.unseen = self.unseen.saturating_add(1);
        self.shadows.insert(worker, now + LOCK_MS_MAX);
        // What comes back unseen takes the later ones of its key along.
        for known in self.records.values_mut() {
            if KINDS[self.kind].is_keyed {
                known.doubt_hold();
            }
        }
    }
}

impl Books {
    pub(crate) fn sending(&mut self, mark: Mark, sent: Sent) {
        self.sent.insert(mark, sent);
    }

    /// An append was told an offset: so many records, from the first of a batch on.
    pub(crate) fn appended(&mut self, home: &Home, offset: i64, token: u64, count: u64) {
        let content = self.contents.entry(home.clone()).or_default();
        for number in 0..count {
            let at = offset + i64::try_from(number).unwrap_or(0);
            content.records.insert(at, (token, number));
        }
    }

    /// A partition was read from its start to its end: nothing else stands there.
    pub(crate) fn has_read(&mut self, home: &Home, records: BTreeMap<i64, Mark>) {
        self.contents.entry(home.clone()).or_default().records = records;
    }

    /// Behind all that is known of a partition.
    pub(crate) fn end(&self, home: &Home) -> i64 {
        let last = self.contents.get(home);
        let last = last.and_then(|content| content.records.last_key_value());
        last.map_or(0, |(offset, _)| offset + 1)
    }

    pub(crate) fn deleting(&mut self, home: &Home, before: i64) {
        let content = self.contents.entry(home.clone()).or_default();
        content.deletable = content.deletable.max(before);
    }

    fn may_be_gone(&self, spot: &Spot) -> bool {
        let content = self.contents.get(&spot.home);
        content.is_some_and(|content| spot.offset < content.deletable)
    }

    /// The power failed, or a sync did: what is not durable may be lost.
    pub(crate) fn power_failed(&mut self, now: i64) {
        for life in &mut self.lives {
            life.records.values_mut().for_each(Known::power_failed);
            for worker in std::mem::take(&mut life.broken_off) {
                life.unseen(worker, now);
            }
        }
    }

    /// From here to the end of the process what is not durable may be lost.
    pub(crate) fn sync_may_fail(&mut self, now: i64) {
        self.is_unsure = true;
        self.power_failed(now);
    }

    /// Somebody went in the midst of a receive: what it was given is given back, if that could be noted.
    pub(crate) fn broken_off(&mut self, life: usize, worker: usize, (is_noted, now): (bool, i64)) {
        let life = &mut self.lives[life];
        match is_noted && !self.is_unsure {
            true => life.broken_off.push(worker),
            false => life.unseen(worker, now),
        }
    }

    pub(crate) fn process_ended(&mut self) {
        self.is_unsure = false;
    }

    /// That it is paused for certain, and since which word.
    pub(crate) fn paused(&self, life: usize) -> Option<u64> {
        let life = &self.lives[life];
        (life.is_paused == Some(true)).then_some(life.pauses)
    }

    /// A receive has no answer, or one that came too late to be looked at.
    pub(crate) fn unseen(&mut self, name: &str, worker: usize, now: i64) {
        for life in self.lives.iter_mut().filter(|life| life.name == name) {
            life.unseen(worker, now);
        }
    }

    /// These queues are shown, by name and topic. Only at a start does one that is not shown not come any more.
    pub(crate) fn observe(&mut self, shown: &[(String, String)], is_start: bool) -> Verdict {
        for life in &mut self.lives {
            let is_shown = shown
                .iter()
                .any(|(name, topic)| *name == life.name && *topic == *life.topic);
            match (life.stage, is_shown) {
                (Stage::There, false) => holds(false, CAT_1, || {
                    format!("queue {} was created and is gone", life.name)
                })?,
                (Stage::MayBe | Stage::Ending, true) if is_start => life.stage = Stage::There,
                (Stage::MayBe | Stage::Ending, false) if is_start => life.stage = Stage::Gone,
                _ => {}
            }
        }
        for (name, topic) in shown {
            let mut lives = self.lives.iter();
            let is_known = lives.any(|life| life.name == *name && life.stage != Stage::Gone);
            holds(is_known, CAT_1, || {
                format!("queue {name} of {topic} is there, and was deleted or never created")
            })?;
        }
        Ok(())
    }

    /// The queues that are there for certain.
    pub(crate) fn there(&self) -> Vec<usize> {
        let lives = self.lives.iter().enumerate();
        lives
            .filter(|(_, life)| life.stage == Stage::There)
            .map(|(at, _)| at)
            .collect()
    }

    pub(crate) fn is_there(&self, life: usize) -> bool {
        self.lives[life].stage == Stage::There
    }

    /// Somebody asks that a record be delivered no more. Says whether it is done with already, for certain.
    pub(crate) fn cancelling(&mut self, life: usize, spot: &Spot) -> bool {
        let known = self.lives[life].records.entry(spot.clone()).or_default();
        known.asked += 1;
        known.over.is_some_and(|why| why != CANCELLED)
    }

    /// It was said that a record is delivered no more, and whether it was to be delivered until then; or nothing was said.
    pub(crate) fn cancelled(
        &mut self,
        life: usize,
        (spot, was_over): (&Spot, bool),
        answer: Option<bool>,
    ) -> Verdict {
        let is_gone = self.may_be_gone(spot);
        let is_before = spot.offset < self.lives[life].start(&spot.home).1;
        let is_wanted = self.is_wanted(life, spot) && !is_before;
        let life = &mut self.lives[life];
        let (unseen, kind) = (life.unseen, life.kind());
        let known = life.records.entry(spot.clone()).or_default();
        known.asked -= 1;
        match answer {
            Some(true) => {
                holds(!was_over || is_gone, QUE_2, || {
                    format!(
                        "queue {} was done with {spot:?} ({:?}), and says that it cancels it",
                        life.name, known.over
                    )
                })?;
                let is_free = known.hold.is_none() && unseen == 0 && known.asked == 0;
                known
                    .cancelled
                    .raise(if is_free { Sure::Yes } else { Sure::Maybe });
                self.endings += 1;
                known.ends(CANCELLED, self.endings);
            }
            Some(false) => {
                let may_be_over = known.may_be_over(kind, unseen) || is_gone || !is_wanted;
                holds(may_be_over, QUE_2, || {
                    format!(
                        "queue {} says that it is done with {spot:?}, and nobody ended it",
                        life.name
                    )
                })?;
                if is_wanted {
                    self.endings += 1;
                    known.ends("said to be done with", self.endings);
                }
            }
            None => known.cancelled.raise(Sure::Maybe),
        }
        Ok(())
    }

    /// A cancellation was refused for certain.
    pub(crate) fn not_cancelled(&mut self, life: usize, spot: &Spot) {
        if let Some(known) = self.lives[life].records.get_mut(spot) {
            known.asked -= 1;
        }
    }

    /// What is known to stand in a topic.
    pub(crate) fn spots(&self, topic: &str) -> Vec<Spot> {
        let contents = self.contents.iter().filter(|(home, _)| *home.0 == *topic);
        let spots = contents.flat_map(|(home, content)| {
            let offsets = content.records.keys();
            offsets.map(|offset| Spot {
                home: home.clone(),
                offset: *offset,
            })
        });
        spots.collect()
    }

    fn is_wanted(&self, life: usize, spot: &Spot) -> bool {
        let content = self.contents.get(&spot.home);
        let mark = content.and_then(|content| content.records.get(&spot.offset));
        let sent = mark.and_then(|mark| self.sent.get(mark));
        sent.is_none_or(|sent| self.lives[life].wants(sent))
    }
}
