//! Reading the journal at a start: what each log has in it, and what is lost where it is damaged.
//!
//! A commit begins only when the one before it is durable. So a commit is **proven** where one with a higher number, of the same start
//! of the broker, has left a trace; only the last of a start can be torn, and of that nothing was acknowledged unless it is whole.
//! - A record that is not whole in a commit that is not proven was never acknowledged: it is passed over.
//! - A record that is not whole in a proven commit is damage to its log, unless the log's segments hold what it held.
//! - A gap between a log's records is the same.
//! - A proven commit whose table cannot be read at either end may have held records of any log. A log that has a record in a later
//!   commit shows by its offsets whether something is missing; a log that has none cannot show it, and stops.

use super::checkpoint::{self, Checkpoint};
use super::files::{Journal, checkpoint_path, path};
use super::format::Usage;
use super::registry::{JournalFile, Registry};
use super::scan::{self, FoundCommit, Identity};
use super::{Entry, FOLDER, JournalConfig, LogId};
use fanlog_environment::{Disk, DiskFile, Environment, OpenMode, read_bounded};
use fanlog_model::{LeaderEpoch, Offset};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What the journal held at the start.
#[derive(Debug, Default)]
pub struct Recovered {
    points: HashMap<LogId, Offset>,
    /// In the order in which they were committed.
    logs: Mutex<HashMap<LogId, Vec<Kept>>>,
    /// The latest place where what was durable cannot be read, and the commit's order.
    unknown: Option<Lost>,
    /// Whether there was a journal.
    is_there: bool,
}

/// Where the records of an unknown log are lost.
#[derive(Clone, Debug)]
struct Lost {
    order: (u64, u64),
    path: PathBuf,
    position: u64,
}

/// A record of a log that was found.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) entry: Entry,
    crc: u32,
    position: u64,
    is_whole: bool,
    is_proven: bool,
    /// The start of the broker, and the commit in it.
    order: (u64, u64),
    path: Arc<Path>,
    file: Arc<dyn DiskFile>,
}

/// What one log has in the journal.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// Below it the segments were durable.
    point: Offset,
    kept: Vec<Kept>,
    unknown: Option<Lost>,
    is_there: bool,
}

/// Damage that a log must not pass over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    pub(crate) path: PathBuf,
    pub(crate) position: u64,
    pub(crate) offset: Offset,
    pub(crate) reason: String,
}

/// A file with its commits.
struct ScannedFile {
    usage: Usage,
    path: Arc<Path>,
    file: Arc<dyn DiskFile>,
    commits: Vec<FoundCommit>,
}

impl Journal {
    /// Opens the journal in a data directory and reads what it holds. `run` must be higher at each start than at any before.
    /// After a clean shutdown nothing is read.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn open(
        environment: &Environment,
        config: JournalConfig,
        run: LeaderEpoch,
        is_clean: bool,
    ) -> io::Result<(Self, Recovered)> {
        let disk = &*environment.disk;
        let folder = Path::new(FOLDER);
        let is_there = disk.exists(folder)?;
        if !is_there {
            disk.create_dir_all(folder)?;
            disk.sync_dir(Path::new(""))?;
        }
        let run = u64::from(run.0.unsigned_abs());
        let mut registry = Registry {
            run,
            next_epoch: (run << 32) | 1,
            ..Registry::default()
        };
        let checkpoint = read_checkpoint(disk)?;
        let mut recovered = Recovered {
            is_there: is_there && !is_clean,
            ..Recovered::default()
        };
        if !is_clean {
            recovered.points.clone_from(&checkpoint.points);
        }
        let mut scanned = Vec::new();
        let mut progress = Progress::new(environment);
        for (number, path) in names(disk)? {
            progress.tell(scanned.len());
            if !is_clean {
                // After a failed sync the kernel shows what the disk does not have.
                disk.drop_page_cache(&path)?;
            }
            let file = disk.open(&path, OpenMode::ReadWrite)?;
            let identity = match is_clean {
                true => Identity::Unused,
                false => scan::identify(&*file)?,
            };
            let usage = match identity {
                Identity::Used(usage) if checkpoint.is_live(usage.epoch) => Some(usage),
                Identity::Used(_) | Identity::Unused => None,
                Identity::Damaged => {
                    recovered.lose(Lost {
                        order: (u64::MAX, number),
                        path: path.clone(),
                        position: 0,
                    });
                    Some(Usage::default())
                }
            };
            registry.files.push(JournalFile {
                number,
                is_filled: config.is_filled(&*file),
                file: file.clone(),
                usage,
                is_begun: usage.is_some(),
                needed: HashMap::new(),
            });
            if let Some(usage) = usage.filter(|usage| *usage != Usage::default()) {
                let is_wanted = |entry: &Entry| recovered.is_wanted(entry);
                let commits = scan::commits(&*file, usage, &is_wanted)?;
                let path = path.into();
                scanned.push(ScannedFile {
                    usage,
                    path,
                    file,
                    commits,
                });
            }
        }
        recovered.note_missing_files(&checkpoint, &scanned);
        recovered.take_in(&checkpoint, scanned);
        recovered.tell_needs(&mut registry);
        registry.points.clone_from(&recovered.points);
        Ok((Self::new(environment, config, registry), recovered))
    }

    /// A log that was opened holds durably what the journal had of it.
    pub fn note_recovered(&self, log: LogId, end: Offset) {
        self.release_old(log);
        self.note_synced(log, end);
    }
}

impl Recovered {
    /// What a log has in the journal.
    pub fn replay(&self, log: LogId) -> Replay {
        let kept = self.logs.lock().get(&log).cloned().unwrap_or_default();
        let is_later = |lost: &&Lost| kept.last().is_none_or(|last| last.order < lost.order);
        Replay {
            point: self.points.get(&log).copied().unwrap_or(Offset::ZERO),
            unknown: self.unknown.as_ref().filter(is_later).cloned(),
            kept,
            is_there: self.is_there,
        }
    }

    /// The log is open and has it: nothing of it is asked for again.
    pub fn forget(&self, log: LogId) {
        self.logs.lock().remove(&log);
    }

    fn is_wanted(&self, entry: &Entry) -> bool {
        let point = self.points.get(&entry.log);
        point.is_none_or(|point| entry.next > *point)
    }

    fn lose(&mut self, lost: Lost) {
        if self
            .unknown
            .as_ref()
            .is_none_or(|known| known.order < lost.order)
        {
            self.unknown = Some(lost);
        }
    }

    /// Files that a checkpoint names and that are not there.
    fn note_missing_files(&mut self, checkpoint: &Checkpoint, scanned: &[ScannedFile]) {
        for epoch in &checkpoint.live {
            if !scanned.iter().any(|file| file.usage.epoch == *epoch) {
                self.lose(Lost {
                    order: (epoch >> 32, u64::MAX),
                    path: Path::new(FOLDER).join(format!("(the file of epoch {epoch})")),
                    position: 0,
                });
            }
        }
    }

    fn take_in(&mut self, checkpoint: &Checkpoint, mut scanned: Vec<ScannedFile>) {
        scanned.sort_by_key(|file| file.usage);
        let mut last_of_run: HashMap<u64, u64> = HashMap::new();
        for file in &scanned {
            let last = file.commits.iter().map(|commit| commit.number).max();
            let known = last_of_run.entry(file.usage.run()).or_default();
            *known = last.unwrap_or(0).max(*known);
        }
        let mut expected: Option<(Usage, u64)> = None;
        for file in scanned {
            let run = file.usage.run();
            for commit in &file.commits {
                let order = (run, commit.number);
                let is_proven = commit.number < last_of_run[&run];
                if !is_proven && commit.is_torn() {
                    tracing::warn!(file = %file.path.display(), position = commit.position, "the last commit of a start is torn: what is not whole in it was never acknowledged");
                }
                let is_gap = expected.is_some_and(|(before, number)| {
                    let mut between = before.epoch + 1..file.usage.epoch;
                    before.run() == run
                        && number < commit.number
                        && between.all(|epoch| checkpoint.is_live(epoch))
                });
                let is_unknown = commit.records.is_none() && is_proven;
                if is_gap || is_unknown {
                    let number = match is_unknown {
                        true => commit.number,
                        false => commit.number - 1,
                    };
                    self.lose(Lost {
                        order: (run, number),
                        path: file.path.to_path_buf(),
                        position: commit.position,
                    });
                }
                expected = Some((file.usage, commit.number + 1));
                self.take_in_commit(&file, commit, order, is_proven);
            }
        }
    }

    fn take_in_commit(
        &mut self,
        file: &ScannedFile,
        commit: &FoundCommit,
        order: (u64, u64),
        is_proven: bool,
    ) {
        for record in commit.records.iter().flatten() {
            if self.is_wanted(&record.entry) {
                let kept = self.logs.get_mut().entry(record.entry.log).or_default();
                kept.push(Kept {
                    entry: record.entry,
                    crc: record.crc,
                    position: record.position,
                    is_whole: record.is_whole,
                    is_proven,
                    order,
                    path: file.path.clone(),
                    file: file.file.clone(),
                });
            }
        }
    }

    /// The files stay until the logs that have records in them are open.
    fn tell_needs(&self, registry: &mut Registry) {
        for (log, kept) in &*self.logs.lock() {
            for kept in kept {
                let holds = |file: &&mut JournalFile| path(file.number) == *kept.path;
                if let Some(file) = registry.files.iter_mut().find(holds) {
                    file.needed.insert(*log, Offset(i64::MAX));
                }
            }
        }
    }
}

impl Kept {
    /// The batches.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.entry.bytes as usize];
        self.file.read_exact_at(&mut bytes, self.position)?;
        if crc32c::crc32c(&bytes) != self.crc {
            let message = format!("{} reads differently now", self.path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(bytes)
    }

    fn damage(&self, offset: Offset, reason: String) -> Damage {
        Damage {
            path: self.path.to_path_buf(),
            position: self.position,
            offset,
            reason,
        }
    }
}

impl Replay {
    /// Whether there was a journal, so that what lies behind its records was never acknowledged.
    pub(crate) fn is_there(&self) -> bool {
        self.is_there
    }

    /// Below it the segments were durable, as far as the journal knows.
    pub(crate) fn point(&self) -> Offset {
        let notes = self
            .kept
            .iter()
            .filter(|kept| kept.entry.bytes == 0 && kept.is_whole);
        notes
            .map(|kept| kept.entry.next)
            .fold(self.point, Offset::max)
    }

    /// The epoch of the batch at an offset; nothing where the journal does not have it.
    pub(crate) fn leader_epoch_at(&self, offset: Offset) -> Option<LeaderEpoch> {
        let at = self.kept.partition_point(|kept| kept.entry.next <= offset);
        let kept = self.kept.get(at)?;
        (kept.entry.base <= offset && kept.is_whole).then_some(kept.entry.leader_epoch)
    }

    /// What must be appended to a log whose segments are whole up to `end`.
    ///
    /// # Errors
    /// Something that was durable is missing.
    pub(crate) fn behind(&self, end: Offset) -> Result<Vec<&Kept>, Damage> {
        let mut wanted = Vec::new();
        let mut next = end;
        // In the last commit of this run a record is torn: what follows it there has a gap before it.
        let mut torn_run = None;
        let of_this = |kept: &&Kept| kept.entry.bytes > 0;
        for kept in self.kept.iter().filter(of_this) {
            let (entry, run) = (&kept.entry, Some(kept.order.0));
            if entry.next <= next {
                continue;
            }
            let is_gap = entry.base > next;
            if !kept.is_proven && (torn_run == run || (!kept.is_whole && !is_gap)) {
                torn_run = run;
            } else if is_gap {
                let reason = format!("records from {next} to {} are missing", entry.base);
                return Err(kept.damage(next, reason));
            } else if !kept.is_whole {
                let reason = format!("the records up to offset {} are damaged", entry.next);
                return Err(kept.damage(next, reason));
            } else {
                wanted.push(kept);
                next = entry.next;
            }
        }
        match &self.unknown {
            None => Ok(wanted),
            Some(lost) => Err(Damage {
                path: lost.path.clone(),
                position: lost.position,
                offset: next,
                reason: "what it held cannot be read, and may have been of this log; \
                     to go on with what the segments hold, move the folder journal away"
                    .into(),
            }),
        }
    }
}

/// Tells how far the reading has come, where it takes long.
struct Progress<'a> {
    environment: &'a Environment,
    told: Duration,
}

impl<'a> Progress<'a> {
    fn new(environment: &'a Environment) -> Self {
        let told = environment.clock.monotonic();
        Self { environment, told }
    }

    fn tell(&mut self, files: usize) {
        let now = self.environment.clock.monotonic();
        if now.saturating_sub(self.told) >= Duration::from_secs(1) {
            self.told = now;
            tracing::info!("{files} files of the journal were read");
        }
    }
}

fn read_checkpoint(disk: &dyn Disk) -> io::Result<Checkpoint> {
    let bytes = match read_bounded(disk, &checkpoint_path(), checkpoint::FILE_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Checkpoint::default()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Vec::new(),
        Err(error) => return Err(error),
    };
    Ok(Checkpoint::decode(&bytes).unwrap_or_else(|| {
        tracing::warn!("the journal's checkpoint is damaged: all of its files are read");
        Checkpoint::default()
    }))
}

/// The journal's files, by their numbers.
fn names(disk: &dyn Disk) -> io::Result<Vec<(u64, PathBuf)>> {
    let entries = disk.read_dir(Path::new(FOLDER))?;
    let number = |name: &str| name.strip_suffix(".journal")?.parse::<u64>().ok();
    let mut names: Vec<_> = entries
        .iter()
        .filter_map(|entry| number(entry.name.to_str()?))
        .map(|number| (number, path(number)))
        .collect();
    names.sort_unstable();
    Ok(names)
}
