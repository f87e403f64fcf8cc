//! `bench/QUEUES.md`: a section for each part, each of the run that measured it last.

use std::fmt::Write as _;

use anyhow::Context;

use super::Section;
use crate::bench::page::machine;
use crate::shell;

const PAGE: &str = "bench/QUEUES.md";
const TOP: &str = "\
# Queues

Written by `cargo xtask bench --queues`; each section is of the run that it names. Load generator and broker share the processors: ratios
mean something, absolute figures of a virtual machine are another's tomorrow. Median, and least to most of the rounds.
";

/// Puts a section in place of the one with its heading.
pub(super) fn write(section: &Section, rounds: usize) -> anyhow::Result<()> {
    let path = shell::repository().join(PAGE);
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let (commit, date) = shell::commit_and_date(PAGE)?;
    let run = format!("Commit {commit}, {date}, {rounds} rounds. {}", machine());
    let text = with(
        &before,
        section.heading,
        &format!("{run}\n\n{}", section.text),
    )?;
    std::fs::write(&path, text).with_context(|| format!("cannot write {PAGE}"))?;
    println!("    {PAGE}");
    Ok(())
}

/// The page with that section; the others stay.
fn with(page: &str, heading: &str, text: &str) -> anyhow::Result<String> {
    let mut sections: Vec<(&str, &str)> = page
        .split("\n## ")
        .skip(1)
        .filter_map(|section| section.split_once('\n'))
        .map(|(heading, text)| (heading, text.trim()))
        .collect();
    match sections.iter_mut().find(|(known, _)| *known == heading) {
        Some(known) => known.1 = text.trim(),
        None => sections.push((heading, text.trim())),
    }
    let mut page = TOP.to_owned();
    for (heading, text) in sections {
        write!(page, "\n## {heading}\n\n{text}\n")?;
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::{TOP, with};

    #[test]
    fn a_section_replaces_its_older_self_and_no_other() {
        let page = with("", "One", "first\n").unwrap();
        let page = with(&page, "Two", "second").unwrap();
        let page = with(&page, "One", "third").unwrap();
        assert_eq!(
            page,
            format!("{TOP}\n## One\n\nthird\n\n## Two\n\nsecond\n")
        );
    }
}
