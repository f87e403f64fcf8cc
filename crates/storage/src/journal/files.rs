//! The journal as it is written: commits, files used again, the checkpoint.

use super::checkpoint::{self, Checkpoint};
use super::format::{
    self, BLOCK, BLOCK_BYTES, CommitEnd, ENTRY_BYTES, End, HEAD_BYTES, Usage, commit_bytes,
};
use super::registry::Registry;
use super::{Entry, FOLDER, JournalConfig, LogId, Pending};
use fanlog_environment::{DiskFile, Environment, OpenMode, write_atomically};
use fanlog_model::Offset;
use fanlog_model::invariants::LOG_1;
use parking_lot::Mutex;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// Written at once while a file is filled with zeros: commits wait no longer than for so many bytes.
const ZEROS_BYTES: usize = 128 * 1024;
const ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Why records were not committed.
#[derive(Debug, Error)]
pub enum CommitError {
    /// All files are needed: segments must be synced first. Nothing was written.
    #[error("all files of the journal are in use")]
    Full,
    /// The disk refused to make one more file. Nothing was written.
    #[error("the journal needs a file and cannot have it: {0}")]
    NoFile(io::Error),
    /// A write or a sync failed: nothing is committed any more.
    #[error("the journal has stopped: {0}")]
    Failed(Arc<str>),
}

/// What one commit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// How many records are durable now.
    pub count: usize,
    /// Whether it is the first of its file.
    pub is_first_of_file: bool,
}

/// The journal.
#[derive(Debug)]
pub struct Journal {
    environment: Environment,
    config: JournalConfig,
    writer: Mutex<Writer>,
    failed: OnceLock<Arc<str>>,
    registry: Mutex<Registry>,
    /// Held while a checkpoint is written.
    checkpointing: Mutex<()>,
}

#[derive(Debug, Default)]
struct Writer {
    current: Option<Current>,
    /// The number of the last commit of this run.
    last_commit: u64,
    table: Vec<u8>,
}

/// The file that is being written.
#[derive(Debug)]
struct Current {
    number: u64,
    usage: Usage,
    file: Arc<dyn DiskFile>,
    is_filled: bool,
    /// Where the next commit begins.
    position: u64,
}

impl Journal {
    pub(super) fn new(
        environment: &Environment,
        config: JournalConfig,
        registry: Registry,
    ) -> Self {
        Self {
            environment: environment.clone(),
            config,
            writer: Mutex::new(Writer::default()),
            failed: OnceLock::new(),
            registry: Mutex::new(registry),
            checkpointing: Mutex::new(()),
        }
    }

    /// How large it is.
    pub fn config(&self) -> JournalConfig {
        self.config
    }

    /// Why it has stopped, if it has.
    pub fn failure(&self) -> Option<Arc<str>> {
        self.failed.get().cloned()
    }

    /// Nothing is committed any more.
    pub fn stop(&self, reason: &str) -> Arc<str> {
        self.failed.get_or_init(|| reason.into()).clone()
    }

    /// Makes records durable, from the one numbered `from` on: as many as one commit takes. Blocks for one write and one sync.
    ///
    /// # Errors
    /// There is no file for them, or a write or sync failed, now or before.
    pub fn commit(&self, pending: &Pending, from: usize) -> Result<Committed, CommitError> {
        let mut writer = self.writer.lock();
        if let Some(reason) = self.failed.get() {
            return Err(CommitError::Failed(reason.clone()));
        }
        let entries = &pending.entries[from..];
        let skipped = &pending.entries[..from];
        let payload_at: usize = skipped.iter().map(|e| e.bytes as usize).sum();
        let left = |position: u64| self.config.file_bytes.saturating_sub(position);
        let fits = writer
            .current
            .as_ref()
            .map(|c| fitting(entries, left(c.position)));
        let is_next_due = fits.is_none_or(|(count, _)| count == 0) || self.has_better(&writer);
        let mut is_new = false;
        if is_next_due {
            writer.current = Some(self.next_file()?);
            is_new = true;
        }
        let current = writer
            .current
            .as_ref()
            .expect("it was made where there was none");
        let (count, bytes) = fitting(entries, left(current.position));
        assert!(
            count > 0,
            "{LOG_1}: a record of {} bytes exceeds a journal file",
            entries[0].bytes
        );
        let payload = &pending.payload[payload_at..payload_at + bytes];
        let done = writer.write(&self.registry, &entries[..count], payload, is_new);
        match done {
            Ok(()) => Ok(Committed {
                count,
                is_first_of_file: is_new,
            }),
            Err(error) => {
                tracing::error!(%error, "the journal cannot be written: nothing is acknowledged any more");
                Err(CommitError::Failed(self.stop(&error.to_string())))
            }
        }
    }

    /// Whether the file that is written has never been filled, and one that has is there.
    fn has_better(&self, writer: &Writer) -> bool {
        let current = writer.current.as_ref();
        current.is_some_and(|file| !file.is_filled && self.registry.lock().filled().is_some())
    }

    /// The file to write next: one that is not needed any more, or a new one.
    fn next_file(&self) -> Result<Current, CommitError> {
        let mut registry = self.registry.lock();
        if registry.free().is_none() {
            if registry.counted() >= self.config.files_max.max(2) {
                return Err(CommitError::Full);
            }
            let number = registry.begin_making();
            drop(registry);
            let made = self.create(number);
            registry = self.registry.lock();
            registry.end_making(number, made.as_ref().ok().cloned(), false);
            made.map_err(CommitError::NoFile)?;
        }
        let Some(free) = registry.free() else {
            return Err(CommitError::Full);
        };
        let (number, file, is_filled) = (free.number, free.file.clone(), free.is_filled);
        if !is_filled {
            // Before anything is written, so that no commit runs out of space.
            file.allocate(self.config.file_bytes)
                .map_err(CommitError::NoFile)?;
        }
        let usage = Usage {
            epoch: registry.next_epoch,
            salt: self.environment.entropy.u64(),
        };
        registry.next_epoch += 1;
        registry.current = Some(number);
        let entry = registry.file_mut(number);
        entry.expect("it is one of them").usage = Some(usage);
        Ok(Current {
            number,
            usage,
            file,
            is_filled,
            position: BLOCK_BYTES,
        })
    }

    fn create(&self, number: u64) -> io::Result<Arc<dyn DiskFile>> {
        let disk = &*self.environment.disk;
        let file = disk.open(&path(number), OpenMode::CreateOrOpen)?;
        disk.sync_dir(Path::new(FOLDER))?;
        Ok(file)
    }

    /// Makes a file ready where none is, so that a commit need not: filled with zeros, as a file that was written before takes a sync
    /// in half the time. Says whether it made one.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn prepare_spare(&self) -> io::Result<bool> {
        let (number, free) = {
            let mut registry = self.registry.lock();
            let is_due = registry.filled().is_none()
                && registry.making.is_empty()
                && registry.current.is_some();
            if !is_due {
                return Ok(false);
            }
            match registry.begin_filling() {
                Some((number, file)) => (number, Some(file)),
                None if registry.counted() < self.config.files_max => {
                    (registry.begin_making(), None)
                }
                None => return Ok(false),
            }
        };
        let made = free.map_or_else(|| self.create(number), Ok);
        let filled = match &made {
            Ok(file) => self.fill(&**file),
            Err(_) => Ok(()),
        };
        let is_filled = filled.is_ok();
        let mut registry = self.registry.lock();
        registry.end_making(number, made.as_ref().ok().cloned(), is_filled);
        made.and(filled).map(|()| true)
    }

    /// Bit by bit: commits wait for no more than one of them.
    fn fill(&self, file: &dyn DiskFile) -> io::Result<()> {
        let at_once = self.config.file_bytes.min(ZEROS_BYTES as u64);
        let zeros = vec![0; usize::try_from(at_once).unwrap_or(ZEROS_BYTES)];
        let mut at = file.len()?;
        while at < self.config.file_bytes {
            let length = (self.config.file_bytes - at).min(at_once);
            let length = usize::try_from(length).unwrap_or(zeros.len());
            file.write_all_at(&zeros[..length], at)?;
            file.sync_data()?;
            at += length as u64;
        }
        Ok(())
    }

    /// A log's segments are durable below `end`.
    pub fn note_synced(&self, log: LogId, end: Offset) {
        self.registry.lock().note_synced(log, end);
    }

    pub(super) fn release_old(&self, log: LogId) {
        let mut registry = self.registry.lock();
        let run = registry.run;
        for file in &mut registry.files {
            if file.usage.is_some_and(|usage| usage.run() != run) {
                file.needed.remove(&log);
            }
        }
    }

    /// A log has stopped: its records stay until a restart, and the files that hold them do not count against the limit.
    pub fn keep(&self, log: LogId) {
        let mut registry = self.registry.lock();
        registry.stopped.insert(log);
        let run = registry.run;
        for file in &mut registry.files {
            // What an earlier run left may be damaged, and hold more of it than is known.
            if file.usage.is_some_and(|usage| usage.run() != run) {
                file.needed.insert(log, Offset(i64::MAX));
            }
        }
    }

    /// A log is gone, with its records.
    pub fn forget(&self, log: LogId) {
        self.registry.lock().forget(log);
    }

    /// All logs that there are were opened, or kept: logs that are not known any more are forgotten, and what earlier runs left may be
    /// used again.
    pub fn settle(&self, is_known: impl Fn(&LogId) -> bool) {
        let mut registry = self.registry.lock();
        registry.is_settled = true;
        let of_files = registry.files.iter().flat_map(|file| file.needed.keys());
        let all: Vec<LogId> = registry.points.keys().chain(of_files).copied().collect();
        for log in all.iter().filter(|log| !is_known(log)) {
            registry.forget(*log);
        }
    }

    /// How many more commits' files there are before segments must be synced.
    pub fn files_left(&self) -> usize {
        let registry = self.registry.lock();
        let to_be_made = self.config.files_max.saturating_sub(registry.counted());
        registry.free_count() + to_be_made
    }

    /// Lets files be used again that no log needs. Says whether there were any.
    ///
    /// # Errors
    /// The disk refuses the checkpoint that must come first.
    pub fn recycle(&self) -> io::Result<bool> {
        let _alone = self.checkpointing.lock();
        let (released, checkpoint) = {
            let registry = self.registry.lock();
            let released = registry.releasable();
            if released.is_empty() {
                return Ok(false);
            }
            let checkpoint = registry.checkpoint_without(&released);
            (released, checkpoint)
        };
        self.write_checkpoint(&checkpoint)?;
        let mut registry = self.registry.lock();
        for number in released {
            if let Some(file) = registry.file_mut(number) {
                file.usage = None;
                file.is_begun = false;
                file.is_filled = self.config.is_filled(&*file.file);
            }
        }
        let surplus = registry
            .files
            .len()
            .saturating_sub(self.config.files_max.max(2));
        for _ in 0..surplus {
            if let Some(at) = registry.files.iter().position(|file| file.usage.is_none()) {
                let file = registry.files.remove(at);
                // One too many does no harm.
                let _ = self.environment.disk.remove_file(&path(file.number));
            }
        }
        Ok(true)
    }

    /// Writes down how far each log is durable, and which files count.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn checkpoint(&self) -> io::Result<()> {
        let _alone = self.checkpointing.lock();
        let checkpoint = self.registry.lock().checkpoint_without(&[]);
        self.write_checkpoint(&checkpoint)
    }

    /// Everything is durable in the segments, and nothing more is written: the next start reads nothing.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn close(&self) -> io::Result<()> {
        let _alone = self.checkpointing.lock();
        let checkpoint = {
            let mut registry = self.registry.lock();
            registry.current = None;
            for file in &mut registry.files {
                file.usage = None;
                file.needed.clear();
            }
            registry.checkpoint_without(&[])
        };
        self.writer.lock().current = None;
        self.write_checkpoint(&checkpoint)
    }

    fn write_checkpoint(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let disk = &*self.environment.disk;
        write_atomically(disk, &checkpoint_path(), &checkpoint.encode())
    }
}

impl Writer {
    fn write(
        &mut self,
        registry: &Mutex<Registry>,
        entries: &[Entry],
        payload: &[u8],
        is_new: bool,
    ) -> io::Result<()> {
        let Self {
            current,
            last_commit,
            table,
            ..
        } = self;
        let current = current.as_mut().expect("a commit has a file");
        registry.lock().note_written(current.number, entries);
        *last_commit += 1;
        encode_table(entries, payload, table);
        let end = CommitEnd {
            usage: current.usage,
            number: *last_commit,
            count: u32::try_from(entries.len()).expect("a commit fits in a file"),
            payload_bytes: payload.len() as u64,
            table_crc: format::table_crc(table, current.usage, *last_commit),
        };
        let mut header = [0; BLOCK];
        header[..HEAD_BYTES].copy_from_slice(&format::encode_file_header(current.usage));
        let total = end.commit_bytes().expect("a commit fits in a file");
        let zeros = total as usize - 2 * HEAD_BYTES - 2 * table.len() - payload.len();
        let (head, tail) = (end.encode(End::Head), end.encode(End::Tail));
        let all = [
            &header[..],
            &head,
            table,
            payload,
            &ZEROS[..zeros],
            table,
            &tail,
        ]
        .map(IoSlice::new);
        let (slices, at) = match is_new {
            true => (&all[..], 0),
            false => (&all[1..], current.position),
        };
        current.file.write_all_vectored_at(slices, at)?;
        current.position += total;
        current.file.sync_data()?;
        if is_new {
            registry.lock().note_begun(current.number);
        }
        Ok(())
    }
}

/// How many of the records fit in one commit of so many bytes, and the bytes of their payloads.
fn fitting(entries: &[Entry], bytes_max: u64) -> (usize, usize) {
    let fits = |count: usize, payload: u64| {
        commit_bytes(count as u64, payload).is_some_and(|bytes| bytes <= bytes_max)
    };
    let (mut count, mut payload) = (0, 0);
    for entry in entries {
        let more = payload + u64::from(entry.bytes);
        if !fits(count + 1, more) {
            break;
        }
        (count, payload) = (count + 1, more);
    }
    (count, usize::try_from(payload).unwrap_or(usize::MAX))
}

fn encode_table(entries: &[Entry], payload: &[u8], table: &mut Vec<u8>) {
    table.clear();
    table.reserve(entries.len() * ENTRY_BYTES);
    let mut at = 0;
    for entry in entries {
        let bytes = &payload[at..at + entry.bytes as usize];
        format::encode_entry(entry, crc32c::crc32c(bytes), table);
        at += entry.bytes as usize;
    }
}

pub(super) fn path(number: u64) -> PathBuf {
    Path::new(FOLDER).join(format!("{number}.journal"))
}

pub(super) fn checkpoint_path() -> PathBuf {
    Path::new(FOLDER).join(checkpoint::FILE)
}
