//! How far behind a reader is, as people read it; points in time are the model's.

pub(super) use fanlog_model::times::{format_timestamp, parse_timestamp};

const DAY_MS: i64 = 86_400_000;

/// `850ms`, `12.3s`, `4m 5s`, `3h 2m`, `5d 7h`: two units at most.
pub(super) fn format_lag(ms: i64) -> String {
    match ms.max(0) {
        ms @ 0..=999 => format!("{ms}ms"),
        ms @ 1_000..=59_999 => format!("{}.{}s", ms / 1_000, ms / 100 % 10),
        ms @ 60_000..=3_599_999 => format!("{}m {}s", ms / 60_000, ms / 1_000 % 60),
        ms @ 3_600_000..=86_399_999 => format!("{}h {}m", ms / 3_600_000, ms / 60_000 % 60),
        ms => format!("{}d {}h", ms / DAY_MS, ms / 3_600_000 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lag_has_two_units_at_most() {
        let check = |ms, expected: &str| assert_eq!(format_lag(ms), expected);
        check(-5, "0ms");
        check(850, "850ms");
        check(12_340, "12.3s");
        check(245_000, "4m 5s");
        check(10_920_000, "3h 2m");
        check(457_200_000, "5d 7h");
    }
}
