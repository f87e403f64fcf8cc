//! The runtime of one group machine: one partition of `__consumer_offsets`.
//!
//! Why it exists: the machine decides and never waits; something must log what it decides, hold its replies until
//! that is durable, and start it anew from its log when that fails.
//! Owns: the machine, the callers that it has not answered.   Never: what a group may do; the machine says so.
//! In -> out: input -> records in one batch, applied; the answers leave once all that was decided is durable.
//! Invariants: GRP-3 (no answer before durability, reads too).   Read next: `load.rs`, `../machine_runtime.rs`.

use super::batch::group_batch;
use super::surroundings::Surroundings;
use crate::append_types::{AppendError, Appender, RefusedBatch};
use crate::blocking::Blocking;
use crate::broker::Broker;
use crate::machine_memory::{MachineMemory, MemoryShare};
use crate::machine_runtime::load_in_background;
use crate::partition::Partition;
use crate::steady_clock::SteadyClock;
use fanlog_coordinators::group::{
    self, Answer, Decision, GroupKind, GroupRecord, GroupSettings, Input, Ledger, OffsetsProducer,
    Reply, TransactionalWrite, Waiting,
};
use fanlog_coordinators::{CallId, Now};
use fanlog_model::{GroupId, Offset};
use fanlog_protocol::records::BuildError;
use fanlog_protocol::wire::EncodeError;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{Notify, oneshot};

/// Why a group's coordinator does not answer. Fate: the client retries.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CoordinatorError {
    /// Its log is being replayed.
    #[error("the coordinator is loading; retry")]
    Loading,
    /// Its log cannot be written or read, so it would promise what it cannot keep.
    #[error("the coordinator is not available: {reason}")]
    NotAvailable {
        /// What happened.
        reason: Arc<str>,
    },
}

/// Who writes in a transaction, and by whose leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) producer: OffsetsProducer,
    /// Where the log ended when the transaction's coordinator allowed it; not needed where one is under way here.
    pub(crate) allowed_at: Option<Offset>,
    /// The epoch of the coordinator that ends the transaction.
    pub(crate) coordinator_epoch: Option<i32>,
    /// Whether it ends one of the second generation, and so must have a later epoch.
    pub(crate) is_later_marker: bool,
}

/// Why nothing is written in a transaction.
#[derive(Debug, Error)]
pub(crate) enum InTransactionError {
    /// The log would refuse it.
    #[error(transparent)]
    Refused(RefusedBatch),
    /// The machine cannot answer.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorError),
}

/// One partition of `__consumer_offsets` and its machine.
#[derive(Debug)]
pub(crate) struct Shard {
    partition: Arc<Partition>,
    clock: SteadyClock,
    settings: Arc<Mutex<GroupSettings>>,
    memory: Arc<MachineMemory>,
    broker: Weak<Broker>,
    blocking: Blocking,
    phase: Mutex<Phase>,
    calls: AtomicU64,
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
    /// Everything below this offset was decided upon: no answer leaves before it is durable.
    decided_end: Offset,
    /// Where the log ended when the coordinator of the transaction that is being decided upon allowed it.
    allowed_at: Option<Offset>,
    armed: Option<Duration>,
    memory: MemoryShare,
}

/// Why a decision was not logged.
#[derive(Debug, Error)]
pub(super) enum LogError {
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl Machine {
    fn note_memory(&mut self, refused: u64, limit: usize) {
        let bytes = self.ledger.bytes() + self.waiting.bytes();
        self.memory.note(bytes, refused, limit);
    }
}

/// Answers on their way to their callers.
type Outgoing = Vec<(oneshot::Sender<Answer>, Answer)>;

impl Shard {
    pub(crate) fn new(
        partition: Arc<Partition>,
        clock: SteadyClock,
        settings: Arc<Mutex<GroupSettings>>,
        memory: Arc<MachineMemory>,
        broker: Weak<Broker>,
        blocking: Blocking,
    ) -> Arc<Self> {
        Arc::new(Self {
            partition,
            clock,
            settings,
            memory,
            broker,
            blocking,
            phase: Mutex::new(Phase::Loading),
            calls: AtomicU64::new(0),
            rearmed: Arc::new(Notify::new()),
        })
    }

    pub(super) fn blocking(&self) -> Blocking {
        self.blocking
    }

    pub(super) fn broker(&self) -> Option<Arc<Broker>> {
        self.broker.upgrade()
    }

    /// The topics and queues as they are now. While the broker starts, or stops, there are none.
    fn surroundings(&self) -> Surroundings {
        let broker = self.broker();
        broker.map(Surroundings::of).unwrap_or_default()
    }

    /// Of which kind a group is, if there is one.
    pub(super) fn kind_of(&self, id: &GroupId) -> Result<Option<GroupKind>, CoordinatorError> {
        match &*self.phase.lock() {
            Phase::Active(machine) => Ok(group::kind_of(&machine.ledger, &machine.waiting, id)),
            Phase::Loading => Err(CoordinatorError::Loading),
            Phase::Broken(reason) => Err(CoordinatorError::NotAvailable {
                reason: reason.clone(),
            }),
        }
    }

    pub(crate) fn partition(&self) -> &Arc<Partition> {
        &self.partition
    }

    /// Hands in a request and waits for its answer, which may come with the decision on a later input.
    /// A caller that goes away is still decided upon; its answer is dropped.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        input: impl FnOnce(CallId) -> Input,
    ) -> Result<Answer, CoordinatorError> {
        let receiver = self.submit(input)?;
        // The sender is dropped with the machine, when its log failed.
        receiver.await.map_err(|_| self.why_unavailable())
    }

    fn submit(
        self: &Arc<Self>,
        input: impl FnOnce(CallId) -> Input,
    ) -> Result<oneshot::Receiver<Answer>, CoordinatorError> {
        let call = CallId(self.calls.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        self.with_machine(|shard, machine| {
            machine.callers.insert(call, sender);
            shard.decide(machine, input(call))
        })?;
        Ok(receiver)
    }

    /// Hands in what is written in a producer's name, unless the log would refuse it. The decision is made on return, its answer waits
    /// to be durable.
    pub(crate) fn submit_in_transaction(
        self: &Arc<Self>,
        written: Written,
        input: impl FnOnce(CallId) -> Input,
    ) -> Result<oneshot::Receiver<Answer>, InTransactionError> {
        let call = CallId(self.calls.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        let mut refused = None;
        self.with_machine(|shard, machine| {
            let producer = written.producer;
            let check = shard.partition.with_log(|log| {
                log.check_coordinators_batch(
                    producer.id,
                    producer.epoch,
                    written.coordinator_epoch,
                    written.is_later_marker,
                    written.allowed_at,
                )
            });
            if let Ok(Err(error)) = check {
                refused = Some(error);
                return Ok(Vec::new());
            }
            machine.callers.insert(call, sender);
            machine.allowed_at = written.allowed_at;
            let decided = shard.decide(machine, input(call));
            machine.allowed_at = None;
            decided
        })?;
        match refused {
            Some(error) => Err(InTransactionError::Refused(error)),
            None => Ok(receiver),
        }
    }

    /// Hands in what nobody waits for: a time-out, or the news that a topic is gone.
    pub(crate) fn tell(self: &Arc<Self>, input: Input) -> Result<(), CoordinatorError> {
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
                drop(phase);
                tracing::warn!(partition = %self.partition.folder(), %error, "reloading groups: their log refused a write");
                load_in_background(self.clone());
                let reason = error.to_string().into();
                Err(CoordinatorError::NotAvailable { reason })
            }
        }
    }

    fn decide(&self, machine: &mut Machine, input: Input) -> Result<Outgoing, LogError> {
        let now = self.now();
        let mut settings = self.settings.lock().clone();
        settings.memory_bytes_elsewhere = machine.memory.elsewhere();
        let Decision {
            records,
            replies,
            transaction,
            refused_for_memory,
        } = group::decide(
            &settings,
            &self.surroundings(),
            &machine.ledger,
            &mut machine.waiting,
            now,
            input,
        );
        let is_end = matches!(transaction, Some(TransactionalWrite::End(_)));
        if !records.is_empty() || is_end {
            self.log(machine, &records, transaction, now)?;
        }
        machine.note_memory(refused_for_memory, settings.memory_bytes_max);
        self.rearm(machine);
        Ok(take_callers(machine, replies))
    }

    /// Appends the records as one batch, so that a crash keeps all or none, and applies them.
    fn log(
        &self,
        machine: &mut Machine,
        records: &[GroupRecord],
        transaction: Option<TransactionalWrite>,
        now: Now,
    ) -> Result<(), LogError> {
        let mut batch = group_batch(records, transaction, now.wall)?;
        // What a transaction writes here was allowed, or is under way; a marker needs no leave.
        let allowed_at = machine.allowed_at.take();
        let receipt = self
            .partition
            .append_as(&mut batch, Appender::Coordinator, allowed_at)?;
        machine.decided_end = receipt.last_offset().plus(1);
        for record in records {
            match transaction {
                Some(TransactionalWrite::Offsets(producer)) => {
                    group::apply_pending(&mut machine.ledger, producer.id, record);
                }
                _ => group::apply(&mut machine.ledger, record),
            }
        }
        if let Some(TransactionalWrite::End(end)) = transaction {
            group::apply_end(&mut machine.ledger, end.producer.id, end.is_commit);
        }
        Ok(())
    }

    fn rearm(&self, machine: &mut Machine) {
        let next = group::next_deadline(&machine.waiting);
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

    /// Lets answers go once everything decided before them is durable.
    fn release(self: &Arc<Self>, decided_end: Offset, outgoing: Outgoing) {
        if outgoing.is_empty() {
            return;
        }
        if self.partition.high_watermark() >= decided_end {
            return send(outgoing);
        }
        let shard = self.clone();
        tokio::spawn(async move {
            match shard.partition.durable(decided_end).await {
                Ok(()) => send(outgoing),
                Err(error) => shard.break_down(&error.to_string()),
            }
        });
    }

    /// The log failed for good: nothing that the machine knows can be relied on.
    pub(super) fn break_down(&self, reason: &str) {
        tracing::error!(partition = %self.partition.folder(), reason, "groups are not available");
        *self.phase.lock() = Phase::Broken(reason.into());
        self.rearmed.notify_one();
    }

    /// The log was replayed: the machine serves, once it has forgotten the topics that are gone. A topic that goes
    /// from now on is told to it. Where the log refuses that, as on a full disk, the offsets stay until the next time it is
    /// replayed: nobody reads them, as they name a topic's life that is over.
    pub(super) fn activate(
        &self,
        ledger: Ledger,
        end: Offset,
        gone: impl FnOnce(&Ledger) -> Vec<Input>,
    ) {
        let mut phase = self.phase.lock();
        let settings = self.settings.lock().clone();
        let waiting = Waiting::after_loading(&settings, &ledger, self.now());
        let armed = group::next_deadline(&waiting);
        let mut machine = Box::new(Machine {
            ledger,
            waiting,
            callers: HashMap::new(),
            decided_end: end,
            allowed_at: None,
            armed,
            memory: self.memory.share(),
        });
        machine.note_memory(0, settings.memory_bytes_max);
        for gone in gone(&machine.ledger) {
            if let Err(error) = self.decide(&mut machine, gone) {
                tracing::warn!(partition = %self.partition.folder(), %error, "what groups know of deleted topics stays for now");
                break;
            }
        }
        // Other topics may have changed as well while nobody could be told.
        if let Err(error) = self.decide(&mut machine, Input::TopicsChanged) {
            tracing::warn!(partition = %self.partition.folder(), %error, "groups will see changed topics later");
        }
        *phase = Phase::Active(machine);
        drop(phase);
        self.rearmed.notify_one();
    }

    /// When the timer should next call `tick`; none while there is nothing to wait for.
    pub(super) fn rearmed_deadline(&self) -> Option<Duration> {
        match &mut *self.phase.lock() {
            Phase::Active(machine) => {
                machine.armed = group::next_deadline(&machine.waiting);
                machine.armed
            }
            Phase::Loading | Phase::Broken(_) => None,
        }
    }

    /// Lets every deadline that has passed take effect.
    pub(crate) fn tick(self: &Arc<Self>) {
        while self
            .rearmed_deadline()
            .is_some_and(|deadline| deadline <= self.clock.monotonic())
        {
            if self.tell(Input::Tick).is_err() {
                return;
            }
        }
    }

    /// Looks at what the log remembers; nothing while it is loading.
    pub(crate) fn with_ledger<R>(&self, look: impl FnOnce(&Ledger) -> R) -> Option<R> {
        match &*self.phase.lock() {
            Phase::Active(machine) => Some(look(&machine.ledger)),
            Phase::Loading | Phase::Broken(_) => None,
        }
    }

    fn why_unavailable(&self) -> CoordinatorError {
        let reason = match &*self.phase.lock() {
            Phase::Broken(reason) => reason.clone(),
            Phase::Loading | Phase::Active(_) => "its log refused a write; retry".into(),
        };
        CoordinatorError::NotAvailable { reason }
    }

    pub(super) fn now(&self) -> Now {
        Now {
            wall: self.clock.wall_ms(),
            monotonic: self.clock.monotonic(),
        }
    }

    pub(super) fn clock(&self) -> &SteadyClock {
        &self.clock
    }
}

fn take_callers(machine: &mut Machine, replies: Vec<Reply>) -> Outgoing {
    let take = |reply: Reply| Some((machine.callers.remove(&reply.call)?, reply.answer));
    replies.into_iter().filter_map(take).collect()
}

fn send(outgoing: Outgoing) {
    for (sender, answer) in outgoing {
        // A caller that went away needs no answer.
        let _ = sender.send(answer);
    }
}
