//! Reading: GET of a partition's records, from an offset or a time on. What is not committed is not shown.

use crate::answers::{self, Payload};
use crate::context::{Context, InPath, topic_name};
use crate::fields::Fields;
use crate::problem::{Kind, Problem};
use axum::extract::{Request, State};
use axum::response::Response;
use fanlog_broker::{Isolation, OffsetSpec, RecordsWanted, StoredRecord, TopicRef};
use fanlog_model::{Offset, PartitionIndex, TopicName};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// How many records, or messages, one answer has at most.
pub(crate) const RECORDS_MAX: i64 = 1_000;
/// How many are given where nobody says.
const RECORDS_USUAL: i64 = 100;
/// How many bytes of records one answer has, unless one record has more.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The longest wait.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(30);

struct Answer<'a> {
    topic: &'a TopicName,
    partition: PartitionIndex,
    records: &'a [StoredRecord],
    next: Offset,
    start: Offset,
    end: Offset,
}

struct Shown<'a>(&'a StoredRecord);

/// GET /v1/topics/{topic}/partitions/{partition}/records
pub(crate) async fn read(
    State(context): State<Context>,
    InPath((name, partition)): InPath<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let topic = topic_name(&name)?;
    let partition = partition_index(&topic, &partition)?;
    let mut fields = Fields::of_query(request.uri())?;
    let offset = fields.text("offset")?;
    let time = fields.time("time")?;
    let max = fields
        .whole("max", 1..=RECORDS_MAX)?
        .unwrap_or(RECORDS_USUAL);
    let wait_max = fields.duration("wait", WAIT_MAX)?.unwrap_or_default();
    let isolation = isolation(&mut fields)?;
    fields.done()?;
    let spec = match (offset.as_deref(), time) {
        (Some(_), Some(_)) => {
            let detail = "offset and time are both given; give one of them";
            return Err(Problem::of_field("time", detail));
        }
        (None, Some(time)) => Err(OffsetSpec::Timestamp(time)),
        (None | Some("earliest"), None) => Err(OffsetSpec::Earliest),
        (Some("latest"), None) => Err(OffsetSpec::Latest),
        (Some(text), None) => Ok(given(text)?),
    };
    let offset = match spec {
        Ok(offset) => offset,
        Err(spec) => look_up(&context, &topic, partition, spec, isolation).await?,
    };
    let wanted = RecordsWanted {
        topic: TopicRef::Name(topic.clone()),
        partition,
        offset,
        records_max: usize::try_from(max).unwrap_or(usize::MAX),
        bytes_max: ANSWER_BYTES_MAX,
        wait_max,
        isolation,
    };
    let at_once = RecordsWanted {
        wait_max: Duration::ZERO,
        ..wanted.clone()
    };
    let read = match context
        .until_stop(context.broker.read_records(wanted))
        .await
    {
        Some(read) => read?,
        None => context.broker.read_records(at_once).await?,
    };
    let answer = Answer {
        topic: &topic,
        partition,
        records: &read.records,
        next: read.next_offset,
        start: read.log_start_offset,
        end: read.high_watermark,
    };
    answers::with_memory(&answer, read.memory)
}

fn partition_index(topic: &TopicName, text: &str) -> Result<PartitionIndex, Problem> {
    let index = text.parse().ok().filter(|index| *index >= 0);
    index.map(PartitionIndex).ok_or_else(|| {
        Problem::new(
            Kind::UnknownPartition,
            format!("topic '{topic}' has no partition '{text}'; see GET /v1/topics/{topic}"),
        )
    })
}

fn isolation(fields: &mut Fields) -> Result<Isolation, Problem> {
    match fields.text("isolation")?.as_deref() {
        None | Some("read_committed") => Ok(Isolation::ReadCommitted),
        Some("read_uncommitted") => Ok(Isolation::ReadUncommitted),
        Some(other) => Err(Problem::of_field(
            "isolation",
            format!("isolation is '{other}'; give read_committed or read_uncommitted"),
        )),
    }
}

fn given(text: &str) -> Result<Offset, Problem> {
    let offset = text.parse().ok().filter(|offset| *offset >= 0);
    offset.map(Offset).ok_or_else(|| {
        Problem::of_field(
            "offset",
            format!("offset is '{text}'; give a number, earliest or latest"),
        )
    })
}

/// A time has to be looked for on the disk. No record is so young: reading begins with the next one.
async fn look_up(
    context: &Context,
    topic: &TopicName,
    partition: PartitionIndex,
    spec: OffsetSpec,
    isolation: Isolation,
) -> Result<Offset, Problem> {
    let (broker, topic) = (context.broker.clone(), TopicRef::Name(topic.clone()));
    let look = move |spec| broker.list_offset(&topic, partition, spec, isolation, None);
    let looked = tokio::task::spawn_blocking(move || {
        let found = look(spec)?.offset;
        match found {
            Some(offset) => Ok(Some(offset)),
            None => look(OffsetSpec::Latest).map(|listed| listed.offset),
        }
    });
    let looked = looked
        .await
        .map_err(|error| Problem::new(Kind::Internal, error.to_string()))?;
    Ok(looked.map_err(Problem::from)?.unwrap_or(Offset::ZERO))
}

impl Serialize for Answer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let records: Vec<_> = self.records.iter().map(Shown).collect();
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("topic", self.topic.as_str())?;
        members.serialize_entry("partition", &self.partition.0)?;
        members.serialize_entry("records", &records)?;
        members.serialize_entry("next_offset", &self.next.0)?;
        members.serialize_entry("start_offset", &self.start.0)?;
        members.serialize_entry("end_offset", &self.end.0)?;
        members.end()
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(record) = self;
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("offset", &record.offset.0)?;
        members.serialize_entry("timestamp", &answers::time(record.timestamp))?;
        let payload = Payload {
            key: record.key.as_ref(),
            value: record.value.as_ref(),
            headers: &record.headers,
        };
        payload.put(&mut members)?;
        members.end()
    }
}
