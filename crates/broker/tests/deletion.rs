//! A topic is deleted while its last sync is still under way.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::{Machine, batch, config, create, drive, name, new_topic, partition, produce, values};
use fanlog_broker::Broker;
use fanlog_coordinators::catalog::TopicRef;
use fanlog_environment::{DirEntry, Disk, DiskFile, OpenMode, SimulatedDisk};
use parking_lot::{Condvar, Mutex};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a sync is held up for a deletion that does not wait for it.
const HELD_UP: Duration = Duration::from_millis(200);

/// A disk that is slow to write producer snapshots, and notes whether the folder goes meanwhile.
#[derive(Debug)]
struct SlowSnapshots {
    disk: Arc<SimulatedDisk>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    has_begun: bool,
    is_writing: bool,
    went_meanwhile: bool,
}

impl SlowSnapshots {
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

impl Disk for SlowSnapshots {
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
        self.disk.remove_file(path)
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
        self.disk.open(path, mode)
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
async fn a_topic_is_deleted_after_its_sync_and_leaves_nothing_to_the_next_of_its_name() {
    let machine = Machine::new(21);
    let disk = Arc::new(SlowSnapshots {
        disk: machine.disk.clone(),
        state: Mutex::default(),
        changed: Condvar::new(),
    });
    let mut environment = machine.environment();
    environment.disk = disk.clone();
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
