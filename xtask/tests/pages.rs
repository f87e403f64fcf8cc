//! Holds the pages to the code: ids, dependencies, links, the commands of README's first screen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    let full = root().join(path);
    std::fs::read_to_string(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()))
}

/// The first cell of each row of the page's tables.
fn first_cells(page: &str) -> impl Iterator<Item = &str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| "))
        .filter_map(|row| row.split(" |").next())
}

#[test]
fn the_page_of_invariants_and_the_code_list_the_same_ids() {
    let code = read("crates/model/src/invariants.rs");
    let in_code: BTreeSet<&str> = code
        .lines()
        .filter_map(|line| line.strip_prefix("pub const "))
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    let page = read("docs/invariants.md");
    let on_page: BTreeSet<&str> = first_cells(&page)
        .filter(|cell| cell.contains('-') && !cell.contains("--"))
        .collect();
    assert!(in_code.len() > 5, "the ids of the code were not found");
    assert_eq!(in_code, on_page);
}

#[test]
fn every_dependency_says_why_it_is_there() {
    let manifest = read("Cargo.toml");
    let section = manifest
        .split("[workspace.dependencies]")
        .nth(1)
        .and_then(|rest| rest.split("\n[").next())
        .expect("the workspace lists its dependencies");
    let in_manifest: BTreeSet<&str> = section
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .filter(|name| !name.starts_with("fanlog-"))
        .collect();
    let page = read("docs/dependencies.md");
    let linked = page.split("## In `compat/`").next().expect("has a start");
    let on_page: BTreeSet<&str> = first_cells(linked)
        .flat_map(|cell| cell.split(", "))
        .filter_map(|name| name.split(' ').next())
        .filter(|name| *name != "crate")
        .collect();
    assert_eq!(in_manifest, on_page);
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    pages.extend([root().join("CHANGELOG.md"), root().join("compat/README.md")]);
    for dir in ["docs", "docs/decisions"] {
        let entries = std::fs::read_dir(root().join(dir)).expect("docs is there");
        let paths = entries.map(|entry| entry.expect("a readable entry").path());
        pages.extend(paths.filter(|path| path.extension().is_some_and(|ext| ext == "md")));
    }
    for page in pages {
        let text = std::fs::read_to_string(&page)
            .unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = target.split('#').next().expect("split gives one");
            if file.is_empty() || file.contains("://") {
                continue;
            }
            let folder = page.parent().expect("a page lies in a folder");
            assert!(
                folder.join(file).exists(),
                "{} links to {target}, which is not there",
                page.display()
            );
        }
    }
}

#[test]
fn the_first_screen_of_readme_has_the_two_commands_and_what_is_missing() {
    let readme = read("README.md");
    let screen: Vec<&str> = readme.lines().take(30).collect();
    let screen = screen.join("\n");
    for wanted in [
        "cargo run --release -p fanlog -- serve",
        "cargo xtask test",
        "single copy",
        "docs/not-implemented.md",
    ] {
        assert!(
            screen.contains(wanted),
            "README's first screen lacks {wanted:?}"
        );
    }
}
