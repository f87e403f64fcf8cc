//! The end: every record of a queue has ended once, and the queue's own books say so too.

use super::known::{Known, Sure};
use super::{Books, Life, Mark, Spot, Stage};
use crate::promises::{Verdict, holds};
use fanlog_model::invariants::{LOG_3, QUE_2};
use std::collections::{BTreeMap, BTreeSet};

/// A copy that a queue has made of a record, as it stands in its dead-letter or redrive topic.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    pub(crate) spot: Spot,
    pub(crate) queue: String,
    /// Where the first record of all stands.
    pub(crate) origin: Spot,
    /// How often it was redriven.
    pub(crate) redrives: u32,
    pub(crate) mark: Mark,
}

/// All copies there are.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    pub(crate) dead: Vec<Copied>,
    pub(crate) redriven: Vec<Copied>,
}

/// What a queue says of itself when everything is done with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    pub(crate) acknowledged: u64,
    pub(crate) given_up: u64,
    pub(crate) lost: u64,
    /// Its dead letters.
    pub(crate) listed: BTreeSet<Spot>,
}

/// Which copy: of what, and after how many redrives.
type Which = (String, Spot, u32);
/// Where the copies stand.
type Index<'a> = BTreeMap<Which, Vec<&'a Copied>>;

fn index(copies: &[Copied]) -> Index<'_> {
    let mut index = Index::new();
    for copied in copies {
        let which = (copied.queue.clone(), copied.origin.clone(), copied.redrives);
        index.entry(which).or_default().push(copied);
    }
    index
}

/// What the records of a queue have come to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    acknowledged: (u64, u64),
    given_up: (u64, u64),
}

impl Books {
    /// Holds the queues to their books, when nothing is left to be handed out or moved.
    pub(crate) fn check_accounts(
        &self,
        copies: &Copies,
        accounts: &BTreeMap<usize, Account>,
        discarded: &BTreeSet<Spot>,
    ) -> Verdict {
        let (dead, redriven) = (index(&copies.dead), index(&copies.redriven));
        for index in [&dead, &redriven] {
            for ((queue, origin, redrives), copies) in index {
                let lives = self.lives_of(queue);
                holds(copies.len() <= lives, QUE_2, || {
                    format!(
                        "queue {queue} has moved {origin:?} {} times (redriven {redrives} times before): {copies:?}",
                        copies.len()
                    )
                })?;
                for copied in copies {
                    self.check_copy(copied)?;
                }
            }
        }
        for (at, account) in accounts {
            let life = &self.lives[*at];
            let sums = self.check_records(life, &dead, &copies.redriven)?;
            self.check_sums(life, account, sums)?;
            if self.lives_of(&life.name) == 1 {
                check_letters(life, account, copies, (&dead, &redriven), discarded)?;
            }
        }
        Ok(())
    }

    /// How many queues of the name there were, perhaps.
    fn lives_of(&self, name: &str) -> usize {
        self.lives.iter().filter(|life| life.name == name).count()
    }

    fn check_copy(&self, copied: &Copied) -> Verdict {
        let content = self.contents.get(&copied.origin.home);
        let mark = content.and_then(|content| content.records.get(&copied.origin.offset));
        let is_it = mark.is_none_or(|mark| *mark == copied.mark);
        holds(is_it, LOG_3, || {
            format!("{copied:?} says that it is of {mark:?}")
        })
    }

    fn check_records(
        &self,
        life: &Life,
        dead: &Index<'_>,
        redriven: &[Copied],
    ) -> Result<Sums, crate::Violation> {
        let mut sums = Sums::default();
        let mains = self
            .contents
            .iter()
            .filter(|(home, _)| home.0 == life.topic);
        for (home, content) in mains {
            let (_, begin) = life.start(home);
            for (offset, mark) in content.records.range(begin..) {
                let spot = Spot {
                    home: home.clone(),
                    offset: *offset,
                };
                if !self.sent.get(mark).is_some_and(|sent| life.wants(sent)) {
                    continue;
                }
                let copies = dead.get(&(life.name.clone(), spot.clone(), 0));
                self.check_record(life, &spot, copies.map_or(0, Vec::len))?;
            }
        }
        let is_sole = self.lives_of(&life.name) == 1;
        for copied in redriven
            .iter()
            .filter(|copied| is_sole && copied.queue == life.name)
        {
            let which = (life.name.clone(), copied.origin.clone(), copied.redrives);
            self.check_record(life, &copied.spot, dead.get(&which).map_or(0, Vec::len))?;
        }
        for (spot, known) in &life.records {
            let is_certain = !self.may_be_gone(spot);
            add(&mut sums.acknowledged, known.acked, is_certain, false);
            let may_have_failed = known.may_have_failed_for_good(life.kind(), life.unseen);
            add(
                &mut sums.given_up,
                known.given_up,
                is_certain,
                may_have_failed,
            );
        }
        Ok(sums)
    }

    /// One end, and one place where it stands.
    fn check_record(&self, life: &Life, spot: &Spot, copies: usize) -> Verdict {
        if self.may_be_gone(spot) {
            return Ok(());
        }
        let nothing = Known::default();
        let known = life.records.get(spot).unwrap_or(&nothing);
        let say = |what: &str| {
            format!(
                "{spot:?} {what} in queue {} of kind {}: {copies} dead letters, {known:?}",
                life.name, life.kind
            )
        };
        holds(known.may_be_over(life.kind(), life.unseen), QUE_2, || {
            say("is lost")
        })?;
        let has_ended = [known.acked, known.cancelled, known.given_up];
        let has_ended = has_ended.contains(&Sure::Yes);
        holds(
            !has_ended || copies == 0 || self.lives_of(&life.name) > 1,
            QUE_2,
            || say("has ended twice"),
        )?;
        let may_be_dead = known.dead > Sure::No
            || known.may_have_failed_for_good(life.kind(), life.unseen)
            || self.lives_of(&life.name) > 1;
        holds(copies == 0 || may_be_dead, QUE_2, || say("died of nothing"))?;
        let may_have_ended = [known.acked, known.cancelled, known.given_up];
        let may_have_ended = may_have_ended.iter().any(|end| *end > Sure::No);
        let must_be_there = life.kind().dead_topic(&life.name).is_some()
            && (known.dead == Sure::Yes || !may_have_ended);
        holds(!must_be_there || copies > 0, QUE_2, || {
            say("has died, and is not among the dead letters")
        })
    }

    /// The queue's own books.
    fn check_sums(&self, life: &Life, account: &Account, sums: Sums) -> Verdict {
        let say = || format!("queue {} says {account:?}, and it was {sums:?}", life.name);
        let is_within = |count: u64, (least, most): (u64, u64)| least <= count && count <= most;
        holds(
            is_within(account.acknowledged, sums.acknowledged),
            QUE_2,
            say,
        )?;
        holds(is_within(account.given_up, sums.given_up), QUE_2, say)?;
        let mut contents = self.contents.iter();
        let is_cut = contents.any(|(home, of)| home.0 == life.topic && of.deletable > 0);
        holds(is_cut || account.lost == 0, QUE_2, say)
    }

    /// The queues that may be asked for their accounts.
    pub(crate) fn to_account_for(&self) -> Vec<(usize, String)> {
        let lives = self.lives.iter().enumerate();
        let there = lives.filter(|(_, life)| life.stage == Stage::There);
        there.map(|(at, life)| (at, life.name.clone())).collect()
    }
}

fn add(sums: &mut (u64, u64), end: Sure, is_certain: bool, may_be: bool) {
    sums.0 += u64::from(end == Sure::Yes && is_certain);
    sums.1 += u64::from(end > Sure::No || may_be);
}

/// A dead letter is there, or was discarded, or is redriven: one of these.
fn check_letters(
    life: &Life,
    account: &Account,
    copies: &Copies,
    (dead, redriven): (&Index<'_>, &Index<'_>),
    discarded: &BTreeSet<Spot>,
) -> Verdict {
    for copied in copies
        .redriven
        .iter()
        .filter(|copied| copied.queue == life.name)
    {
        let before = (
            life.name.clone(),
            copied.origin.clone(),
            copied.redrives.saturating_sub(1),
        );
        holds(dead.contains_key(&before), QUE_2, || {
            format!("{copied:?} was redriven, and no dead letter before")
        })?;
    }
    for copied in copies
        .dead
        .iter()
        .filter(|copied| copied.queue == life.name)
    {
        let again = (
            life.name.clone(),
            copied.origin.clone(),
            copied.redrives + 1,
        );
        let is_listed = account.listed.contains(&copied.spot);
        let is_redriven = redriven.contains_key(&again);
        let may_be_discarded = discarded.contains(&copied.spot);
        let is_one = match (is_listed, is_redriven) {
            (true, true) => false,
            (false, false) => may_be_discarded,
            _ => true,
        };
        holds(is_one, QUE_2, || {
            format!(
                "{copied:?} is listed: {is_listed}, redriven: {is_redriven}, perhaps discarded: {may_be_discarded}"
            )
        })?;
    }
    let are_there: BTreeSet<_> = copies.dead.iter().map(|copied| &copied.spot).collect();
    let missing = account.listed.iter().find(|spot| !are_there.contains(spot));
    holds(missing.is_none(), QUE_2, || {
        format!("queue {} lists {missing:?}, which is not there", life.name)
    })
}
