//! The runtime of some partitions of queues: those of one partition of `__fanlog_queues`.
//!
//! Why it exists: a machine decides and never waits; something must log what it decides, hold its answers until
//! that is durable, wake those who wait for records, and start everything anew from the log when that fails.
//! Owns: the machines.   Never: what may become of a record; the machine says so.
//! In -> out: input -> records, applied; the answer leaves once all that was decided is durable.
//! Invariants: QUE-1, QUE-2.   Read next: `machines.rs`, `load.rs`, `prune.rs`.

use super::Queues;
use super::machines::{Loaded, Machines};
use crate::append_types::{AppendError, Appender};
use crate::blocking::Blocking;
use crate::groups::CoordinatorError;
use crate::internal_batch::{KeyValue, internal_batch};
use crate::machine_runtime::load_in_background;
use crate::partition::Partition;
use crate::steady_clock::SteadyClock;
use fanlog_coordinators::Now;
use fanlog_coordinators::queue::{
    self, Decision, Input, Ledger, Policy, QueueKey, QueueRecord, Reply, Waiting, record_format,
};
use fanlog_model::Offset;
use fanlog_protocol::records::BuildError;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::Notify;

/// A batch of the log is no larger, but for one record.
const BATCH_BYTES_MAX: usize = 256 * 1024;
/// How many partitions of queues a timer sees to at once.
const TICKS_AT_ONCE: usize = 64;

/// One partition of `__fanlog_queues` and its machines.
#[derive(Debug)]
pub(crate) struct Shard {
    partition: Arc<Partition>,
    clock: SteadyClock,
    blocking: Blocking,
    queues: Weak<Queues>,
    phase: Mutex<Phase>,
    /// The next deadline came closer, or the phase changed.
    pub(super) rearmed: Notify,
}

#[derive(Debug)]
enum Phase {
    Loading,
    Active(Box<Machines>),
    Broken(Arc<str>),
}

/// Why a decision was not logged.
#[derive(Debug, Error)]
enum LogError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// An answer, and how far the log must be durable before it leaves.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) reply: Reply,
    /// Nothing more goes into this answer.
    pub(super) is_over: bool,
    is_more_due: bool,
    end: Offset,
}

impl Shard {
    pub(super) fn new(partition: Arc<Partition>, queues: &Arc<Queues>) -> Arc<Self> {
        Arc::new(Self {
            partition,
            clock: queues.clock.clone(),
            blocking: queues.blocking,
            queues: Arc::downgrade(queues),
            phase: Mutex::new(Phase::Loading),
            rearmed: Notify::new(),
        })
    }

    pub(super) fn partition(&self) -> &Arc<Partition> {
        &self.partition
    }

    pub(super) fn blocking(&self) -> Blocking {
        self.blocking
    }

    pub(super) fn clock(&self) -> &SteadyClock {
        &self.clock
    }

    pub(super) fn queues(&self) -> Option<Arc<Queues>> {
        self.queues.upgrade()
    }

    /// Decides on one input of one partition of a queue. What was decided counts from now on.
    pub(super) fn decide(
        self: &Arc<Self>,
        key: &QueueKey,
        policy: &Policy,
        input: Input<'_>,
    ) -> Result<Decided, CoordinatorError> {
        let (decided, has_freed, has_moves) = self.with_machines(|shard, machines| {
            let now = shard.now();
            let known = machines.of.entry(key.clone()).or_default();
            let decision = queue::decide(policy, &known.ledger, &mut known.waiting, now, input);
            let (has_freed, has_moves) = (decision.has_freed, decision.has_moves);
            let decided = shard.carry_out(machines, key, decision, now)?;
            Ok((decided, has_freed, has_moves))
        })?;
        if let Some(queues) = self.queues.upgrade() {
            if has_freed {
                queues.seats.wake(key);
            }
            if has_moves {
                queues.start_mover(key);
            }
        }
        Ok(decided)
    }

    fn carry_out(
        &self,
        machines: &mut Machines,
        key: &QueueKey,
        decision: Decision,
        now: Now,
    ) -> Result<Decided, LogError> {
        let first = machines.next_deadline();
        if !decision.records.is_empty() {
            let records = decision.records.into_iter();
            let records: Vec<_> = records.map(|record| (key.clone(), record)).collect();
            self.log(machines, &records, now)?;
        }
        machines.note_or_forget(key, now);
        Queues::tell_of(key, &decision.counts);
        let sooner = machines.next_deadline();
        if sooner.is_some() && first.is_none_or(|first| sooner < Some(first)) {
            self.rearmed.notify_one();
        }
        Ok(Decided {
            reply: decision.reply,
            is_over: decision.is_answer_over,
            is_more_due: decision.is_more_due,
            end: machines.decided_end,
        })
    }

    /// Appends records and lets them take effect. They are as many batches as their size asks for: of a snapshot nothing counts until
    /// its last piece is there.
    fn log(
        &self,
        machines: &mut Machines,
        records: &[(QueueKey, QueueRecord)],
        now: Now,
    ) -> Result<(), LogError> {
        let mut encoded: Vec<KeyValue> = Vec::new();
        let mut bytes = 0;
        let mut done = 0;
        for (at, (key, record)) in records.iter().enumerate() {
            let (key, value) = record_format::encode(key, record);
            bytes += key.len() + value.as_ref().map_or(0, Vec::len);
            encoded.push((key, value));
            if bytes >= BATCH_BYTES_MAX || at + 1 == records.len() {
                self.append(machines, &encoded, &records[done..=at], now)?;
                machines.appended_bytes += bytes as u64;
                (bytes, done) = (0, at + 1);
                encoded.clear();
            }
        }
        Ok(())
    }

    fn append(
        &self,
        machines: &mut Machines,
        encoded: &[KeyValue],
        records: &[(QueueKey, QueueRecord)],
        now: Now,
    ) -> Result<(), LogError> {
        let mut batch = internal_batch(encoded, now.wall)?;
        let appended = self
            .partition
            .append_as(&mut batch, Appender::Coordinator, None)?;
        machines.decided_end = appended.last_offset().plus(1);
        let first = machines.decided_end.0 - records.len() as i64;
        for (at, (key, record)) in (first..).zip(records) {
            machines.apply(key, record, Offset(at));
        }
        Ok(())
    }

    /// Logs records of several partitions that no decision of theirs led to: snapshots and deletions.
    pub(super) fn log_all(
        self: &Arc<Self>,
        records: impl FnOnce(&Machines) -> Vec<(QueueKey, QueueRecord)>,
    ) -> Result<Offset, CoordinatorError> {
        self.with_machines(|shard, machines| {
            let now = shard.now();
            let records = records(machines);
            shard.log(machines, &records, now)?;
            for (key, _) in &records {
                machines.note_or_forget(key, now);
            }
            Ok(machines.decided_end)
        })
    }

    fn with_machines<R>(
        self: &Arc<Self>,
        step: impl FnOnce(&Arc<Self>, &mut Machines) -> Result<R, LogError>,
    ) -> Result<R, CoordinatorError> {
        let mut phase = self.phase.lock();
        let machines = match &mut *phase {
            Phase::Active(machines) => machines,
            Phase::Loading => return Err(CoordinatorError::Loading),
            Phase::Broken(reason) => {
                let reason = reason.clone();
                return Err(CoordinatorError::NotAvailable { reason });
            }
        };
        match step(self, machines) {
            Ok(result) => {
                let is_long = machines.is_long();
                drop(phase);
                if is_long {
                    self.prune_in_background();
                }
                Ok(result)
            }
            Err(error) => {
                // A machine has decided what was not logged: all are forgotten, and the log says what counts.
                *phase = Phase::Loading;
                drop(phase);
                tracing::warn!(partition = %self.partition.folder(), %error, "reloading queues: their log refused a write");
                load_in_background(self.clone());
                let reason = error.to_string().into();
                Err(CoordinatorError::NotAvailable { reason })
            }
        }
    }

    /// Looks at and changes the machines while they serve; for what is not logged.
    pub(super) fn with_active<R>(&self, look: impl FnOnce(&mut Machines) -> R) -> Option<R> {
        match &mut *self.phase.lock() {
            Phase::Active(machines) => Some(look(machines)),
            Phase::Loading | Phase::Broken(_) => None,
        }
    }

    /// Waits until everything that was decided before an answer is durable.
    pub(super) async fn durable(
        self: &Arc<Self>,
        decided: Decided,
    ) -> Result<Reply, CoordinatorError> {
        self.durable_to(decided.end).await?;
        Ok(decided.reply)
    }

    /// Waits until the log is durable up to `end`.
    pub(super) async fn durable_to(self: &Arc<Self>, end: Offset) -> Result<(), CoordinatorError> {
        if self.partition.high_watermark() < end
            && let Err(error) = self.partition.durable(end).await
        {
            self.break_down(&error.to_string());
            let reason = error.to_string().into();
            return Err(CoordinatorError::NotAvailable { reason });
        }
        Ok(())
    }

    /// Looks at a partition of a queue, or what stands for one that there is none of.
    pub(super) fn look<R>(
        &self,
        key: &QueueKey,
        look: impl FnOnce(&Ledger, &mut Waiting, Now) -> R,
    ) -> Result<R, CoordinatorError> {
        let now = self.now();
        match &mut *self.phase.lock() {
            Phase::Active(machines) => Ok(match machines.of.get_mut(key) {
                Some(known) => look(&known.ledger, &mut known.waiting, now),
                None => look(&Ledger::default(), &mut Waiting::default(), now),
            }),
            Phase::Loading => Err(CoordinatorError::Loading),
            Phase::Broken(reason) => Err(CoordinatorError::NotAvailable {
                reason: reason.clone(),
            }),
        }
    }

    /// The log failed for good: nothing that the machines know can be relied on.
    pub(super) fn break_down(&self, reason: &str) {
        tracing::error!(partition = %self.partition.folder(), reason, "queues are not available");
        *self.phase.lock() = Phase::Broken(reason.into());
        self.tell_of_change();
    }

    /// The log was replayed: the machines serve.
    pub(super) fn activate(self: &Arc<Self>, loaded: Loaded, end: Offset) {
        let Some(queues) = self.queues.upgrade() else {
            return;
        };
        let start = self.partition.with_log(|log| log.log_start_offset());
        let bytes = self.partition.with_log(|log| log.size_bytes());
        let is_cut = start.is_ok_and(|start| start >= end);
        let moving: Vec<_> = loaded
            .iter()
            .filter(|(_, known)| known.ledger.moving_count() > 0)
            .map(|(key, _)| key.clone())
            .collect();
        let mut machines = Machines::new(loaded, end, queues.memory.share(), self.now());
        // What earlier runs appended counts as well, so that many short ones don't leave a long log.
        machines.appended_bytes = bytes.unwrap_or(0) * u64::from(!is_cut);
        *self.phase.lock() = Phase::Active(Box::new(machines));
        self.tell_of_change();
        for key in moving {
            queues.start_mover(&key);
        }
    }

    fn tell_of_change(&self) {
        self.rearmed.notify_one();
        if let Some(queues) = self.queues.upgrade() {
            queues.seats.wake_all();
        }
    }

    /// When something is due next; none while there is nothing to wait for.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.with_active(|machines| machines.next_deadline())
            .flatten()
    }

    /// Lets locks that have run out and times that have come take effect, as many as may at once; whether more may be due.
    pub(super) fn tick_some(self: &Arc<Self>) -> bool {
        let Some(queues) = self.queues.upgrade() else {
            return false;
        };
        for _ in 0..TICKS_AT_ONCE {
            let now = self.clock.monotonic();
            let due = self.with_active(|machines| machines.due(now)).flatten();
            let Some(key) = due else {
                return false;
            };
            // A queue that is gone is about to be forgotten, and has nothing to wait for.
            let Some(policy) = queues.policy_of(&key) else {
                self.with_active(|machines| machines.disarm(&key));
                continue;
            };
            match self.decide(&key, &policy, Input::Tick) {
                Ok(decided) if decided.is_more_due => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        true
    }

    pub(super) fn now(&self) -> Now {
        Now {
            wall: self.clock.wall_ms(),
            monotonic: self.clock.monotonic(),
        }
    }
}
