//! How a record is printed.

use super::timestamps::format_timestamp;
use clap::ValueEnum;
use fanlog_client::ConsumedRecord;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// How a record is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RecordFormat {
    /// The value, as it is
    Value,
    /// Key, tab, value
    KeyValue,
    /// Partition, offset, time, key, headers and value
    Full,
    /// One JSON object per line
    Json,
}

impl RecordFormat {
    /// Writes the record and the end of the line.
    pub(super) fn write(self, out: &mut impl Write, record: &ConsumedRecord) -> io::Result<()> {
        let bytes = |field: &Option<bytes::Bytes>| field.clone().unwrap_or_default();
        match self {
            Self::Value => out.write_all(&bytes(&record.value))?,
            Self::KeyValue => {
                out.write_all(&bytes(&record.key))?;
                out.write_all(b"\t")?;
                out.write_all(&bytes(&record.value))?;
            }
            Self::Full => write_full(out, record)?,
            Self::Json => write!(out, "{}", to_json(record))?,
        }
        out.write_all(b"\n")
    }
}

fn write_full(out: &mut impl Write, record: &ConsumedRecord) -> io::Result<()> {
    let time = format_timestamp(record.timestamp);
    write!(
        out,
        "{} offset={} time={time}",
        record.partition, record.offset
    )?;
    write!(out, " key={}", shown(record.key.as_ref()))?;
    for (name, value) in &record.headers {
        write!(out, " header:{name}={}", shown(value.as_ref()))?;
    }
    write!(out, " value={}", shown(record.value.as_ref()))
}

fn shown(field: Option<&bytes::Bytes>) -> String {
    field.map_or_else(
        || "null".to_owned(),
        |bytes| String::from_utf8_lossy(bytes).into_owned(),
    )
}

/// Text as text; other bytes in hexadecimal digits, under another name, so that nothing is lost and nothing mistaken.
fn to_json(record: &ConsumedRecord) -> Value {
    let mut object = Map::new();
    object.insert("topic".to_owned(), json!(record.partition.topic.as_str()));
    object.insert(
        "partition".to_owned(),
        json!(record.partition.partition.get()),
    );
    object.insert("offset".to_owned(), json!(record.offset.get()));
    object.insert("timestamp_ms".to_owned(), json!(record.timestamp.get()));
    put_bytes(&mut object, "key", record.key.as_ref());
    put_bytes(&mut object, "value", record.value.as_ref());
    let headers = record.headers.iter().map(|(name, value)| {
        let mut header = Map::new();
        header.insert("name".to_owned(), json!(name));
        put_bytes(&mut header, "value", value.as_ref());
        Value::Object(header)
    });
    object.insert("headers".to_owned(), headers.collect());
    Value::Object(object)
}

fn put_bytes(object: &mut Map<String, Value>, name: &str, field: Option<&bytes::Bytes>) {
    match field.map(|bytes| std::str::from_utf8(bytes).map_err(|_| bytes)) {
        None => object.insert(name.to_owned(), Value::Null),
        Some(Ok(text)) => object.insert(name.to_owned(), json!(text)),
        Some(Err(bytes)) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            object.insert(format!("{name}_hex"), json!(digits))
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_model::{Offset, PartitionIndex, TimestampMs, TopicName, TopicPartition};

    #[test]
    fn every_format_shows_what_it_says() {
        let record = ConsumedRecord {
            partition: TopicPartition {
                topic: TopicName::new("orders").unwrap(),
                partition: PartitionIndex(2),
            },
            offset: Offset(7),
            timestamp: TimestampMs(951_827_415_678),
            key: Some("k".into()),
            value: Some(vec![0xff, 0x00].into()),
            headers: vec![("h".to_owned(), None), ("h".to_owned(), Some("x".into()))],
        };
        let check = |format: RecordFormat, expected: &[u8]| {
            let mut out = Vec::new();
            format.write(&mut out, &record).unwrap();
            assert_eq!(
                String::from_utf8_lossy(&out),
                String::from_utf8_lossy(expected)
            );
        };
        check(RecordFormat::Value, b"\xff\x00\n");
        check(RecordFormat::KeyValue, b"k\t\xff\x00\n");
        check(
            RecordFormat::Full,
            "orders-2 offset=7 time=2000-02-29T12:30:15.678Z key=k header:h=null header:h=x value=\u{fffd}\0\n".as_bytes(),
        );
        let json = br#"{"headers":[{"name":"h","value":null},{"name":"h","value":"x"}],"key":"k","offset":7,"partition":2,"timestamp_ms":951827415678,"topic":"orders","value_hex":"ff00"}"#;
        check(RecordFormat::Json, &[json, &b"\n"[..]].concat());
    }
}
