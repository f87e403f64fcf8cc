//! Reads Kafka's primitive types from a frame, borrowing from it.
//!
//! Why it exists: lengths and counts come from strangers. Each is held against the bytes that remain, and the memory
//! that arrays take against a budget per frame, before anything is reserved: a few bytes must not cost gigabytes.
//! Owns: a position in borrowed bytes.   Never: panics, or copies of strings and record bytes.
//! In -> out: bytes -> values that borrow from them, or a `DecodeError`.
//! Invariants: OPS-1.   Read next: `gather.rs`.

use super::{DecodeError, RecordBytes};
use fanlog_model::limits::DECODED_BYTES_MAX;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// The longest string that Kafka reads or writes, whichever form its length has.
const STRING_BYTES_MAX: usize = i16::MAX as usize;

type Result<T> = std::result::Result<T, DecodeError>;

/// A position in a frame. Every method takes one value and moves on past it.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Where reading stops: the frame's end, or the end of the tagged field being read.
    end: usize,
    /// How much memory arrays may still take.
    budget: usize,
    budget_max: usize,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`, with the memory budget of one frame.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::with_budget(bytes, DECODED_BYTES_MAX)
    }

    /// Reads `bytes`, letting arrays take at most `budget` bytes of memory.
    pub fn with_budget(bytes: &'a [u8], budget: usize) -> Self {
        Self {
            bytes,
            position: 0,
            end: bytes.len(),
            budget,
            budget_max: budget,
        }
    }

    /// How many bytes are left.
    pub fn remaining(&self) -> usize {
        self.end - self.position
    }

    /// How many bytes have been read.
    pub fn position(&self) -> usize {
        self.position
    }

    /// How much memory the arrays read so far take.
    pub fn decoded_bytes(&self) -> usize {
        self.budget_max - self.budget
    }

    /// Checks that nothing is left.
    pub fn finish(&self) -> Result<()> {
        match self.remaining() {
            0 => Ok(()),
            count => Err(DecodeError::TrailingBytes { count }),
        }
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
        Err(DecodeError::UnsupportedVersion {
            message,
            version,
            lowest: *versions.start(),
            highest: *versions.end(),
        })
    }

    /// Takes the next `count` bytes as they are.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let remaining = self.remaining();
        if count > remaining {
            return Err(DecodeError::Truncated {
                needed: count,
                remaining,
                position: self.position,
            });
        }
        let taken = &self.bytes[self.position..self.position + count];
        self.position += count;
        Ok(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    /// One byte; all but 0 is true, as in Kafka.
    pub fn bool(&mut self) -> Result<bool> {
        Ok(self.i8()? != 0)
    }

    /// A signed byte.
    pub fn i8(&mut self) -> Result<i8> {
        Ok(i8::from_be_bytes(self.fixed()?))
    }

    /// A 16-bit number.
    pub fn i16(&mut self) -> Result<i16> {
        Ok(i16::from_be_bytes(self.fixed()?))
    }

    /// An unsigned 16-bit number.
    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.fixed()?))
    }

    /// A 32-bit number.
    pub fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.fixed()?))
    }

    /// An unsigned 32-bit number.
    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.fixed()?))
    }

    /// A 64-bit number.
    pub fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.fixed()?))
    }

    /// A 64-bit floating-point number.
    pub fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_be_bytes(self.fixed()?))
    }

    /// A UUID: 16 bytes, most significant first.
    pub fn uuid(&mut self) -> Result<Uuid> {
        Ok(Uuid::from_bytes(self.fixed()?))
    }

    /// An unsigned 32-bit number of one to five bytes, 7 bits in each, least significant first.
    pub fn unsigned_varint(&mut self) -> Result<u32> {
        let position = self.position;
        let mut value = 0u32;
        for index in 0..5 {
            let byte = self.fixed::<1>()?[0];
            if index == 4 && byte > 0x0f {
                break;
            }
            value |= u32::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::BadVarint { position })
    }

    /// The length of a string or of bytes; `None` for null.
    fn byte_length(&mut self, flexible: bool, is_string: bool) -> Result<Option<usize>> {
        let length = match (flexible, is_string) {
            (true, _) => i64::from(self.unsigned_varint()?) - 1,
            (false, true) => i64::from(self.i16()?),
            (false, false) => i64::from(self.i32()?),
        };
        self.checked_length(length, 1)
    }

    /// `length` elements of at least `wire_bytes_min` bytes each, if the remaining bytes can hold them; `None` for null.
    fn checked_length(&self, length: i64, wire_bytes_min: usize) -> Result<Option<usize>> {
        if length == -1 {
            return Ok(None);
        }
        match usize::try_from(length) {
            Ok(count) if count <= self.remaining() / wire_bytes_min.max(1) => Ok(Some(count)),
            _ => Err(self.bad_length(length)),
        }
    }

    fn bad_length(&self, length: i64) -> DecodeError {
        DecodeError::BadLength {
            length,
            remaining: self.remaining(),
            position: self.position,
        }
    }

    /// The value, where the version does not let it be null.
    pub fn required<T>(&self, value: Option<T>) -> Result<T> {
        value.ok_or(DecodeError::UnexpectedNull {
            position: self.position,
        })
    }

    /// A string that may be null.
    pub fn nullable_string(&mut self, flexible: bool) -> Result<Option<Cow<'a, str>>> {
        let Some(length) = self.byte_length(flexible, true)? else {
            return Ok(None);
        };
        if length > STRING_BYTES_MAX {
            return Err(self.bad_length(length as i64));
        }
        let position = self.position;
        let text = std::str::from_utf8(self.take(length)?);
        let text = text.map_err(|_| DecodeError::BadUtf8 { position })?;
        Ok(Some(Cow::Borrowed(text)))
    }

    /// A string.
    pub fn string(&mut self, flexible: bool) -> Result<Cow<'a, str>> {
        let value = self.nullable_string(flexible)?;
        self.required(value)
    }

    /// Bytes that may be null.
    pub fn nullable_bytes(&mut self, flexible: bool) -> Result<Option<Cow<'a, [u8]>>> {
        match self.byte_length(flexible, false)? {
            None => Ok(None),
            Some(length) => Ok(Some(Cow::Borrowed(self.take(length)?))),
        }
    }

    /// Bytes.
    pub fn bytes(&mut self, flexible: bool) -> Result<Cow<'a, [u8]>> {
        let value = self.nullable_bytes(flexible)?;
        self.required(value)
    }

    /// Record batches, which may be null.
    pub fn nullable_records(&mut self, flexible: bool) -> Result<Option<RecordBytes<'a>>> {
        match self.byte_length(flexible, false)? {
            None => Ok(None),
            Some(length) => Ok(Some(RecordBytes::Borrowed(self.take(length)?))),
        }
    }

    /// An array that may be null, of elements that take at least `wire_bytes_min` bytes each.
    pub fn nullable_array<T>(
        &mut self,
        flexible: bool,
        wire_bytes_min: usize,
        mut element: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Option<Vec<T>>> {
        let length = if flexible {
            i64::from(self.unsigned_varint()?) - 1
        } else {
            i64::from(self.i32()?)
        };
        let Some(count) = self.checked_length(length, wire_bytes_min)? else {
            return Ok(None);
        };
        self.charge(count.saturating_mul(size_of::<T>()))?;
        let mut elements = Vec::with_capacity(count);
        for _ in 0..count {
            elements.push(element(self)?);
        }
        Ok(Some(elements))
    }

    /// An array of elements that take at least `wire_bytes_min` bytes each.
    pub fn array<T>(
        &mut self,
        flexible: bool,
        wire_bytes_min: usize,
        element: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let value = self.nullable_array(flexible, wire_bytes_min, element)?;
        self.required(value)
    }

    /// Takes memory from the frame's budget.
    fn charge(&mut self, bytes: usize) -> Result<()> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(DecodeError::TooLarge {
                limit: self.budget_max,
            }),
        }
    }

    /// A structure that may be null: one byte says so, negative for null.
    pub fn nullable_struct<T>(
        &mut self,
        decode: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.i8()? {
            ..0 => Ok(None),
            0.. => decode(self).map(Some),
        }
    }

    /// A structure in a tagged field that may be null: 0 says that it is.
    pub fn nullable_tagged_struct<T>(
        &mut self,
        decode: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.unsigned_varint()? {
            0 => Ok(None),
            _ => decode(self).map(Some),
        }
    }

    /// The tagged fields that end every structure of a flexible version. `field` reads the field with that tag and
    /// says true, or says false for a tag that it does not know: the field is then skipped and not kept.
    pub fn tagged_fields(
        &mut self,
        mut field: impl FnMut(u32, &mut Self) -> Result<bool>,
    ) -> Result<()> {
        let count = self.unsigned_varint()?;
        // Each round takes two bytes at least, so the count is bounded by what remains.
        for _ in 0..count {
            let tag = self.unsigned_varint()?;
            let size = self.unsigned_varint()? as usize;
            let position = self.position;
            if size > self.remaining() {
                return Err(self.bad_length(size as i64));
            }
            let outer_end = std::mem::replace(&mut self.end, position + size);
            let is_known = field(tag, self);
            let is_all_read = self.position == self.end;
            self.end = outer_end;
            if is_known? {
                if !is_all_read {
                    return Err(self.bad_length(size as i64));
                }
            } else {
                self.position = position + size;
            }
        }
        Ok(())
    }

    /// Skips the tagged fields of a structure that has none that we know.
    pub fn skip_tagged_fields(&mut self) -> Result<()> {
        self.tagged_fields(|_, _| Ok(false))
    }
}
