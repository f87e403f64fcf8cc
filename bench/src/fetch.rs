//! Fetch: readers that take everything a topic has, from its beginning, and look only at how far they got.

use crate::connection::{Connection, frame, read};
use crate::figures::Figures;
use crate::threads;
use anyhow::{bail, ensure};
use fanlog_protocol::messages::FetchRequest;
use fanlog_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use fanlog_protocol::wire::RecordBytes;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// The last version without tagged fields: topics by name, no session asked for.
const FETCH_VERSION: i16 = 11;
/// `fetch.max.bytes` and `max.partition.fetch.bytes` of a reader.
const BYTES_MAX: i32 = 16 * 1024 * 1024;
const PARTITION_BYTES_MAX: i32 = 4 * 1024 * 1024;
/// Where a batch has its length, the delta of its last offset, and the number of its records (message format 2).
const LENGTH_AT: usize = 8;
const LAST_OFFSET_DELTA_AT: usize = 23;
const COUNT_AT: usize = 57;
const HEADER_BYTES: usize = 61;
/// What a batch's length does not count: base offset and length.
const UNCOUNTED_BYTES: usize = 12;

/// A shape of load.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// Where the broker is.
    pub broker: String,
    /// A topic that exists.
    pub topic: String,
    /// How many partitions it has.
    pub partitions: i32,
    /// How many readers read all of it, a connection and a thread each.
    pub readers: usize,
    /// How long. A reader that gets to the end begins again.
    pub span: Duration,
    /// Whether to stop at the end instead.
    pub once: bool,
}

#[derive(Default)]
struct Taken {
    records: u64,
    bytes: u64,
}

impl Fetch {
    /// Reads.
    ///
    /// # Errors
    /// A fetch was refused, a batch is none, or a connection broke.
    pub fn run(&self) -> anyhow::Result<Figures> {
        let started = Instant::now();
        let taken = threads::run(self.readers, |_| self.one())?;
        let records = taken.iter().map(|one| one.records).sum();
        let bytes = taken.iter().map(|one| one.bytes).sum();
        let mut figures = Figures::default();
        figures.put_moved(records, bytes, started.elapsed());
        Ok(figures)
    }

    fn one(&self) -> anyhow::Result<Taken> {
        let mut connection = Connection::open(&self.broker)?;
        let mut offsets = vec![0i64; self.partitions.unsigned_abs() as usize];
        let mut taken = Taken::default();
        let end = Instant::now() + self.span;
        while Instant::now() < end {
            connection.send(&self.request(&offsets)?)?;
            let at_end = take(connection.receive()?, &mut offsets, &mut taken)?;
            if at_end && self.once {
                break;
            }
            if at_end {
                offsets.fill(0);
            }
        }
        Ok(taken)
    }

    fn request(&self, offsets: &[i64]) -> anyhow::Result<Vec<u8>> {
        let partitions = offsets.iter().enumerate();
        let request = FetchRequest {
            replica_id: -1,
            max_wait_ms: 500,
            min_bytes: 1,
            max_bytes: BYTES_MAX,
            topics: vec![FetchTopic {
                topic: Cow::Borrowed(&self.topic),
                partitions: partitions
                    .map(|(partition, offset)| FetchPartition {
                        partition: partition as i32,
                        fetch_offset: *offset,
                        partition_max_bytes: PARTITION_BYTES_MAX,
                        ..FetchPartition::default()
                    })
                    .collect(),
                ..FetchTopic::default()
            }],
            ..FetchRequest::default()
        };
        frame(&request, FETCH_VERSION)
    }
}

/// Goes on behind what an answer holds; whether that is the end of every partition.
fn take(answer: &[u8], offsets: &mut [i64], taken: &mut Taken) -> anyhow::Result<bool> {
    let answer = read::<FetchRequest<'_>>(answer, FETCH_VERSION)?;
    ensure!(
        answer.error_code == 0,
        "fetch refused: error {}",
        answer.error_code
    );
    let mut at_end = true;
    for part in answer.responses.iter().flat_map(|topic| &topic.partitions) {
        let error = part.error_code;
        ensure!(
            error == 0,
            "partition {}: error {error}",
            part.partition_index
        );
        let Some(offset) = offsets.get_mut(part.partition_index as usize) else {
            bail!(
                "an answer for partition {}, which was not asked for",
                part.partition_index
            );
        };
        if let Some(records) = part.records.as_ref().and_then(RecordBytes::as_borrowed) {
            skim(records, offset, taken)?;
        }
        at_end &= *offset >= part.high_watermark;
    }
    Ok(at_end)
}

/// Walks over whole batches; a part of one at the end does not count.
fn skim(mut records: &[u8], offset: &mut i64, taken: &mut Taken) -> anyhow::Result<()> {
    while records.len() >= HEADER_BYTES {
        let length = i32::from_be_bytes(at(records, LENGTH_AT));
        let bytes = usize::try_from(length)? + UNCOUNTED_BYTES;
        if bytes > records.len() {
            break;
        }
        let delta = i32::from_be_bytes(at(records, LAST_OFFSET_DELTA_AT));
        let next = i64::from_be_bytes(at(records, 0)) + i64::from(delta) + 1;
        ensure!(next > *offset, "offset {next} follows {offset}");
        *offset = next;
        taken.records += u64::try_from(i32::from_be_bytes(at(records, COUNT_AT)))?;
        taken.bytes += bytes as u64;
        records = &records[bytes..];
    }
    Ok(())
}

fn at<const N: usize>(bytes: &[u8], position: usize) -> [u8; N] {
    let field = &bytes[position..position + N];
    field.try_into().expect("the slice has N bytes")
}
