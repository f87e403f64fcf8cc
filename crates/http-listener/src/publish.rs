//! Publishing: POST of records to a topic. Answered when they are durable, each with its place or with what was wrong with it.
//!
//! A body of JSON is a list of records; a body of any other type is one record's value, and its key and delay are parameters.
//! Why values are taken as they stand: a value that is JSON and no text is stored as the bytes that were sent, so that numbers keep their
//! digits and objects their order.

use crate::answers;
use crate::base64;
use crate::body::{self, BATCH_BYTES_MAX, MediaType};
use crate::context::{Context, InPath, topic_name};
use crate::each;
use crate::fields::{self, Fields};
use crate::json as read_json;
use crate::problem::{Kind, Problem};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use fanlog_broker::{Due, MessageId, NewMessage, Published};
use fanlog_model::{PartitionIndex, TimestampMs, TopicName};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// How many records one request has at most.
pub(crate) const RECORDS_MAX: usize = 10_000;
/// How many values the headers of one record have at most.
const HEADERS_MAX: usize = 1_000;
/// How many bytes the headers of one request take at most, each value with its name, once they are read.
const HEADER_BYTES_MAX: usize = 2 * BATCH_BYTES_MAX;
/// What a header takes beside its name and value.
const HEADER_BYTES: usize = 64;
/// The longest delay: a hundred years.
const DELAY_MAX: Duration = Duration::from_secs(100 * 366 * 86_400);
/// Headers that have a field of their own, by which they are checked.
const OWN_HEADERS: [(&str, &str); 3] = [
    ("deliver-after", "deliver_after"),
    ("deliver-at", "deliver_at"),
    ("message-id", "message_id"),
];
const IDEMPOTENCY_KEY: &str = "idempotency-key";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch<'a> {
    #[serde(borrow)]
    records: Records<'a>,
}

/// A list that is not longer than is allowed, and is not read further.
struct Records<'a>(Vec<Record<'a>>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record<'a> {
    #[serde(borrow, default)]
    key: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    key_base64: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    value: Option<&'a RawValue>,
    #[serde(borrow, default)]
    value_base64: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    headers: Option<&'a RawValue>,
    #[serde(default)]
    partition: Option<i32>,
    #[serde(borrow, default)]
    deliver_after: Option<&'a RawValue>,
    #[serde(borrow, default)]
    deliver_at: Option<&'a RawValue>,
    #[serde(default)]
    message_id: Option<String>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Records<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Reading<'a> {
            type Value = Records<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {RECORDS_MAX} records")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut records = Vec::new();
                while let Some(record) = items.next_element()? {
                    if records.len() == RECORDS_MAX {
                        return Err(serde::de::Error::invalid_length(RECORDS_MAX + 1, &self));
                    }
                    records.push(record);
                }
                Ok(Records(records))
            }
        }
        deserializer.deserialize_seq(Reading(std::marker::PhantomData))
    }
}

/// POST /v1/topics/{topic}/records
pub(crate) async fn publish(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let topic = topic_name(&name)?;
    let (head, body) = request.into_parts();
    let query = Fields::of_query(&head.uri)?;
    let whole = body::read(&context, &head.headers, body, BATCH_BYTES_MAX).await?;
    let id = idempotency_key(&head.headers)?;
    let messages = match MediaType::of(&head.headers) {
        MediaType::Json => {
            query.done()?;
            batch(&whole.bytes, id)?
        }
        MediaType::Unsaid | MediaType::Other => vec![Ok(raw(query, whole.bytes.clone(), id)?)],
    };
    let outcomes = publish_all(&context, &topic, messages).await?;
    let outcomes = outcomes.into_iter();
    let outcomes = outcomes.map(|outcome| outcome.map(|published| shown(&topic, published)));
    each::answer("records", outcomes.collect())
}

/// What is well-formed goes on; each keeps its place.
async fn publish_all(
    context: &Context,
    topic: &TopicName,
    messages: Vec<Result<NewMessage, Problem>>,
) -> Result<Vec<Result<Published, Problem>>, Problem> {
    let mut formed = Vec::new();
    let mut malformed = Vec::new();
    for message in messages {
        malformed.push(message.map(|message| formed.push(message)).err());
    }
    let published = context.broker.publish(topic, formed).await?;
    let mut published = published.into_iter();
    let mut next = || {
        let outcome = published.next();
        let outcome = outcome.expect("every message has one outcome");
        outcome.map_err(Problem::from)
    };
    let outcomes = malformed.into_iter().map(|problem| match problem {
        Some(problem) => Err(problem),
        None => next(),
    });
    Ok(outcomes.collect())
}

fn shown(topic: &TopicName, published: Published) -> Value {
    let id = MessageId {
        topic: topic.clone(),
        partition: published.partition,
        offset: published.offset,
    };
    let mut shown = json!({
        "id": id.to_string(),
        "partition": published.partition.0,
        "offset": published.offset.0,
        "timestamp": answers::time(published.timestamp),
    });
    if published.is_duplicate {
        shown["duplicate"] = true.into();
    }
    shown
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let key = headers.get(IDEMPOTENCY_KEY);
    let text = key.map(|key| {
        let text = key.to_str().ok().map(|text| text.trim().trim_matches('"'));
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    });
    match text {
        None => Ok(None),
        Some(Some(text)) => Ok(Some(text)),
        Some(None) => Err(Problem::of_field(
            IDEMPOTENCY_KEY,
            "the header Idempotency-Key must be a text",
        )),
    }
}

fn raw(mut query: Fields, value: Bytes, id: Option<String>) -> Result<NewMessage, Problem> {
    let key = query.text("key")?;
    let partition = query.whole("partition", 0..=i32::MAX.into())?;
    let after = query.duration("deliver_after", DELAY_MAX)?;
    let at = query.time("deliver_at")?;
    let message_id = query.text("message_id")?;
    query.done()?;
    Ok(NewMessage {
        partition: partition.and_then(|partition| partition.try_into().ok().map(PartitionIndex)),
        key: key.map(Bytes::from),
        value: Some(value),
        headers: Vec::new(),
        due: due(after, at)?,
        message_id: one_id(message_id, id)?,
    })
}

fn batch(body: &[u8], id: Option<String>) -> Result<Vec<Result<NewMessage, Problem>>, Problem> {
    let batch: Batch<'_> =
        serde_json::from_slice(body).map_err(|error| fields::invalid_json(&error))?;
    let records = batch.records.0;
    if id.is_some() && records.len() != 1 {
        return Err(Problem::of_field(
            IDEMPOTENCY_KEY,
            format!(
                "the header Idempotency-Key names one message, and the request has {}; give each its message_id",
                records.len()
            ),
        ));
    }
    let mut header_bytes = HEADER_BYTES_MAX;
    let message = |record: Record<'_>| record.message(id.clone(), &mut header_bytes);
    Ok(records.into_iter().map(message).collect())
}

impl Record<'_> {
    /// `header_bytes` is what the headers of all records may still take.
    fn message(self, id: Option<String>, header_bytes: &mut usize) -> Result<NewMessage, Problem> {
        let text = |name: &str, raw: Option<&RawValue>| {
            let value = raw.map(|raw| read_json::value(raw.get().as_bytes()));
            let value = value.transpose().map_err(|error| invalid(name, &error))?;
            value.map(|value| fields::as_text(name, value)).transpose()
        };
        let after = text("deliver_after", self.deliver_after)?
            .map(|text| fields::duration("deliver_after", &text, DELAY_MAX));
        let at = text("deliver_at", self.deliver_at)?.map(|text| fields::time("deliver_at", &text));
        let given = self
            .headers
            .map(|raw| read_json::object(raw.get().as_bytes()));
        let given = given
            .transpose()
            .map_err(|error| invalid("headers", &error))?;
        let mut headers = Headers {
            all: Vec::new(),
            bytes_left: *header_bytes,
        };
        for (name, value) in given.into_iter().flatten() {
            headers.put(&name, value)?;
        }
        let plain = self.key.map(|key| Bytes::from(key.into_owned()));
        Ok(NewMessage {
            partition: self.partition.map(PartitionIndex),
            key: one_of("key", plain, self.key_base64.as_deref())?,
            value: one_of(
                "value",
                self.value.map(value_bytes),
                self.value_base64.as_deref(),
            )?,
            headers: headers.done(header_bytes),
            due: due(after.transpose()?, at.transpose()?)?,
            message_id: one_id(self.message_id, id)?,
        })
    }
}

/// A text is stored without its quotes; anything else as it was sent.
fn value_bytes(value: &RawValue) -> Bytes {
    match serde_json::from_str::<String>(value.get()) {
        Ok(text) => Bytes::from(text),
        Err(_) => Bytes::copy_from_slice(value.get().as_bytes()),
    }
}

fn one_of(
    name: &str,
    plain: Option<Bytes>,
    base64: Option<&str>,
) -> Result<Option<Bytes>, Problem> {
    match (plain, base64) {
        (plain, None) => Ok(plain),
        (None, Some(text)) => {
            let bytes = base64::decode(text).ok_or_else(|| {
                let field = format!("{name}_base64");
                let detail = format!("{field} is not base64");
                Problem::of_field(&field, detail)
            })?;
            Ok(Some(bytes.into()))
        }
        (Some(_), Some(_)) => Err(Problem::of_field(
            name,
            format!("{name} and {name}_base64 are both given; give one of them"),
        )),
    }
}

fn invalid(name: &str, error: &serde_json::Error) -> Problem {
    Problem::of_field(name, format!("{name}: {error}"))
}

/// The headers of a record, as far as they are read.
struct Headers {
    all: Vec<(String, Option<Bytes>)>,
    bytes_left: usize,
}

impl Headers {
    fn put(&mut self, name: &str, value: Value) -> Result<(), Problem> {
        if let Some((_, field)) = OWN_HEADERS.iter().find(|(own, _)| *own == name) {
            return Err(Problem::of_field(
                "headers",
                format!("header '{name}' is given; give the field {field} instead"),
            ));
        }
        match value {
            Value::Array(values) => values
                .into_iter()
                .try_for_each(|value| self.put_one(name, value)),
            value => self.put_one(name, value),
        }
    }

    /// Each value has a name of its own in memory: a short text may stand for very much.
    fn put_one(&mut self, name: &str, value: Value) -> Result<(), Problem> {
        if self.all.len() == HEADERS_MAX {
            let detail =
                format!("the headers have more than {HEADERS_MAX} values; give the record fewer");
            return Err(Problem::of_field("headers", detail).with("limit", HEADERS_MAX));
        }
        let value = header_value(name, value)?;
        let bytes = name.len() + value.as_ref().map_or(0, Bytes::len) + HEADER_BYTES;
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(|| {
            let detail = format!(
                "the headers of the request's records take more than {HEADER_BYTES_MAX} bytes; send fewer at once"
            );
            Problem::new(Kind::MessageTooLarge, detail).with("limit", HEADER_BYTES_MAX)
        })?;
        self.all.push((name.to_owned(), value));
        Ok(())
    }

    fn done(self, bytes_left: &mut usize) -> Vec<(String, Option<Bytes>)> {
        *bytes_left = self.bytes_left;
        self.all
    }
}

fn header_value(name: &str, value: Value) -> Result<Option<Bytes>, Problem> {
    if value.is_null() {
        return Ok(None);
    }
    if let Some(text) = value.get("base64").and_then(Value::as_str) {
        let bytes = base64::decode(text);
        return bytes
            .map(|bytes| Some(bytes.into()))
            .ok_or_else(|| Problem::of_field("headers", format!("header '{name}' is not base64")));
    }
    let text = fields::as_text("headers", value).map_err(|_| {
        Problem::of_field(
            "headers",
            format!("header '{name}' must be a text, a number, a truth value, null, {{\"base64\": text}} or a list of those"),
        )
    })?;
    Ok(Some(text.into()))
}

fn due(after: Option<Duration>, at: Option<TimestampMs>) -> Result<Option<Due>, Problem> {
    match (after, at) {
        (Some(_), Some(_)) => Err(Problem::of_field(
            "deliver_at",
            "deliver_at and deliver_after are both given; give one of them",
        )),
        (Some(after), None) => Ok(Some(Due::After(after))),
        (None, at) => Ok(at.map(Due::At)),
    }
}

fn one_id(field: Option<String>, header: Option<String>) -> Result<Option<String>, Problem> {
    match (field, header) {
        (Some(field), Some(header)) if field != header => Err(Problem::of_field(
            "message_id",
            format!("message_id is '{field}' and Idempotency-Key is '{header}'; give one of them"),
        )),
        (field, header) => Ok(field.or(header)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Map;

    #[test]
    fn headers_take_no_more_than_is_allowed() {
        let said = |name: &str, values: usize, records: usize| {
            let headers = json!({ name: vec![Value::Null; values] });
            let body = json!({ "records": vec![json!({ "headers": headers }); records] });
            let messages = batch(body.to_string().as_bytes(), None).unwrap();
            let bytes =
                |message: &NewMessage| message.headers.iter().map(|(n, _)| n.len()).sum::<usize>();
            let taken: usize = messages.iter().flatten().map(bytes).sum();
            assert!(taken <= HEADER_BYTES_MAX);
            let refused = messages.into_iter().filter_map(Result::err);
            refused.map(|problem| problem.kind).collect::<Vec<_>>()
        };
        assert_eq!(said("a", HEADERS_MAX, 2), []);
        assert_eq!(said("a", HEADERS_MAX + 1, 1), [Kind::InvalidField]);
        let long = "n".repeat(200 * 1024);
        assert_eq!(said(&long, HEADERS_MAX, 1), [Kind::MessageTooLarge]);
        let half = "n".repeat(HEADER_BYTES_MAX / 2 / HEADERS_MAX);
        assert_eq!(said(&half, HEADERS_MAX, 2), [Kind::MessageTooLarge]);
        let twice = br#"{"records":[{"headers":{"a":1,"a":2}}]}"#;
        assert!(batch(twice, None).unwrap()[0].is_err());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
            Just(json!("90s")),
        ];
        let names = prop::sample::select(vec![
            "records",
            "key",
            "key_base64",
            "value",
            "value_base64",
            "headers",
            "partition",
            "deliver_after",
            "deliver_at",
            "message_id",
            "base64",
            "other",
        ]);
        leaf.prop_recursive(4, 32, 6, move |inner| {
            let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
            let object = prop::collection::btree_map(names.clone(), inner, 0..6);
            let object = object.prop_map(|members| {
                let members = members.into_iter();
                members
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>()
                    .into()
            });
            prop_oneof![list, object]
        })
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes: Vec<u8>) {
            let _ = batch(&bytes, None);
        }

        #[test]
        fn any_records_are_read_without_harm(records in any_json()) {
            let body = json!({ "records": [records] }).to_string();
            let _ = batch(body.as_bytes(), Some("id".to_owned()));
        }

        #[test]
        fn a_value_is_stored_as_it_was_meant(value in any_json()) {
            let body = json!({ "records": [{ "value": value }] }).to_string();
            let message = batch(body.as_bytes(), None).unwrap().remove(0).unwrap();
            let expected = match &value {
                Value::Null => None,
                Value::String(text) => Some(Bytes::from(text.clone())),
                other => Some(Bytes::from(other.to_string())),
            };
            prop_assert_eq!(message.value, expected);
        }
    }
}
