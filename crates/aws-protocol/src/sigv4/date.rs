//! The time of a signature: `20260131T235959Z`.

/// Seconds since 1970; nothing if it is not of this form.
pub fn seconds_of(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let is_of_form = bytes.len() == 16 && bytes[8] == b'T' && bytes[15] == b'Z';
    if !is_of_form {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        all_digits.then(|| digits.parse().ok()).flatten()
    };
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(9, 11)?, number(11, 13)?, number(13, 15)?);
    let is_a_time = (1..=12).contains(&month) && (1..=31).contains(&day);
    let is_of_day = hour < 24 && minute < 60 && second <= 60;
    (is_a_time && is_of_day)
        .then(|| days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Days from the first of January 1970, in the Gregorian calendar. The year begins in March, so that the day that comes every
/// four years is its last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    const DAYS_BEFORE_1970: i64 = 719_468;
    let years = if month <= 2 { year - 1 } else { year };
    let months = (month + 9) % 12;
    let leap_days = years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    years * 365 + leap_days + (months * 153 + 2) / 5 + day - 1 - DAYS_BEFORE_1970
}

#[cfg(test)]
mod tests {
    use super::seconds_of;

    #[test]
    fn times_are_read() {
        assert_eq!(seconds_of("19700101T000000Z"), Some(0));
        assert_eq!(seconds_of("20000229T120000Z"), Some(951_825_600));
        assert_eq!(seconds_of("20261130T212508Z"), Some(1_796_073_908));
        for other in [
            "",
            "20261130",
            "2026-11-30T21:25Z",
            "20261330T000000Z",
            "20261130T240000Z",
            "2026113ääT00000Z",
        ] {
            assert_eq!(seconds_of(other), None, "{other}");
        }
    }
}
