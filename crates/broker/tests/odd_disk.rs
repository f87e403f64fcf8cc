//! A disk that is slow at a bad moment, or on which too many files are open.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::{
    Machine, batch, by_name, config, create, drive, name, new_topic, partition, produce, values,
};
use fanlog_broker::{Broker, Isolation, OffsetSpec};
use fanlog_coordinators::catalog::TopicRef;
use fanlog_environment::{
    DirEntry, Disk, DiskFile, Environment, ManualClock, OpenMode, SimulatedDisk,
};
use fanlog_model::{Offset, PartitionIndex, TimestampMs};
use parking_lot::{Condvar, Mutex};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// How long a sync is held up for a deletion that does not wait for it.
const HELD_UP: Duration = Duration::from_millis(200);

/// A disk that is slow to write producer snapshots, and notes whether the folder goes meanwhile. As often as it is told to
/// it has no handle for syncing a folder.
#[derive(Debug)]
struct OddDisk {
    disk: Arc<SimulatedDisk>,
    state: Mutex<State>,
    changed: Condvar,
    missing_handles: AtomicUsize,
    /// How many removals of files fail.
    failing_removals: AtomicUsize,
    /// Held by a test while files shall not go.
    removals: Mutex<()>,
    has_removal_begun: AtomicBool,
    /// Held by a test while time indexes shall not be read.
    searches: Mutex<()>,
    has_search_begun: AtomicBool,
    clock: Arc<ManualClock>,
    /// How long it takes until a file can be read past the page cache.
    slow_ms: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    has_begun: bool,
    is_writing: bool,
    went_meanwhile: bool,
}

impl OddDisk {
    fn under(machine: &Machine) -> (Arc<Self>, Environment) {
        let disk = Arc::new(Self {
            disk: machine.disk.clone(),
            state: Mutex::default(),
            changed: Condvar::new(),
            missing_handles: AtomicUsize::new(0),
            failing_removals: AtomicUsize::new(0),
            removals: Mutex::default(),
            has_removal_begun: AtomicBool::new(false),
            searches: Mutex::default(),
            has_search_begun: AtomicBool::new(false),
            clock: machine.clock.clone(),
            slow_ms: AtomicU64::new(0),
        });
        let environment = Environment {
            disk: disk.clone(),
            ..machine.environment()
        };
        (disk, environment)
    }

    fn hold_up(&self) {
        let mut state = self.state.lock();
        state.has_begun = true;
        state.is_writing = true;
        self.changed.notify_all();
        while !state.went_meanwhile {
            if self.changed.wait_for(&mut state, HELD_UP).timed_out() {
                break;
            }
        }
        state.is_writing = false;
    }

    fn wait_for_begin(&self) {
        let mut state = self.state.lock();
        while !state.has_begun {
            self.changed.wait(&mut state);
        }
    }
}

const EIO: i32 = 5;
const EMFILE: i32 = 24;

/// Takes one of those that are left; whether there was one.
fn take_one(left: &AtomicUsize) -> bool {
    let one_less = |left: usize| left.checked_sub(1);
    let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
    taken.is_ok()
}

impl Disk for OddDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.disk.create_dir_all(path)
    }
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.disk.read_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if from == Path::new("t-0") {
            let mut state = self.state.lock();
            state.went_meanwhile |= state.is_writing;
            self.changed.notify_all();
        }
        self.disk.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.has_removal_begun.store(true, Ordering::Release);
        let _not_held = self.removals.lock();
        match take_one(&self.failing_removals) {
            true => Err(io::Error::from_raw_os_error(EIO)),
            false => self.disk.remove_file(path),
        }
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_dir_all(path)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let is_snapshot = path.to_string_lossy().contains(".snapshot");
        if is_snapshot && mode == OpenMode::CreateOrOpen && path.starts_with("t-0") {
            self.hold_up();
        }
        if mode == OpenMode::Read && path.extension().is_some_and(|e| e == "timeindex") {
            self.has_search_begun.store(true, Ordering::Release);
            drop(self.searches.lock());
        }
        self.disk.open(path, mode)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        match take_one(&self.missing_handles) {
            true => Err(io::Error::from_raw_os_error(EMFILE)),
            false => self.disk.sync_dir(path),
        }
    }
    fn available_bytes(&self) -> io::Result<u64> {
        self.disk.available_bytes()
    }
    fn total_bytes(&self) -> io::Result<u64> {
        self.disk.total_bytes()
    }
    fn drop_page_cache(&self, path: &Path) -> io::Result<()> {
        let slow = Duration::from_millis(self.slow_ms.load(Ordering::Relaxed));
        self.clock.advance(slow);
        self.disk.drop_page_cache(path)
    }
}

#[tokio::test]
async fn a_topic_is_deleted_after_its_sync_and_leaves_nothing_to_the_next_of_its_name() {
    let machine = Machine::new(21);
    let (disk, environment) = OddDisk::under(&machine);
    let broker = Broker::start(config(), environment).unwrap();
    let mut topic = new_topic("t", 1);
    topic.overrides = vec![("segment.bytes".into(), Some("1048576".into()))];
    let created = drive(&broker, broker.create_topics(vec![topic], false)).await;
    created.unwrap().remove(0).unwrap();
    // A snapshot is due with the sync of these.
    let large = "x".repeat(300_000);
    let receipt = partition(&broker, "t", 0)
        .append(&mut batch(&[&large]))
        .unwrap();
    let syncing = {
        let broker = broker.clone();
        std::thread::spawn(move || broker.sync_all())
    };
    disk.wait_for_begin();
    let refs = vec![TopicRef::Name(name("t").to_string())];
    let deleted = drive(&broker, broker.delete_topics(refs)).await.unwrap();
    deleted.into_iter().for_each(|one| drop(one.unwrap()));
    create(&broker, "t", 1).await;
    syncing.join().unwrap();
    let went = disk.state.lock().went_meanwhile;
    assert!(!went, "the folder went during a sync");
    assert!(receipt.durable().await.is_err());
    produce(&broker, "t", &["kept"]).await;
    drop(broker);
    machine.disk.restart();
    assert_eq!(values(&machine.start(), "t", 0).await, ["kept"]);
}

#[tokio::test]
async fn records_are_acknowledged_once_there_are_file_handles_again() {
    let machine = Machine::new(25);
    let (disk, environment) = OddDisk::under(&machine);
    let broker = Broker::start(config(), environment).unwrap();
    let mut topic = new_topic("t", 1);
    topic.overrides = vec![("segment.bytes".into(), Some("1048576".into()))];
    let created = drive(&broker, broker.create_topics(vec![topic], false)).await;
    created.unwrap().remove(0).unwrap();
    let large = "x".repeat(600_000);
    produce(&broker, "t", &[&large]).await;
    // This begins a segment, whose name must be synced.
    let rolled = partition(&broker, "t", 0).append(&mut batch(&[&large]));
    disk.missing_handles.store(3, Ordering::Relaxed);
    drive(&broker, rolled.unwrap().durable()).await.unwrap();
    assert_eq!(disk.missing_handles.load(Ordering::Relaxed), 0);
    drop(broker);
    machine.disk.crash(1);
    assert_eq!(values(&machine.start(), "t", 1).await, [large]);
}

/// A broker with three segments in t-0, of which retention may take the first two.
async fn broker_with_old_segments(machine: &Machine) -> (Arc<OddDisk>, Arc<Broker>) {
    let (disk, environment) = OddDisk::under(machine);
    let broker = Broker::start(config(), environment).unwrap();
    let mut topic = new_topic("t", 1);
    topic.overrides = vec![
        ("segment.bytes".into(), Some("1048576".into())),
        ("retention.bytes".into(), Some("1000".into())),
    ];
    let created = drive(&broker, broker.create_topics(vec![topic], false)).await;
    created.unwrap().remove(0).unwrap();
    let large = "x".repeat(600_000);
    for _ in 0..3 {
        produce(&broker, "t", &[&large]).await;
    }
    while broker.sync_next() {}
    (disk, broker)
}

fn segments(machine: &Machine) -> usize {
    let entries = machine.disk.read_dir(Path::new("t-0")).unwrap();
    let is_segment = |entry: &&DirEntry| entry.name.to_string_lossy().ends_with(".log");
    entries.iter().filter(is_segment).count()
}

/// Whether an append gets through now. One that waits for the log's lock goes on later.
fn appends_meanwhile(broker: &Broker) -> bool {
    let log = partition(broker, "t", 0);
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(log.append(&mut batch(&["y"])).is_ok()));
    told.recv_timeout(Duration::from_secs(10)) == Ok(true)
}

#[tokio::test]
async fn appends_go_on_while_an_offset_is_looked_up_by_time() {
    let machine = Machine::new(43);
    let (disk, broker) = broker_with_old_segments(&machine).await;
    let held = disk.searches.lock();
    disk.has_search_begun.store(false, Ordering::Release);
    let search = {
        let broker = broker.clone();
        std::thread::spawn(move || {
            let spec = OffsetSpec::Timestamp(TimestampMs(1_700_000_000_000));
            let isolation = Isolation::ReadUncommitted;
            broker.list_offset(&by_name("t"), PartitionIndex(0), spec, isolation, None)
        })
    };
    while !disk.has_search_begun.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    let went_on = appends_meanwhile(&broker);
    drop(held);
    assert!(went_on, "an append waited for a search");
    assert_eq!(search.join().unwrap().unwrap().offset, Some(Offset(0)));
}

#[tokio::test]
async fn appends_go_on_while_old_segments_are_removed() {
    let machine = Machine::new(41);
    let (disk, broker) = broker_with_old_segments(&machine).await;
    let held = disk.removals.lock();
    disk.has_removal_begun.store(false, Ordering::Release);
    let maintenance = {
        let broker = broker.clone();
        std::thread::spawn(move || broker.maintain())
    };
    while !disk.has_removal_begun.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    let went_on = appends_meanwhile(&broker);
    drop(held);
    assert!(went_on, "an append waited for a removal");
    maintenance.join().unwrap();
    assert_eq!(segments(&machine), 1);
}

#[tokio::test]
async fn a_segment_that_was_not_removed_is_removed_by_the_next_round() {
    let machine = Machine::new(42);
    let (disk, broker) = broker_with_old_segments(&machine).await;
    let before = segments(&machine);
    disk.failing_removals.store(1, Ordering::Relaxed);
    broker.maintain();
    assert_eq!(segments(&machine), before);
    broker.maintain();
    assert_eq!(segments(&machine), 1);
}

/// Keeps the messages that are logged.
#[derive(Clone, Debug, Default)]
struct Messages(Arc<Mutex<Vec<String>>>);

impl tracing::field::Visit for Messages {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().push(format!("{value:?}"));
        }
    }
}

impl tracing::Subscriber for Messages {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn a_start_that_takes_longer_than_a_second_says_how_far_it_is() {
    const PARTITIONS: i32 = 30;
    let machine = Machine::new(44);
    let broker = machine.start();
    create(&broker, "t", PARTITIONS).await;
    drop(broker);
    for (slow_ms, told) in [(100, 2..5), (1, 0..1)] {
        machine.disk.restart();
        let (disk, environment) = OddDisk::under(&machine);
        disk.slow_ms.store(slow_ms, Ordering::Relaxed);
        let messages = Messages::default();
        let logged = tracing::subscriber::set_default(messages.clone());
        drop(Broker::start(config(), environment).unwrap());
        drop(logged);
        let messages = messages.0.lock();
        let progress = messages
            .iter()
            .filter(|said| said.contains("of 30 logs are open"));
        assert!(told.contains(&progress.count()), "{messages:?}");
    }
}
