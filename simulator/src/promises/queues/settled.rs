//! A holder says what became of a record, and is answered: only its word counts, and what was answered stays so.

use super::known::Sure;
use super::{Books, Spot};
use crate::promises::groups::Moment;
use crate::promises::{Verdict, holds};
use fanlog_model::invariants::{QUE_1, QUE_2, QUE_4};

/// What a worker says of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Ack,
    /// With a delay in milliseconds, or as the backoff says.
    Nack(Option<i64>),
    Reject,
    Release(Option<i64>),
    /// For so many milliseconds.
    Extend(i64),
}

/// What it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    /// It comes again, not before then.
    Again(i64),
    Moving,
    GivenUp,
    /// Held until then.
    Held(i64),
    /// The receipt holds nothing.
    NotHeld,
    /// Nobody knows whether it counted.
    Unknown,
}

/// A word under way.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) spot: Spot,
    receipt: String,
    said: Said,
    /// The receipt certainly holds nothing.
    is_void: bool,
    /// It certainly holds the record, unless time passes.
    is_sure: bool,
    attempt: u16,
    now: i64,
    at: Moment,
}

impl Books {
    pub(crate) fn settling(
        &mut self,
        life: usize,
        (spot, receipt): (&Spot, &str),
        said: Said,
        (now, at): (i64, Moment),
    ) -> Asked {
        self.sweep(life, now);
        let known = self.lives[life].records.entry(spot.clone()).or_default();
        let hold = known.hold.as_mut().filter(|hold| hold.receipt == receipt);
        let is_alone = known.asked == 0;
        let is_void = hold.as_ref().is_none_or(|hold| hold.until_max <= now);
        let is_sure = hold
            .as_ref()
            .is_some_and(|hold| hold.is_sure && hold.until > now && is_alone);
        let attempt = hold.as_ref().map_or(0, |hold| hold.attempt);
        known.asked += 1;
        if let Some(hold) = hold
            && !is_void
        {
            match said {
                Said::Extend(ms) => {
                    hold.until = hold.until.min(now + ms);
                    hold.until_max = hold.until_max.max(now + ms + LATE_MS);
                }
                _ => hold.is_sure = false,
            }
        }
        if !is_void && matches!(said, Said::Nack(_) | Said::Release(_)) {
            if matches!(said, Said::Release(_)) {
                known.doubt_hold();
            }
            self.doubt_behind(life, spot);
        }
        Asked {
            spot: spot.clone(),
            receipt: receipt.to_owned(),
            said,
            is_void,
            is_sure,
            attempt,
            now,
            at,
        }
    }

    pub(crate) fn settled(
        &mut self,
        life: usize,
        asked: &Asked,
        answer: Answer,
        now: i64,
    ) -> Verdict {
        let is_gone = self.may_be_gone(&asked.spot);
        let is_unsure = self.is_unsure;
        let name = self.lives[life].name.clone();
        let known = self.known(life, asked);
        known.asked -= 1;
        match answer {
            Answer::Unknown => {
                self.may_have_settled(life, asked);
                return Ok(());
            }
            Answer::NotHeld => {
                let hold = known.hold.as_ref();
                let is_it = hold.is_some_and(|hold| hold.receipt == asked.receipt);
                let hold = hold.filter(|hold| is_it && hold.until > now);
                let is_lie = asked.is_sure && hold.is_some() && !is_gone && !is_unsure;
                return holds(!is_lie, QUE_1, || {
                    format!("at {now} queue {name} refuses {asked:?}, and {hold:?}")
                });
            }
            _ => {}
        }
        holds(!asked.is_void || is_gone, QUE_1, || {
            format!(
                "queue {name} answers {answer:?} to {asked:?}, which holds nothing: {:?}",
                known.hold
            )
        })?;
        if !is_gone {
            self.check_rest(life, asked, answer)?;
        }
        self.has_settled(life, asked, answer)?;
        self.is_durable(life, &asked.spot.home, asked.at);
        Ok(())
    }

    fn known(&mut self, life: usize, asked: &Asked) -> &mut super::known::Known {
        let records = &mut self.lives[life].records;
        records.entry(asked.spot.clone()).or_default()
    }

    /// A failure rests as long as somebody asked for, or as the backoff says.
    fn check_rest(&mut self, life: usize, asked: &Asked, answer: Answer) -> Verdict {
        let kind = self.lives[life].kind();
        let rest = match asked.said {
            Said::Nack(delay) => delay.unwrap_or_else(|| (kind.rest_ms_min)(asked.attempt)),
            Said::Release(delay) => delay.unwrap_or(0),
            _ => 0,
        };
        match answer {
            Answer::Again(due) if asked.is_sure => holds(due >= asked.now + rest, QUE_4, || {
                format!("{asked:?} rests until {due}, and not for {rest} ms")
            }),
            _ => Ok(()),
        }
    }

    fn has_settled(&mut self, life: usize, asked: &Asked, answer: Answer) -> Verdict {
        let is_gone = self.may_be_gone(&asked.spot);
        self.endings += 1;
        let ending = self.endings;
        let known = self.known(life, asked);
        if let Answer::Held(until) = answer {
            if let Some(hold) = &mut known.hold
                && hold.receipt == asked.receipt
            {
                // Another word may be under way, and the last one counts.
                hold.is_sure &= known.asked == 0;
                hold.until = until;
                hold.until_max = hold.until_max.max(until);
            }
            return Ok(());
        }
        holds(
            known.ended.insert(asked.receipt.clone()) || is_gone,
            QUE_1,
            || format!("{asked:?} had ended, and ends again: {answer:?}"),
        )?;
        let hold = known.hold.as_ref();
        let is_it = hold.is_some_and(|hold| hold.receipt == asked.receipt);
        if let Answer::Again(due) = answer {
            if is_it {
                let hold = known.hold.take();
                known.not_before = known.not_before.max(due);
                let attempt = hold.map_or(0, |hold| hold.attempt);
                match asked.said {
                    // If it came back with an earlier one of its key, no attempt is burnt.
                    Said::Nack(_) if asked.is_sure => known.attempts = (attempt, attempt),
                    _ => known.attempts.0 = known.attempts.0.min(attempt.saturating_sub(1)),
                }
                if matches!(asked.said, Said::Release(_)) && asked.is_sure {
                    let before = attempt.saturating_sub(1);
                    known.attempts = (before, before);
                }
                known.durable_attempts = known.attempts.0;
            }
            return Ok(());
        }
        // It never comes again, so that nobody can have been given it since.
        holds(is_it || hold.is_none() || is_gone, QUE_2, || {
            format!("{asked:?} is over ({answer:?}), and was given to another: {hold:?}")
        })?;
        known.hold = None;
        let sure = match is_gone {
            true => Sure::Maybe,
            false => Sure::Yes,
        };
        known.ends("settled", ending);
        match (answer, asked.said) {
            (Answer::Moving, _) => known.dead.raise(sure),
            (Answer::GivenUp, _) => known.given_up.raise(sure),
            (_, Said::Ack) => known.acked.raise(sure),
            _ => known.cancelled.raise(sure),
        }
        Ok(())
    }

    fn may_have_settled(&mut self, life: usize, asked: &Asked) {
        if asked.is_void {
            return;
        }
        let known = self.known(life, asked);
        match asked.said {
            Said::Ack => known.acked.raise(Sure::Maybe),
            Said::Reject => {
                known.dead.raise(Sure::Maybe);
                known.given_up.raise(Sure::Maybe);
            }
            Said::Nack(_) | Said::Release(_) | Said::Extend(_) => {}
        }
        self.doubt(life, &asked.spot);
    }
}

/// How late a lock may begin to last that was asked for, as the clock goes on while a word is under way.
const LATE_MS: i64 = 60_000;
