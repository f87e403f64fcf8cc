//! The machine, the broker's process on it, the clients, and what was promised to them.

use crate::Planted;
use crate::actors::{Consumer, Member, Producer, QueueClients, Reader};
use crate::chance::Chance;
use crate::disk::ProcessDisk;
use crate::promises::catalog::{Catalog, KINDS, LifeState};
use crate::promises::consumers::ConsumerGroup;
use crate::promises::groups::{Group, Moment};
use crate::promises::records::{Place, Records, Retention};
use crate::promises::{Verdict, Violation};
use crate::trace::Trace;
use fanlog_broker::{Broker, BrokerConfig, Partition, TopicRef};
use fanlog_environment::{Clock, Environment, ManualClock, SeededEntropy, SimulatedDisk};
use fanlog_model::{BrokerId, PartitionIndex, TimestampMs, TopicId, TopicName};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// What a run has come to; a run that comes to nothing proves nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Batches acknowledged under `acks=all`.
    pub acknowledged: u64,
    /// Batches that a consumer was shown, again and again.
    pub seen: u64,
    /// Retries answered as duplicates.
    pub duplicates: u64,
    /// Sequences out of order that were refused.
    pub gaps_refused: u64,
    /// Topics created.
    pub created: u64,
    /// Topics deleted.
    pub deleted: u64,
    /// Assignments that members were told.
    pub assigned: u64,
    /// Assignments that members of the new protocol were told.
    pub consumed: u64,
    /// Members of the new protocol that had to join again.
    pub consumers_fenced: u64,
    /// Partitions that changed hands among many members that come and go.
    pub handovers: u64,
    /// Commits of members of the new protocol answered.
    pub consumers_committed: u64,
    /// The same refused, for their epoch or because the member is not known.
    pub consumers_refused: u64,
    /// Commits answered.
    pub committed: u64,
    /// Late commits refused.
    pub late_refused: u64,
    /// Committed offsets read.
    pub read: u64,
    /// Power cuts.
    pub power_cuts: u64,
    /// Processes ended with the page cache kept.
    pub kills: u64,
    /// Clean shutdowns.
    pub shutdowns: u64,
    /// Records that retention or a deletion took.
    pub trims: u64,
    /// Logs of internal topics that were compacted.
    pub compactions: u64,
    /// Messages that queues handed out.
    pub received: u64,
    /// Acknowledgements answered.
    pub acked: u64,
    /// Failures, rejections and releases answered.
    pub given_back: u64,
    /// Words refused, as their lock had run out or they had been said before.
    pub words_refused: u64,
    /// Receives that somebody broke off.
    pub broken_off: u64,
    /// Cancellations answered.
    pub cancelled: u64,
    /// Dead letters at the end.
    pub dead_letters: u64,
    /// Dead letters redriven, as they stand at the end.
    pub redriven: u64,
    /// Dead letters discarded.
    pub discarded: u64,
    /// Queues that came to an end before the run did.
    pub queues_ended: u64,
}

impl Reached {
    /// Adds what another run has come to.
    pub fn add(&mut self, other: &Self) {
        self.acknowledged += other.acknowledged;
        self.seen += other.seen;
        self.duplicates += other.duplicates;
        self.gaps_refused += other.gaps_refused;
        self.created += other.created;
        self.deleted += other.deleted;
        self.assigned += other.assigned;
        self.consumed += other.consumed;
        self.consumers_fenced += other.consumers_fenced;
        self.handovers += other.handovers;
        self.consumers_committed += other.consumers_committed;
        self.consumers_refused += other.consumers_refused;
        self.committed += other.committed;
        self.late_refused += other.late_refused;
        self.read += other.read;
        self.power_cuts += other.power_cuts;
        self.kills += other.kills;
        self.shutdowns += other.shutdowns;
        self.trims += other.trims;
        self.compactions += other.compactions;
        self.received += other.received;
        self.acked += other.acked;
        self.given_back += other.given_back;
        self.words_refused += other.words_refused;
        self.broken_off += other.broken_off;
        self.cancelled += other.cancelled;
        self.dead_letters += other.dead_letters;
        self.redriven += other.redriven;
        self.discarded += other.discarded;
        self.queues_ended += other.queues_ended;
    }
}

type Finish = Box<dyn FnOnce(&mut World) -> Verdict>;

/// A call that was not answered yet, or whose answer nobody looked at.
struct Pending {
    what: String,
    task: JoinHandle<()>,
    finish: Finish,
}

/// Everything.
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) planted: Option<Planted>,
    pub(crate) chance: Chance,
    pub(crate) trace: Trace,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) disk: Arc<SimulatedDisk>,
    pub(crate) process: Option<Process>,
    pub(crate) starts: u64,
    /// The leader epoch of the last start.
    pub(crate) epoch: i32,
    pending: Vec<Pending>,
    moments: Moment,
    pub(crate) tokens: u64,
    pub(crate) records: Records,
    pub(crate) catalog: Catalog,
    pub(crate) groups: Vec<Group>,
    pub(crate) producers: Vec<Producer>,
    pub(crate) readers: Vec<Reader>,
    pub(crate) members: Vec<Member>,
    pub(crate) consumer_group: ConsumerGroup,
    pub(crate) consumers: Vec<Consumer>,
    pub(crate) queues: QueueClients,
    pub(crate) reached: Reached,
}

/// A running broker and its disk.
pub(crate) struct Process {
    pub(crate) broker: Arc<Broker>,
    pub(crate) disk: Arc<ProcessDisk>,
}

/// Groups of the classic protocol. That of the new one has the number behind them.
pub(crate) const GROUPS: usize = 2;
const START: TimestampMs = TimestampMs(1_767_225_600_000);

impl World {
    pub(crate) fn new(seed: u64, planted: Option<Planted>, is_printed: bool) -> Self {
        let mut chance = Chance::new(seed);
        let disk = Arc::new(SimulatedDisk::new(chance.next()));
        Self {
            seed,
            planted,
            trace: Trace::new(is_printed),
            clock: Arc::new(ManualClock::new(START)),
            disk,
            process: None,
            starts: 0,
            epoch: 0,
            pending: Vec::new(),
            moments: 0,
            tokens: 0,
            records: Records::default(),
            catalog: Catalog::default(),
            groups: (0..=GROUPS).map(|_| Group::default()).collect(),
            producers: Producer::cast(&mut chance),
            readers: Reader::cast(),
            members: Member::cast(&mut chance),
            consumer_group: ConsumerGroup::default(),
            consumers: Consumer::cast(&mut chance),
            queues: QueueClients::default(),
            reached: Reached::default(),
            chance,
        }
    }

    /// Starts a broker on the machine as it is.
    pub(crate) fn start(&mut self) -> Result<(), fanlog_broker::StartError> {
        self.starts += 1;
        let disk = Arc::new(ProcessDisk::new(self.disk.clone(), self.planted));
        let environment = Environment {
            clock: Arc::new(disk.clock(self.clock.clone())),
            // A process draws other ids than the one before it.
            entropy: Arc::new(SeededEntropy::new(
                self.seed.wrapping_mul(1_000_003).wrapping_add(self.starts),
            )),
            disk: disk.clone(),
        };
        let broker = Broker::start(config(self.queues.is_on), environment);
        if broker.is_err() {
            disk.end();
        }
        let broker = broker?;
        self.process = Some(Process { broker, disk });
        Ok(())
    }

    /// The process is gone, and with it all that it was about to answer.
    pub(crate) fn end_process(&mut self) -> Verdict {
        if let Some(process) = self.process.take() {
            process.disk.end();
        }
        for pending in std::mem::take(&mut self.pending) {
            pending.task.abort();
            self.trace.line(&format!("{}: no answer", pending.what));
            (pending.finish)(self)?;
        }
        self.records.process_ended();
        self.queues.process_ended();
        Ok(())
    }

    pub(crate) fn broker(&self) -> &Arc<Broker> {
        let process = self.process.as_ref();
        &process
            .expect("a step is made while the broker runs")
            .broker
    }

    /// Calls the broker; `then` learns the answer, or that there will be none.
    pub(crate) fn call<R: Send + 'static>(
        &mut self,
        what: String,
        call: impl Future<Output = R> + Send + 'static,
        then: impl FnOnce(&mut World, Option<R>) -> Verdict + 'static,
    ) {
        let answer = Arc::new(Mutex::new(None));
        let told = answer.clone();
        let task = tokio::spawn(async move {
            let answer = call.await;
            *told.lock() = Some(answer);
        });
        self.trace.line(&what);
        let finish = Box::new(move |world: &mut World| {
            let answer = answer.lock().take();
            then(world, answer)
        });
        self.pending.push(Pending { what, task, finish });
    }

    /// How many calls are under way.
    pub(crate) fn calls(&self) -> usize {
        self.pending.len()
    }

    /// Lets everything happen that needs neither time nor a sync, and takes the answers in.
    pub(crate) async fn settle(&mut self) -> Verdict {
        // The runtime's clock stands still and moves on only when nothing else is to be done.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let (done, open) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|pending| pending.task.is_finished());
        self.pending = open;
        for pending in done {
            let Pending { what, finish, .. } = pending;
            self.trace.line(&format!("{what}: answered"));
            finish(self)?;
        }
        match crate::panics::first() {
            None => Ok(()),
            Some(panic) => Err(Violation {
                promise: "no panic",
                what: panic,
            }),
        }
    }

    pub(crate) fn moment(&mut self) -> Moment {
        self.moments += 1;
        self.moments
    }

    pub(crate) fn token(&mut self) -> u64 {
        self.tokens += 1;
        self.tokens
    }

    /// Whether an error may be the crash's own, so that nothing follows from it.
    pub(crate) fn is_crashed(&self) -> bool {
        self.disk.is_crashed()
    }

    pub(crate) fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    pub(crate) fn wall_ms(&self) -> i64 {
        self.clock.wall_ms().0
    }

    pub(crate) fn partition(&self, place: Place) -> Option<Arc<Partition>> {
        let topic = TopicRef::Id(place.topic);
        self.broker()
            .partition(&topic, PartitionIndex(place.partition))
            .ok()
    }

    /// All partitions of topics that are there for certain.
    pub(crate) fn places(&self) -> Vec<Place> {
        let lives = self.catalog.live();
        lives
            .flat_map(|(topic, life)| {
                (0..life.partitions).map(move |partition| Place { topic, partition })
            })
            .collect()
    }

    pub(crate) fn some_place(&mut self) -> Option<Place> {
        let places = self.places();
        (!places.is_empty()).then(|| self.chance.pick(&places))
    }

    pub(crate) fn is_live(&self, topic: TopicId) -> bool {
        let life = self.catalog.life(topic);
        life.is_some_and(|life| life.state == LifeState::Live)
    }

    pub(crate) fn has_large_batches(&self, topic: TopicId) -> bool {
        let life = self.catalog.life(topic);
        life.is_some_and(|life| KINDS[life.kind].has_large_batches)
    }

    pub(crate) fn topic_name(&self, topic: TopicId) -> Option<TopicName> {
        TopicName::new(&self.catalog.life(topic)?.name).ok()
    }

    pub(crate) fn retention(&self, topic: TopicId) -> Retention {
        let life = self.catalog.life(topic);
        life.map_or(Retention::Nothing, |life| KINDS[life.kind].retention)
    }

    /// The bytes of the disk as they are, and as the worst crash would leave them.
    pub(crate) fn hash_disk(&mut self) {
        for files in [self.disk.live_files(), self.disk.durable_files()] {
            self.hash_files(&files);
        }
    }

    fn hash_files(&mut self, files: &BTreeMap<std::path::PathBuf, Vec<u8>>) {
        for (path, bytes) in files {
            self.trace.bytes(path.to_string_lossy().as_bytes());
            self.trace.bytes(bytes);
        }
    }
}

/// From here on an append goes past the journal: some of the batches do.
const PAST_BYTES: usize = 600;

fn config(has_queues: bool) -> BrokerConfig {
    let mut config = BrokerConfig::new(BrokerId(1), "/data");
    config.sync_threads = 0;
    // Small, so that its files are used again and again.
    config.journal = Some(fanlog_broker::JournalConfig {
        file_bytes: 64 * 1024,
        files_max: 3,
        past_bytes: PAST_BYTES,
    });
    config.has_timers = false;
    config.statics = [
        ("offsets.topic.num.partitions", "2"),
        // For the broker's own topics: a run seals several of their segments, and has something to compact.
        ("log.roll.ms", "3000"),
        ("group.initial.rebalance.delay.ms", "0"),
        ("group.consumer.min.session.timeout.ms", "1000"),
        ("group.consumer.session.timeout.ms", "8000"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    if has_queues {
        // Few, so that machines share their logs; and cut often, so that snapshots are replayed.
        let own = [("fanlog.queues.topic.num.partitions", "2")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        config.statics.extend(own);
    }
    config
}
