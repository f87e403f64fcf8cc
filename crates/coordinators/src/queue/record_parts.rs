//! The parts of which the records of `__fanlog_queues` are made; the layout stands in `record_format.rs`.
//!
//! Each part of a list is read before room is made for the next: no count drives an allocation.

use super::bytes::{BytesIn, illegal, put_number, put_text, put_time};
use super::record_format::QueueRecordError;
use super::{Attempt, Change, Counters, Head, Held, MoveRow, MoveTarget, State, To, Why};
use fanlog_model::{Offset, PartitionIndex, ProducerEpoch, ProducerId, TimestampMs, TopicId};
use std::num::NonZeroU64;
use std::sync::Arc;
use uuid::Uuid;

const FRESH: u8 = 0;
const RESTING: u8 = 1;
const HELD: u8 = 2;
const MOVING: u8 = 3;
const DONE: u8 = 4;
const WHY: [(u8, Why); 6] = [
    (5, Why::Acknowledged),
    (6, Why::GivenUp),
    (7, Why::Moved),
    (8, Why::Filtered),
    (9, Why::Gap),
    (10, Why::Cancelled),
];
const HAS_KEY: u8 = 1;
const IS_CANCELLED: u8 = 2;
const HAS_GIVEN: u8 = 4;

type Taken<T> = Result<T, QueueRecordError>;

pub(super) fn put_offset(out: &mut Vec<u8>, offset: Offset) {
    put_number(out, offset.0.max(0).unsigned_abs());
}

/// An offset that a record may have.
pub(super) fn take_offset(value: &mut BytesIn<'_>, what: &'static str) -> Taken<Offset> {
    let offset: i64 = value.small(what)?;
    match offset == i64::MAX {
        true => Err(illegal(what, offset)),
        false => Ok(Offset(offset)),
    }
}

pub(super) fn put_head(out: &mut Vec<u8>, head: &Head) {
    out.extend_from_slice(head.incarnation.as_bytes());
    put_offset(out, head.start);
    put_offset(out, head.log_start);
    put_number(out, head.next_grant);
    out.extend_from_slice(&head.producer.0.to_be_bytes());
    put_row(out, &head.row);
    put_number(out, head.moved_below);
    for count in counts(&mut head.counters.clone()) {
        put_number(out, *count);
    }
}

pub(super) fn take_head(value: &mut BytesIn<'_>) -> Taken<Head> {
    let mut head = Head {
        incarnation: Uuid::from_bytes(value.array("incarnation")?),
        start: take_offset(value, "start")?,
        log_start: take_offset(value, "log start")?,
        next_grant: value.number("number of a hand-over")?,
        producer: ProducerId(i64::from_be_bytes(value.array("producer id")?)),
        row: take_row(value)?,
        moved_below: value.number("number of a move")?,
        counters: Counters::default(),
    };
    if head.moved_below > head.row.next {
        return Err(illegal("number of a move", head.moved_below));
    }
    for count in counts(&mut head.counters) {
        *count = value.number("counter")?;
    }
    Ok(head)
}

/// In the order of the layout.
fn counts(counters: &mut Counters) -> [&mut u64; 8] {
    [
        &mut counters.delivered,
        &mut counters.acknowledged,
        &mut counters.failed,
        &mut counters.given_up,
        &mut counters.moved,
        &mut counters.filtered,
        &mut counters.cancelled,
        &mut counters.lost,
    ]
}

pub(super) fn put_row(out: &mut Vec<u8>, row: &MoveRow) {
    out.push(match (row.target.is_some(), row.is_sent) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    });
    if let Some(target) = &row.target {
        out.extend_from_slice(target.topic.0.as_bytes());
        out.extend_from_slice(&target.partition.0.to_be_bytes());
    }
    out.extend_from_slice(&row.epoch.0.to_be_bytes());
    put_number(out, row.base);
    put_number(out, row.next);
}

pub(super) fn take_row(value: &mut BytesIn<'_>) -> Taken<MoveRow> {
    let kind = value.u8("target")?;
    let target = match kind {
        0 => None,
        1 | 2 => Some(MoveTarget {
            topic: TopicId(Uuid::from_bytes(value.array("topic id")?)),
            partition: PartitionIndex(i32::from_be_bytes(value.array("partition")?)),
        }),
        other => return Err(illegal("target", other)),
    };
    let row = MoveRow {
        target,
        is_sent: kind == 2,
        epoch: ProducerEpoch(i16::from_be_bytes(value.array("producer epoch")?)),
        base: value.number("number of a move")?,
        next: value.number("number of a move")?,
    };
    match row.base > row.next {
        true => Err(illegal("number of a move", row.base)),
        false => Ok(row),
    }
}

pub(super) fn put_consumers(out: &mut Vec<u8>, consumers: &[(u32, Arc<str>)]) {
    put_number(out, consumers.len() as u64);
    for (number, name) in consumers {
        put_number(out, (*number).into());
        put_text(out, name);
    }
}

pub(super) fn take_consumers(value: &mut BytesIn<'_>) -> Taken<Vec<(u32, Arc<str>)>> {
    let mut consumers = Vec::new();
    for _ in 0..value.number("count of consumers")? {
        let number = value.small("number of a consumer")?;
        consumers.push((number, Arc::from(value.text("consumer")?)));
    }
    Ok(consumers)
}

pub(super) fn put_attempts(out: &mut Vec<u8>, attempts: &[(Offset, Attempt)], has_firsts: bool) {
    put_number(out, attempts.len() as u64);
    for (offset, attempt) in attempts {
        put_offset(out, *offset);
        put_time(out, attempt.at);
        put_number(out, attempt.attempt.into());
        put_text(out, &attempt.consumer);
        put_text(out, &attempt.reason);
        if has_firsts {
            out.push(u8::from(attempt.first_given.is_some()));
            attempt.first_given.iter().for_each(|at| put_time(out, *at));
        }
    }
}

pub(super) fn take_attempts(
    value: &mut BytesIn<'_>,
    has_firsts: bool,
) -> Taken<Vec<(Offset, Attempt)>> {
    let mut attempts = Vec::new();
    for _ in 0..value.number("count of attempts")? {
        let offset = take_offset(value, "offset of an attempt")?;
        let mut attempt = Attempt {
            at: value.time("time of an attempt")?,
            attempt: value.small("attempt")?,
            consumer: value.text("consumer")?.into(),
            reason: value.text("reason")?.into(),
            first_given: None,
        };
        if has_firsts {
            attempt.first_given = match value.u8("first attempt")? {
                0 => None,
                1 => Some(value.time("time of the first attempt")?),
                other => return Err(illegal("first attempt", other)),
            };
        }
        attempts.push((offset, attempt));
    }
    Ok(attempts)
}

pub(super) fn put_states(out: &mut Vec<u8>, states: &[(Offset, Offset, State)]) {
    put_number(out, states.len() as u64);
    let mut from = Offset(0);
    for (first, last, state) in states {
        put_place(out, &mut from, (*first, *last));
        put_state(out, *state);
    }
}

pub(super) fn take_states(value: &mut BytesIn<'_>) -> Taken<Vec<(Offset, Offset, State)>> {
    let mut states = Vec::new();
    let mut from = Offset(0);
    for _ in 0..value.number("count of states")? {
        let (first, last) = take_place(value, &mut from)?;
        let tag = value.u8("state")?;
        let state = match tag {
            DONE => State::Done,
            FRESH => return Err(illegal("state", tag)),
            _ => take_state(value, tag)?,
        };
        states.push((first, last, state));
    }
    Ok(states)
}

pub(super) fn put_changes(out: &mut Vec<u8>, changes: &[Change]) {
    put_number(out, changes.len() as u64);
    let mut from = Offset(0);
    for Change { first, last, to } in changes {
        put_place(out, &mut from, (*first, *last));
        match to {
            To::State(state) => put_state(out, *state),
            To::Done(why) => {
                let tag = WHY.iter().find(|(_, known)| known == why);
                out.push(tag.expect("every reason has a tag").0);
            }
        }
    }
}

pub(super) fn take_changes(value: &mut BytesIn<'_>) -> Taken<Vec<Change>> {
    let mut changes = Vec::new();
    let mut from = Offset(0);
    for _ in 0..value.number("count of changes")? {
        let (first, last) = take_place(value, &mut from)?;
        let tag = value.u8("state")?;
        let why = WHY.iter().find(|(known, _)| *known == tag);
        let to = match why {
            Some((_, why)) => To::Done(*why),
            None => To::State(take_state(value, tag)?),
        };
        changes.push(Change { first, last, to });
    }
    Ok(changes)
}

fn put_place(out: &mut Vec<u8>, from: &mut Offset, (first, last): (Offset, Offset)) {
    let behind = |to: Offset, from: Offset| to.0.saturating_sub(from.0).max(0).unsigned_abs();
    put_number(out, behind(first, *from));
    put_number(out, behind(last, first));
    *from = last.plus(1);
}

fn take_place(value: &mut BytesIn<'_>, from: &mut Offset) -> Taken<(Offset, Offset)> {
    let mut further = |from: Offset| {
        let by: i64 = value.small("offset")?;
        let to = from.0.checked_add(by).filter(|to| *to < i64::MAX);
        Ok(Offset(to.ok_or_else(|| illegal("offset", by))?))
    };
    let first = further(*from)?;
    let last = further(first)?;
    *from = last.plus(1);
    Ok((first, last))
}

fn put_state(out: &mut Vec<u8>, state: State) {
    match state {
        State::Fresh => out.push(FRESH),
        State::Resting { attempts, due } => {
            out.push(RESTING);
            put_number(out, attempts.into());
            put_time(out, due);
        }
        State::Held(held) => {
            out.push(HELD);
            put_held(out, &held);
        }
        State::Moving { attempts, number } => {
            out.push(MOVING);
            put_number(out, attempts.into());
            put_number(out, number);
        }
        State::Done => out.push(DONE),
    }
}

fn take_state(value: &mut BytesIn<'_>, tag: u8) -> Taken<State> {
    Ok(match tag {
        FRESH => State::Fresh,
        RESTING => State::Resting {
            attempts: value.small("attempts")?,
            due: value.time("due time")?,
        },
        HELD => State::Held(take_held(value)?),
        MOVING => State::Moving {
            attempts: value.small("attempts")?,
            number: value.number("number of a move")?,
        },
        other => return Err(illegal("state", other)),
    })
}

fn put_held(out: &mut Vec<u8>, held: &Held) {
    let key = if held.key.is_some() { HAS_KEY } else { 0 };
    let cancelled = if held.is_cancelled { IS_CANCELLED } else { 0 };
    let is_usual = held.given == given_usually(held.until, held.lock_ms);
    let given = if is_usual { 0 } else { HAS_GIVEN };
    out.push(key | cancelled | given);
    put_number(out, held.attempts.into());
    put_number(out, held.consumer.into());
    put_number(out, held.grant);
    put_time(out, held.until);
    put_number(out, held.lock_ms.into());
    if let Some(key) = held.key {
        out.extend_from_slice(&key.get().to_be_bytes());
    }
    if !is_usual {
        put_time(out, held.given);
    }
}

/// When a lock was given that was not prolonged.
fn given_usually(until: TimestampMs, lock_ms: u32) -> TimestampMs {
    TimestampMs(until.0.saturating_sub(lock_ms.into()))
}

fn take_held(value: &mut BytesIn<'_>) -> Taken<Held> {
    let flags = value.u8("flags of a lock")?;
    if flags & !(HAS_KEY | IS_CANCELLED | HAS_GIVEN) != 0 {
        return Err(illegal("flags of a lock", flags));
    }
    let mut held = Held {
        attempts: value.small("attempts")?,
        consumer: value.small("number of a consumer")?,
        grant: value.number("number of a hand-over")?,
        until: value.time("time of a lock")?,
        lock_ms: value.small("length of a lock")?,
        given: TimestampMs(0),
        key: None,
        is_cancelled: flags & IS_CANCELLED != 0,
    };
    if held.attempts == 0 {
        return Err(illegal("attempts", 0));
    }
    if flags & HAS_KEY != 0 {
        let hash = u64::from_be_bytes(value.array("hash of a key")?);
        held.key = Some(NonZeroU64::new(hash).ok_or_else(|| illegal("hash of a key", hash))?);
    }
    held.given = match flags & HAS_GIVEN != 0 {
        true => value.time("time of a hand-over")?,
        false => given_usually(held.until, held.lock_ms),
    };
    Ok(held)
}
