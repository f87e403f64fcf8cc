//! Every sync that a broker asks for fails once: of the journal, of segments behind it, of checkpoints and folders. No record is
//! acknowledged that the disk does not have, and a log that a failed sync concerns acknowledges nothing until a restart has read the disk.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::Broker;
use fanlog_environment::simulated::FailedSync;
use fanlog_environment::{
    DirEntry, Disk, DiskFile, Environment, KeptFile, OpenMode, SimulatedDisk,
};
use fanlog_model::Offset;
use parking_lot::Mutex;
use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};

const TOPICS: [&str; 2] = ["a", "b"];
const ROUNDS: usize = 24;

/// What was acknowledged, by topic.
type Acknowledged = [Vec<String>; 2];

/// Appends a record and syncs until it is acknowledged or refused; whether it was acknowledged.
fn produce_one(broker: &Arc<Broker>, topic: &str, value: &str) -> bool {
    let Ok(receipt) = partition(broker, topic, 0).append(&mut batch(&[value])) else {
        return false;
    };
    let needed = receipt.last_offset().plus(1);
    for _ in 0..20 {
        broker.sync_all();
        if partition(broker, topic, 0).high_watermark() >= needed {
            return true;
        }
    }
    false
}

/// Records of both topics, more than the journal holds, so that its files are used again.
fn script(broker: &Arc<Broker>, acknowledged: &mut Acknowledged) {
    for round in 0..ROUNDS {
        for (topic, acknowledged) in TOPICS.iter().zip(acknowledged.iter_mut()) {
            let is_stopped = partition(broker, topic, 0).check_serving().is_err();
            let value = format!("{round} {}", "x".repeat(5_000 + round));
            let is_acknowledged = produce_one(broker, topic, &value);
            assert!(
                !(is_stopped && is_acknowledged),
                "{topic} had stopped, and acknowledges"
            );
            if is_acknowledged {
                acknowledged.push(value);
            }
        }
        if round % 3 == 0 {
            broker.sync_next();
        }
    }
}

async fn check(machine: &Machine, acknowledged: &Acknowledged, what: &str) {
    let broker = machine.start();
    for (topic, acknowledged) in TOPICS.iter().zip(acknowledged) {
        let mut seen = Vec::new();
        loop {
            let more = values(&broker, topic, seen.len() as i64).await;
            if more.is_empty() {
                break;
            }
            seen.extend(more);
        }
        assert!(
            seen.starts_with(acknowledged),
            "{what}: {topic} has {} of {} acknowledged records",
            seen.len(),
            acknowledged.len()
        );
        assert!(produce_one(&broker, topic, "next"), "{what}: {topic}");
    }
}

#[tokio::test]
async fn whichever_sync_fails_nothing_acknowledged_is_lost() {
    let mut with_a_stop = 0;
    for failing in 0.. {
        let machine = Machine::new(failing);
        let broker = machine.start();
        for topic in TOPICS {
            create(&broker, topic, 1).await;
        }
        while broker.sync_next() {}
        let before = machine.disk.syncs();
        machine.disk.fail_sync(failing, FailedSync::PagesDropped);
        let mut acknowledged = Acknowledged::default();
        script(&broker, &mut acknowledged);
        let is_over = machine.disk.syncs() - before <= failing;
        let are_serving = TOPICS.map(|topic| partition(&broker, topic, 0).check_serving().is_ok());
        with_a_stop += usize::from(are_serving.contains(&false));
        if is_over {
            assert_eq!(acknowledged.map(|all| all.len()), [ROUNDS, ROUNDS]);
            break;
        }
        drop(broker);
        for seed in 0..3 {
            let cut = machine.fork();
            cut.disk.crash(seed);
            check(
                &cut,
                &acknowledged,
                &format!("sync {failing}, power cut {seed}"),
            )
            .await;
        }
        machine.disk.restart();
        check(&machine, &acknowledged, &format!("sync {failing}, kill -9")).await;
    }
    assert!(with_a_stop > 20, "{with_a_stop} syncs stopped a log");
}

/// The journal has failed, and a log goes on by syncing its segments; then one of those syncs fails.
#[tokio::test]
async fn with_the_journal_stopped_a_failed_sync_of_a_segment_stops_its_log() {
    let machine = Machine::new(81);
    let broker = machine.start();
    for topic in TOPICS {
        create(&broker, topic, 1).await;
    }
    assert!(produce_one(&broker, "b", "b0"));
    machine.disk.fail_sync(0, FailedSync::PagesDropped);
    assert!(!produce_one(&broker, "a", "in the journal that fails"));
    assert!(partition(&broker, "a", 0).check_serving().is_err());
    assert!(produce_one(&broker, "b", "b1"), "synced in its segment");
    machine.disk.fail_sync(0, FailedSync::PagesDropped);
    let receipt = append(&broker, "b", &["lost"]);
    broker.sync_all();
    assert!(receipt.durable().await.is_err());
    for topic in TOPICS {
        assert!(!produce_one(&broker, topic, "more"), "{topic}");
    }
    drop(broker);
    machine.disk.crash(1);
    let broker = machine.start();
    assert_eq!(values(&broker, "b", 0).await, ["b0", "b1"]);
    for topic in TOPICS {
        assert!(produce_one(&broker, topic, "again"), "{topic}");
    }
}

/// A disk on which a test can ask for what happens where all open files have unsynced bytes.
#[derive(Debug)]
struct CrowdedDisk {
    disk: Arc<SimulatedDisk>,
    kept: Mutex<Vec<Weak<KeptFile>>>,
}

impl CrowdedDisk {
    /// How many files were synced and closed.
    fn close_all(&self) -> usize {
        let kept: Vec<_> = self.kept.lock().drain(..).collect();
        let files = kept.iter().filter_map(Weak::upgrade);
        files.filter(|file| file.sync_and_close()).count()
    }
}

impl Disk for CrowdedDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.disk.create_dir_all(path)
    }
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.disk.read_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_file(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_dir_all(path)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.open(path, mode)
    }
    fn keep(&self, file: &Arc<KeptFile>) {
        self.kept.lock().push(Arc::downgrade(file));
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_dir(path)
    }
    fn available_bytes(&self) -> io::Result<u64> {
        self.disk.available_bytes()
    }
    fn total_bytes(&self) -> io::Result<u64> {
        self.disk.total_bytes()
    }
    fn drop_page_cache(&self, path: &Path) -> io::Result<()> {
        self.disk.drop_page_cache(path)
    }
}

#[tokio::test]
async fn a_sync_that_fails_before_a_file_is_closed_stops_its_log_and_the_journal_keeps_its_records()
{
    let machine = Machine::new(82);
    let disk = Arc::new(CrowdedDisk {
        disk: machine.disk.clone(),
        kept: Mutex::default(),
    });
    let environment = Environment {
        disk: disk.clone(),
        ..machine.environment()
    };
    let broker = Broker::start(config(), environment).unwrap();
    create(&broker, "a", 1).await;
    while broker.sync_next() {}
    disk.close_all();
    // Acknowledged by the journal; the segment has them in memory only.
    assert!(produce_one(&broker, "a", "one"));
    machine.disk.fail_sync(0, FailedSync::PagesDropped);
    assert_eq!(disk.close_all(), 0);
    // The disk answers well from now on, and must not be believed.
    while broker.sync_next() {}
    assert!(partition(&broker, "a", 0).check_serving().is_err());
    assert!(!produce_one(&broker, "a", "two"));
    drop(broker);
    for seed in 0..10 {
        let cut = machine.fork();
        cut.disk.crash(seed);
        let broker = cut.start();
        assert_eq!(values(&broker, "a", 0).await, ["one"]);
        assert_eq!(produce(&broker, "a", &["next"]).await, Offset(1));
    }
}
