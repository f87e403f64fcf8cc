//! Which journal file is needed by which logs, and which may be used again.
//!
//! A file is needed by a log as long as it holds records of it that lie behind what is durable in the log's segments.

use super::checkpoint::Checkpoint;
use super::format::Usage;
use super::{Entry, LogId};
use fanlog_environment::DiskFile;
use fanlog_model::Offset;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A journal file.
#[derive(Clone, Debug)]
pub(super) struct JournalFile {
    /// What its name begins with.
    pub(super) number: u64,
    pub(super) file: Arc<dyn DiskFile>,
    /// Whether it was written to its end once: only then does a sync of it write nothing but what was committed.
    pub(super) is_filled: bool,
    /// None where it may be used again.
    pub(super) usage: Option<Usage>,
    /// Whether a commit of this use is durable.
    pub(super) is_begun: bool,
    /// Up to which offset each log needs it.
    pub(super) needed: HashMap<LogId, Offset>,
}

/// All files, and how far the logs' segments are durable.
#[derive(Debug, Default)]
pub(super) struct Registry {
    pub(super) files: Vec<JournalFile>,
    /// The file that is being written, by its number.
    pub(super) current: Option<u64>,
    pub(super) points: HashMap<LogId, Offset>,
    /// Logs that have stopped: their records stay until a restart.
    pub(super) stopped: HashSet<LogId>,
    /// The numbers of files that are being made.
    pub(super) making: HashSet<u64>,
    /// Whether all logs were opened: only then is it known what earlier runs left for whom.
    pub(super) is_settled: bool,
    /// Which start of the broker this is.
    pub(super) run: u64,
    pub(super) next_epoch: u64,
}

impl Registry {
    pub(super) fn file_mut(&mut self, number: u64) -> Option<&mut JournalFile> {
        self.files.iter_mut().find(|file| file.number == number)
    }

    /// Records are about to be written to a file.
    pub(super) fn note_written(&mut self, number: u64, entries: &[Entry]) {
        let Self { files, points, .. } = self;
        let Some(file) = files.iter_mut().find(|file| file.number == number) else {
            return;
        };
        for entry in entries.iter().filter(|entry| entry.bytes > 0) {
            if points
                .get(&entry.log)
                .is_some_and(|point| *point >= entry.next)
            {
                continue;
            }
            let needed = file.needed.entry(entry.log).or_insert(entry.next);
            *needed = entry.next.max(*needed);
        }
    }

    /// A log's segments are durable up to an offset.
    pub(super) fn note_synced(&mut self, log: LogId, end: Offset) {
        let point = self.points.entry(log).or_insert(end);
        *point = end.max(*point);
        for file in &mut self.files {
            if file.needed.get(&log).is_some_and(|needed| *needed <= end) {
                file.needed.remove(&log);
            }
        }
    }

    /// A log is gone.
    pub(super) fn forget(&mut self, log: LogId) {
        self.points.remove(&log);
        self.stopped.remove(&log);
        for file in &mut self.files {
            file.needed.remove(&log);
        }
    }

    /// The files that may be used again once a checkpoint says so.
    pub(super) fn releasable(&self) -> Vec<u64> {
        let may_go = |file: &&JournalFile| {
            let Some(usage) = file.usage else {
                return false;
            };
            (self.is_settled || usage.run() == self.run)
                && Some(file.number) != self.current
                && file.needed.is_empty()
        };
        self.files.iter().filter(may_go).map(|f| f.number).collect()
    }

    /// What a checkpoint says once those files are released.
    pub(super) fn checkpoint_without(&self, released: &[u64]) -> Checkpoint {
        let (mut next_epoch, mut live) = (self.next_epoch, Vec::new());
        let stays = |file: &&JournalFile| !released.contains(&file.number);
        for file in self.files.iter().filter(stays) {
            match file.usage {
                Some(usage) if file.is_begun => live.push(usage.epoch),
                // It may come to be there or not.
                Some(usage) => next_epoch = next_epoch.min(usage.epoch),
                None => {}
            }
        }
        Checkpoint {
            next_epoch,
            live,
            points: self.points.clone(),
        }
    }

    /// The first commit of a file's use is durable.
    pub(super) fn note_begun(&mut self, number: u64) {
        if let Some(file) = self.file_mut(number) {
            file.is_begun = true;
        }
    }

    /// The file to write next: one that is filled, if there is one.
    pub(super) fn free(&self) -> Option<&JournalFile> {
        let mut free = self.files.iter().filter(|file| file.usage.is_none());
        self.filled().or_else(|| free.next())
    }

    /// A file to write next that is filled.
    pub(super) fn filled(&self) -> Option<&JournalFile> {
        let mut files = self.files.iter();
        files.find(|file| file.usage.is_none() && file.is_filled)
    }

    pub(super) fn free_count(&self) -> usize {
        self.files
            .iter()
            .filter(|file| file.usage.is_none())
            .count()
    }

    /// Takes out a file that may be used again and is not filled, so that it can be; `end_making` puts it back.
    pub(super) fn begin_filling(&mut self) -> Option<(u64, Arc<dyn DiskFile>)> {
        let at = self.files.iter().position(|file| file.usage.is_none())?;
        let file = self.files.swap_remove(at);
        self.making.insert(file.number);
        Some((file.number, file.file))
    }

    /// How many files count against the limit: those that only a restart will release do not.
    pub(super) fn counted(&self) -> usize {
        let is_kept = |file: &JournalFile| {
            let is_old = file.usage.is_some_and(|usage| usage.run() != self.run);
            is_old || file.needed.keys().any(|log| self.stopped.contains(log))
        };
        let made = self.files.iter().filter(|file| !is_kept(file)).count();
        made + self.making.len()
    }

    /// A number that no file has, for one that is being made.
    pub(super) fn begin_making(&mut self) -> u64 {
        let is_used = |number: &u64| {
            self.making.contains(number) || self.files.iter().any(|file| file.number == *number)
        };
        let number = (0..).find(|number| !is_used(number)).unwrap_or(u64::MAX);
        self.making.insert(number);
        number
    }

    /// The file is there, to be used; or it could not be made.
    pub(super) fn end_making(
        &mut self,
        number: u64,
        file: Option<Arc<dyn DiskFile>>,
        is_filled: bool,
    ) {
        self.making.remove(&number);
        self.files.extend(file.map(|file| JournalFile {
            number,
            file,
            is_filled,
            usage: None,
            is_begun: false,
            needed: HashMap::new(),
        }));
    }
}
