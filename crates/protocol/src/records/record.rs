//! The records inside a batch, walked without copying.
//!
//! Every field is a zigzag varint or bytes of a stated length:
//! ```text
//! length of the rest | attributes (1 byte, unused) | timestamp delta | offset delta |
//! key length or -1 | key | value length or -1 | value | header count | (key length | key | value length or -1 | value)*
//! ```

use super::varint::Cursor;
use thiserror::Error;

/// Why the walk of a batch's records stopped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// The header states a negative number of records.
    #[error("record batch states {count} records")]
    NegativeCount {
        /// What the header says.
        count: i32,
    },
    /// The record's length reaches beyond the batch, is negative, or does not end in it.
    #[error("record {index} of the batch has no valid length")]
    BadLength {
        /// The record's number in its batch.
        index: i32,
    },
    /// A field inside the record does not fit in the record.
    #[error("record {index} of the batch has an invalid {field}")]
    BadField {
        /// The record's number in its batch.
        index: i32,
        /// Which field.
        field: &'static str,
    },
    /// Bytes are left inside a record.
    #[error("record {index} of the batch has {left} bytes after its headers")]
    TrailingInRecord {
        /// The record's number in its batch.
        index: i32,
        /// How many bytes are left.
        left: usize,
    },
    /// Bytes are left after the last record.
    #[error("record batch has {left} bytes after its {count} records")]
    TrailingInBatch {
        /// How many bytes are left.
        left: usize,
        /// How many records the header states.
        count: i32,
    },
}

/// One record, in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordView<'a> {
    /// Its number in the batch as stored, from 0.
    pub index: i32,
    /// Its time, counted from the batch's base timestamp.
    pub timestamp_delta: i64,
    /// Its offset, counted from the batch's base offset.
    pub offset_delta: i32,
    /// Its key, if any.
    pub key: Option<&'a [u8]>,
    /// Its value; none is a tombstone where the topic is compacted.
    pub value: Option<&'a [u8]>,
    /// All of it as stored, its length first.
    pub bytes: &'a [u8],
    header_count: i32,
    headers: &'a [u8],
}

impl<'a> RecordView<'a> {
    /// The records of a batch, of which these are the bytes, decompressed, and there are `count`.
    pub const fn all(plain: &'a [u8], count: i32) -> RecordIter<'a> {
        RecordIter::new(plain, count)
    }

    /// One record as it stands in a batch, its length first: what [`RecordView::bytes`] gives.
    ///
    /// # Errors
    /// The bytes are not one record.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, RecordError> {
        let mut records = RecordIter::new(bytes, 1);
        let record = records
            .next()
            .unwrap_or(Err(RecordError::BadLength { index: 0 }))?;
        match records.next() {
            Some(Err(error)) => Err(error),
            _ => Ok(record),
        }
    }

    /// The headers in their order; a key may occur more than once.
    pub const fn headers(&self) -> HeaderIter<'a> {
        HeaderIter {
            cursor: Cursor::new(self.headers),
            left: self.header_count,
        }
    }
}

/// Walks the headers of a record: key and value. A key is text by agreement, but brokers of Kafka take any bytes, and so do we.
#[derive(Clone)]
pub struct HeaderIter<'a> {
    cursor: Cursor<'a>,
    left: i32,
}

impl<'a> Iterator for HeaderIter<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        // The walk of the record went this way before, so none of these ends the iteration early.
        header(&mut self.cursor).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

/// Walks the records of a batch and checks each; ends after the first error.
#[derive(Debug)]
pub struct RecordIter<'a> {
    rest: &'a [u8],
    count: i32,
    index: i32,
    is_done: bool,
}

impl<'a> RecordIter<'a> {
    /// Walks `count` records in decompressed bytes.
    pub(super) const fn new(plain: &'a [u8], count: i32) -> Self {
        Self {
            rest: plain,
            count,
            index: 0,
            is_done: false,
        }
    }

    #[inline]
    fn step(&mut self) -> Result<Option<RecordView<'a>>, RecordError> {
        let (index, count) = (self.index, self.count);
        if count < 0 {
            return Err(RecordError::NegativeCount { count });
        }
        if index == count {
            return match self.rest.len() {
                0 => Ok(None),
                left => Err(RecordError::TrailingInBatch { left, count }),
            };
        }
        let bad_length = RecordError::BadLength { index };
        let mut cursor = Cursor::new(self.rest);
        let length = cursor
            .varint()
            .and_then(|length| usize::try_from(length).ok());
        let Some(length) = length else {
            return Err(bad_length);
        };
        let body = cursor.take(length).ok_or(bad_length)?;
        let (bytes, rest) = self.rest.split_at(self.rest.len() - cursor.remaining());
        self.rest = rest;
        self.index += 1;
        record(index, bytes, body).map(Some)
    }
}

impl<'a> Iterator for RecordIter<'a> {
    type Item = Result<RecordView<'a>, RecordError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let step = self.step().transpose();
        self.is_done = !matches!(step, Some(Ok(_)));
        step
    }
}

#[inline]
fn record<'a>(index: i32, bytes: &'a [u8], body: &'a [u8]) -> Result<RecordView<'a>, RecordError> {
    let bad = |field| RecordError::BadField { index, field };
    let mut cursor = Cursor::new(body);
    cursor.byte().ok_or_else(|| bad("attributes byte"))?;
    let timestamp_delta = cursor.varlong().ok_or_else(|| bad("timestamp delta"))?;
    let offset_delta = cursor.varint().ok_or_else(|| bad("offset delta"))?;
    let key = nullable(&mut cursor).ok_or_else(|| bad("key length"))?;
    let value = nullable(&mut cursor).ok_or_else(|| bad("value length"))?;
    let header_count = cursor.varint().ok_or_else(|| bad("header count"))?;
    // A header takes two bytes at least.
    let fits = usize::try_from(header_count).is_ok_and(|count| count <= cursor.remaining() / 2);
    if !fits {
        return Err(bad("header count"));
    }
    let headers = &body[body.len() - cursor.remaining()..];
    for _ in 0..header_count {
        header(&mut cursor).map_err(bad)?;
    }
    match cursor.remaining() {
        0 => Ok(RecordView {
            index,
            timestamp_delta,
            offset_delta,
            key,
            value,
            bytes,
            header_count,
            headers,
        }),
        left => Err(RecordError::TrailingInRecord { index, left }),
    }
}

/// Bytes of a stated length; -1 stands for none.
#[inline]
fn nullable<'a>(cursor: &mut Cursor<'a>) -> Option<Option<&'a [u8]>> {
    match cursor.varint()? {
        -1 => Some(None),
        length => cursor.take(usize::try_from(length).ok()?).map(Some),
    }
}

fn header<'a>(cursor: &mut Cursor<'a>) -> Result<(&'a [u8], Option<&'a [u8]>), &'static str> {
    let key = nullable(cursor).flatten().ok_or("header key")?;
    let value = nullable(cursor).ok_or("header value length")?;
    Ok((key, value))
}
