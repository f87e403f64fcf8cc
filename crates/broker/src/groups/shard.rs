//! The runtime of one group machine: one partition of `__consumer_offsets`.
//!
//! Why it exists: the machine decides and never waits; something must log what it decides, hold its replies until
//! that is durable, and start it anew from its log when that fails.
//! Owns: the machine, the callers that it has not answered.   Never: what a group may do; the machine says so.
//! In -> out: input -> records in one batch, applied; the answers leave once all that was decided is durable.
//! Invariants: GRP-3 (no answer before durability, reads too).   Read next: `load.rs`, `../machines/mod.rs`.

mod news;

use super::batch::group_batch;
use super::load::replayed;
use super::surroundings::Surroundings;
use crate::append_types::RefusedBatch;
use crate::broker::Broker;
use crate::machines::{
    Answers, Callers, CoordinatorError, LogError, MachineMemory, MachineShard, MemoryShare,
    ShardBase, send,
};
use crate::partition::Partition;
use crate::replay::ReplayError;
use fanlog_coordinators::group::{
    self, Answer, Decision, GroupKind, GroupRecord, GroupSettings, Input, Ledger, OffsetsProducer,
    TransactionalWrite, Waiting,
};
use fanlog_coordinators::{CallId, Now};
use fanlog_model::{GroupId, Offset};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::oneshot;

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
    base: ShardBase<Machine>,
    settings: Arc<Mutex<GroupSettings>>,
    memory: Arc<MachineMemory>,
    broker: Weak<Broker>,
}

#[derive(Debug)]
pub(crate) struct Machine {
    ledger: Ledger,
    waiting: Waiting,
    callers: Callers<Answer>,
    /// Everything below this offset was decided upon: no answer leaves before it is durable.
    decided_end: Offset,
    /// Where the log ended when the coordinator of the transaction that is being decided upon allowed it.
    allowed_at: Option<Offset>,
    /// When to tell the groups once more of topics that changed: the log refused it.
    news_due: Option<Duration>,
    memory: MemoryShare,
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
    const KIND: &'static str = "groups";

    fn base(&self) -> &ShardBase<Machine> {
        &self.base
    }

    fn replayed(&self) -> Result<(Ledger, Offset), ReplayError> {
        replayed(self.partition())
    }

    fn serve(self: &Arc<Self>, (ledger, end): (Ledger, Offset)) {
        self.base.activate(|| (self.machine_of(ledger, end), ()));
        if let Some(broker) = self.broker() {
            broker.groups().refresh_expressions();
        }
    }

    fn next_deadline(machine: &Machine) -> Option<Duration> {
        let due = [group::next_deadline(&machine.waiting), machine.news_due];
        due.into_iter().flatten().min()
    }

    fn tick_some(self: &Arc<Self>) -> bool {
        if !self.is_due() {
            return false;
        }
        self.retell_news();
        self.tell(Input::Tick).is_ok()
    }
}

impl Shard {
    pub(crate) fn new(
        base: ShardBase<Machine>,
        settings: Arc<Mutex<GroupSettings>>,
        memory: Arc<MachineMemory>,
        broker: Weak<Broker>,
    ) -> Arc<Self> {
        Arc::new(Self {
            base,
            settings,
            memory,
            broker,
        })
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
        self.with_active(|machine| group::kind_of(&machine.ledger, &machine.waiting, id))
    }

    pub(crate) fn partition(&self) -> &Arc<Partition> {
        self.base.partition()
    }

    /// Hands in a request and waits for its answer, which may come with the decision on a later input.
    /// A caller that goes away is still decided upon; its answer is dropped.
    pub(crate) async fn ask(
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

    /// Hands in what is written in a producer's name, unless the log would refuse it. The decision is made on return, its answer waits
    /// to be durable.
    pub(crate) fn submit_in_transaction(
        self: &Arc<Self>,
        written: Written,
        input: impl FnOnce(CallId) -> Input,
    ) -> Result<oneshot::Receiver<Answer>, InTransactionError> {
        let decided = self.step(|shard, machine| {
            let producer = written.producer;
            let check = shard.partition().with_log(|log| {
                log.check_coordinators_batch(
                    producer.id,
                    producer.epoch,
                    written.coordinator_epoch,
                    written.is_later_marker,
                    written.allowed_at,
                )
            });
            if let Ok(Err(error)) = check {
                return Ok((Vec::new(), Err(error)));
            }
            let (call, receiver) = machine.callers.add();
            machine.allowed_at = written.allowed_at;
            let decided = shard.decide(machine, input(call));
            machine.allowed_at = None;
            Ok((decided?, Ok(receiver)))
        })?;
        decided.map_err(InTransactionError::Refused)
    }

    /// Hands in what nobody waits for: a time-out, or the news that a topic is gone.
    pub(crate) fn tell(self: &Arc<Self>, input: Input) -> Result<(), CoordinatorError> {
        self.step(|shard, machine| Ok((shard.decide(machine, input)?, ())))
    }

    /// Runs a step; its answers go once everything decided before them is durable.
    fn step<R>(
        self: &Arc<Self>,
        step: impl FnOnce(&Arc<Self>, &mut Machine) -> Result<(Answers<Answer>, R), LogError>,
    ) -> Result<R, CoordinatorError> {
        let (answers, decided_end, result) = self.with_machine(|shard, machine| {
            let (answers, result) = step(shard, machine)?;
            Ok((answers, machine.decided_end, result))
        })?;
        if !answers.is_empty() {
            self.once_durable(decided_end, |_| send(answers));
        }
        Ok(result)
    }

    fn decide(&self, machine: &mut Machine, input: Input) -> Result<Answers<Answer>, LogError> {
        let now = self.base.now();
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
        let answers = replies.into_iter().map(|reply| (reply.call, reply.answer));
        Ok(machine.callers.take(answers))
    }

    /// Appends the records as one batch, so that a crash keeps all or none, and applies them.
    fn log(
        &self,
        machine: &mut Machine,
        records: &[GroupRecord],
        transaction: Option<TransactionalWrite>,
        now: Now,
    ) -> Result<(), LogError> {
        let batch = group_batch(records, transaction, now.wall)?;
        // What a transaction writes here was allowed, or is under way; a marker needs no leave.
        let allowed_at = machine.allowed_at.take();
        machine.decided_end = self.base.append(batch, allowed_at)?;
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

    /// A machine that begins to serve, once it has forgotten the topics that are gone. A topic that goes from now on is told to
    /// it. Where the log refuses that, as on a full disk, the offsets stay until the next time it is replayed: nobody reads them,
    /// as they name a topic's life that is over.
    fn machine_of(&self, ledger: Ledger, end: Offset) -> Machine {
        let settings = self.settings.lock().clone();
        let waiting = Waiting::after_loading(&settings, &ledger, self.base.now());
        let mut machine = Machine {
            ledger,
            waiting,
            callers: Callers::default(),
            decided_end: end,
            allowed_at: None,
            news_due: None,
            memory: self.memory.share(),
        };
        machine.note_memory(0, settings.memory_bytes_max);
        for gone in self.gone_topics(&machine.ledger) {
            if let Err(error) = self.decide(&mut machine, gone) {
                tracing::warn!(partition = %self.partition().folder(), %error, "what groups know of deleted topics stays for now");
                break;
            }
        }
        // Other topics may have changed as well while nobody could be told.
        self.decide_news(&mut machine, Input::TopicsChanged);
        machine
    }

    /// Lets every deadline that has passed take effect.
    pub(crate) fn tick(self: &Arc<Self>) {
        while self.tick_some() {}
    }

    /// Looks at what the log remembers; nothing while it is loading.
    pub(crate) fn with_ledger<R>(&self, look: impl FnOnce(&Ledger) -> R) -> Option<R> {
        self.with_active(|machine| look(&machine.ledger)).ok()
    }
}
