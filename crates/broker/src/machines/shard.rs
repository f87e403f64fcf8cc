//! One partition of an internal topic and the machine, or machines, over it: loading, serving, broken.
//!
//! In -> out: see the module.

use super::{CoordinatorError, LogError};
use crate::append_types::Appender;
use crate::blocking::Blocking;
use crate::partition::Partition;
use crate::replay::ReplayError;
use crate::steady_clock::SteadyClock;
use fanlog_coordinators::Now;
use fanlog_model::Offset;
use parking_lot::Mutex;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// How long a shard waits at most until it loads again, where its log refuses writes again and again.
const RELOAD_WAIT_MAX: Duration = Duration::from_millis(500);

/// What every shard has.
#[derive(Debug)]
pub(crate) struct ShardBase<M> {
    partition: Arc<Partition>,
    clock: SteadyClock,
    blocking: Blocking,
    phase: Mutex<Phase<M>>,
    /// The next deadline came closer, or the phase changed.
    rearmed: Notify,
    /// How many writes were refused since one was taken.
    refusals: AtomicU32,
}

#[derive(Debug)]
enum Phase<M> {
    Loading,
    Active {
        machine: Box<M>,
        /// The deadline that the timer sleeps for.
        armed: Option<Duration>,
    },
    Broken(Arc<str>),
}

impl<M> ShardBase<M> {
    /// It loads, until `activate`.
    pub(crate) fn new(partition: Arc<Partition>, clock: SteadyClock, blocking: Blocking) -> Self {
        Self {
            partition,
            clock,
            blocking,
            phase: Mutex::new(Phase::Loading),
            rearmed: Notify::new(),
            refusals: AtomicU32::new(0),
        }
    }

    /// The partition that holds the log.
    pub(crate) fn partition(&self) -> &Arc<Partition> {
        &self.partition
    }

    /// Where blocking work runs.
    pub(crate) fn blocking(&self) -> Blocking {
        self.blocking
    }

    /// The time, for decisions.
    pub(crate) fn now(&self) -> Now {
        Now {
            wall: self.clock.wall_ms(),
            monotonic: self.clock.monotonic(),
        }
    }

    /// Appends a batch; the offset behind it. If that fails the step fails, unless nothing was decided.
    pub(crate) fn append(
        &self,
        mut batch: Vec<u8>,
        allowed_at: Option<Offset>,
    ) -> Result<Offset, LogError> {
        let receipt = self
            .partition
            .append_as(&mut batch, Appender::Coordinator, allowed_at)?;
        self.refusals.store(0, Ordering::Relaxed);
        Ok(receipt.last_offset().plus(1))
    }

    /// Serves with the machine that is made, from then on. Nothing is asked of the shard while it is made.
    pub(crate) fn activate<R>(&self, make: impl FnOnce() -> (M, R)) -> R {
        let mut phase = self.phase.lock();
        let (machine, result) = make();
        *phase = Phase::Active {
            machine: Box::new(machine),
            armed: None,
        };
        drop(phase);
        self.rearmed.notify_one();
        result
    }

    /// How long to wait before it loads again: what is done as soon as it has loaded may be what is refused, as where the disk has no
    /// room, and then it would load without a pause.
    fn reload_wait(&self) -> Duration {
        match self.refusals.fetch_add(1, Ordering::Relaxed) {
            0 => Duration::ZERO,
            before => Duration::from_millis(1 << before.min(10)).min(RELOAD_WAIT_MAX),
        }
    }

    /// Why a caller was not answered whose machine is gone.
    pub(crate) fn why_unavailable(&self) -> CoordinatorError {
        let reason = match &*self.phase.lock() {
            Phase::Broken(reason) => reason.clone(),
            Phase::Loading | Phase::Active { .. } => "its log refused a write; retry".into(),
        };
        CoordinatorError::NotAvailable { reason }
    }
}

impl<M> Phase<M> {
    fn machine(&mut self) -> Result<(&mut M, &mut Option<Duration>), CoordinatorError> {
        match self {
            Self::Active { machine, armed } => Ok((machine, armed)),
            Self::Loading => Err(CoordinatorError::Loading),
            Self::Broken(reason) => Err(CoordinatorError::NotAvailable {
                reason: reason.clone(),
            }),
        }
    }
}

/// A shard. What has no body here is what a new machine supplies.
pub(crate) trait MachineShard: Send + Sync + Sized + 'static {
    /// All that is forgotten when the log refuses a write.
    type Machine: Send;
    /// What a replay finds.
    type Loaded;
    /// What operators know the machines as.
    const KIND: &'static str;

    /// What every shard has.
    fn base(&self) -> &ShardBase<Self::Machine>;

    /// Replays the log. Blocks.
    fn replayed(&self) -> Result<Self::Loaded, ReplayError>;

    /// Serves with what was replayed, by [`ShardBase::activate`].
    fn serve(self: &Arc<Self>, loaded: Self::Loaded);

    /// When the machine is due next; none while there is nothing to wait for.
    fn next_deadline(machine: &Self::Machine) -> Option<Duration>;

    /// Lets deadlines that have passed take effect, as many as may at once; whether more may be due.
    fn tick_some(self: &Arc<Self>) -> bool;

    /// The machine is gone, if there was one: the log refused a write, or failed for good. Under the lock of the phase.
    fn dropped(&self) {}

    /// Runs a step that may decide and log. Where it fails the machine has decided what was not logged: it is forgotten, and its
    /// callers with it.
    fn with_machine<R>(
        self: &Arc<Self>,
        step: impl FnOnce(&Arc<Self>, &mut Self::Machine) -> Result<R, LogError>,
    ) -> Result<R, CoordinatorError> {
        let base = self.base();
        let mut phase = base.phase.lock();
        let (machine, armed) = phase.machine()?;
        match step(self, machine) {
            Ok(result) => {
                rearm::<Self>(base, machine, armed);
                Ok(result)
            }
            Err(error) => {
                *phase = Phase::Loading;
                self.dropped();
                drop(phase);
                tracing::warn!(partition = %base.partition.folder(), %error, "reloading {}: their log refused a write", Self::KIND);
                load_in_background(self.clone(), base.reload_wait());
                let reason = error.to_string().into();
                Err(CoordinatorError::NotAvailable { reason })
            }
        }
    }

    /// Looks at the machine, or changes what does not hang on its log.
    fn with_active<R>(
        &self,
        look: impl FnOnce(&mut Self::Machine) -> R,
    ) -> Result<R, CoordinatorError> {
        let base = self.base();
        let mut phase = base.phase.lock();
        let (machine, armed) = phase.machine()?;
        let result = look(machine);
        rearm::<Self>(base, machine, armed);
        Ok(result)
    }

    /// Replays the log and serves from then on. Blocks.
    fn load(self: &Arc<Self>) {
        match self.replayed() {
            Ok(loaded) => self.serve(loaded),
            Err(error) => self.break_down(&error.to_string()),
        }
    }

    /// The log failed for good: nothing that the machine knows can be relied on.
    fn break_down(&self, reason: &str) {
        let base = self.base();
        tracing::error!(partition = %base.partition.folder(), reason, "{} are not available", Self::KIND);
        let mut phase = base.phase.lock();
        *phase = Phase::Broken(reason.into());
        self.dropped();
        drop(phase);
        base.rearmed.notify_one();
    }

    /// Waits until the log is durable up to `end`: what was decided before may be told then.
    fn durable_to(
        self: &Arc<Self>,
        end: Offset,
    ) -> impl Future<Output = Result<(), CoordinatorError>> + Send {
        let shard = self.clone();
        async move {
            let partition = shard.base().partition();
            if partition.high_watermark() >= end {
                return Ok(());
            }
            partition.durable(end).await.map_err(|error| {
                let reason = error.to_string();
                shard.break_down(&reason);
                CoordinatorError::NotAvailable {
                    reason: reason.into(),
                }
            })
        }
    }

    /// Does something once the log is durable up to `end`; at once, if it is.
    fn once_durable(self: &Arc<Self>, end: Offset, then: impl FnOnce(&Arc<Self>) + Send + 'static) {
        if self.base().partition.high_watermark() >= end {
            return then(self);
        }
        let shard = self.clone();
        tokio::spawn(async move {
            if shard.durable_to(end).await.is_ok() {
                then(&shard);
            }
        });
    }

    /// When the timer should act next. It is woken when that comes closer.
    fn rearmed_deadline(&self) -> Option<Duration> {
        let mut phase = self.base().phase.lock();
        let (machine, armed) = phase.machine().ok()?;
        *armed = Self::next_deadline(machine);
        *armed
    }

    /// Whether a deadline has passed.
    fn is_due(&self) -> bool {
        let now = self.base().clock.monotonic();
        self.rearmed_deadline().is_some_and(|at| at <= now)
    }
}

/// Wakes the timer if it sleeps for too long.
fn rearm<S: MachineShard>(
    base: &ShardBase<S::Machine>,
    machine: &S::Machine,
    armed: &mut Option<Duration>,
) {
    let next = S::next_deadline(machine);
    if next.is_some_and(|next| armed.is_none_or(|armed| next < armed)) {
        *armed = next;
        base.rearmed.notify_one();
    }
}

/// Loads on a thread that may block, after a while.
fn load_in_background<S: MachineShard>(shard: Arc<S>, wait: Duration) {
    tokio::spawn(async move {
        let base = shard.base();
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        // After a refused write the log may have an end that is not durable yet: what is loaded must be.
        let end = base.partition.with_log(|log| log.log_end_offset());
        let durable = match end {
            Ok(end) => base.partition.durable(end).await,
            Err(error) => Err(error),
        };
        if let Err(error) = durable {
            return shard.break_down(&error.to_string());
        }
        let loading = base.blocking.run({
            let shard = shard.clone();
            move || shard.load()
        });
        if loading.await.is_err() {
            tracing::error!(partition = %base.partition.folder(), "loading a coordinator stopped at an internal error");
        }
    });
}

/// Sleeps until the next deadline, again and again; runs until it is aborted.
pub(super) async fn run_timer<S: MachineShard>(shard: Arc<S>) {
    let base = shard.base();
    loop {
        let rearmed = base.rearmed.notified();
        match shard.rearmed_deadline() {
            None => rearmed.await,
            Some(deadline) => {
                let wait = deadline.saturating_sub(base.clock.monotonic());
                // Either the deadline passed or an earlier one came up: `tick_some` tells them apart.
                let _ = tokio::time::timeout(wait, rearmed).await;
                while shard.tick_some() {
                    // Others have their turn: very many may be due.
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}
