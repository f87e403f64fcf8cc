//! Create and truncate a log. Its folder goes by the hand of the broker, which knows what was deleted.

use super::{Log, files, open_error, retention};
use crate::config::LogConfig;
use crate::error::{ChangeError, OpenLogError};
use crate::formats::file_names::{self, LOG, PRODUCER_SNAPSHOT};
use crate::types::RecoveryMode;
use fanlog_environment::{Disk, Environment, OpenMode};
use fanlog_model::{LeaderEpoch, Offset, TopicId};
use std::io;
use std::path::Path;

impl Log {
    /// Creates a log and its folder, durably. What an earlier attempt left half-made is completed.
    ///
    /// # Errors
    /// A log is there already; the disk refuses.
    pub fn create(
        environment: &Environment,
        dir: &Path,
        topic_id: TopicId,
        config: LogConfig,
        leader_epoch: LeaderEpoch,
    ) -> Result<Self, OpenLogError> {
        let io_error = open_error(dir);
        let exists = Self::exists(environment, dir).map_err(&io_error)?;
        if exists {
            return Err(OpenLogError::Exists { dir: dir.into() });
        }
        prepare_dir(environment, dir, topic_id).map_err(&io_error)?;
        Self::open(
            environment,
            dir,
            config,
            RecoveryMode { clean: false },
            leader_epoch,
        )
    }

    /// Cuts the log off at the batch that holds `offset`: what lies there and behind is gone for good. Whoever appends next must do so
    /// under a higher leader epoch (LOG-3). The journal must hold nothing of the log by then, or the next start would bring it back.
    ///
    /// # Errors
    /// The offset is outside the log; the disk refuses (the log has stopped then); the log has stopped.
    pub fn truncate_to(&mut self, offset: Offset) -> Result<(), ChangeError> {
        self.check_running()?;
        if offset < self.log_start || offset > self.log_end {
            return Err(self.change_out_of_range(offset));
        }
        if offset == self.log_end {
            return Ok(());
        }
        self.prepare_cut(offset)?;
        // What is cut may begin with what is on its way out.
        self.finish_removals()?;
        let truncated = self.cut_files(offset).and_then(|()| self.reopen());
        truncated.map_err(|error| ChangeError::Failed(self.fail("truncation", &error)))
    }

    /// First what says that the log reaches further, then the segments from the last on, so that at every moment a whole log is there.
    fn cut_files(&mut self, offset: Offset) -> io::Result<()> {
        let disk = self.environment.disk.clone();
        let found = self.locate(offset).map_err(super::roll::into_io)?;
        let cut = found.map(|(segment, batch)| (segment.base_offset, batch));
        let end = cut
            .as_ref()
            .map_or(offset, |(_, batch)| batch.header.base_offset);
        for entry in disk.read_dir(&self.dir)? {
            let name = entry.name.to_string_lossy();
            if let Some((at, PRODUCER_SNAPSHOT)) = file_names::parse(&name)
                && at > end
            {
                disk.remove_file(&self.dir.join(&*name))?;
            }
        }
        if end < self.log_start {
            // The log starts within the batch that is cut: what was deleted of it goes with it.
            self.save_log_start(end)?;
        }
        match disk.remove_file(&self.dir.join(file_names::RECOVERY_PRODUCERS)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.mark.close();
        files::save_mark(&*disk, &self.dir, end.min(self.synced))?;
        disk.sync_dir(&self.dir)?;
        let Some((base_offset, batch)) = cut else {
            return Ok(());
        };
        while self.active().base_offset > base_offset {
            retention::remove_segment(&*disk, &self.dir, self.active().base_offset)?;
            disk.sync_dir(&self.dir)?;
            self.segments.pop();
        }
        let file = self.active().log_file(&*disk)?;
        file.set_len(batch.position)?;
        file.sync_data()
    }

    /// Reads the log as a start would.
    fn reopen(&mut self) -> io::Result<()> {
        let mode = RecoveryMode { clean: false };
        let config = self.config.clone();
        let opened = Self::open(
            &self.environment,
            &self.dir,
            config,
            mode,
            self.leader_epoch,
        );
        let generation = self.generation + 1;
        *self = opened.map_err(io::Error::other)?;
        self.generation = generation;
        Ok(())
    }

    pub(super) fn change_out_of_range(&self, offset: Offset) -> ChangeError {
        ChangeError::OffsetOutOfRange {
            offset,
            log_start_offset: self.log_start,
            high_watermark: self.durable,
        }
    }
}

/// The folder with an empty segment and, as the last thing, the file that says that it is complete.
fn prepare_dir(environment: &Environment, dir: &Path, topic_id: TopicId) -> io::Result<()> {
    files::partition_of(dir)?;
    let disk = &*environment.disk;
    disk.create_dir_all(dir)?;
    if holds_a_log(disk, dir)? {
        let message = "it holds a log whose partition.metadata is missing; restore that file, or move the folder away";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    let first = dir.join(file_names::with_offset(Offset::ZERO, LOG));
    disk.open(&first, OpenMode::CreateOrOpen)?;
    files::write_topic_id(disk, dir, topic_id)?;
    disk.sync_dir(dir.parent().unwrap_or(Path::new("")))
}

/// Whether a folder holds more than a creation that was cut off leaves: an empty first segment.
fn holds_a_log(disk: &dyn Disk, dir: &Path) -> io::Result<bool> {
    for entry in disk.read_dir(dir)? {
        let name = entry.name.to_string_lossy();
        let is_more = match file_names::parse(&name) {
            Some((Offset::ZERO, LOG)) => {
                !disk.open(&dir.join(&*name), OpenMode::Read)?.is_empty()?
            }
            parsed => parsed.is_some() || name == file_names::RECOVERY_MARK,
        };
        if is_more {
            return Ok(true);
        }
    }
    Ok(false)
}
