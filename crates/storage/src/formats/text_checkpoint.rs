//! What Kafka's text checkpoints have in common: a version, a count, and a line for each entry.
//!
//! ```text
//! 0\n
//! <count>\n
//! <entry>\n   count times
//! ```

use super::FormatError;

const VERSION: i64 = 0;
/// The longest checkpoint that is read.
pub const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(crate) fn encode(lines: impl ExactSizeIterator<Item = String>) -> Vec<u8> {
    let mut text = format!("{VERSION}\n{}\n", lines.len());
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text.into_bytes()
}

pub(crate) fn decode<T>(
    file: &'static str,
    bytes: &[u8],
    entry: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, FormatError> {
    let wrong = |line: &str| FormatError::Line {
        file,
        line: line.chars().take(80).collect(),
    };
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("not UTF-8"))?;
    let mut lines = text.lines();
    let mut number = || {
        let line = lines.next().unwrap_or("");
        line.parse::<i64>().map_err(|_| wrong(line))
    };
    let version = number()?;
    if version != VERSION {
        return Err(FormatError::Version {
            file,
            version,
            expected: VERSION,
        });
    }
    let count = number()?;
    let entries = lines
        .map(|line| entry(line).ok_or_else(|| wrong(line)))
        .collect::<Result<Vec<_>, _>>()?;
    // A file that ends early is as unreadable as one with a damaged line; the last line may have lost digits too.
    if i64::try_from(entries.len()) != Ok(count) || !text.ends_with('\n') {
        return Err(FormatError::Length {
            file,
            length: bytes.len() as u64,
            expected: "as many lines as it counts",
        });
    }
    Ok(entries)
}
