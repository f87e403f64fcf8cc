//! `cargo xtask golden`: the bytes that Kafka's own classes write, as test data for our codec.
//!
//! Why it exists: what we read and write must be what Kafka reads and writes. The bytes are committed, so that the test
//! needs no Java; a check says when they are no longer what `compat/golden/` writes.
//! Owns: `crates/protocol/tests/golden/`.
//! In -> out: the names and versions in `schemas/` -> one file for each API or record, one for record batches.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::codegen;
use crate::shell::{self, Usage};
use crate::toolchains;

const USAGE: &str = "usage: cargo xtask golden [--check]";

/// Runs the command: writes the files, or with `--check` says which have drifted.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let is_check = match args {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err(Usage(USAGE.into()).into()),
    };
    let fresh = write_fresh()?;
    if is_check {
        return check(&fresh);
    }
    let folder = committed();
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let files = read(&fresh)?;
    for (name, text) in &files {
        fs::write(folder.join(name), text)?;
    }
    println!("wrote {} files to {}", files.len(), folder.display());
    Ok(())
}

fn committed() -> PathBuf {
    shell::repository().join("crates/protocol/tests/golden")
}

/// Lets Kafka's classes write everything that the schemas name, and returns the folder that holds it.
fn write_fresh() -> anyhow::Result<PathBuf> {
    let class_path = toolchains::golden()?;
    let folder = toolchains::cache().join("golden/written");
    let _ = fs::remove_dir_all(&folder);
    let mut java = shell::command("java");
    java.arg("-cp").arg(class_path).arg("fanlog.golden.Golden");
    java.arg(&folder).args(codegen::message_versions()?);
    shell::run(&mut java)?;
    Ok(folder)
}

fn read(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {folder:?}"))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.insert(name, fs::read_to_string(entry.path())?);
    }
    Ok(files)
}

fn check(fresh: &Path) -> anyhow::Result<()> {
    let (fresh, committed) = (read(fresh)?, read(&committed())?);
    let names = fresh.keys().chain(committed.keys());
    let mut drifted: Vec<&str> = names
        .filter(|name| comparable(fresh.get(*name)) != comparable(committed.get(*name)))
        .map(String::as_str)
        .collect();
    drifted.dedup();
    ensure!(
        drifted.is_empty(),
        "golden bytes differ from what Kafka writes in {}: run `cargo xtask golden` and commit what it writes",
        drifted.join(", ")
    );
    Ok(())
}

/// What must be the same on every machine: all but gzip, whose bytes come from the zlib that this Java was built with.
fn comparable(text: Option<&String>) -> Option<Vec<&str>> {
    let lines = text?.lines();
    Some(
        lines
            .filter(|line| !line.starts_with("batch gzip "))
            .collect(),
    )
}
