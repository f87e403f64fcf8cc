//! One group: it reads everything, checks every record's number, and commits how far it got once a second.

use super::Burst;
use super::sequence::{Counts, Sequence};
use super::shared::Shared;
use crate::connection::Connection;
use crate::reader::{Limits, StampReader};
use anyhow::ensure;
use fanlog_protocol::messages::OffsetCommitRequest;
use fanlog_protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use std::borrow::Cow;
use std::time::{Duration, Instant};

const AT_FULL_SPEED: Limits = Limits {
    bytes_max: 8 * 1024 * 1024,
    partition_bytes_max: 1024 * 1024,
    wait_ms: 500,
    bytes_min: 1,
};
/// The last version without tagged fields.
const OFFSET_COMMIT_VERSION: i16 = 7;
const COMMIT_INTERVAL: Duration = Duration::from_secs(1);
/// How long a group waits for what was acknowledged and does not come, before it calls that lost.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest that a group that is held back does not look whether it still is.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// A group's verdict.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Verdict {
    pub(super) counts: Counts,
    pub(super) is_complete: bool,
}

/// The group `number`.
pub(super) fn run(burst: &Burst, shared: &Shared, number: usize) -> anyhow::Result<Verdict> {
    let name = &burst.groups[number];
    let mut reader = StampReader::open(&burst.broker, &burst.topic, burst.partitions)?;
    let mut commits = Connection::open(&burst.broker)?;
    let mut sequences = vec![Sequence::default(); reader.offsets().len()];
    let held = burst.held.as_ref().filter(|held| held.group == *name);
    let (mut committed, mut came_last) = (Instant::now(), Instant::now());
    let mut is_complete = false;
    while !shared.is(&shared.has_failed) && came_last.elapsed() < ARRIVAL_TIMEOUT {
        let is_published = shared.is(&shared.is_published);
        is_complete = is_published && is_at_end(&sequences, shared);
        if is_complete {
            break;
        }
        let rate = held.filter(|_| !shared.is(&shared.is_lifted));
        let rate = rate.map(|held| f64::from(held.rate));
        if let Some(early) = rate.and_then(|rate| too_early(shared, number, rate)) {
            std::thread::sleep(early.min(LOOK_INTERVAL));
            came_last = Instant::now();
            continue;
        }
        let limits = rate.map_or(AT_FULL_SPEED, |rate| held_back(rate, burst.record_bytes));
        let came = reader.fetch(limits, |partition, stamp| {
            sequences[partition].saw(stamp.number);
        })?;
        shared.read(number, came);
        if came > 0 || !is_published {
            came_last = Instant::now();
        }
        if committed.elapsed() >= COMMIT_INTERVAL {
            commit(&mut commits, name, &burst.topic, reader.offsets())?;
            committed = Instant::now();
        }
    }
    commit(&mut commits, name, &burst.topic, reader.offsets())?;
    let mut counts = Counts::default();
    for (partition, sequence) in sequences.iter().enumerate() {
        counts.add(sequence.counts(shared.acknowledged_in(partition)));
    }
    Ok(Verdict {
        counts,
        is_complete,
    })
}

/// A tenth of a second of a slow group, about; a batch at least, as brokers have it.
fn held_back(rate: f64, record_bytes: usize) -> Limits {
    let bytes = (rate / 10.0 * record_bytes as f64) as i32;
    Limits {
        bytes_max: bytes.max(1),
        partition_bytes_max: bytes.max(1),
        ..AT_FULL_SPEED
    }
}

fn is_at_end(sequences: &[Sequence], shared: &Shared) -> bool {
    let mut all = sequences.iter().enumerate();
    all.all(|(partition, sequence)| sequence.next() >= shared.acknowledged_in(partition))
}

/// How long until a group that is held to `rate` may read on; none if it may now.
fn too_early(shared: &Shared, group: usize, rate: f64) -> Option<Duration> {
    let due = Duration::from_secs_f64(shared.read_records(group) as f64 / rate);
    due.checked_sub(shared.started.elapsed())
        .filter(|early| !early.is_zero())
}

/// Commits as a group without members does.
fn commit(
    connection: &mut Connection,
    group: &str,
    topic: &str,
    offsets: &[i64],
) -> anyhow::Result<()> {
    let partitions = offsets.iter().enumerate();
    let request = OffsetCommitRequest {
        group_id: Cow::Borrowed(group),
        topics: vec![OffsetCommitRequestTopic {
            name: Cow::Borrowed(topic),
            partitions: partitions
                .map(|(partition, offset)| OffsetCommitRequestPartition {
                    partition_index: partition as i32,
                    committed_offset: *offset,
                    ..OffsetCommitRequestPartition::default()
                })
                .collect(),
            ..OffsetCommitRequestTopic::default()
        }],
        ..OffsetCommitRequest::default()
    };
    let answer = connection.call(&request, OFFSET_COMMIT_VERSION)?;
    for partition in answer.topics.iter().flat_map(|topic| &topic.partitions) {
        let (index, error) = (partition.partition_index, partition.error_code);
        ensure!(
            error == 0,
            "group {group}: the offset of partition {index} was refused: error {error}"
        );
    }
    Ok(())
}
