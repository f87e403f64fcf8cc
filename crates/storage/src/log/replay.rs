//! What the segments lack after a crash is appended again from the journal.

use super::Log;
use super::roll::RollError;
use crate::header::BatchHeader;
use crate::journal::Kept;
use fanlog_model::TimestampMs;
use std::io;

impl Log {
    /// Appends what the journal has and the segments lack.
    pub(super) fn append_again(&mut self, lacking: &[&Kept]) -> io::Result<()> {
        let now = self.environment.clock.wall_ms();
        let before = self.log_end;
        for kept in lacking {
            let bytes = kept.read()?;
            let mut at = 0;
            while let Some(header) = bytes.get(at..).and_then(BatchHeader::decode) {
                let end = at + usize::try_from(header.bytes).unwrap_or(usize::MAX);
                let batch = bytes.get(at..end).ok_or(io::ErrorKind::InvalidData)?;
                self.append_batch_again(&header.with_marker(batch), batch, now)?;
                at = end;
            }
        }
        if !lacking.is_empty() {
            tracing::info!(log = %self.name, from = %before, to = %self.log_end, "appended again from the journal");
        }
        Ok(())
    }

    fn append_batch_again(
        &mut self,
        header: &BatchHeader,
        batch: &[u8],
        now: TimestampMs,
    ) -> io::Result<()> {
        if header.next_offset() <= self.log_end {
            return Ok(());
        }
        if header.base_offset != self.log_end {
            let message = format!(
                "the journal has {} where {} follows",
                header.base_offset, self.log_end
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let (last, max_timestamp) = (header.last_offset, header.max_timestamp);
        if self.is_roll_due(header.bytes, max_timestamp, last, now)? {
            self.roll(now).map_err(|error| match error {
                RollError::Io(error) => error,
                RollError::Failed(failed) => io::Error::other(failed),
            })?;
        }
        let file = self.active().log_file_to_write(self.disk())?;
        file.write_all_at(batch, self.active().size)?;
        self.note(header, now);
        Ok(())
    }
}
