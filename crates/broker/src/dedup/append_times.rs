//! When records of a partition were appended, kept beside its log for the next start.
//!
//! Why it exists: a record bears the time that its producer says, and message ids count from the time that the broker appended them.
//! Owns: the file. Losing it costs precision only: ids are then read by their records' own times.
//!
//! ```text
//! dedup-append-times, big-endian:
//!   0       4            20      24
//!   +-------+------------+-------+----------------------------+-------+
//!   | magic |  topic id  | count | count * (offset, time)     |  crc  |
//!   +-------+------------+-------+----------------------------+-------+
//! magic   u32  "FDT1"
//! offset  i64  the log ended there
//! time    i64  at that time, in milliseconds since 1970: what lies below the offset was appended then or before
//! crc     u32  CRC-32C of all before it
//! ```

use fanlog_environment::{Disk, read_bounded};
use fanlog_model::{Offset, TimestampMs, TopicId};
use std::io;
use std::path::Path;
use uuid::Uuid;

pub(super) const FILE: &str = "dedup-append-times";
const MAGIC: &[u8; 4] = b"FDT1";
const HEADER_BYTES: usize = 24;
const MARK_BYTES: usize = 16;
const CRC_BYTES: usize = 4;
/// More tell no more that counts: a window's worth has one in each sixtieth.
const MARKS_MAX: usize = 120;

/// The log ended at this offset at this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    end: Offset,
    time: TimestampMs,
}

/// Marks in the order of both offset and time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AppendTimes {
    marks: Vec<Mark>,
}

impl AppendTimes {
    /// Notes where the log ends now; whether that says anything new. What lies behind `expired_before` needs one mark only.
    pub(super) fn note(&mut self, end: Offset, now: TimestampMs, expired_before: i64) -> bool {
        let is_old = |mark: &Mark| mark.time.0 < expired_before;
        let old = self.marks.iter().take_while(|mark| is_old(mark)).count();
        self.marks.drain(..old.saturating_sub(1));
        // A clock that was set back would say of records that they are older than they are.
        let now = now.max(self.marks.last().map_or(now, |mark| mark.time));
        if self.marks.last().is_some_and(|mark| mark.end >= end) {
            return false;
        }
        if self.marks.len() == MARKS_MAX {
            // Of two, the later holds for what lies below both.
            let mut number = 0;
            self.marks.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
        self.marks.push(Mark { end, time: now });
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Where the log ended when it was first noted.
    pub(super) fn first_end(&self) -> Option<Offset> {
        self.marks.first().map(|mark| mark.end)
    }

    /// The offset below which all is older than that.
    pub(super) fn end_before(&self, expired_before: i64) -> Option<Offset> {
        let old = self.marks.iter().rev();
        let mut old = old.filter(|mark| mark.time.0 < expired_before);
        old.next().map(|mark| mark.end)
    }

    /// When a record was appended at the latest: one below the first mark when it says itself.
    pub(super) fn time_of(
        &self,
        offset: Offset,
        own: TimestampMs,
        now: TimestampMs,
    ) -> TimestampMs {
        let at = self.marks.partition_point(|mark| mark.end <= offset);
        match self.marks.get(at) {
            Some(mark) if at == 0 => own.min(mark.time),
            Some(mark) => mark.time,
            None if self.marks.is_empty() => own.min(now),
            None => now,
        }
    }

    pub(super) fn encode(&self, topic: TopicId) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(bytes_of(self.marks.len()));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(topic.0.as_bytes());
        let count = u32::try_from(self.marks.len()).expect("there are few marks");
        bytes.extend_from_slice(&count.to_be_bytes());
        for mark in &self.marks {
            bytes.extend_from_slice(&mark.end.0.to_be_bytes());
            bytes.extend_from_slice(&mark.time.0.to_be_bytes());
        }
        let crc = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&crc.to_be_bytes());
        bytes
    }

    /// What the file of this topic says; nothing where it is damaged, or another topic's.
    fn decode(bytes: &[u8], topic: TopicId) -> Option<Self> {
        let (body, crc) = bytes.split_last_chunk::<CRC_BYTES>()?;
        let (header, marks) = body.split_first_chunk::<HEADER_BYTES>()?;
        let count = u32::from_be_bytes(*header.last_chunk()?);
        let (marks, rest) = marks.as_chunks::<MARK_BYTES>();
        let is_whole = header.starts_with(MAGIC)
            && rest.is_empty()
            && usize::try_from(count) == Ok(marks.len())
            && crc32c::crc32c(body) == u32::from_be_bytes(*crc);
        let id = Uuid::from_bytes(header[4..20].try_into().ok()?);
        if !is_whole || TopicId(id) != topic {
            return None;
        }
        let mark = |bytes: &[u8; MARK_BYTES]| {
            let (end, time) = bytes.split_first_chunk::<8>()?;
            Some(Mark {
                end: Offset(i64::from_be_bytes(*end)),
                time: TimestampMs(i64::from_be_bytes(time.try_into().ok()?)),
            })
        };
        let marks: Vec<_> = marks.iter().filter_map(mark).collect();
        let is_ordered = marks.is_sorted_by(|a, b| a.end < b.end && a.time <= b.time);
        is_ordered.then_some(Self { marks })
    }

    /// Reads the file; without one, or where it can't be used, nothing is known.
    pub(super) fn read(disk: &dyn Disk, folder: &str, topic: TopicId) -> Self {
        let path = Path::new(folder).join(FILE);
        let bytes = match read_bounded(disk, &path, bytes_of(MARKS_MAX)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::default(),
            Err(error) => {
                tracing::warn!(partition = %folder, %error, "{FILE} can't be read: message ids count by their records' own times");
                return Self::default();
            }
        };
        Self::decode(&bytes, topic).unwrap_or_else(|| {
            tracing::warn!(partition = %folder, "{FILE} is damaged or another topic's: message ids count by their records' own times");
            Self::default()
        })
    }
}

const fn bytes_of(marks: usize) -> usize {
    HEADER_BYTES + marks * MARK_BYTES + CRC_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn noted(steps: &[(i64, i64)], window_ms: i64) -> AppendTimes {
        let mut times = AppendTimes::default();
        for (end, now) in steps {
            times.note(Offset(*end), TimestampMs(*now), now - window_ms);
        }
        times
    }

    #[test]
    fn a_record_is_as_old_as_the_first_mark_behind_it() {
        let times = noted(&[(0, 1_000), (10, 2_000), (10, 3_000), (30, 4_000)], 10_000);
        let time = |offset| {
            times
                .time_of(Offset(offset), TimestampMs(7), TimestampMs(9_000))
                .0
        };
        assert_eq!(
            [time(0), time(9), time(10), time(29), time(30)],
            [2_000, 2_000, 4_000, 4_000, 9_000]
        );
        assert_eq!(times.end_before(2_001), Some(Offset(10)));
        assert_eq!(times.end_before(1_000), None);
        // What was there before anything was noted is as old as it says.
        let times = noted(&[(10, 2_000)], 10_000);
        let time = |own| {
            times
                .time_of(Offset(3), TimestampMs(own), TimestampMs(9_000))
                .0
        };
        assert_eq!([time(7), time(8_000)], [7, 2_000]);
        let unknown = AppendTimes::default().time_of(Offset(3), TimestampMs(99), TimestampMs(50));
        assert_eq!(unknown, TimestampMs(50));
    }

    #[test]
    fn damage_and_another_topics_file_say_nothing() {
        let topic = TopicId(Uuid::from_u128(1));
        let bytes = noted(&[(1, 1), (2, 2)], 9).encode(topic);
        assert!(AppendTimes::decode(&bytes, topic).is_some());
        assert_eq!(
            AppendTimes::decode(&bytes, TopicId(Uuid::from_u128(2))),
            None
        );
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(AppendTimes::decode(&damaged, topic), None);
            assert_eq!(AppendTimes::decode(&bytes[..at], topic), None);
        }
    }

    proptest! {
        #[test]
        fn what_is_noted_is_read_back_and_never_makes_a_record_older(
            steps in prop::collection::vec((0..50_i64, 0..500_i64), 1..400),
        ) {
            let topic = TopicId(Uuid::from_u128(7));
            let (mut end, mut now) = (0, 0);
            let mut appended = Vec::new();
            let mut times = AppendTimes::default();
            times.note(Offset(0), TimestampMs(0), -5_000);
            for (records, passed) in steps {
                now += passed;
                appended.extend((end..end + records).map(|offset| (offset, now)));
                end += records;
                times.note(Offset(end), TimestampMs(now), now - 5_000);
            }
            let bytes = times.encode(topic);
            prop_assert!(bytes.len() <= bytes_of(MARKS_MAX));
            prop_assert_eq!(AppendTimes::decode(&bytes, topic), Some(times.clone()));
            let start = times.end_before(now - 5_000).unwrap_or(Offset(0));
            for (offset, time) in appended {
                if offset < start.0 {
                    prop_assert!(time < now - 5_000);
                } else if times.marks[0].end.0 <= offset {
                    let found = times.time_of(Offset(offset), TimestampMs(0), TimestampMs(now));
                    prop_assert!(found.0 >= time, "{} at {} read as {}", offset, time, found);
                }
            }
        }
    }
}
