//! Holds `compat/PITFALLS.md` to the tests that it names, and to its list of cases.

#![expect(
    clippy::unwrap_used,
    reason = "this is all tests, and clippy knows only their entry points as such"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The numbers that were given to cases.
const CASES: &[u32] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 17, 18, 19, 20, 21, 22, 23, 25, 26, 27, 29, 30, 31, 32, 34,
    35, 36, 37, 38, 41, 43, 45, 47, 48, 50, 51, 52, 54, 56, 57, 59, 60, 61, 62, 66, 67, 68, 69, 70,
    71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81,
];

fn read(path: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).ok()
}

/// The rows of cases: the number, and the cell that names tests.
fn rows() -> Vec<(u32, String)> {
    let table = read("compat/PITFALLS.md").unwrap();
    let mut rows = Vec::new();
    for line in table.lines().filter(|line| line.starts_with("| P")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let number = cells[1].strip_prefix('P').unwrap().parse().unwrap();
        rows.push((number, cells[3].to_owned()));
    }
    rows
}

/// The tests that a cell names: what stands between backquotes.
fn tests(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_case_has_one_row_with_tests_or_says_what_brings_it() {
    let rows = rows();
    let numbers: Vec<u32> = rows.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, CASES);
    for (number, cell) in rows {
        let comes_later = cell.contains("with ");
        assert!(comes_later || !tests(&cell).is_empty(), "P{number}: {cell}");
    }
}

#[test]
fn every_test_that_the_table_names_exists() {
    let mut missing = BTreeSet::new();
    for (number, cell) in rows() {
        for test in tests(&cell) {
            let (path, name) = test.rsplit_once("::").unwrap();
            let text = read(path).unwrap_or_default();
            let exists = if path.ends_with(".py") {
                text.contains(&format!("def {name}("))
            } else {
                has_test(&text, name)
            };
            if !exists {
                missing.insert(format!("P{number}: {test}"));
            }
        }
    }
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

/// Whether a Rust file has a function of this name that is a test.
fn has_test(text: &str, name: &str) -> bool {
    let plain = format!("fn {name}(");
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line.contains(&plain) {
            return is_test;
        }
        if line.starts_with("#[test") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if line.starts_with('}') || line.contains("fn ") {
            is_test = false;
        }
    }
    false
}
