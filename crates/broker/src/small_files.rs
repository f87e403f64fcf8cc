//! Reading the small files at the root of the data directory, with a limit on what is read.

use fanlog_environment::{Disk, read_bounded};
use std::io;
use std::path::Path;

/// The largest small file that is read: the root's files have a few lines.
const SMALL_FILE_BYTES_MAX: usize = 64 * 1024;

/// The file's text, or none if there is no such file.
pub(crate) fn read_small_file(disk: &dyn Disk, path: &Path) -> io::Result<Option<String>> {
    let bytes = match read_bounded(disk, path, SMALL_FILE_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text"))
}

/// The value of `key=value` lines; lines beginning with `#` are comments.
pub(crate) fn property<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_is_found_by_its_whole_name() {
        let text = "# node.id=9\nversion=1\nnode.id = 3 \n";
        assert_eq!(property(text, "node.id"), Some("3"));
        assert_eq!(property(text, "version"), Some("1"));
        assert_eq!(property(text, "node"), None);
    }
}
