//! The runtime of one transaction machine: one partition of `__transaction_state`.
//!
//! Why it exists: the machine decides and never waits; something must log what it decides, hold its replies and its markers until that
//! is durable, and start it anew from its log when that fails.
//! Owns: the machine, the callers that it has not answered, markers that could not be written yet.
//! In -> out: input -> records in one batch, applied; answers and markers leave once all that was decided is durable.
//! Invariants: TXN-1: no marker before the outcome is durable, and none once it is complete.   Read next: `markers.rs`, `load.rs`.

use super::markers::write_markers;
use crate::append_types::{AppendError, Appender};
use crate::blocking::Blocking;
use crate::broker::Broker;
use crate::groups::CoordinatorError;
use crate::internal_batch::internal_batch;
use crate::machine_memory::{MachineMemory, MemoryShare};
use crate::machine_runtime::load_in_background;
use crate::partition::Partition;
use crate::steady_clock::SteadyClock;
use fanlog_coordinators::transaction::{
    self, Answer, Decision, Input, Ledger, MarkersToWrite, Reply, TransactionRecord,
    TransactionSettings, Waiting, record_format,
};
use fanlog_coordinators::{CallId, Now};
use fanlog_model::Offset;
use fanlog_protocol::records::BuildError;
use fanlog_protocol::wire::EncodeError;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{Notify, oneshot, watch};

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
    partition: Arc<Partition>,
    pub(super) shared: Shared,
    phase: Mutex<Phase>,
    calls: AtomicU64,
    /// Outcomes whose markers could not be written to every partition; the next tick tries again.
    pub(super) parked: Mutex<Vec<MarkersToWrite>>,
    /// How often the machine was loaded, or given up: markers that an earlier one had written end with it.
    loads: watch::Sender<u64>,
    /// The next deadline came closer, or the phase changed.
    pub(super) rearmed: Arc<Notify>,
}

#[derive(Debug)]
enum Phase {
    Loading,
    Active(Box<Machine>),
    Broken(Arc<str>),
}

#[derive(Debug)]
struct Machine {
    ledger: Ledger,
    waiting: Waiting,
    callers: HashMap<CallId, oneshot::Sender<Answer>>,
    /// Everything below this offset was decided upon: nothing leaves before it is durable.
    decided_end: Offset,
    armed: Option<Duration>,
    memory: MemoryShare,
}

/// Why a decision was not logged.
#[derive(Debug, Error)]
enum LogError {
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// What leaves once it is durable.
#[derive(Default)]
struct Outgoing {
    answers: Vec<(oneshot::Sender<Answer>, Answer)>,
    markers: Vec<MarkersToWrite>,
}

impl Machine {
    fn note_memory(&mut self, refused: u64, limit: usize) {
        let bytes = self.ledger.bytes() + self.waiting.bytes();
        self.memory.note(bytes, refused, limit);
    }
}

impl Shard {
    pub(super) fn new(partition: Arc<Partition>, shared: Shared) -> Arc<Self> {
        Arc::new(Self {
            partition,
            shared,
            phase: Mutex::new(Phase::Loading),
            calls: AtomicU64::new(0),
            parked: Mutex::default(),
            loads: watch::Sender::new(0),
            rearmed: Arc::new(Notify::new()),
        })
    }

    pub(super) fn partition(&self) -> &Arc<Partition> {
        &self.partition
    }

    /// Hands in a request and waits for its answer, which may come with the decision on a later input.
    /// A caller that goes away is still decided upon; its answer is dropped.
    pub(super) async fn ask(
        self: &Arc<Self>,
        input: impl FnOnce(CallId) -> Input,
    ) -> Result<Answer, CoordinatorError> {
        let call = CallId(self.calls.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        self.with_machine(|shard, machine| {
            machine.callers.insert(call, sender);
            shard.decide(machine, input(call))
        })?;
        // The sender is dropped with the machine, when its log failed.
        receiver.await.map_err(|_| self.why_unavailable())
    }

    /// Hands in what nobody waits for.
    pub(super) fn tell(self: &Arc<Self>, input: Input) -> Result<(), CoordinatorError> {
        self.with_machine(|shard, machine| shard.decide(machine, input))
    }

    fn with_machine(
        self: &Arc<Self>,
        step: impl FnOnce(&Arc<Self>, &mut Machine) -> Result<Outgoing, LogError>,
    ) -> Result<(), CoordinatorError> {
        let mut phase = self.phase.lock();
        let machine = match &mut *phase {
            Phase::Active(machine) => machine,
            Phase::Loading => return Err(CoordinatorError::Loading),
            Phase::Broken(reason) => {
                let reason = reason.clone();
                return Err(CoordinatorError::NotAvailable { reason });
            }
        };
        match step(self, machine) {
            Ok(outgoing) => {
                let decided_end = machine.decided_end;
                drop(phase);
                self.release(decided_end, outgoing);
                Ok(())
            }
            Err(error) => {
                // The machine has decided what was not logged: it is forgotten, and its callers with it.
                *phase = Phase::Loading;
                self.next_load();
                drop(phase);
                tracing::warn!(partition = %self.partition.folder(), %error, "reloading transactions: their log refused a write");
                load_in_background(self.clone());
                let reason = error.to_string().into();
                Err(CoordinatorError::NotAvailable { reason })
            }
        }
    }

    fn decide(&self, machine: &mut Machine, input: Input) -> Result<Outgoing, LogError> {
        let now = self.now();
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
        self.rearm(machine);
        Ok(Outgoing {
            answers: take_callers(machine, replies),
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
        let mut batch = internal_batch(&encoded, now.wall)?;
        let receipt = self
            .partition
            .append_as(&mut batch, Appender::Coordinator, None)?;
        machine.decided_end = receipt.last_offset().plus(1);
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
        let phase = self.phase.lock();
        let Phase::Active(machine) = &*phase else {
            // A machine that loads finds the outcome in its log, and has its markers written.
            return None;
        };
        let stands = machine.waiting.outcome_of(&markers.id) == Some(markers.outcome);
        stands.then(write)
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

    fn rearm(&self, machine: &mut Machine) {
        let next = transaction::next_deadline(&machine.waiting);
        let is_sooner = match (next, machine.armed) {
            (Some(next), Some(armed)) => next < armed,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if is_sooner {
            machine.armed = next;
            self.rearmed.notify_one();
        }
    }

    /// Lets answers and markers go once everything decided before them is durable.
    fn release(self: &Arc<Self>, decided_end: Offset, outgoing: Outgoing) {
        if outgoing.answers.is_empty() && outgoing.markers.is_empty() {
            return;
        }
        if self.partition.high_watermark() >= decided_end {
            return self.send(outgoing);
        }
        let shard = self.clone();
        tokio::spawn(async move {
            match shard.partition.durable(decided_end).await {
                Ok(()) => shard.send(outgoing),
                Err(error) => shard.break_down(&error.to_string()),
            }
        });
    }

    fn send(self: &Arc<Self>, outgoing: Outgoing) {
        for (sender, answer) in outgoing.answers {
            // A caller that went away needs no answer.
            let _ = sender.send(answer);
        }
        for markers in outgoing.markers {
            tokio::spawn(write_markers(self.clone(), markers));
        }
    }

    /// The log failed for good: nothing that the machine knows can be relied on.
    pub(super) fn break_down(&self, reason: &str) {
        tracing::error!(partition = %self.partition.folder(), reason, "transactions are not available");
        let mut phase = self.phase.lock();
        *phase = Phase::Broken(reason.into());
        self.next_load();
        drop(phase);
        self.rearmed.notify_one();
    }

    /// The log was replayed: the machine serves, and outcomes that a crash may have cut off are completed.
    pub(super) fn activate(self: &Arc<Self>, ledger: Ledger, end: Offset) {
        let mut phase = self.phase.lock();
        let settings = self.shared.settings.lock().clone();
        let (load, now) = (self.next_load(), self.now());
        let (waiting, markers) = Waiting::after_loading(&settings, &ledger, load, now);
        let armed = transaction::next_deadline(&waiting);
        let mut machine = Box::new(Machine {
            ledger,
            waiting,
            callers: HashMap::new(),
            decided_end: end,
            armed,
            memory: self.shared.memory.share(),
        });
        machine.note_memory(0, settings.memory_bytes_max);
        *phase = Phase::Active(machine);
        drop(phase);
        let answers = Vec::new();
        self.release(end, Outgoing { answers, markers });
        self.rearmed.notify_one();
    }

    /// When the timer should next call `tick`; none while there is nothing to wait for.
    pub(super) fn rearmed_deadline(&self) -> Option<Duration> {
        match &mut *self.phase.lock() {
            Phase::Active(machine) => {
                machine.armed = transaction::next_deadline(&machine.waiting);
                machine.armed
            }
            Phase::Loading | Phase::Broken(_) => None,
        }
    }

    /// Lets every deadline that has passed take effect.
    pub(super) fn tick(self: &Arc<Self>) {
        if !self.shared.has_timers {
            for markers in std::mem::take(&mut *self.parked.lock()) {
                tokio::spawn(write_markers(self.clone(), markers));
            }
        }
        while self.tick_once() {}
    }

    /// Lets one deadline that has passed take effect; whether there was one.
    pub(super) fn tick_once(self: &Arc<Self>) -> bool {
        let now = self.shared.clock.monotonic();
        let is_due = self.rearmed_deadline().is_some_and(|at| at <= now);
        is_due && self.tell(Input::Tick).is_ok()
    }

    fn why_unavailable(&self) -> CoordinatorError {
        let reason = match &*self.phase.lock() {
            Phase::Broken(reason) => reason.clone(),
            Phase::Loading | Phase::Active(_) => "its log refused a write; retry".into(),
        };
        CoordinatorError::NotAvailable { reason }
    }

    fn now(&self) -> Now {
        Now {
            wall: self.shared.clock.wall_ms(),
            monotonic: self.shared.clock.monotonic(),
        }
    }
}

fn take_callers(
    machine: &mut Machine,
    replies: Vec<Reply>,
) -> Vec<(oneshot::Sender<Answer>, Answer)> {
    let take = |reply: Reply| Some((machine.callers.remove(&reply.call)?, reply.answer));
    replies.into_iter().filter_map(take).collect()
}
