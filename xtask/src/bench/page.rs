//! `bench/RESULTS.md`, `docs/bench/README.md` and the pictures beside it: all from the results, and from nothing else.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;

use super::plot::{self, number};
use super::results::{BESIDE, EXAMPLE, JOURNAL, Kind, Results};
use super::tables::{self, Cell, Row, Table};
use crate::shell;

/// Where the page lies.
const PAGE: &str = "bench/RESULTS.md";
/// Where the pictures lie.
const PICTURES: &str = "docs/bench";

/// What stands above the tables of a kind.
const KINDS: [(Kind, &str, &str); 3] = [
    (
        BESIDE,
        "Fanlog beside Kafka 4.4, and what the machine gives",
        "The brokers have their turns one after the other; before each load the data of the one before is deleted and everything else written to\n\
         the disk. Median, and least to most of the rounds. Fanlog acknowledges what is on the disk; *Fanlog, os* (`durability=os` on the topic)\n\
         and *Kafka* (its defaults) acknowledge what is in memory; *Kafka, synced* (`flush.messages=1` on the topic) promises what Fanlog\n\
         promises. Load generator and broker share the processors. Ratios mean something; absolute figures of a virtual machine are another's\n\
         tomorrow. A load of 1 to 100 partitions that would write more than 8 GB keeps `retention.bytes` of the last ones; one of 1,000 ends\n\
         when 8 GB are acknowledged.",
    ),
    (
        JOURNAL,
        "The journal over partitions and sizes of batches",
        "`cargo xtask bench --journal`: Fanlog alone, topics of class `sync` and of class `os`.",
    ),
    (
        EXAMPLE,
        "The worked example",
        "`cargo xtask bench --example`: 50,000 `order.placed` of 1 KB a second for 180 s, acknowledged when durable, and four groups. Run A: all\n\
         at full speed. Run B: one is held to 2,000 a second; then 500 records a second follow, the time its backlog would take is\n\
         predicted from the measured rates, and it is let go.",
    ),
];

/// Writes the page and the pictures, and removes pictures of tables that are no more.
pub(super) fn write(results: &Results) -> anyhow::Result<()> {
    let root = shell::repository();
    let files = files(results);
    let pictures = root.join(PICTURES);
    std::fs::create_dir_all(&pictures)?;
    for entry in std::fs::read_dir(&pictures)? {
        let path = entry?.path();
        let is_picture = path.extension().is_some_and(|ext| ext == "svg");
        if is_picture && !files.iter().any(|(file, _)| root.join(file) == path) {
            std::fs::remove_file(path)?;
        }
    }
    for (file, text) in files {
        std::fs::write(root.join(&file), text).with_context(|| format!("cannot write {file}"))?;
    }
    println!("    {PAGE}, {PICTURES}/");
    Ok(())
}

/// Every file that is drawn from the results, with its text.
fn files(results: &Results) -> Vec<(String, String)> {
    let tables = tables::all(results);
    let mut files = vec![
        (PAGE.to_owned(), self::results(results)),
        (format!("{PICTURES}/README.md"), pictures(&tables)),
    ];
    for table in &tables {
        files.push((format!("{PICTURES}/{}.svg", table.id), plot::svg(table)));
    }
    files
}

/// The page of tables.
pub(super) fn results(results: &Results) -> String {
    let mut page = "# What the bench found\n\n\
        Written by `cargo xtask bench` from `results.jsonl`; do not edit. How to run it: [README.md](README.md). The same as pictures:\n\
        [docs/bench](../docs/bench/README.md). What the first figures said, and where the time went then:\n\
        [first-figures.md](../docs/decisions/first-figures.md).\n"
        .to_owned();
    let tables = tables::all(results);
    for (kind, title, text) in KINDS {
        let of_kind: Vec<&Table> = tables.iter().filter(|table| table.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n# {title}\n\n{text}\n");
        for (run, loads) in results.runs(kind) {
            let which = if results.runs(kind).len() == 1 {
                String::new()
            } else {
                format!(" {}.", loads.join(", "))
            };
            let _ = writeln!(
                page,
                "- Commit {}, {}; {}.{which} {}",
                run.commit, run.date, run.what, run.machine
            );
        }
        for table in of_kind {
            markdown(&mut page, table);
        }
    }
    page
}

fn markdown(page: &mut String, table: &Table) {
    let _ = writeln!(page, "\n## {}\n", table.title);
    let has = |name: &str| table.columns.contains(&name);
    let ratios = table
        .ratios
        .iter()
        .filter(|(one, other)| has(one) && has(other));
    let ratios: Vec<_> = ratios.collect();
    let names = ratios.iter().map(|(one, other)| format!("{one} : {other}"));
    let columns = table.columns.iter().map(|name| (*name).to_owned());
    let heads: Vec<String> = columns.chain(names).collect();
    let _ = writeln!(page, "| {} | {} |", table.unit, heads.join(" | "));
    let _ = writeln!(page, "|---{}|", "|---".repeat(heads.len()));
    for row in &table.rows {
        let cells = row.cells.iter().map(cell);
        let ratios = ratios
            .iter()
            .map(|(one, other)| ratio(table, row, one, other));
        let cells: Vec<String> = cells.chain(ratios).collect();
        let _ = writeln!(page, "| {} | {} |", row.label, cells.join(" | "));
    }
}

fn cell(cell: &Cell) -> String {
    let spread = cell.spread.map(|spread| {
        let (median, least, most) = (spread.median, spread.least, spread.most);
        if least == most {
            format!("**{}**", number(median))
        } else {
            format!(
                "**{}** ({} to {})",
                number(median),
                number(least),
                number(most)
            )
        }
    });
    let failure = cell.failure.as_ref().map(|reason| {
        let reason = reason.replace('|', "/").replace('\n', " ");
        format!("failed: {reason}")
    });
    let parts: Vec<String> = spread.into_iter().chain(failure).collect();
    if parts.is_empty() {
        "-".to_owned()
    } else {
        parts.join("; ")
    }
}

fn ratio(table: &Table, row: &Row, one: &str, other: &str) -> String {
    match (table.median(row, one), table.median(row, other)) {
        (Some(one), Some(other)) if other != 0.0 => {
            let ratio = one / other;
            let digits = if ratio < 0.1 { 4 } else { 2 };
            format!("{ratio:.digits$}")
        }
        _ => "-".to_owned(),
    }
}

/// The page that explains the pictures.
fn pictures(tables: &[Table]) -> String {
    let mut page = "# What the bench found, as pictures\n\n\
        Drawn by `cargo xtask bench --plots` from [bench/results.jsonl](../../bench/results.jsonl); do not edit. The same as tables, with the\n\
        machine and the commit: [bench/RESULTS.md](../../bench/RESULTS.md). Bars are medians, whiskers reach from the least to the most of the\n\
        rounds; one round has no whisker. Where the axis is logarithmic, twice as long does not mean twice as much.\n"
        .to_owned();
    for table in tables {
        let (title, id, text) = (table.title, table.id, table.text);
        let _ = writeln!(page, "\n## {title}\n\n{text}\n\n![{title}]({id}.svg)");
    }
    page
}

/// The machine in a sentence.
pub(super) fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let cpu = cpu.map_or("unknown", |name| name.trim_start_matches([' ', '\t', ':']));
    let memory = read("/proc/meminfo");
    let kib = memory
        .split_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse::<f64>().ok());
    format!(
        "{cores} processors ({cpu}), {gib:.0} GiB, Linux {kernel}, {disk}, TCP congestion control {tcp} for all.",
        gib = kib.unwrap_or_default() / 1024.0 / 1024.0,
        kernel = read("/proc/sys/kernel/osrelease").trim(),
        disk = file_system().unwrap_or_else(|_| "a file system that has no name".to_owned()),
        tcp = read("/proc/sys/net/ipv4/tcp_congestion_control").trim(),
    )
}

/// The name of the file system below `target/`.
fn file_system() -> anyhow::Result<String> {
    let mut df = shell::command("df");
    df.arg("--output=fstype").arg(shell::target_dir());
    let said = shell::output(&mut df)?;
    Ok(said.lines().last().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::committed;
    use crate::bench::system::{FANLOG, KAFKA};

    #[test]
    fn the_committed_page_and_pictures_are_what_the_committed_results_give() {
        let results = committed().unwrap();
        let root = shell::repository();
        let files = files(&results);
        assert!(files.len() > 10, "{} files", files.len());
        for (file, text) in &files {
            let found = std::fs::read_to_string(root.join(file)).unwrap_or_default();
            assert!(
                found == *text,
                "{file} is old: run `cargo xtask bench --plots`"
            );
        }
        for entry in std::fs::read_dir(root.join(PICTURES)).unwrap() {
            let path = entry.unwrap().path();
            let is_drawn = files.iter().any(|(file, _)| root.join(file) == path);
            assert!(is_drawn, "{} belongs to no table", path.display());
        }
    }

    #[test]
    fn a_failed_row_is_there_with_its_reason_beside_the_others() {
        let mut found = Results::default();
        found.add(BESIDE, "fetch-1", FANLOG, "megabytes_per_second", 30.0);
        found.add(BESIDE, "fetch-1", KAFKA, "megabytes_per_second", 20.0);
        found.fail(BESIDE, "fetch-4", KAFKA, "no | broker");
        let page = results(&found);
        assert!(
            page.contains("| one group, 4 partitions | **30** | **20** | 1.50 |"),
            "{page}"
        );
        assert!(page.contains("| - | failed: no / broker | - |"), "{page}");
    }
}
