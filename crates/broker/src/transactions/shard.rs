//! The runtime of one transaction machine: one partition of `__transaction_state`.
//!
//! Why it exists: the machine decides and never waits; something must log what it decides, hold its replies and its markers until that
//! is durable, and start it anew from its log when that fails.
//! Owns: the machine, the callers that it has not answered, markers that could not be written yet.
//! In -> out: input -> records in one batch, applied; answers and markers leave once all that was decided is durable.
//! Invariants: TXN-1: no marker before the outcome is durable, and none once it is complete.   Read next: `markers.rs`, `load.rs`.

use super::load::replayed;
use super::markers::write_markers;
use crate::blocking::Blocking;
use crate::broker::Broker;
use crate::internal_batch::internal_batch;
use crate::machines::{
    Answers, Callers, CoordinatorError, LogError, MachineMemory, MachineShard, MemoryShare,
    ShardBase, send,
};
use crate::partition::Partition;
use crate::replay::ReplayError;
use crate::steady_clock::SteadyClock;
use fanlog_coordinators::transaction::{
    self, Answer, Decision, Input, Ledger, MarkersToWrite, TransactionRecord, TransactionSettings,
    Waiting, record_format,
};
use fanlog_coordinators::{CallId, Now};
use fanlog_model::Offset;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use tokio::sync::watch;

/// What all shards share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) broker: Arc<OnceLock<Weak<Broker>>>,
    pub(super) clock: SteadyClock,
    pub(super) settings: Arc<Mutex<TransactionSettings>>,
    pub(super) memory: Arc<MachineMemory>,
    pub(super) blocking: Blocking,
    pub(super) has_timers: bool,
}

impl Shared {
    pub(super) fn broker(&self) -> Option<Arc<Broker>> {
        self.broker.get()?.upgrade()
    }
}

/// One partition of `__transaction_state` and its machine.
#[derive(Debug)]
pub(super) struct Shard {
    base: ShardBase<Machine>,
    pub(super) shared: Shared,
    /// Outcomes whose markers could not be written to every partition; the next tick tries again.
    pub(super) parked: Mutex<Vec<MarkersToWrite>>,
    /// How often the machine was loaded, or given up: markers that an earlier one had written end with it.
    loads: watch::Sender<u64>,
}

#[derive(Debug)]
pub(super) struct Machine {
    ledger: Ledger,
    waiting: Waiting,
    callers: Callers<Answer>,
    /// Everything below this offset was decided upon: nothing leaves before it is durable.
    decided_end: Offset,
    memory: MemoryShare,
}

/// What leaves once it is durable.
#[derive(Default)]
struct Outgoing {
    answers: Answers<Answer>,
    markers: Vec<MarkersToWrite>,
}

impl Machine {
    fn note_memory(&mut self, refused: u64, limit: usize) {
        let bytes = self.ledger.bytes() + self.waiting.bytes();
        self.memory.note(bytes, refused, limit);
    }
}

impl MachineShard for Shard {
    type Machine = Machine;
    type Loaded = (Ledger, Offset);
    const KIND: &'static str = "transactions";

    fn base(&self) -> &ShardBase<Machine> {
        &self.base
    }

    fn replayed(&self) -> Result<(Ledger, Offset), ReplayError> {
        replayed(self.partition())
    }

    /// Outcomes that a crash may have cut off are completed.
    fn serve(self: &Arc<Self>, (ledger, end): (Ledger, Offset)) {
        let markers = self.base.activate(|| self.machine_of(ledger, end));
        let answers = Vec::new();
        self.release(end, Outgoing { answers, markers });
    }

    fn next_deadline(machine: &Machine) -> Option<Duration> {
        transaction::next_deadline(&machine.waiting)
    }

    fn tick_some(self: &Arc<Self>) -> bool {
        self.is_due() && self.tell(Input::Tick).is_ok()
    }

    fn dropped(&self) {
        self.next_load();
    }
}

impl Shard {
    pub(super) fn new(partition: Arc<Partition>, shared: Shared) -> Arc<Self> {
        Arc::new(Self {
            base: ShardBase::new(partition, shared.clock.clone(), shared.blocking),
            shared,
            parked: Mutex::default(),
            loads: watch::Sender::new(0),
        })
    }

    pub(super) fn partition(&self) -> &Arc<Partition> {
        self.base.partition()
    }

    /// Hands in a request and waits for its answer, which may come with the decision on a later input.
    /// A caller that goes away is still decided upon; its answer is dropped.
    pub(super) async fn ask(
        self: &Arc<Self>,
        input: impl FnOnce(CallId) -> Input,
    ) -> Result<Answer, CoordinatorError> {
        let receiver = self.step(|shard, machine| {
            let (call, receiver) = machine.callers.add();
            Ok((shard.decide(machine, input(call))?, receiver))
        })?;
        // The sender is dropped with the machine, when its log failed.
        receiver.await.map_err(|_| self.base.why_unavailable())
    }

    /// Hands in what nobody waits for.
    pub(super) fn tell(self: &Arc<Self>, input: Input) -> Result<(), CoordinatorError> {
        self.step(|shard, machine| Ok((shard.decide(machine, input)?, ())))
    }

    fn step<R>(
        self: &Arc<Self>,
        step: impl FnOnce(&Arc<Self>, &mut Machine) -> Result<(Outgoing, R), LogError>,
    ) -> Result<R, CoordinatorError> {
        let (outgoing, decided_end, result) = self.with_machine(|shard, machine| {
            let (outgoing, result) = step(shard, machine)?;
            Ok((outgoing, machine.decided_end, result))
        })?;
        self.release(decided_end, outgoing);
        Ok(result)
    }

    fn decide(&self, machine: &mut Machine, input: Input) -> Result<Outgoing, LogError> {
        let now = self.base.now();
        let mut settings = self.shared.settings.lock().clone();
        settings.memory_bytes_elsewhere = machine.memory.elsewhere();
        let Decision {
            records,
            replies,
            markers,
            refused_for_memory,
        } = transaction::decide(&settings, &machine.ledger, &mut machine.waiting, now, input);
        if !records.is_empty() {
            self.log(machine, &records, now)?;
        }
        machine.note_memory(refused_for_memory, settings.memory_bytes_max);
        let answers = replies.into_iter().map(|reply| (reply.call, reply.answer));
        Ok(Outgoing {
            answers: machine.callers.take(answers),
            markers,
        })
    }

    /// Appends the records as one batch, so that a crash keeps all or none, and applies them.
    fn log(
        &self,
        machine: &mut Machine,
        records: &[TransactionRecord],
        now: Now,
    ) -> Result<(), LogError> {
        let mut encoded = Vec::with_capacity(records.len());
        for record in records {
            let record = record_format::encode(record)?;
            encoded.push((record.key, record.value));
        }
        let batch = internal_batch(&encoded, now.wall)?;
        machine.decided_end = self.base.append(batch, None)?;
        for record in records {
            transaction::apply(&mut machine.ledger, record);
        }
        Ok(())
    }

    /// Runs `write` while the outcome stands and is not complete: none of its markers may follow what comes after it. Nothing where it
    /// does not stand any more.
    pub(super) fn while_ending<R>(
        &self,
        markers: &MarkersToWrite,
        write: impl FnOnce() -> R,
    ) -> Option<R> {
        let written = self.with_active(|machine| {
            let stands = machine.waiting.outcome_of(&markers.id) == Some(markers.outcome);
            stands.then(write)
        });
        // A machine that loads finds the outcome in its log, and has its markers written.
        written.ok().flatten()
    }

    /// Under the lock of the phase: what was handed out before is over.
    fn next_load(&self) -> u64 {
        self.parked.lock().clear();
        self.loads.send_modify(|load| *load += 1);
        *self.loads.borrow()
    }

    /// Completes once the machine of this load is dropped.
    pub(super) async fn load_is_over(&self, load: u64) {
        // The sender is ours.
        let _ = self
            .loads
            .subscribe()
            .wait_for(|present| *present != load)
            .await;
    }

    /// Lets answers and markers go once everything decided before them is durable.
    fn release(self: &Arc<Self>, decided_end: Offset, outgoing: Outgoing) {
        if outgoing.answers.is_empty() && outgoing.markers.is_empty() {
            return;
        }
        self.once_durable(decided_end, |shard| shard.send(outgoing));
    }

    fn send(self: &Arc<Self>, outgoing: Outgoing) {
        send(outgoing.answers);
        for markers in outgoing.markers {
            tokio::spawn(write_markers(self.clone(), markers));
        }
    }

    /// A machine that begins to serve, and the markers that it finds are to be written.
    fn machine_of(&self, ledger: Ledger, end: Offset) -> (Machine, Vec<MarkersToWrite>) {
        let settings = self.shared.settings.lock().clone();
        let (load, now) = (self.next_load(), self.base.now());
        let (waiting, markers) = Waiting::after_loading(&settings, &ledger, load, now);
        let mut machine = Machine {
            ledger,
            waiting,
            callers: Callers::default(),
            decided_end: end,
            memory: self.shared.memory.share(),
        };
        machine.note_memory(0, settings.memory_bytes_max);
        (machine, markers)
    }

    /// Lets every deadline that has passed take effect.
    pub(super) fn tick(self: &Arc<Self>) {
        if !self.shared.has_timers {
            for markers in std::mem::take(&mut *self.parked.lock()) {
                tokio::spawn(write_markers(self.clone(), markers));
            }
        }
        while self.tick_some() {}
    }
}
