//! Bytes in and out of records: every length is checked against what remains.

use super::record_format::QueueRecordError;
use fanlog_model::TimestampMs;

/// Writes seven bits a byte, the lowest first; all bytes but the last have their highest bit set.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Writes a time as a number of which the lowest bit is the sign.
pub(super) fn put_time(out: &mut Vec<u8>, time: TimestampMs) {
    let folded = (time.0 << 1) ^ (time.0 >> 63);
    put_number(out, folded.cast_unsigned());
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Reads from the front of a slice.
pub(super) struct BytesIn<'a> {
    rest: &'a [u8],
}

impl<'a> BytesIn<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    fn take(&mut self, wanted: usize, what: &'static str) -> Result<&'a [u8], QueueRecordError> {
        let split = self.rest.split_at_checked(wanted);
        let (taken, rest) = split.ok_or(QueueRecordError::Short { what })?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[u8; N], QueueRecordError> {
        let taken = self.take(N, what)?;
        Ok(taken.try_into().expect("exactly N bytes were taken"))
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, QueueRecordError> {
        self.array(what).map(u8::from_be_bytes)
    }

    /// A number, in the one way in which it is written.
    pub(super) fn number(&mut self, what: &'static str) -> Result<u64, QueueRecordError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8(what)?;
            let bits = u64::from(byte & 0x7f);
            let is_legal = (bits << shift) >> shift == bits && (byte != 0 || shift == 0);
            if !is_legal {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(illegal(what, "a number of too many bytes"))
    }

    /// A number that fits into a smaller type.
    pub(super) fn small<T: TryFrom<u64>>(
        &mut self,
        what: &'static str,
    ) -> Result<T, QueueRecordError> {
        let number = self.number(what)?;
        T::try_from(number).map_err(|_| illegal(what, number))
    }

    pub(super) fn time(&mut self, what: &'static str) -> Result<TimestampMs, QueueRecordError> {
        let folded = self.number(what)?;
        let sign = (folded & 1).wrapping_neg();
        Ok(TimestampMs(((folded >> 1) ^ sign).cast_signed()))
    }

    pub(super) fn text(&mut self, what: &'static str) -> Result<&'a str, QueueRecordError> {
        let length = self.small(what)?;
        let taken = self.take(length, what)?;
        std::str::from_utf8(taken).map_err(|e| illegal(what, e))
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<(), QueueRecordError> {
        match self.rest.len() {
            0 => Ok(()),
            count => Err(QueueRecordError::TrailingBytes { count }),
        }
    }
}

pub(super) fn illegal(what: &'static str, value: impl std::fmt::Display) -> QueueRecordError {
    QueueRecordError::Illegal {
        what,
        value: value.to_string(),
    }
}
