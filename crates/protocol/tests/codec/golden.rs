//! Messages that Kafka 4.4's own classes wrote (`compat/golden/`, by `cargo xtask golden`) come back byte for byte.
//!
//! Each line of `tests/golden/*.hex` is `name version case bytes`; a fifth word is the same message without the tagged
//! fields that nobody knows, which is what comes back.

use super::{sample, table};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The lines of every golden file, or of one.
#[allow(
    clippy::disallowed_methods,
    reason = "a test may read the repository's own files"
)]
pub(crate) fn lines(only: Option<&str>) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if only.map_or(name != "batches.hex", |only| only == name) {
            let text = fs::read_to_string(&path).unwrap();
            all.extend(text.lines().map(str::to_owned));
        }
    }
    all
}

/// The bytes that a word of a golden line stands for.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    if hex == "-" {
        return Vec::new();
    }
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

#[test]
fn kafkas_own_messages_come_back_byte_for_byte() {
    for line in lines(None) {
        let words: Vec<&str> = line.split(' ').collect();
        let (&[name, version, case, given], rest) = words.split_first_chunk().unwrap();
        let expected = rest.first().copied().unwrap_or(given);
        let decoded = table::find(name)(&bytes(given), version.parse().unwrap());
        let decoded = decoded.unwrap_or_else(|error| panic!("{name} {version} {case}: {error}"));
        assert_eq!(
            decoded.written,
            bytes(expected),
            "{name} {version} {case}: {given}"
        );
    }
}

#[test]
fn every_version_of_every_message_has_golden_bytes() {
    let mut found = BTreeSet::new();
    for line in lines(None) {
        let words: Vec<&str> = line.split(' ').collect();
        found.insert((
            words[0].to_owned(),
            words[1].to_owned(),
            words[2].to_owned(),
        ));
    }
    for message in sample::all_messages() {
        for version in message.versions.first..=message.versions.last {
            let has = |case: &str| {
                let line = (message.name.clone(), version.to_string(), case.to_owned());
                assert!(
                    found.contains(&line),
                    "{line:?} is missing: run `cargo xtask golden`"
                );
            };
            ["default", "least", "most", "random", "random2"]
                .into_iter()
                .for_each(has);
            if message.flexible.is_some_and(|all| all.contains(version)) {
                has("unknown-tags");
            }
            if version == message.versions.last {
                has("many");
            }
        }
    }
}
