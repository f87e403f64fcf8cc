//! Who owned what, who committed what, and what was read of it: GRP-1, GRP-2, GRP-3.

use super::{Verdict, holds};
use fanlog_model::TopicId;
use fanlog_model::invariants::{GRP_1, GRP_2, GRP_3};
use std::collections::BTreeMap;
use std::time::Duration;

/// Counts what clients did and were told: whatever has the lower number came first.
pub(crate) type Moment = u64;

/// Who speaks for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) member: String,
    pub(crate) instance: Option<String>,
    pub(crate) generation: i32,
}

impl Identity {
    /// Who owns partitions: a static member keeps them under another member id.
    fn owner(&self) -> &str {
        self.instance.as_deref().unwrap_or(&self.member)
    }
}

/// Something that a member was told.
#[derive(Clone, Debug)]
struct Told {
    at: Moment,
    who: Identity,
    /// The group's life, where it is certain.
    life: Option<u32>,
}

/// One committed offset's place.
pub(crate) type Committed = (TopicId, i32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Open,
    Done,
    Refused,
}

/// A write to a committed offset: a token, or nothing where offsets are deleted.
#[derive(Clone, Copy, Debug)]
struct Write {
    token: Option<u64>,
    fate: Fate,
}

/// Writes in the order in which the group decides on them. Nothing before `floor` may be read any more.
#[derive(Debug, Default)]
struct Register {
    writes: Vec<Write>,
    floor: usize,
}

/// One group.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Rises when somebody asks for the group's deletion, and when that is answered: generations begin anew in between.
    life: u32,
    /// Deletions that were not answered yet.
    deletions: u32,
    joined: Vec<Told>,
    synced: Vec<Told>,
    owners: BTreeMap<(u32, i32), BTreeMap<u8, String>>,
    registers: BTreeMap<Committed, Register>,
    /// Until when a member is in the group whatever happens, unless it leaves.
    present: BTreeMap<String, Duration>,
}

/// A read under way: what it may no longer find.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    floor: usize,
}

/// A deletion under way: how many writes each committed offset had when it was asked for.
#[derive(Debug)]
pub(crate) struct Deletion(BTreeMap<Committed, usize>);

/// A write under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position(usize);

impl Group {
    pub(crate) fn joined(&mut self, at: Moment, who: &Identity) {
        let who = who.clone();
        let life = (self.deletions == 0).then_some(self.life);
        self.joined.push(Told { at, who, life });
    }

    /// A member was told what it owns.
    pub(crate) fn synced(&mut self, at: Moment, who: &Identity, owned: &[u8]) -> Verdict {
        // A generation is of the life in which it was joined, whatever was asked for since.
        let joined = self.joined.iter().rfind(|told| told.who == *who);
        let life = joined.and_then(|joined| joined.life);
        self.synced.push(Told {
            at,
            who: who.clone(),
            life,
        });
        let Some(life) = life else {
            return Ok(());
        };
        let owners = self.owners.entry((life, who.generation)).or_default();
        for partition in owned {
            let before = owners.insert(*partition, who.owner().to_owned());
            let other = before.filter(|other| other != who.owner());
            holds(other.is_none(), GRP_1, || {
                format!(
                    "partition {partition} belongs to {other:?} and to {who:?} in one generation"
                )
            })?;
        }
        Ok(())
    }

    /// A member without an instance id is there until then.
    pub(crate) fn present_until(&mut self, who: &Identity, until: Duration) {
        if who.instance.is_none() {
            self.present.insert(who.member.clone(), until);
        }
    }

    pub(crate) fn leaving(&mut self, member: &str) {
        self.present.remove(member);
    }

    /// A commit was accepted that was sent at `sent`, by the clock at `now`: it must have come from the present generation.
    pub(crate) fn check_accepted(&self, sent: Moment, now: Duration, who: &Identity) -> Verdict {
        if who.generation < 0 {
            let there = self.present.iter().find(|(_, until)| now < **until);
            return holds(there.is_none(), GRP_2, || {
                format!("a commit from outside was accepted while {there:?} is in the group")
            });
        }
        let is_it = |told: &&Told| told.who == *who && told.at < sent;
        let Some(joined) = self.joined.iter().rfind(is_it) else {
            return Err(super::broken(
                GRP_2,
                format!("a commit by {who:?} was accepted, who never joined"),
            ));
        };
        let later = self.synced.iter().find(|told| {
            let is_meanwhile = joined.at < told.at && told.at < sent;
            let is_next = told.who.generation > who.generation;
            let has_replaced = who.instance.is_some()
                && told.who.instance == who.instance
                && told.who.member != who.member
                && told.who.generation >= who.generation;
            is_meanwhile && (is_next || has_replaced)
        });
        holds(later.is_none(), GRP_2, || {
            format!("a commit by {who:?} was accepted after {later:?}")
        })
    }

    /// Somebody commits: what a read may find from now on.
    pub(crate) fn committing(&mut self, at: Committed, token: u64) -> Position {
        let register = self.registers.entry(at).or_default();
        register.writes.push(Write {
            token: Some(token),
            fate: Fate::Open,
        });
        Position(register.writes.len() - 1)
    }

    pub(crate) fn committed(&mut self, at: Committed, position: Position) {
        self.settle(at, position, Fate::Done);
    }

    pub(crate) fn not_committed(&mut self, at: Committed, position: Position) {
        self.settle(at, position, Fate::Refused);
    }

    fn settle(&mut self, at: Committed, position: Position, fate: Fate) {
        let register = self.registers.entry(at).or_default();
        register.writes[position.0].fate = fate;
        if fate == Fate::Done {
            register.floor = register.floor.max(position.0 + 1);
        }
    }

    /// Somebody asks for the group's deletion.
    pub(crate) fn deleting(&mut self) -> Deletion {
        self.life += 1;
        self.deletions += 1;
        let registers = self.registers.iter();
        Deletion(
            registers
                .map(|(at, register)| (*at, register.writes.len()))
                .collect(),
        )
    }

    /// The deletion was answered, or never will be. It was decided upon at some time since it was asked for: what was committed
    /// meanwhile is gone or not.
    pub(crate) fn deletion_over(&mut self, deletion: &Deletion, fate: Fate) {
        self.life += 1;
        self.deletions -= 1;
        if fate == Fate::Refused {
            return;
        }
        for (at, register) in &mut self.registers {
            let asked_at = deletion.0.get(at).copied().unwrap_or_default();
            let is_alone = register.writes.len() == asked_at;
            register.writes.push(Write { token: None, fate });
            register.floor = match (fate, is_alone) {
                (Fate::Done, true) => register.writes.len(),
                _ => register.floor.min(asked_at),
            };
        }
    }

    pub(crate) fn reading(&self, at: Committed) -> Read {
        let register = self.registers.get(&at);
        Read {
            floor: register.map_or(0, |register| register.floor),
        }
    }

    /// A read has found a token, or nothing.
    pub(crate) fn read(&mut self, at: Committed, read: Read, found: Option<u64>) -> Verdict {
        if found.is_none() && self.deletions > 0 {
            return Ok(());
        }
        let register = self.registers.entry(at).or_default();
        let legal = register
            .writes
            .iter()
            .rposition(|write| write.token == found && write.fate != Fate::Refused);
        // Before the first write there is nothing.
        let end = match (legal, found) {
            (Some(position), _) => position + 1,
            (None, None) => 0,
            (None, Some(_)) => {
                let what =
                    format!("{at:?} shows commit {found:?}, which was refused or never sent");
                return Err(super::broken(GRP_3, what));
            }
        };
        holds(end >= read.floor, GRP_3, || {
            format!(
                "{at:?} shows commit {found:?}; commit {:?} was answered or read before",
                read.floor.checked_sub(1).map(|last| register.writes[last])
            )
        })?;
        register.floor = register.floor.max(if found.is_some() { end } else { 0 });
        Ok(())
    }
}
