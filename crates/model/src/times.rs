//! Points in time and lengths of time, as people write and read them: RFC 3339, UTC; `500ms`, `30s`, `5m`, `2h`, `7d`.

use crate::TimestampMs;
use std::time::Duration;

const DAY_MS: i64 = 86_400_000;

/// Days since 1970-01-01 of a day in the Gregorian calendar. Years count from March, so that the leap day is the last of its year.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse: year, month and day.
const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days - era * 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// `2026-11-30T01:02:03.004Z`.
pub fn format_timestamp(timestamp: TimestampMs) -> String {
    let ms = timestamp.get();
    let (year, month, day) = civil_from_days(ms.div_euclid(DAY_MS));
    let of_day = ms.rem_euclid(DAY_MS);
    let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (second, milli) = (of_day / 1_000 % 60, of_day % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Reads RFC 3339 (`2026-11-30T01:02:03Z`, `...T01:02:03.5+01:00`), without an offset taken for UTC, or a day alone.
///
/// # Errors
/// It is not written so.
pub fn parse_timestamp(text: &str) -> Result<TimestampMs, String> {
    parse(text).ok_or_else(|| "write it as 2026-11-30T01:02:03Z".to_owned())
}

fn parse(text: &str) -> Option<TimestampMs> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let mut parts = date.split('-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_day = parts.next().is_none() && (1..=12).contains(&month) && (0..=9_999).contains(&year);
    let days = days_from_civil(year, month, day);
    if !is_day || civil_from_days(days) != (year, month, day) {
        return None;
    }
    let (time, offset_minutes) = match time.find(['Z', '+', '-']) {
        None => (time, 0),
        Some(at) => (&time[..at], offset_minutes(&time[at..])?),
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = time.split(':').map(number);
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    let is_time = parts.next().is_none() && hour < 24 && minute < 60 && second < 60;
    // What lies below a millisecond is cut off, and has to be digits all the same.
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let milli = number(&format!("{fraction:0<3}")[..3])?;
    let minutes = days * 1_440 + hour * 60 + minute - offset_minutes;
    is_time.then_some(TimestampMs((minutes * 60 + second) * 1_000 + milli))
}

fn offset_minutes(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let (sign, text) = text.split_at_checked(1)?;
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let offset = (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?;
    Some(if sign == "-" { -offset } else { offset })
}

/// A number without a sign, of at most four digits.
fn number(text: &str) -> Option<i64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Reads a length of time: a whole number and one of `ms`, `s`, `m`, `h`, `d`; none if it is not written so.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (_, unit_ms) = UNITS
        .iter()
        .find(|(unit, _)| *unit == &text[digits.len()..])?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| is_number)?;
    number.checked_mul(*unit_ms).map(Duration::from_millis)
}

/// As `parse_duration` reads it, in the largest unit that needs no fraction.
pub fn format_duration(duration: Duration) -> String {
    let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let fits = |(_, unit_ms): &&(&str, u64)| ms > 0 && ms.is_multiple_of(*unit_ms);
    let (unit, unit_ms) = UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0]);
    format!("{}{unit}", ms / unit_ms)
}

const UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_read_as_rfc_3339_writes_them() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(
                parse_timestamp(text).ok(),
                expected.map(TimestampMs),
                "{text}"
            );
        };
        check("1970-01-01T00:00:00Z", Some(0));
        check("1970-01-01", Some(0));
        check("2000-02-29T12:30:15.678Z", Some(951_827_415_678));
        check("2000-02-29 12:30:15.678", Some(951_827_415_678));
        check("2000-02-29T13:30:15.678+01:00", Some(951_827_415_678));
        check("2000-02-29T07:00:15.678-05:30", Some(951_827_415_678));
        check("2026-11-30T01:02", Some(1_796_000_520_000));
        check("2026-11-30T01:02:03.0049Z", Some(1_796_000_523_004));
        check("2026-11-30T01:02:03.5Z", Some(1_796_000_523_500));
        check("2001-02-29", None);
        check("2026-13-01", None);
        check("2026-00-01", None);
        check("2026-11-31", None);
        check("2026-11-30T24:00:00Z", None);
        check("2026-11-30T01:60:00Z", None);
        check("2026-11-30T01:02:03.xZ", None);
        check("2026-11-30T01:02:03é", None);
        check("2026-11-30T01:02:03.12é", None);
        check("2026-11-30T01:02:03+1", None);
        check("2026-11-30-1", None);
        check("-2026-11-30", None);
        check("now", None);
        check("", None);
    }

    #[test]
    fn timestamps_are_written_as_they_are_read() {
        for ms in [
            0,
            1,
            951_827_415_678,
            1_796_000_523_004,
            4_102_444_800_000,
            -1,
            -86_400_001,
        ] {
            let text = format_timestamp(TimestampMs(ms));
            assert_eq!(parse_timestamp(&text), Ok(TimestampMs(ms)), "{text}");
        }
        assert_eq!(
            format_timestamp(TimestampMs(951_827_415_678)),
            "2000-02-29T12:30:15.678Z"
        );
    }

    #[test]
    fn a_duration_is_read_as_it_is_written() {
        let check = |text: &str, ms: Option<u64>| {
            assert_eq!(
                parse_duration(text),
                ms.map(Duration::from_millis),
                "{text}"
            );
        };
        check("500ms", Some(500));
        check("30s", Some(30_000));
        check("2d", Some(172_800_000));
        for wrong in [
            "10",
            "s",
            "",
            "1w",
            "-1s",
            "+1s",
            "1.5s",
            "18446744073709551615d",
        ] {
            check(wrong, None);
        }
        for text in ["0ms", "1ms", "90s", "5m", "36h", "7d"] {
            let read = parse_duration(text).map(format_duration);
            assert_eq!(read.as_deref(), Some(text));
        }
    }
}
