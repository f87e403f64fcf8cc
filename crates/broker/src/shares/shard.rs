//! The runtime of some share-partitions: those of one partition of `__share_group_state`.
//!
//! Why it exists: a machine decides and never waits; something must log what it decides, hold its answers until
//! that is durable, wake those who wait for records, and start everything anew from the log when that fails.
//! Owns: the machines.   Never: what may become of a record; the machine says so.
//! In -> out: input -> a record, applied; the answer leaves once all that was decided is durable.
//! Invariants: QUE-1, QUE-2.   Read next: `load.rs`, `gone.rs`, `prune.rs`.

use super::ShareCounts;
use super::load::replayed;
use crate::broker::Broker;
use crate::internal_batch::internal_batch;
use crate::machines::{CoordinatorError, LogError, MachineShard, ShardBase};
use crate::partition::Partition;
use crate::replay::ReplayError;
use crate::seats::Seats;
use fanlog_coordinators::Now;
use fanlog_coordinators::share::{
    self, Decision, Input, Ledger, Policy, Reply, ShareKey, ShareRecord, Waiting, record_format,
};
use fanlog_model::Offset;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// One partition of `__share_group_state` and its machines.
#[derive(Debug)]
pub(crate) struct Shard {
    base: ShardBase<Machines>,
    broker: Weak<Broker>,
    seats: Arc<Seats<ShareKey>>,
    counts: Arc<ShareCounts>,
}

/// The share-partitions that a log knows.
pub(crate) type Loaded = HashMap<ShareKey, SharePartition>;

#[derive(Debug)]
pub(crate) struct Machines {
    pub(super) of: Loaded,
    deadlines: BTreeSet<(Duration, ShareKey)>,
    /// Everything below this offset was decided upon: no answer leaves before it is durable.
    pub(super) decided_end: Offset,
    /// Records appended since the log was cut last.
    pub(super) appended: u64,
    /// When states of topics that are gone are to be deleted, where the log did not take that.
    pub(super) forget_again_at: Option<Duration>,
    counts: Arc<ShareCounts>,
    runs: u64,
}

/// One share-partition.
#[derive(Debug, Default)]
pub(crate) struct SharePartition {
    pub(super) ledger: Ledger,
    pub(super) waiting: Waiting,
    /// Where its last snapshot stands in the log: nothing before it is needed.
    pub(super) snapshot_at: Offset,
    armed: Option<Duration>,
    runs: u64,
}

/// An answer, and how far the log must be durable before it leaves.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(super) reply: Reply,
    end: Offset,
}

/// Of records that no decision led to, so many go into a batch: it stays far below what a log takes.
pub(super) const RECORDS_PER_BATCH: usize = 16;

impl Drop for Machines {
    fn drop(&mut self) {
        self.counts.runs.fetch_sub(self.runs, Ordering::Relaxed);
    }
}

impl Machines {
    fn new(of: Loaded, decided_end: Offset, counts: Arc<ShareCounts>) -> Self {
        let mut machines = Self {
            of,
            deadlines: BTreeSet::new(),
            decided_end,
            appended: 0,
            forget_again_at: None,
            counts,
            runs: 0,
        };
        let keys: Vec<_> = machines.of.keys().cloned().collect();
        for key in keys {
            machines.note(&key);
        }
        machines
    }

    /// The machine of `key` has changed: when it is due, and how much memory it takes.
    fn note(&mut self, key: &ShareKey) {
        let Some(known) = self.of.get_mut(key) else {
            return;
        };
        let next = share::next_deadline(&known.waiting);
        if next != known.armed {
            if let Some(before) = known.armed {
                self.deadlines.remove(&(before, key.clone()));
            }
            if let Some(next) = next {
                self.deadlines.insert((next, key.clone()));
            }
            known.armed = next;
        }
        // What it takes without any state counts as much as some runs.
        let runs = 5 + (known.ledger.runs() + known.waiting.holds()) as u64;
        self.counts.runs.fetch_add(runs, Ordering::Relaxed);
        self.counts.runs.fetch_sub(known.runs, Ordering::Relaxed);
        self.runs = self.runs + runs - known.runs;
        known.runs = runs;
    }

    fn forget(&mut self, key: &ShareKey) {
        if let Some(known) = self.of.remove(key) {
            if let Some(armed) = known.armed {
                self.deadlines.remove(&(armed, key.clone()));
            }
            self.counts.runs.fetch_sub(known.runs, Ordering::Relaxed);
            self.runs -= known.runs;
        }
    }

    /// What the log has taken takes effect.
    fn apply(&mut self, key: &ShareKey, record: &ShareRecord, at: Offset) {
        if matches!(record, ShareRecord::Deleted) {
            return self.forget(key);
        }
        let known = self.of.entry(key.clone()).or_default();
        share::apply(&mut known.ledger, record);
        if matches!(record, ShareRecord::Snapshot(_)) {
            known.snapshot_at = at;
        }
    }
}

impl MachineShard for Shard {
    type Machine = Machines;
    type Loaded = (Loaded, Offset);
    const KIND: &'static str = "share groups";

    fn base(&self) -> &ShardBase<Machines> {
        &self.base
    }

    fn replayed(&self) -> Result<(Loaded, Offset), ReplayError> {
        replayed(self.partition())
    }

    /// What was held is available again.
    fn serve(self: &Arc<Self>, (loaded, end): (Loaded, Offset)) {
        self.base.activate(|| (self.machines_of(loaded, end), ()));
        self.seats.wake_all();
    }

    fn next_deadline(machines: &Machines) -> Option<Duration> {
        let lock = machines.deadlines.first().map(|(deadline, _)| *deadline);
        lock.into_iter().chain(machines.forget_again_at).min()
    }

    fn tick_some(self: &Arc<Self>) -> bool {
        self.tick();
        false
    }

    fn dropped(&self) {
        self.seats.wake_all();
    }
}

impl Shard {
    pub(super) fn new(
        base: ShardBase<Machines>,
        broker: Weak<Broker>,
        seats: Arc<Seats<ShareKey>>,
        counts: Arc<ShareCounts>,
    ) -> Arc<Self> {
        Arc::new(Self {
            base,
            broker,
            seats,
            counts,
        })
    }

    pub(super) fn partition(&self) -> &Arc<Partition> {
        self.base.partition()
    }

    pub(super) fn broker(&self) -> Option<Arc<Broker>> {
        self.broker.upgrade()
    }

    /// Decides on one input of one share-partition. What was decided counts from now on.
    pub(super) fn decide(
        self: &Arc<Self>,
        key: &ShareKey,
        policy: &Policy,
        input: Input<'_>,
    ) -> Result<Decided, CoordinatorError> {
        let (decided, has_freed) = self.step(|shard, machines| {
            let now = shard.base.now();
            let epoch = shard.partition().leader_epoch();
            let known = machines.of.entry(key.clone()).or_default();
            let decision =
                share::decide(policy, epoch, &known.ledger, &mut known.waiting, now, input);
            let has_freed = decision.has_freed;
            let decided = shard.carry_out(machines, key, decision, now)?;
            Ok((decided, has_freed))
        })?;
        if has_freed {
            self.seats.wake(key);
        }
        Ok(decided)
    }

    fn carry_out(
        &self,
        machines: &mut Machines,
        key: &ShareKey,
        decision: Decision,
        now: Now,
    ) -> Result<Decided, LogError> {
        if let Some(record) = &decision.record {
            self.log(machines, &[(key.clone(), record.clone())], now)?;
        }
        // A share-partition that nobody has begun is not kept for a question about it.
        let is_nothing = machines
            .of
            .get(key)
            .is_some_and(|known| !known.ledger.is_initialized());
        match is_nothing {
            true => machines.forget(key),
            false => machines.note(key),
        }
        self.count(key, &decision);
        Ok(Decided {
            reply: decision.reply,
            end: machines.decided_end,
        })
    }

    fn count(&self, key: &ShareKey, decision: &Decision) {
        let ShareKey {
            group,
            topic,
            partition,
        } = key;
        let given_up = decision.given_up.unsigned_abs();
        if given_up > 0 {
            self.counts.given_up.fetch_add(given_up, Ordering::Relaxed);
            tracing::info!(%group, %topic, %partition, records = given_up, "a share group gives up records that were delivered too often");
        }
        let lost = decision.lost.max(0).unsigned_abs();
        if lost > 0 {
            self.counts.lost.fetch_add(lost, Ordering::Relaxed);
            tracing::warn!(%group, %topic, %partition, records = lost, "retention took records that a share group was not done with");
        }
    }

    /// Appends records as one batch and lets them take effect.
    pub(super) fn log(
        &self,
        machines: &mut Machines,
        records: &[(ShareKey, ShareRecord)],
        now: Now,
    ) -> Result<(), LogError> {
        let encode = |(key, record): &(ShareKey, ShareRecord)| record_format::encode(key, record);
        let encoded = records.iter().map(encode).collect::<Result<Vec<_>, _>>()?;
        let batch = internal_batch(&encoded, now.wall)?;
        machines.decided_end = self.base.append(batch, None)?;
        machines.appended += records.len() as u64;
        let first = machines.decided_end.0 - records.len() as i64;
        for (at, (key, record)) in (first..).zip(records) {
            machines.apply(key, record, Offset(at));
        }
        Ok(())
    }

    /// Logs records of several share-partitions that no decision of theirs led to: snapshots and deletions.
    pub(super) fn log_all(
        self: &Arc<Self>,
        records: impl FnOnce(&Machines, Now) -> Vec<(ShareKey, ShareRecord)>,
    ) -> Result<Offset, CoordinatorError> {
        self.step(|shard, machines| {
            let now = shard.base.now();
            let records = records(machines, now);
            for chunk in records.chunks(RECORDS_PER_BATCH) {
                shard.log(machines, chunk, now)?;
                for (key, _) in chunk {
                    machines.note(key);
                }
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
        Ok(result)
    }

    /// Waits until everything that was decided before an answer is durable.
    pub(super) async fn durable(
        self: &Arc<Self>,
        decided: Decided,
    ) -> Result<Reply, CoordinatorError> {
        self.durable_to(decided.end).await?;
        Ok(decided.reply)
    }

    /// Looks at a share-partition, or what stands for one that there is none of.
    pub(super) fn look<R>(
        &self,
        key: &ShareKey,
        look: impl FnOnce(&Ledger, &mut Waiting) -> R,
    ) -> Result<R, CoordinatorError> {
        self.with_active(|machines| match machines.of.get_mut(key) {
            Some(known) => look(&known.ledger, &mut known.waiting),
            None => look(&Ledger::default(), &mut Waiting::default()),
        })
    }

    /// The machines that begin to serve.
    fn machines_of(&self, loaded: Loaded, end: Offset) -> Machines {
        let mut machines = Machines::new(loaded, end, self.counts.clone());
        // What earlier runs appended counts as well, so that many short ones don't leave a long log.
        let start = self.partition().with_log(|log| log.log_start_offset());
        machines.appended = start.map_or(0, |start| (end.0 - start.0).max(0).unsigned_abs());
        // A topic that goes from now on is told; of one that went before nothing is served.
        self.forget_gone_topics(&mut machines);
        machines
    }

    /// Lets everything that is due take effect: every lock that has run out, and states that are to be deleted.
    pub(super) fn tick(self: &Arc<Self>) {
        let Some(broker) = self.broker() else {
            return;
        };
        self.forget_again();
        let shares = broker.shares();
        loop {
            let now = self.base.now().monotonic;
            let due = self.with_active(|machines| {
                let first = machines.deadlines.first();
                first
                    .filter(|(at, _)| *at <= now)
                    .map(|(_, key)| key.clone())
            });
            let Ok(Some(key)) = due else {
                return;
            };
            let policy = shares.policy(&broker, &key.group);
            if self.decide(&key, &policy, Input::Tick).is_err() {
                return;
            }
        }
    }
}
