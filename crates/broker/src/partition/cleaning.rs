//! How a partition's log is compacted: planned and swapped under the log's lock, read, written and synced without it.
//!
//! Invariants: at most one cleaning of a partition is under way.

use super::Partition;
use fanlog_model::TimestampMs;
use fanlog_storage::{CleanError, Cleaned, CleanerMemory, Dirtiness, Pace};
use std::path::Path;

impl Partition {
    /// How dirty its log is; nothing where it is not compacted, or cannot serve.
    ///
    /// # Errors
    /// The disk refuses.
    pub(crate) fn dirtiness(&self, now: TimestampMs) -> Result<Option<Dirtiness>, CleanError> {
        match self.with_log(|log| log.dirtiness(now)) {
            Ok(dirtiness) => dirtiness.map_err(|source| self.clean_error(source)),
            Err(_) => Ok(None),
        }
    }

    /// Compacts what is dirty; nothing where nothing is. `pace` must end it where the partition goes offline or away.
    ///
    /// # Errors
    /// As [`fanlog_storage::Cleaning::run`].
    pub(crate) fn clean(
        &self,
        now: TimestampMs,
        memory: CleanerMemory,
        pace: Pace<'_>,
    ) -> Result<Option<Cleaned>, CleanError> {
        let _under_way = self.cleaning.lock();
        let begun = self.change(|log| log.begin_cleaning(now, memory));
        let begun = begun.map_err(|_| CleanError::Interrupted)?;
        let Some(mut cleaning) = begun.map_err(|source| self.clean_error(source))? else {
            return Ok(None);
        };
        let result = cleaning.run(pace, &mut |cleaned| {
            let begun = self.change(|log| log.begin_swap(cleaned));
            let begun = begun.unwrap_or(Err(CleanError::Interrupted))?;
            let decided = begun.decide();
            self.change(|log| log.install_cleaned(cleaned, &begun, decided))
                .unwrap_or(Err(CleanError::Interrupted))
        });
        // Where it went away there is nothing to tell.
        let _ = self.change(|log| log.finish_cleaning(&cleaning));
        result.map(Some)
    }

    fn clean_error(&self, source: std::io::Error) -> CleanError {
        CleanError::Io {
            path: Path::new(&**self.folder()).to_owned(),
            source,
        }
    }
}
