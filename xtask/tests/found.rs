//! Holds `compat/FOUND.md` to the tests that it names.

#![expect(
    clippy::unwrap_used,
    reason = "this is all tests, and clippy knows only their entry points as such"
)]

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What stands between backquotes and looks like the name of a test: words that underscores join.
fn is_test_name(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.chars().all(is_word) && text.matches('_').count() >= 3
}

/// Every test function below a folder, by its line.
fn functions(dir: &Path, found: &mut String) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_fault_that_was_found_has_a_test_that_exists() {
    let page = fs::read_to_string(root().join("compat/FOUND.md")).unwrap();
    let mut code = String::new();
    functions(&root().join("crates"), &mut code);
    let mut faults = 0;
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let quoted: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
        if quoted.is_empty() {
            assert!(row.trim_end().ends_with("| test |"), "no test: {row}");
            continue;
        }
        faults += 1;
        let (files, names): (Vec<&str>, Vec<&str>) =
            quoted.iter().partition(|text| text.contains('/'));
        for file in files {
            assert!(root().join(file).is_file(), "{file} does not exist: {row}");
        }
        assert!(!names.is_empty(), "a file, and no test in it: {row}");
        for name in names {
            assert!(is_test_name(name), "{name} is no test: {row}");
            let exists = code.contains(&format!("fn {name}("));
            assert!(exists, "{name} does not exist: {row}");
        }
    }
    assert!(faults > 20, "the page lists {faults} faults");
}
