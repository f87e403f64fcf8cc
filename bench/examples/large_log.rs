//! Appends to a partition's log until it has so many bytes, of which the disk stores few: `large_log DATA_DIR FOLDER BYTES SEGMENT_BYTES`.
//!
//! Why it exists: how long a start takes over 100 GB must be measurable without 100 GB of disk. The batches are real, of records
//! whose values are zeros, and are appended by the storage engine itself; blocks of zeros are left out of the files.
//! The log is left as a process leaves it that is killed: synced now and then, not closed.

use anyhow::{Context, ensure};
use fanlog_environment::{
    DirEntry, Disk, DiskFile, Environment, KeptFile, OpenMode, OsEntropy, RealDisk, SystemClock,
};
use fanlog_model::LeaderEpoch;
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use fanlog_storage::{AppendOrigin, Log, LogConfig, RecoveryMode};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A record's value at most, and so about a batch.
const VALUE_BYTES_MAX: usize = 1024 * 1024;
/// What a batch of one record takes beside its value, at most.
const OVERHEAD_BYTES: usize = 128;
/// How much is appended between two syncs: what a broker lets pile up.
const SYNC_BYTES: u64 = 64 * 1024 * 1024;
/// What a file system stores as a whole.
const BLOCK_BYTES: usize = 4096;
/// The start that made the log's folder was the first.
const FIRST_EPOCH: LeaderEpoch = LeaderEpoch(0);

/// A disk that leaves out blocks of zeros where files grow.
#[derive(Debug)]
struct SparseDisk(RealDisk);

#[derive(Debug)]
struct SparseFile(Arc<dyn DiskFile>);

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data, folder, bytes, segment_bytes] = args.as_slice() else {
        anyhow::bail!("usage: large_log DATA_DIR FOLDER BYTES SEGMENT_BYTES");
    };
    let environment = Environment {
        clock: Arc::new(SystemClock::new()),
        entropy: Arc::new(OsEntropy),
        disk: Arc::new(SparseDisk(RealDisk::open(Path::new(data))?)),
    };
    let total: u64 = bytes.parse().context("the third argument is a number")?;
    let segment_bytes = segment_bytes
        .parse()
        .context("the fourth argument is a number")?;
    let appended = fill(&environment, Path::new(folder), total, segment_bytes)?;
    println!("appended_bytes {appended}");
    Ok(())
}

/// Appends until the log has so many bytes; answers how many were appended.
fn fill(
    environment: &Environment,
    folder: &Path,
    total: u64,
    segment_bytes: u32,
) -> anyhow::Result<u64> {
    ensure!(
        segment_bytes as usize > 2 * OVERHEAD_BYTES,
        "a segment of {segment_bytes} bytes holds no batch"
    );
    // A segment takes no batch that is larger than it may be.
    let value_bytes = VALUE_BYTES_MAX.min(segment_bytes as usize - OVERHEAD_BYTES);
    let config = LogConfig {
        segment_bytes,
        max_message_bytes: 2 * VALUE_BYTES_MAX as u32,
        ..LogConfig::default()
    };
    ensure!(
        Log::exists(environment, folder)?,
        "there is no log in {folder:?}: create the topic first, and stop the broker"
    );
    let mode = RecoveryMode { clean: true };
    let mut log = Log::open(environment, folder, config, mode, FIRST_EPOCH)?;
    let epoch = log.leader_epoch();
    let value = vec![0; value_bytes];
    let (mut appended, mut synced) = (0, 0);
    while appended < total {
        let now = environment.clock.wall_ms();
        let mut batch = BatchBuilder::new(Compression::None);
        batch.push(&NewRecord {
            timestamp: now,
            value: Some(&value),
            ..NewRecord::default()
        })?;
        let mut batch = batch.build()?;
        appended += batch.len() as u64;
        log.append(&mut batch, AppendOrigin::Client, epoch, now)?;
        if appended - synced >= SYNC_BYTES {
            synced = appended;
            if let Some(ticket) = log.begin_sync() {
                let result = ticket.run();
                log.finish_sync(ticket, result)?;
            }
        }
    }
    Ok(appended)
}

impl DiskFile for SparseFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        self.0.read_at(buf, at)
    }
    /// Block by block of the file, those of zeros behind its end aside.
    fn write_all_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        let len = self.0.len()?;
        let end = at + buf.len() as u64;
        let mut done = 0;
        while done < buf.len() {
            let position = at + done as u64;
            let in_block = BLOCK_BYTES - (position % BLOCK_BYTES as u64) as usize;
            let length = in_block.min(buf.len() - done);
            let bytes = &buf[done..done + length];
            if position < len || bytes.iter().any(|byte| *byte != 0) {
                self.0.write_all_at(bytes, position)?;
            }
            done += length;
        }
        match self.0.len()? < end {
            true => self.0.set_len(end),
            false => Ok(()),
        }
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn allocate(&self, _len: u64) -> io::Result<()> {
        Ok(())
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn sync_all(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}

impl Disk for SparseDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.create_dir_all(path)
    }
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.0.read_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.0.remove_file(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.remove_dir_all(path)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.0.exists(path)
    }
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.0.open(path, mode)?;
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        Ok(match is_log {
            true => Arc::new(SparseFile(file)),
            false => file,
        })
    }
    fn keep(&self, file: &Arc<KeptFile>) {
        self.0.keep(file);
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.sync_dir(path)
    }
    fn available_bytes(&self) -> io::Result<u64> {
        self.0.available_bytes()
    }
    fn total_bytes(&self) -> io::Result<u64> {
        self.0.total_bytes()
    }
    fn drop_page_cache(&self, path: &Path) -> io::Result<()> {
        self.0.drop_page_cache(path)
    }
}
