//! Zigzag variable-length integers, as records use them: 7 bits a byte, least significant first.

/// Reads from a slice; `None` when the number does not end in it or does not fit.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) const fn remaining(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(head)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// A signed number of at most 32 bits, in at most 5 bytes.
    #[inline]
    pub(super) fn varint(&mut self) -> Option<i32> {
        match self.short() {
            Some(short) => Some(unzigzag_32(u32::from(short))),
            None => self.long_varint(),
        }
    }

    /// A number of one byte or two, if the next one is: this covers lengths and deltas below 8192.
    #[inline]
    fn short(&mut self) -> Option<u16> {
        match self.rest {
            [first @ 0..0x80, rest @ ..] => {
                self.rest = rest;
                Some(u16::from(*first))
            }
            [first, second @ 0..0x80, rest @ ..] => {
                self.rest = rest;
                Some(u16::from(*second) << 7 | u16::from(first & 0x7f))
            }
            _ => None,
        }
    }

    fn long_varint(&mut self) -> Option<i32> {
        let mut number = 0_u32;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            let bits = u32::from(byte & 0x7f);
            if shift == 28 && bits > 0x0f {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(unzigzag_32(number));
            }
        }
        None
    }

    /// A signed number of at most 64 bits, in at most 10 bytes.
    #[inline]
    pub(super) fn varlong(&mut self) -> Option<i64> {
        match self.short() {
            Some(short) => Some(i64::from(unzigzag_32(u32::from(short)))),
            None => self.long_varlong(),
        }
    }

    fn long_varlong(&mut self) -> Option<i64> {
        let mut number = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(((number >> 1) as i64) ^ -((number & 1) as i64));
            }
        }
        None
    }
}

const fn unzigzag_32(number: u32) -> i32 {
    ((number >> 1) as i32) ^ -((number & 1) as i32)
}

/// Appends a signed 32-bit number.
pub(super) fn put_varint(out: &mut Vec<u8>, number: i32) {
    // Widening keeps the zigzag code: both spell the same number in the same bytes.
    put_varlong(out, i64::from(number));
}

/// Appends a signed 64-bit number.
pub(super) fn put_varlong(out: &mut Vec<u8>, number: i64) {
    let mut rest = zigzag(number);
    while rest >= 0x80 {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// How many bytes a number takes.
pub(super) const fn varlong_bytes(number: i64) -> usize {
    let bits = 64 - zigzag(number).leading_zeros() as usize;
    if bits == 0 { 1 } else { bits.div_ceil(7) }
}

const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_round_trip_in_the_bytes_announced(number: i64, small: i32) {
            let mut out = Vec::new();
            put_varlong(&mut out, number);
            prop_assert_eq!(out.len(), varlong_bytes(number));
            let mut cursor = Cursor::new(&out);
            prop_assert_eq!(cursor.varlong(), Some(number));
            prop_assert_eq!(cursor.remaining(), 0);
            out.clear();
            put_varint(&mut out, small);
            prop_assert_eq!(out.len(), varlong_bytes(small.into()));
            let mut cursor = Cursor::new(&out);
            prop_assert_eq!(cursor.varint(), Some(small));
            prop_assert_eq!(cursor.remaining(), 0);
        }
    }

    #[test]
    fn a_number_that_does_not_end_or_fit_is_none() {
        let check32 = |bytes: &[u8], expected| {
            assert_eq!(Cursor::new(bytes).varint(), expected, "{bytes:x?}");
        };
        check32(&[], None);
        check32(&[0x80], None);
        check32(&[0xfe, 0xff, 0xff, 0xff, 0x0f], Some(i32::MAX));
        check32(&[0xff, 0xff, 0xff, 0xff, 0x0f], Some(i32::MIN));
        check32(&[0xff, 0xff, 0xff, 0xff, 0x1f], None);
        check32(&[0xff, 0xff, 0xff, 0xff, 0x8f, 0x00], None);
        let mut longest = [0xff; 10];
        longest[9] = 1;
        assert_eq!(Cursor::new(&longest).varlong(), Some(i64::MIN));
        longest[9] = 2;
        assert_eq!(Cursor::new(&longest).varlong(), None);
    }
}
