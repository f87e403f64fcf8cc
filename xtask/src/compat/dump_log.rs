//! Apache Kafka's DumpLogSegments over the files that a broker left: what Kafka's own reader says about our format.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::shell;

/// What the reader prints when something in a segment or an index is wrong.
const COMPLAINTS: &[&str] = &[
    "Found timestamp mismatch",
    "Found out of order timestamp",
    "Mismatches in",
    "isvalid: false",
    "Non-consecutive offsets",
    "Found invalid",
];

/// Reads every segment below `data`, with its records and indexes; returns a summary.
pub(crate) fn check(class_path: &str, data: &Path, work: &Path) -> anyhow::Result<String> {
    let mut segments = Vec::new();
    collect(data, &mut segments)?;
    ensure!(!segments.is_empty(), "no segment below {}", data.display());
    let mut batches = 0;
    // In one process for many segments: a JVM takes longer to start than to read.
    for group in segments.chunks(100) {
        let names: Vec<String> = group
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let mut command = shell::command("java");
        command
            .args([
                "-Xmx256m",
                "-cp",
                class_path,
                "org.apache.kafka.tools.DumpLogSegments",
            ])
            .args(["--deep-iteration", "--files", &names.join(",")])
            .current_dir(work);
        let dump = shell::output(&mut command).context("DumpLogSegments")?;
        let complaint = dump
            .lines()
            .find(|line| COMPLAINTS.iter().any(|complaint| line.contains(complaint)));
        ensure!(complaint.is_none(), "{}", complaint.unwrap_or_default());
        batches += dump
            .lines()
            .filter(|line| line.starts_with("baseOffset:"))
            .count();
    }
    ensure!(
        batches > 0,
        "Kafka's reader found no batch in {} files",
        segments.len()
    );
    Ok(format!(
        "{} segments and indexes read by Kafka's DumpLogSegments, {batches} batches, no complaint",
        segments.len()
    ))
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(dir).with_context(|| format!("{}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if is_dumpable(&path)? {
            found.push(path);
        }
    }
    found.sort();
    Ok(())
}

/// Segments and indexes with something in them, of the topics that clients see.
fn is_dumpable(path: &Path) -> anyhow::Result<bool> {
    let is_known = path.extension().is_some_and(|extension| {
        extension == "log" || extension == "index" || extension == "timeindex"
    });
    let is_metadata = path.to_string_lossy().contains("__cluster_metadata");
    Ok(is_known && !is_metadata && path.with_extension("log").metadata()?.len() > 0)
}
