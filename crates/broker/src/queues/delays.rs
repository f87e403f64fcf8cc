//! When a record is to be delivered at the earliest, as its headers say: `deliver-at`, or `deliver-after` from its timestamp on; else as its
//! queue says (`delay`).
//!
//! Why it exists: any Kafka producer can write a header.
//! In -> out: a record's headers and timestamp -> a time, or none. Of both, and of several, the last one to come counts (QUE-4).

use fanlog_model::TimestampMs;
use std::time::Duration;

/// The header that names a time: RFC 3339, or milliseconds since 1970.
pub const DELIVER_AT: &str = "deliver-at";
/// The header that names a time span from the record's timestamp on: milliseconds, or a number with `ms`, `s`, `m`, `h` or `d`.
pub const DELIVER_AFTER: &str = "deliver-after";

/// What the headers of a record say about when it is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Delay {
    pub(super) due: Option<TimestampMs>,
    /// A header is there and can't be read: it delays nothing.
    pub(super) is_unreadable: bool,
}

/// `usual` is the delay of a record whose headers name none that can be read.
pub(super) fn delay_of<'a>(
    headers: impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>,
    timestamp: TimestampMs,
    usual: Duration,
) -> Delay {
    let after = |span| TimestampMs(timestamp.0.max(0).saturating_add(span));
    let mut delay = Delay::default();
    for (name, value) in headers {
        let due = match name {
            b"deliver-at" => text(value).and_then(time),
            b"deliver-after" => text(value).and_then(span_ms).map(after),
            _ => continue,
        };
        match due {
            Some(due) => delay.due = delay.due.max(Some(due)),
            None => delay.is_unreadable = true,
        }
    }
    if delay.due.is_none() && !usual.is_zero() {
        let ms = i64::try_from(usual.as_millis()).unwrap_or(i64::MAX);
        delay.due = Some(after(ms));
    }
    delay
}

fn text(value: Option<&[u8]>) -> Option<&str> {
    std::str::from_utf8(value?).ok().map(str::trim)
}

/// A time as people and programs write it: milliseconds since 1970, or RFC 3339.
pub(super) fn time(text: &str) -> Option<TimestampMs> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(TimestampMs);
    }
    rfc_3339(text.as_bytes())
}

fn span_ms(text: &str) -> Option<i64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit_ms: i64 = match unit {
        "" | "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit_ms)
}

/// `2026-11-30T18:24:22.5+01:00`; `T` may be a space, and both may be small.
fn rfc_3339(text: &[u8]) -> Option<TimestampMs> {
    let (date_time, mut rest) = text.split_at_checked(19)?;
    let separators = [(4, "-"), (7, "-"), (10, "Tt "), (13, ":"), (16, ":")];
    let are_right = |(at, any): (usize, &str)| any.as_bytes().contains(&date_time[at]);
    if !separators.into_iter().all(are_right) {
        return None;
    }
    let number = |from: usize, to: usize| digits(&date_time[from..to]);
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let has_day = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    // A leap second counts as the one after it.
    if !has_day || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut ms = 0;
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (fraction, behind) = fraction.split_at(count);
        // What is behind the third digit is less than a millisecond: never early, so it is rounded up.
        let (kept, cut) = fraction.split_at(count.min(3));
        let scale = [0, 100, 10, 1][kept.len()];
        ms = digits(kept)? * scale + i64::from(cut.iter().any(|byte| *byte != b'0'));
        rest = behind;
    }
    let days = days_since_1970(year, month, day);
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - zone_seconds(rest)?;
    Some(TimestampMs(seconds * 1_000 + ms))
}

fn zone_seconds(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
            let seconds = hours * 3_600 + minutes * 60;
            let is_valid = hours <= 23 && minutes <= 59;
            let signed = if *sign == b'+' { seconds } else { -seconds };
            is_valid.then_some(signed)
        }
        _ => None,
    }
}

fn digits(text: &[u8]) -> Option<i64> {
    let digit = |number: i64, byte: &u8| {
        let is_digit = byte.is_ascii_digit();
        is_digit.then(|| number * 10 + i64::from(byte - b'0'))
    };
    (!text.is_empty()).then_some(())?;
    text.iter().try_fold(0, digit)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let leap_days = |year: i64| year / 4 - year / 100 + year / 400;
    let of_years = 365 * (year - 1970) + leap_days(before) - leap_days(1969);
    let of_months: i64 = (1..month).map(|month| days_in(year, month)).sum();
    of_years + of_months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_protocol::records::{BatchBuilder, BatchView, Compression, Decompressor, NewRecord};

    fn check(headers: &[(&str, &str)], expected: Option<i64>, is_unreadable: bool) {
        let given = headers;
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (*name, Some(value.as_bytes())))
            .collect();
        let record = NewRecord {
            headers: &headers,
            ..NewRecord::default()
        };
        let mut builder = BatchBuilder::new(Compression::None);
        builder.push(&record).unwrap();
        let batch = builder.build().unwrap();
        let mut decompressor = Decompressor::default();
        let batch = BatchView::parse(&batch).unwrap();
        let record = batch.records(&mut decompressor).unwrap().next();
        let record = record.unwrap().unwrap();
        let with_usual = |seconds| {
            let usual = Duration::from_secs(seconds);
            delay_of(record.headers(), TimestampMs(1_000), usual)
        };
        let expected = Delay {
            due: expected.map(TimestampMs),
            is_unreadable,
        };
        assert_eq!(with_usual(0), expected, "{given:?}");
        // The queue's own delay counts where no header does.
        let usually = expected.due.unwrap_or(TimestampMs(8_000));
        assert_eq!(with_usual(7).due, Some(usually), "{given:?}");
    }

    #[test]
    fn headers_say_when_a_record_is_due() {
        check(&[("other", "5s")], None, false);
        check(&[("deliver-after", "0")], Some(1_000), false);
        check(&[("deliver-after", "250")], Some(1_250), false);
        check(&[("deliver-after", " 90s ")], Some(91_000), false);
        check(&[("deliver-after", "7d")], Some(604_801_000), false);
        check(
            &[("deliver-at", "1700000000123")],
            Some(1_700_000_000_123),
            false,
        );
        let noon = 1_764_504_000_000;
        check(&[("deliver-at", "2025-11-30T12:00:00Z")], Some(noon), false);
        check(
            &[("deliver-at", "2025-11-30 13:00:00.5+01:00")],
            Some(noon + 500),
            false,
        );
        check(
            &[("deliver-at", "2025-11-30t10:30:00.0000001-01:30")],
            Some(noon + 1),
            false,
        );
        check(
            &[("deliver-at", "2000-02-29T00:00:00Z")],
            Some(951_782_400_000),
            false,
        );
        check(
            &[("deliver-at", "1969-12-31T23:59:59Z")],
            Some(-1_000),
            false,
        );
        // The later one counts.
        check(
            &[("deliver-at", "9000"), ("deliver-after", "1s")],
            Some(9_000),
            false,
        );
    }

    #[test]
    fn a_header_that_cannot_be_read_delays_nothing() {
        for wrong in ["", "soon", "-5", "5w", "9223372036854775807d", "1s2"] {
            check(&[("deliver-after", wrong)], None, true);
        }
        for wrong in [
            "",
            "now",
            "2025-13-01T00:00:00Z",
            "2025-02-29T00:00:00Z",
            "2025-11-30T24:00:00Z",
            "2025-11-30T12:00:00",
            "2025-11-30T12:00:00.Z",
            "2025-11-30T12:00:00+1:00",
            "2025-11-30T12:00:00+24:00",
            "99999999999999999999",
        ] {
            check(&[("deliver-at", wrong)], None, true);
        }
        check(
            &[("deliver-at", "x"), ("deliver-after", "1")],
            Some(1_001),
            true,
        );
    }
}
