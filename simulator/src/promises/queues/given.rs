//! A record is handed out: to nobody who has it beside another, not after its end, in the order of its key, and not too early.

use super::known::Hold;
use super::{Books, Home, Life, Mark, Spot};
use crate::promises::groups::Moment;
use crate::promises::{Verdict, broken, holds};
use fanlog_model::invariants::{LOG_3, QUE_1, QUE_2, QUE_3, QUE_4};

/// What a worker was handed.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) worker: usize,
    pub(crate) spot: Spot,
    pub(crate) mark: Mark,
    pub(crate) receipt: String,
    pub(crate) attempt: u16,
    pub(crate) until: i64,
    /// How often somebody had been told that a record is over when it was asked for.
    pub(crate) endings: u64,
}

impl Books {
    /// A worker was handed a record, at this time.
    pub(crate) fn given(
        &mut self,
        life: usize,
        given: &Given,
        (now, at): (i64, Moment),
    ) -> Verdict {
        self.check_mark(life, given, now)?;
        if given.until <= now {
            // The answer took longer than the lock: others may have had it since.
            self.lives[life].unseen(given.worker, now);
            return Ok(());
        }
        self.check_free(life, given, now)?;
        let has_lapsed = self.check_key(life, given, now)?;
        let is_gone = self.may_be_gone(&given.spot);
        let is_unsure = self.is_unsure;
        let life = &mut self.lives[life];
        let has_shadows = life.shadows.values().any(|until| *until > now);
        let (unseen, kind) = (life.unseen, life.kind());
        let known = life.records.entry(given.spot.clone()).or_default();
        let (least, most) = (known.attempts.0 + 1, known.attempts_max(unseen) + 1);
        let is_right = (least..=most).contains(&given.attempt);
        let is_within = kind.attempts_max == 0 || given.attempt <= kind.attempts_max;
        holds(is_right && is_within || is_gone, QUE_2, || {
            format!(
                "{given:?} is delivery {}, and should be between {least} and {most}",
                given.attempt
            )
        })?;
        known.was_given = true;
        known.attempts = (given.attempt, given.attempt);
        known.durable_attempts = known.durable_attempts.min(given.attempt);
        known.unseen = unseen;
        known.hold = Some(Hold {
            worker: given.worker,
            receipt: given.receipt.clone(),
            attempt: given.attempt,
            until: given.until,
            until_max: given.until,
            is_sure: !is_unsure,
            is_durable: false,
            is_swept: false,
            since: at,
        });
        if is_unsure {
            known.power_failed();
        }
        if has_lapsed || has_shadows && kind.is_keyed {
            known.doubt_hold();
        }
        Ok(())
    }

    /// It is the record that was sent, it is one for the queue, and it is due.
    fn check_mark(&mut self, life: usize, given: &Given, now: i64) -> Verdict {
        let life = &self.lives[life];
        let Some(sent) = self.sent.get(&given.mark) else {
            return Err(broken(
                QUE_2,
                format!("{given:?} holds what nobody has sent"),
            ));
        };
        let is_main = given.spot.home.0 == life.topic;
        let content = self.contents.entry(given.spot.home.clone()).or_default();
        let before = content.records.insert(given.spot.offset, given.mark);
        let is_same = before.is_none_or(|before| before == given.mark);
        holds(is_same || is_main, LOG_3, || {
            format!("{given:?} was {before:?} before")
        })?;
        if !is_main {
            return Ok(());
        }
        let (first, _) = life.start(&given.spot.home);
        let is_in = given.spot.offset >= first && life.wants(sent);
        holds(is_in, QUE_2, || {
            format!(
                "{given:?}: queue {} begins at {first}, and of {sent:?} it wants it: {}",
                life.name,
                life.wants(sent)
            )
        })?;
        holds(sent.due.is_none_or(|due| due <= now), QUE_4, || {
            format!(
                "{given:?} is early: it is {now}, and it is due at {:?}",
                sent.due
            )
        })
    }

    /// Nobody else has it, and nobody was told that it does not come (yet).
    fn check_free(&mut self, life: usize, given: &Given, now: i64) -> Verdict {
        let life = &self.lives[life];
        let Some(known) = life.records.get(&given.spot) else {
            return Ok(());
        };
        // What was handed out before may be answered after.
        let is_over = known.over.is_some() && known.over_at <= given.endings;
        holds(!is_over, QUE_2, || {
            format!("{given:?} comes, and is over: {:?}", known.over)
        })?;
        let other = known.hold.as_ref();
        let other = other.filter(|hold| hold.is_sure && hold.until > now);
        holds(other.is_none(), QUE_1, || {
            format!("at {now} {given:?} is given, and {other:?} has it")
        })?;
        holds(known.not_before <= now, QUE_4, || {
            format!(
                "{given:?} is early: it is {now}, and it rests until {}",
                known.not_before
            )
        })
    }

    /// With order per key: all earlier ones of its key are over, or the worker's own, and nobody else has one of the key. Says whether
    /// a lock of an earlier one may have run out: when that is noticed, this one goes back with it.
    fn check_key(
        &mut self,
        life: usize,
        given: &Given,
        now: i64,
    ) -> Result<bool, crate::Violation> {
        let Some(key) = self.key(life, &given.mark) else {
            return Ok(false);
        };
        let mut has_lapsed = false;
        self.sweep(life, now);
        let life = &self.lives[life];
        for (spot, offset, mark) in self.of_key(life, &given.spot.home, key) {
            let known = life.records.get(&spot);
            // An earlier queue of the name may have put it there.
            let is_foreign = known.is_none() && spot.home.0 != life.topic;
            if self.may_be_gone(&spot) || is_foreign {
                continue;
            }
            let hold = known.and_then(|known| known.hold.as_ref());
            let other = hold.filter(|hold| {
                hold.is_sure
                    && hold.until > now
                    && hold.worker != given.worker
                    && spot != given.spot
            });
            holds(other.is_none(), QUE_3, || {
                format!("{given:?} has the key of {spot:?}, which {other:?} has")
            })?;
            let (_, begin) = life.start(&given.spot.home);
            let is_earlier = offset < given.spot.offset && offset >= begin;
            if !is_earlier || !self.is_wanted_mark(life, &mark) {
                continue;
            }
            has_lapsed |= hold.is_some_and(|hold| !hold.is_sure || hold.until <= now);
            let may_be_over =
                known.is_some_and(|known| known.may_be_over(life.kind(), life.unseen));
            let is_own = hold.is_some_and(|hold| hold.worker == given.worker)
                || life
                    .shadows
                    .get(&given.worker)
                    .is_some_and(|until| *until > now);
            let is_unseen = known.is_none()
                && life.kind().attempts_max > 0
                && life.unseen >= life.kind().attempts_max;
            holds(may_be_over || is_own || is_unseen, QUE_3, || {
                format!(
                    "{given:?} overtakes {spot:?} of the same key, of which is known: {known:?}"
                )
            })?;
        }
        Ok(has_lapsed)
    }

    /// The key by which a record waits for others, if it does.
    pub(super) fn key(&self, life: usize, mark: &Mark) -> Option<u8> {
        let is_keyed = self.lives[life].kind().is_keyed;
        self.sent.get(mark)?.key.filter(|_| is_keyed)
    }

    fn is_wanted_mark(&self, life: &Life, mark: &Mark) -> bool {
        let sent = self.sent.get(mark);
        sent.is_some_and(|sent| life.wants(sent))
    }

    fn of_key<'a>(
        &'a self,
        _: &'a Life,
        home: &'a Home,
        key: u8,
    ) -> impl Iterator<Item = (Spot, i64, Mark)> + 'a {
        let content = self.contents.get(home);
        let records = content.into_iter().flat_map(|content| &content.records);
        records.filter_map(move |(offset, mark)| {
            let spot = Spot {
                home: home.clone(),
                offset: *offset,
            };
            let has_key = self.sent.get(mark)?.key == Some(key);
            has_key.then_some((spot, *offset, *mark))
        })
    }

    /// What is held behind a record of the same key may have come back with it.
    pub(super) fn doubt_behind(&mut self, life: usize, spot: &Spot) {
        let content = self.contents.get(&spot.home);
        let mark = content.and_then(|content| content.records.get(&spot.offset));
        let Some(key) = mark.and_then(|mark| self.key(life, mark)) else {
            return;
        };
        let spots = self.of_key(&self.lives[life], &spot.home, key);
        let behind: Vec<_> = spots
            .filter(|(_, offset, _)| *offset > spot.offset)
            .collect();
        for (spot, ..) in behind {
            if let Some(known) = self.lives[life].records.get_mut(&spot) {
                known.doubt_hold();
            }
        }
    }

    /// Locks have run out: the later ones of their keys came back too.
    pub(super) fn sweep(&mut self, life: usize, now: i64) {
        let mut spots = Vec::new();
        for (spot, known) in &mut self.lives[life].records {
            if let Some(hold) = &mut known.hold
                && !hold.is_swept
                && (hold.until <= now || !hold.is_sure)
            {
                hold.is_swept = true;
                spots.push(spot.clone());
            }
        }
        for spot in spots {
            self.doubt_behind(life, &spot);
        }
    }

    /// All that was handed out of a partition before this moment is durable: something later is.
    pub(super) fn is_durable(&mut self, life: usize, home: &Home, before: Moment) {
        if self.is_unsure {
            return;
        }
        let records = self.lives[life].records.iter_mut();
        for (_, known) in records.filter(|(spot, _)| spot.home == *home) {
            if let Some(hold) = &mut known.hold
                && hold.since < before
            {
                hold.is_durable = true;
                known.durable_attempts = known.attempts.0;
            }
        }
    }

    /// A word of its holder may have counted, or not.
    pub(super) fn doubt(&mut self, life: usize, spot: &Spot) {
        if let Some(known) = self.lives[life].records.get_mut(spot) {
            known.doubt_hold();
        }
        self.doubt_behind(life, spot);
    }
}
