//! The start-up file: lines of `name=value` as in Kafka's server.properties, so that a Kafka user has nothing to learn.
//!
//! Blank lines and lines that begin with `#` are passed over; the last line that gives a name counts.

use std::io::Read;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A start-up file larger than this is surely not one.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Why the start-up file can't be used.
#[derive(Debug, Error)]
pub(crate) enum SettingsFileError {
    #[error("settings file {} cannot be read: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("settings file {} is larger than {FILE_BYTES_MAX} bytes", path.display())]
    TooLarge { path: PathBuf },
    #[error("settings file {}, line {line}: '{text}' is not of the form name=value", path.display())]
    Line {
        path: PathBuf,
        line: usize,
        text: String,
    },
}

/// Reads names and values in the order of the file.
pub(crate) fn read(path: &Path) -> Result<Vec<(String, String)>, SettingsFileError> {
    let unreadable = |source| SettingsFileError::Unreadable {
        path: path.to_owned(),
        source,
    };
    // Read no further than the limit: a device has no length to ask for, and no end.
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
    if read.map_err(unreadable)? as u64 > FILE_BYTES_MAX {
        return Err(SettingsFileError::TooLarge {
            path: path.to_owned(),
        });
    }
    parse(&text).map_err(|(line, text)| SettingsFileError::Line {
        path: path.to_owned(),
        line,
        text,
    })
}

/// One `name=value`, as on the command line.
pub(crate) fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let name = name.trim();
    (!name.is_empty()).then(|| (name.to_owned(), value.trim().to_owned()))
}

fn parse(text: &str) -> Result<Vec<(String, String)>, (usize, String)> {
    let lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.trim()));
    let told = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    told.map(|(number, line)| pair(line).ok_or_else(|| (number, line.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_pairs_comments_or_blank() {
        let text = "# a comment\n\nnum.partitions = 3\nlog.dirs=/a=b\r\n";
        let expected = [("num.partitions", "3"), ("log.dirs", "/a=b")];
        let expected = expected.map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(parse(text).unwrap(), expected);
    }

    #[test]
    fn a_file_without_an_end_is_too_large() {
        let error = read(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(error, SettingsFileError::TooLarge { .. }));
    }

    #[test]
    fn a_line_that_is_no_pair_is_named() {
        assert_eq!(
            parse("a=1\nnonsense\n").unwrap_err(),
            (2, "nonsense".to_owned())
        );
        assert_eq!(parse("=1").unwrap_err(), (1, "=1".to_owned()));
    }
}
