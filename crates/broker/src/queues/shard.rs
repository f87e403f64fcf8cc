//! The runtime of some partitions of queues: those of one partition of `__fanlog_queues`.
//!
//! Why it exists: a machine decides and never waits; something must log what it decides, hold its answers until
//! that is durable, wake those who wait for records, and start everything anew from the log when that fails.
//! Owns: the machines.   Never: what may become of a record; the machine says so.
//! In -> out: input -> records, applied; the answer leaves once all that was decided is durable.
//! Invariants: QUE-1, QUE-2.   Read next: `machines.rs`, `load.rs`, `prune.rs`.

use super::Queues;
use super::load::replayed;
use super::machines::{Loaded, Machines};
use crate::internal_batch::{KeyValue, internal_batch};
use crate::machines::{CoordinatorError, LogError, MachineShard, ShardBase};
use crate::partition::Partition;
use crate::replay::ReplayError;
use fanlog_coordinators::Now;
use fanlog_coordinators::queue::{
    self, Decision, Input, Ledger, Policy, QueueKey, QueueRecord, Reply, Waiting, record_format,
};
use fanlog_model::Offset;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A batch of the log is no larger, but for one record.
const BATCH_BYTES_MAX: usize = 256 * 1024;
/// How many partitions of queues a timer sees to at once.
const TICKS_AT_ONCE: usize = 64;

/// One partition of `__fanlog_queues` and its machines.
#[derive(Debug)]
pub(crate) struct Shard {
    base: ShardBase<Machines>,
    queues: Weak<Queues>,
}

/// An answer, and how far the log must be durable before it leaves.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) reply: Reply,
    /// Nothing more goes into this answer.
    pub(super) is_over: bool,
    /// More of the same is due: the same `Tick` or `Release` again.
    pub(super) is_more_due: bool,
    end: Offset,
}

impl MachineShard for Shard {
    type Machine = Machines;
    type Loaded = (Loaded, Offset);
    const KIND: &'static str = "queues";

    fn base(&self) -> &ShardBase<Machines> {
        &self.base
    }

    fn replayed(&self) -> Result<(Loaded, Offset), ReplayError> {
        replayed(self.partition())
    }

    fn serve(self: &Arc<Self>, (loaded, end): (Loaded, Offset)) {
        let Some(queues) = self.queues() else {
            return;
        };
        let start = self.partition().with_log(|log| log.log_start_offset());
        let bytes = self.partition().with_log(|log| log.size_bytes());
        let is_cut = start.is_ok_and(|start| start >= end);
        let moving: Vec<_> = loaded
            .iter()
            .filter(|(_, known)| known.ledger.moving_count() > 0)
            .map(|(key, _)| key.clone())
            .collect();
        self.base.activate(|| {
            let memory = queues.memory.share();
            let mut machines = Machines::new(loaded, end, memory, self.base.now());
            // What earlier runs appended counts as well, so that many short ones don't leave a long log.
            machines.appended_bytes = bytes.unwrap_or(0) * u64::from(!is_cut);
            (machines, ())
        });
        self.wake_all();
        for key in moving {
            queues.start_mover(&key);
        }
        // Those that went while it was loading; it is told of those that go from now on.
        queues.forget_gone_of(self);
    }

    fn next_deadline(machines: &Machines) -> Option<Duration> {
        machines.next_deadline()
    }

    /// Lets locks that have run out and times that have come take effect, as many as may at once; whether more may be due.
    fn tick_some(self: &Arc<Self>) -> bool {
        let Some(queues) = self.queues() else {
            return false;
        };
        for _ in 0..TICKS_AT_ONCE {
            let now = self.base.now().monotonic;
            let due = self.with_active(|machines| machines.due(now));
            let Ok(Some(key)) = due else {
                return false;
            };
            // A queue that is gone is about to be forgotten, and has nothing to wait for.
            let Some(policy) = queues.policy_of(&key) else {
                let _ = self.with_active(|machines| machines.disarm(&key));
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

    fn dropped(&self) {
        self.wake_all();
    }
}

impl Shard {
    pub(super) fn new(partition: Arc<Partition>, queues: &Arc<Queues>) -> Arc<Self> {
        Arc::new(Self {
            base: ShardBase::new(partition, queues.clock.clone(), queues.blocking),
            queues: Arc::downgrade(queues),
        })
    }

    pub(super) fn partition(&self) -> &Arc<Partition> {
        self.base.partition()
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
        let (decided, has_freed, has_moves) = self.step(|shard, machines| {
            let now = shard.base.now();
            let known = machines.of.entry(key.clone()).or_default();
            let decision = queue::decide(policy, &known.ledger, &mut known.waiting, now, input);
            let (has_freed, has_moves) = (decision.has_freed, decision.has_moves);
            let decided = shard.carry_out(machines, key, decision, now)?;
            Ok((decided, has_freed, has_moves))
        })?;
        if let Some(queues) = self.queues() {
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
        if !decision.records.is_empty() {
            let records = decision.records.into_iter();
            let records: Vec<_> = records.map(|record| (key.clone(), record)).collect();
            self.log(machines, &records, now)?;
        }
        machines.note_or_forget(key, now);
        Queues::tell_of(key, &decision.counts);
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
        let batch = internal_batch(encoded, now.wall)?;
        machines.decided_end = self.base.append(batch, None)?;
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
        self.step(|shard, machines| {
            let now = shard.base.now();
            let records = records(machines);
            shard.log(machines, &records, now)?;
            for (key, _) in &records {
                machines.note_or_forget(key, now);
            }
            Ok(machines.decided_end)
        })
    }

    /// Runs a step. Where it made the log long, the log is cut.
    fn step<R>(
        self: &Arc<Self>,
        step: impl FnOnce(&Arc<Self>, &mut Machines) -> Result<R, LogError>,
    ) -> Result<R, CoordinatorError> {
        let (result, is_long) = self.with_machine(|shard, machines| {
            let result = step(shard, machines)?;
            Ok((result, machines.is_long()))
        })?;
        if is_long {
            self.prune_in_background();
        }
        if let Some(queues) = self.queues() {
            queues.wake_if_roomy();
        }
        Ok(result)
    }

    /// Waits until everything that was decided before an answer is durable.
    pub(super) async fn durable(
        self: &Arc<Self>,
        decided: Decided,
    ) -> Result<Reply, CoordinatorError> {
        #[cfg(feature = "planted-faults")]
        if crate::planted::answers_early() {
            return Ok(decided.reply);
        }
        self.durable_to(decided.end).await?;
        Ok(decided.reply)
    }

    /// Looks at a partition of a queue, or what stands for one that there is none of.
    pub(super) fn look<R>(
        &self,
        key: &QueueKey,
        look: impl FnOnce(&Ledger, &mut Waiting, Now) -> R,
    ) -> Result<R, CoordinatorError> {
        let now = self.base.now();
        self.with_active(|machines| match machines.of.get_mut(key) {
            Some(known) => look(&known.ledger, &mut known.waiting, now),
            None => look(&Ledger::default(), &mut Waiting::default(), now),
        })
    }

    fn wake_all(&self) {
        if let Some(queues) = self.queues() {
            queues.seats.wake_all();
        }
    }
}
