//! Tickets: the log goes on while one is out, and one may lack file handles.

use super::*;
use crate::formats::file_names::{LEADER_EPOCH_CHECKPOINT, PRODUCER_SNAPSHOT};
use fanlog_environment::simulated::FailedSync;
use fanlog_environment::{DirEntry, DiskFile, OpenMode};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

type Hook = Box<dyn FnOnce() + Send>;

/// A disk on which something happens right before a file gets its name.
struct HookedDisk {
    disk: Arc<SimulatedDisk>,
    hook: Mutex<Option<(&'static str, Hook)>>,
    /// How many folders cannot be opened, as too many files are open.
    refused_folders: AtomicUsize,
}

impl HookedDisk {
    fn under(fixture: &mut Fixture) -> Arc<Self> {
        let disk = Arc::new(Self {
            disk: fixture.disk.clone(),
            hook: Mutex::new(None),
            refused_folders: AtomicUsize::new(0),
        });
        fixture.environment.disk = disk.clone();
        disk
    }
}

impl fmt::Debug for HookedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.disk.fmt(f)
    }
}

impl Disk for HookedDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.disk.create_dir_all(path)
    }
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.disk.read_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let is_awaited = |(suffix, _): &mut (&str, Hook)| to.to_string_lossy().ends_with(*suffix);
        let hook = self.hook.lock().take_if(is_awaited);
        if let Some((_, hook)) = hook {
            hook();
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
        self.disk.open(path, mode)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let refused = &self.refused_folders;
        let is_refused = |left: usize| left.checked_sub(1);
        match refused.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_refused) {
            Ok(_) => Err(io::Error::from_raw_os_error(24)),
            Err(_) => self.disk.sync_dir(path),
        }
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

/// Appends until there is one more segment.
fn roll(log: &mut Log) {
    let count = log.segment_count();
    while log.segment_count() == count {
        put(log, &"x".repeat(1000));
    }
}

/// A roll that happens right before a ticket's file with this suffix gets its name does not disturb it, nor it the roll.
fn check_roll_before(suffix: &'static str, prepare: impl FnOnce(&mut Log)) {
    let mut fixture = Fixture::new();
    let disk = HookedDisk::under(&mut fixture);
    let mut log = fixture.create(&small());
    prepare(&mut log);
    put(&mut log, "before the ticket");
    let ticket = log.begin_sync().unwrap();
    let log = Arc::new(Mutex::new(log));
    let rolling = log.clone();
    *disk.hook.lock() = Some((suffix, Box::new(move || roll(&mut rolling.lock()))));
    let result = ticket.run();
    assert!(disk.hook.lock().is_none(), "the ticket wrote {suffix}");
    let mut log = log.lock();
    log.finish_sync(ticket, result).unwrap();
    let end = sync(&mut log).unwrap();
    fixture.disk.crash(1);
    assert_eq!(fixture.open(&small(), 1).log_end_offset(), end);
}

#[test]
fn a_roll_and_a_ticket_may_write_the_epochs_at_once() {
    check_roll_before(LEADER_EPOCH_CHECKPOINT, |_| {});
}

#[test]
fn a_roll_and_a_ticket_may_write_the_snapshot_at_once() {
    check_roll_before(PRODUCER_SNAPSHOT, |log| {
        put(log, "an epoch");
        sync(log).unwrap();
        // So full that the first record of the roll does not fit: ticket and roll have a snapshot of the same offset.
        while log.size_bytes() + 1000 < 4096 {
            put(log, "filling");
        }
    });
}

#[test]
fn a_sync_without_file_handles_is_tried_again_and_acknowledges_nothing() {
    let mut fixture = Fixture::new();
    let disk = HookedDisk::under(&mut fixture);
    let mut log = fixture.create(&small());
    roll(&mut log);
    let before = log.durable_offset();
    // Each time for the leader epochs, which are written later then, and for the folder.
    disk.refused_folders.store(4, Ordering::Relaxed);
    assert_eq!(sync(&mut log), Ok(before));
    assert_eq!(sync(&mut log), Ok(before));
    assert_eq!(sync(&mut log), Ok(log.log_end_offset()));
    fixture.disk.crash(1);
    let end = log.log_end_offset();
    assert_eq!(fixture.open(&small(), 1).log_end_offset(), end);
}

#[test]
fn a_roll_after_a_failed_sync_that_is_not_told_yet_makes_nothing_durable() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&small());
    while log.size_bytes() + 1000 < 4096 {
        put(&mut log, "durable");
    }
    let durable = sync(&mut log).unwrap();
    put(&mut log, "lost");
    let ticket = log.begin_sync().unwrap();
    fixture.disk.fail_sync(0, FailedSync::PagesDropped);
    let result = ticket.run();
    assert!(result.is_err());
    // The kernel tells of an error once: the next fdatasync of the same file succeeds.
    fixture.disk.lift_faults();
    // It does not fit in the segment.
    send(&mut log, batch(&[(0, &"x".repeat(1000))])).unwrap();
    assert_eq!((log.segment_count(), log.durable_offset()), (2, durable));
    log.finish_sync(ticket, result).unwrap_err();
    assert!(log.begin_sync().is_none());
    log.close().unwrap_err();
    fixture.disk.restart();
    let log = fixture.open(&small(), 1);
    assert_eq!(log.log_end_offset(), durable);
}
