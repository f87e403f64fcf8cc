//! Writes Kafka's primitive types into a list of slices.
//!
//! Why it exists: a Fetch answer is mostly record bytes that lie in memory already; copying them into one buffer would
//! cost as much as reading them did. What we write ourselves goes into one buffer, and shared bytes are noted between.
//! Owns: the bytes written.   Never: sockets.
//! In -> out: values -> slices to hand to a vectored write.
//! Read next: `reader.rs`.

use super::{EncodeError, RecordBytes};
use bytes::Bytes;
use std::ops::RangeInclusive;
use uuid::Uuid;

type Result<T> = std::result::Result<T, EncodeError>;

/// What has been written so far.
#[derive(Clone, Debug, Default)]
pub struct GatherBuffer {
    /// Everything but the shared bytes.
    own: Vec<u8>,
    /// Shared bytes, each with the length that `own` had where they belong.
    shared: Vec<(usize, FramePart)>,
    shared_len: usize,
}

/// A part of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FramePart {
    /// Bytes in memory.
    Bytes(Bytes),
    /// So many bytes that whoever sends the frame adds here: those of the next [`RecordBytes::Apart`] of the message.
    Apart(usize),
}

impl GatherBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty buffer with room for `capacity` bytes beside shared ones.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            own: Vec::with_capacity(capacity),
            ..Self::default()
        }
    }

    /// How many bytes have been written, shared ones included.
    pub fn len(&self) -> usize {
        self.own.len() + self.shared_len
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parts in order, none of them empty.
    pub fn into_parts(self) -> Vec<FramePart> {
        let own = Bytes::from(self.own);
        let mut parts = Vec::with_capacity(2 * self.shared.len() + 1);
        let mut from = 0;
        for (at, part) in self.shared {
            if at > from {
                parts.push(FramePart::Bytes(own.slice(from..at)));
                from = at;
            }
            parts.push(part);
        }
        if from < own.len() {
            parts.push(FramePart::Bytes(own.slice(from..)));
        }
        parts
    }

    /// The slices in order, none of them empty.
    ///
    /// # Panics
    /// There are bytes that lie apart.
    pub fn into_slices(self) -> Vec<Bytes> {
        let parts = self.into_parts().into_iter();
        let in_memory = parts.map(|part| match part {
            FramePart::Bytes(bytes) => bytes,
            FramePart::Apart(length) => panic!("{length} bytes of a frame are not in memory"),
        });
        in_memory.collect()
    }

    /// All bytes in one piece; copies shared bytes.
    ///
    /// # Panics
    /// There are bytes that lie apart.
    pub fn into_vec(self) -> Vec<u8> {
        if self.shared.is_empty() {
            return self.own;
        }
        self.into_slices().concat()
    }

    /// The slices of a frame whose content `write` writes: its length in 4 bytes, then the content.
    ///
    /// # Panics
    /// There are bytes that lie apart.
    pub fn frame(write: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<Bytes>> {
        Self::framed(write).map(Self::into_slices)
    }

    /// As `frame`, for a content of which not all bytes are in memory.
    pub fn frame_parts(write: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<FramePart>> {
        Self::framed(write).map(Self::into_parts)
    }

    fn framed(write: impl FnOnce(&mut Self) -> Result<()>) -> Result<Self> {
        let mut buffer = Self::with_capacity(256);
        buffer.put_i32(0);
        write(&mut buffer)?;
        let length = buffer.len() - size_of::<i32>();
        let prefix = i32::try_from(length).map_err(|_| EncodeError::TooLong { length })?;
        buffer.own[..size_of::<i32>()].copy_from_slice(&prefix.to_be_bytes());
        Ok(buffer)
    }

    /// Checks that `message` has `version`.
    pub fn check_version(
        &self,
        message: &'static str,
        version: i16,
        versions: RangeInclusive<i16>,
    ) -> Result<()> {
        if versions.contains(&version) {
            return Ok(());
        }
        Err(EncodeError::UnsupportedVersion {
            message,
            version,
            lowest: *versions.start(),
            highest: *versions.end(),
        })
    }

    /// Writes bytes as they are.
    pub fn put_slice(&mut self, bytes: &[u8]) {
        self.own.extend_from_slice(bytes);
    }

    /// Adds bytes without copying them.
    pub fn put_shared(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.shared_len += bytes.len();
            self.shared.push((self.own.len(), FramePart::Bytes(bytes)));
        }
    }

    /// Leaves a place for bytes that whoever sends the frame adds.
    pub fn put_apart(&mut self, length: usize) {
        if length > 0 {
            self.shared_len += length;
            self.shared.push((self.own.len(), FramePart::Apart(length)));
        }
    }

    /// Adds what another buffer holds.
    fn append(&mut self, other: Self) {
        let before = self.own.len();
        self.own.extend_from_slice(&other.own);
        self.shared_len += other.shared_len;
        let shifted = other.shared.into_iter().map(|(at, p)| (before + at, p));
        self.shared.extend(shifted);
    }

    /// One byte: 1 for true, 0 for false.
    pub fn put_bool(&mut self, value: bool) {
        self.own.push(u8::from(value));
    }

    /// A signed byte.
    pub fn put_i8(&mut self, value: i8) {
        self.put_slice(&value.to_be_bytes());
    }

    /// A 16-bit number.
    pub fn put_i16(&mut self, value: i16) {
        self.put_slice(&value.to_be_bytes());
    }

    /// An unsigned 16-bit number.
    pub fn put_u16(&mut self, value: u16) {
        self.put_slice(&value.to_be_bytes());
    }

    /// A 32-bit number.
    pub fn put_i32(&mut self, value: i32) {
        self.put_slice(&value.to_be_bytes());
    }

    /// An unsigned 32-bit number.
    pub fn put_u32(&mut self, value: u32) {
        self.put_slice(&value.to_be_bytes());
    }

    /// A 64-bit number.
    pub fn put_i64(&mut self, value: i64) {
        self.put_slice(&value.to_be_bytes());
    }

    /// A 64-bit floating-point number.
    pub fn put_f64(&mut self, value: f64) {
        self.put_slice(&value.to_be_bytes());
    }

    /// A UUID: 16 bytes, most significant first.
    pub fn put_uuid(&mut self, value: Uuid) {
        self.put_slice(value.as_bytes());
    }

    /// An unsigned number in one to five bytes, 7 bits in each, least significant first.
    pub fn put_unsigned_varint(&mut self, mut value: u32) {
        while value > 0x7f {
            self.own.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.own.push(value as u8);
    }

    /// A length of bytes or of an array, of which the flexible form is one more; `None` for null.
    fn put_length(&mut self, flexible: bool, length: Option<usize>) -> Result<()> {
        let signed = match length {
            None => -1,
            Some(length) => i32::try_from(length).map_err(|_| EncodeError::TooLong { length })?,
        };
        if flexible {
            self.put_unsigned_varint(signed.wrapping_add(1) as u32);
        } else {
            self.put_i32(signed);
        }
        Ok(())
    }

    /// A string that may be null.
    pub fn put_nullable_string(&mut self, flexible: bool, value: Option<&str>) -> Result<()> {
        // Kafka's limit of 32,767 bytes holds for both forms.
        let length = match value {
            None => -1,
            Some(text) => i16::try_from(text.len())
                .map_err(|_| EncodeError::TooLong { length: text.len() })?,
        };
        if flexible {
            self.put_unsigned_varint((i32::from(length) + 1) as u32);
        } else {
            self.put_i16(length);
        }
        self.put_slice(value.unwrap_or_default().as_bytes());
        Ok(())
    }

    /// A string.
    pub fn put_string(&mut self, flexible: bool, value: &str) -> Result<()> {
        self.put_nullable_string(flexible, Some(value))
    }

    /// Bytes that may be null.
    pub fn put_nullable_bytes(&mut self, flexible: bool, value: Option<&[u8]>) -> Result<()> {
        self.put_length(flexible, value.map(<[u8]>::len))?;
        self.put_slice(value.unwrap_or_default());
        Ok(())
    }

    /// Bytes.
    pub fn put_bytes(&mut self, flexible: bool, value: &[u8]) -> Result<()> {
        self.put_nullable_bytes(flexible, Some(value))
    }

    /// Record batches, which may be null. Shared ones are not copied.
    pub fn put_nullable_records(
        &mut self,
        flexible: bool,
        value: Option<&RecordBytes<'_>>,
    ) -> Result<()> {
        self.put_length(flexible, value.map(RecordBytes::len))?;
        match value {
            None => {}
            Some(RecordBytes::Borrowed(bytes)) => self.put_slice(bytes),
            Some(RecordBytes::Shared(slices)) => {
                slices
                    .iter()
                    .for_each(|slice| self.put_shared(slice.clone()));
            }
            Some(RecordBytes::Apart(length)) => self.put_apart(*length),
        }
        Ok(())
    }

    /// An array that may be null.
    pub fn put_nullable_array<T>(
        &mut self,
        flexible: bool,
        elements: Option<&[T]>,
        mut put: impl FnMut(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        self.put_length(flexible, elements.map(<[T]>::len))?;
        let mut elements = elements.unwrap_or_default().iter();
        elements.try_for_each(|element| put(self, element))
    }

    /// An array.
    pub fn put_array<T>(
        &mut self,
        flexible: bool,
        elements: &[T],
        put: impl FnMut(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        self.put_nullable_array(flexible, Some(elements), put)
    }

    /// A structure that may be null: one byte says so.
    pub fn put_nullable_struct<T>(
        &mut self,
        value: Option<&T>,
        put: impl FnOnce(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        match value {
            None => {
                self.put_i8(-1);
                Ok(())
            }
            Some(value) => {
                self.put_i8(1);
                put(self, value)
            }
        }
    }

    /// A structure in a tagged field that may be null: 0 says that it is, 1 that it follows.
    pub fn put_nullable_tagged_struct<T>(
        &mut self,
        value: Option<&T>,
        put: impl FnOnce(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        self.put_unsigned_varint(u32::from(value.is_some()));
        value.map_or(Ok(()), |value| put(self, value))
    }

    /// The tagged fields that end every structure of a flexible version.
    pub fn put_tagged_fields(&mut self, fields: TaggedFields) {
        self.put_unsigned_varint(fields.count);
        self.append(fields.body);
    }
}

/// The tagged fields of one structure, to be added in the order of their tags and only where they differ from their
/// defaults (P1: old librdkafka misreads fields that say nothing).
#[derive(Debug, Default)]
pub struct TaggedFields {
    count: u32,
    body: GatherBuffer,
}

impl TaggedFields {
    /// Adds one field.
    pub fn put(
        &mut self,
        tag: u32,
        write: impl FnOnce(&mut GatherBuffer) -> Result<()>,
    ) -> Result<()> {
        let mut field = GatherBuffer::new();
        write(&mut field)?;
        let length = field.len();
        let size = i32::try_from(length).map_err(|_| EncodeError::TooLong { length })?;
        self.count += 1;
        self.body.put_unsigned_varint(tag);
        self.body.put_unsigned_varint(size as u32);
        self.body.append(field);
        Ok(())
    }
}

/// Checks that a field which `version` lacks has its default.
pub fn require_default(is_default: bool, field: &'static str, version: i16) -> Result<()> {
    if is_default {
        return Ok(());
    }
    Err(EncodeError::FieldNotInVersion { field, version })
}

/// The value of a field that `version` does not let be null.
pub fn require_some<'a, T>(
    value: &'a Option<T>,
    field: &'static str,
    version: i16,
) -> Result<&'a T> {
    let null = EncodeError::NullNotInVersion { field, version };
    value.as_ref().ok_or(null)
}
