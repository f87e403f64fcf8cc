//! Workers: they receive, say what became of it, come too late, go away in the midst of it, and die.

use super::queue_producer::mark_of;
use crate::promises::groups::Moment;
use crate::promises::queues::{Answer, Asked, Books, Given, Said, Spot};
use crate::promises::records::BatchId;
use crate::promises::{Verdict, broken, holds};
use crate::world::World;
use fanlog_broker::{
    Message, MessageId, QueueError, Receipt, Receive, SettleError, SettleFailure, SettleOutcome,
    Settled, SettledEach,
};
use fanlog_model::GroupId;
use fanlog_model::invariants::{CAT_1, QUE_1, QUE_2};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

const WORKERS: usize = 4;
/// How many old receipts a worker still has.
const PAST_MAX: usize = 30;

/// The clients of queues.
#[derive(Debug, Default)]
pub(crate) struct QueueClients {
    /// Whether this run is about queues.
    pub(crate) is_on: bool,
    pub(crate) books: Books,
    pub(crate) workers: Vec<Worker>,
    /// What the batches hold: the number in their records' values, and how many records.
    pub(crate) batches: BTreeMap<BatchId, (u64, u64)>,
    /// Dead letters that were listed, by queue.
    pub(crate) letters: BTreeMap<usize, Vec<MessageId>>,
    /// Dead letters that somebody asked to discard.
    pub(crate) discarded: BTreeSet<Spot>,
    /// What is written may be refused, as the disk has no room.
    pub(crate) is_disk_short: bool,
}

impl QueueClients {
    pub(crate) fn process_ended(&mut self) {
        self.books.process_ended();
        for worker in &mut self.workers {
            worker.is_waiting = false;
        }
    }
}

/// One worker: it asks once at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worker {
    is_waiting: bool,
    has: Vec<Had>,
    past: Vec<Had>,
}

/// Something that was handed out.
#[derive(Clone, Debug)]
struct Had {
    life: usize,
    spot: Spot,
    receipt: Receipt,
}

/// A call that somebody gives up after it has been waited for so often.
struct BreakOff<F> {
    call: Option<Pin<Box<F>>>,
    polls: u32,
}

impl<F: Future> Future for BreakOff<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls == 0 {
            self.call = None;
        }
        let Some(call) = &mut self.call else {
            return Poll::Ready(None);
        };
        let polled = call.as_mut().poll(context);
        self.polls -= 1;
        if polled.is_pending() && self.polls == 0 {
            context.waker().wake_by_ref();
        }
        polled.map(Some)
    }
}

impl World {
    pub(crate) fn cast_workers(&mut self) {
        self.queues.workers = vec![Worker::default(); WORKERS];
    }

    pub(crate) fn power_failed(&mut self) {
        let now = self.wall_ms();
        self.queues.books.power_failed(now);
    }

    pub(crate) fn sync_may_fail(&mut self) {
        let now = self.wall_ms();
        self.queues.books.sync_may_fail(now);
    }

    pub(crate) fn receive(&mut self) {
        let worker = self.chance.index(WORKERS);
        if self.queues.workers[worker].is_waiting {
            return;
        }
        if self.chance.percent(3) {
            self.trace.line(&format!("worker {worker} dies"));
            let worker = &mut self.queues.workers[worker];
            worker.past.append(&mut worker.has);
            return;
        }
        let lives = self.queues.books.there();
        if lives.is_empty() {
            return;
        }
        let life = self.chance.pick(&lives);
        let wanted = Receive {
            consumer: format!("worker-{worker}").into(),
            records_max: self.chance.pick(&[1, 1, 3, 20]),
            bytes_max: self.chance.pick(&[1, 300, 1 << 20]),
            // The runtime's clock moves by a millisecond at each step.
            wait_max: Duration::from_millis(self.chance.pick(&[0, 0, 5, 40])),
            lock: self.chance.pick(&[
                None,
                None,
                Some(Duration::from_secs(1)),
                Some(Duration::from_secs(4)),
            ]),
        };
        let polls = self.chance.percent(12).then(|| self.chance.below(4));
        self.receive_as(worker, life, wanted, polls);
    }

    pub(super) fn receive_as(
        &mut self,
        worker: usize,
        life: usize,
        wanted: Receive,
        polls: Option<u64>,
    ) {
        let name = GroupId::from(self.queues.books.lives[life].name.as_str());
        let endings = self.queues.books.endings;
        let paused = self.queues.books.paused(life);
        self.queues.workers[worker].is_waiting = true;
        let what = format!(
            "worker {worker} receives {} from {name}, breaks off: {polls:?}",
            wanted.records_max
        );
        let queues = self.broker().queues().clone();
        let receive = async move {
            let call = async move {
                let received = queues.receive(&name, wanted).await;
                received.map(|received| received.messages)
            };
            match polls {
                None => Some(call.await),
                Some(polls) => {
                    let polls = u32::try_from(polls).unwrap_or(u32::MAX);
                    let call = Some(Box::pin(call));
                    BreakOff { call, polls }.await
                }
            }
        };
        self.call(what, receive, move |world, answer| {
            world.queues.workers[worker].is_waiting = false;
            let now = world.wall_ms();
            let name = world.queues.books.lives[life].name.clone();
            match answer {
                // Whatever it was given nobody has seen.
                None => world.queues.books.unseen(&name, worker, now),
                Some(None) => {
                    world.reached.broken_off += 1;
                    let is_noted = !world.queues.is_disk_short && !world.is_crashed();
                    let books = &mut world.queues.books;
                    books.broken_off(life, worker, (is_noted, now));
                }
                Some(Some(Ok(messages))) => {
                    let is_paused = paused.is_some() && paused == world.queues.books.paused(life);
                    let is_right = messages.is_empty() || !is_paused;
                    holds(is_right, "paused", || {
                        format!("{name} is paused and gives {messages:?}")
                    })?;
                    return world.received((worker, life), messages, endings);
                }
                Some(Some(Err(error))) => return world.not_received(worker, life, &error),
            }
            Ok(())
        });
    }

    fn not_received(&mut self, worker: usize, life: usize, error: &QueueError) -> Verdict {
        self.trace.line(&error.to_string());
        let is_there = self.queues.books.is_there(life);
        let is_lie = is_there && matches!(error, QueueError::NoSuchQueue { .. });
        // What it had been given goes back, if that can be noted.
        let is_noted = !self.queues.is_disk_short && !self.is_crashed();
        let now = self.wall_ms();
        self.queues.books.broken_off(life, worker, (is_noted, now));
        holds(!is_lie, CAT_1, || {
            format!("a queue that is there is unknown: {error}")
        })
    }

    fn received(
        &mut self,
        (worker, life): (usize, usize),
        messages: Vec<Message>,
        endings: u64,
    ) -> Verdict {
        let (now, at) = (self.wall_ms(), self.moment());
        if !self.queues.books.is_there(life) {
            let name = self.queues.books.lives[life].name.clone();
            self.queues.books.unseen(&name, worker, now);
            return Ok(());
        }
        for message in messages {
            let mark = mark_of(message.value.as_deref().unwrap_or_default());
            let Some(mark) = mark else {
                return Err(broken(QUE_2, format!("nobody has sent {message:?}")));
            };
            let given = Given {
                worker,
                spot: spot_of(&message.id),
                mark,
                receipt: message.receipt.0.clone(),
                attempt: message.attempt,
                until: message.lock_until.0,
                endings,
            };
            self.trace.line(&format!("{given:?}"));
            self.reached.received += 1;
            self.queues.books.given(life, &given, (now, at))?;
            self.queues.workers[worker].has.push(Had {
                life,
                spot: given.spot,
                receipt: message.receipt,
            });
        }
        Ok(())
    }

    /// A worker says what became of some of what it has; or of what it had long ago.
    pub(crate) fn settle_some(&mut self) {
        let worker = self.chance.index(WORKERS);
        let is_late = self.chance.percent(12);
        let count = 1 + self.chance.below(3);
        let mut items: Vec<(Had, Said)> = Vec::new();
        for _ in 0..count {
            let Worker { has, past, .. } = &mut self.queues.workers[worker];
            let from = if is_late { past } else { has };
            if from.is_empty() {
                break;
            }
            let at = self.chance.index(from.len());
            let had = from.swap_remove(at);
            if items
                .first()
                .is_some_and(|(first, _)| first.life != had.life)
            {
                from.push(had);
                break;
            }
            let said = self.something_to_say();
            items.push((had, said));
        }
        if !items.is_empty() {
            self.settle_as(worker, items.iter().map(|(had, said)| (had.clone(), *said)));
            let worker = &mut self.queues.workers[worker];
            for (had, said) in items {
                match said {
                    Said::Extend(_) if !is_late => worker.has.push(had),
                    _ => worker.past.push(had),
                }
            }
            let over = worker.past.len().saturating_sub(PAST_MAX);
            worker.past.drain(..over);
        }
    }

    /// Acknowledges all that a worker has of a queue.
    pub(super) fn acknowledge_all(&mut self, worker: usize, life: usize) {
        let has = &mut self.queues.workers[worker].has;
        let of_life: Vec<_> = has.extract_if(.., |had| had.life == life).collect();
        if !of_life.is_empty() {
            self.settle_as(worker, of_life.into_iter().map(|had| (had, Said::Ack)));
        }
    }

    fn something_to_say(&mut self) -> Said {
        let delay = self.chance.pick(&[None, None, Some(0), Some(700)]);
        let lock = self.chance.pick(&[500, 2_000, 4_000]);
        self.chance.weighted(&[
            (50, Said::Ack),
            (18, Said::Nack(delay)),
            (6, Said::Reject),
            (8, Said::Release(delay)),
            (8, Said::Extend(lock)),
        ])
    }

    fn settle_as(&mut self, worker: usize, items: impl Iterator<Item = (Had, Said)>) {
        let (now, at): (i64, Moment) = (self.wall_ms(), self.moment());
        let mut asked: Vec<Asked> = Vec::new();
        let mut words = Vec::new();
        let mut of = 0;
        for (had, said) in items {
            of = had.life;
            let about = (&had.spot, had.receipt.as_str());
            let books = &mut self.queues.books;
            asked.push(books.settling(had.life, about, said, (now, at)));
            words.push((had.receipt, outcome_of(said)));
        }
        let life = of;
        let name = GroupId::from(self.queues.books.lives[life].name.as_str());
        let what = format!("worker {worker} says to {name}: {asked:?}");
        let queues = self.broker().queues().clone();
        let settle = async move { queues.settle(&name, words).await };
        self.call(what, settle, move |world, answer| {
            world.has_said(life, &asked, answer)
        });
    }

    fn has_said(
        &mut self,
        life: usize,
        asked: &[Asked],
        answer: Option<Result<SettledEach, QueueError>>,
    ) -> Verdict {
        let now = self.wall_ms();
        let is_there = self.queues.books.is_there(life);
        let each = match answer {
            Some(Ok(each)) if is_there => each,
            Some(Err(QueueError::NoSuchQueue { name })) if is_there => {
                return Err(broken(
                    CAT_1,
                    format!("there is a queue {name}, and it is unknown"),
                ));
            }
            _ => {
                for asked in asked {
                    self.queues
                        .books
                        .settled(life, asked, Answer::Unknown, now)?;
                }
                return Ok(());
            }
        };
        for (asked, one) in asked.iter().zip(each) {
            self.trace.line(&format!("{:?}: {one:?}", asked.spot));
            let answer = match one {
                Ok(Settled::Done) => Answer::Done,
                Ok(Settled::Again(due)) => Answer::Again(due.0),
                Ok(Settled::Moving) => Answer::Moving,
                Ok(Settled::GivenUp) => Answer::GivenUp,
                Ok(Settled::Held(until)) => Answer::Held(until.0),
                Err(
                    SettleFailure::Refused(SettleError::NotHeld(_))
                    | SettleFailure::OfAnother { .. },
                ) => Answer::NotHeld,
                Err(SettleFailure::Unavailable(_)) => Answer::Unknown,
                Err(other) => {
                    return Err(broken(QUE_1, format!("{asked:?} is refused: {other}")));
                }
            };
            match answer {
                Answer::Done => self.reached.acked += 1,
                Answer::Again(_) | Answer::Moving | Answer::GivenUp => self.reached.given_back += 1,
                Answer::NotHeld => self.reached.words_refused += 1,
                Answer::Held(_) | Answer::Unknown => {}
            }
            self.queues.books.settled(life, asked, answer, now)?;
        }
        Ok(())
    }
}

fn outcome_of(said: Said) -> SettleOutcome {
    let span = |ms: i64| Duration::from_millis(ms.unsigned_abs());
    match said {
        Said::Ack => SettleOutcome::Ack,
        Said::Nack(delay) => SettleOutcome::Nack {
            delay: delay.map(span),
            reason: "no".to_owned(),
        },
        Said::Reject => SettleOutcome::Reject {
            reason: "never".to_owned(),
        },
        Said::Release(delay) => SettleOutcome::Release {
            delay: delay.map(span),
        },
        Said::Extend(lock) => SettleOutcome::Extend(span(lock)),
    }
}

pub(super) fn spot_of(id: &MessageId) -> Spot {
    Spot {
        home: (id.topic.as_str().into(), id.partition.0),
        offset: id.offset.0,
    }
}
