//! A cursor over bytes that checks every length against what remains.

use super::record::CatalogRecordError;

/// Reads big-endian numbers and texts from the front of a slice.
pub(super) struct BytesIn<'a> {
    rest: &'a [u8],
}

impl<'a> BytesIn<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn take(
        &mut self,
        wanted: usize,
        what: &'static str,
    ) -> Result<&'a [u8], CatalogRecordError> {
        let (taken, rest) =
            self.rest
                .split_at_checked(wanted)
                .ok_or(CatalogRecordError::Short {
                    what,
                    wanted,
                    remaining: self.rest.len(),
                })?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[u8; N], CatalogRecordError> {
        let taken = self.take(N, what)?;
        Ok(taken.try_into().expect("exactly N bytes were taken"))
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, CatalogRecordError> {
        self.array(what).map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, CatalogRecordError> {
        self.array(what).map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, CatalogRecordError> {
        self.array(what).map(u32::from_be_bytes)
    }

    pub(super) fn i32(&mut self, what: &'static str) -> Result<i32, CatalogRecordError> {
        self.array(what).map(i32::from_be_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, CatalogRecordError> {
        self.array(what).map(u64::from_be_bytes)
    }

    pub(super) fn i64(&mut self, what: &'static str) -> Result<i64, CatalogRecordError> {
        self.array(what).map(i64::from_be_bytes)
    }

    /// A text of 16-bit length.
    pub(super) fn text(&mut self, what: &'static str) -> Result<&'a str, CatalogRecordError> {
        let length = self.u16(what)?;
        let taken = self.take(usize::from(length), what)?;
        std::str::from_utf8(taken).map_err(|e| CatalogRecordError::Illegal {
            what,
            value: e.to_string(),
        })
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<(), CatalogRecordError> {
        match self.rest.len() {
            0 => Ok(()),
            count => Err(CatalogRecordError::TrailingBytes { count }),
        }
    }
}
