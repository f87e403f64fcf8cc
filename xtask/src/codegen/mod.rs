//! `cargo xtask codegen`: turns `schemas/` into `crates/protocol/src/messages/`.
//!
//! Why it exists: the generated code is committed, so that a build needs no generator and a reader no tool; a test says
//! when the two have drifted apart.
//! Owns: the files under `crates/protocol/src/messages/`.   Never: anything that is written by hand.
//! In -> out: schema files -> Rust files.
//! Read next: `schema.rs`.

mod api_key;
mod emit;
mod field;
mod names;
mod schema;
mod top;

use crate::shell::{Usage, repository};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the command: writes the files, or with `--check` says which have drifted.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let root = repository();
    match arguments {
        [] => write(&root),
        [flag] if flag == "--check" => check(&root),
        _ => Err(Usage("usage: cargo xtask codegen [--check]".into()).into()),
    }
}

fn output_folder(root: &Path) -> PathBuf {
    root.join("crates/protocol/src/messages")
}

/// Every message of `schemas/`, with the name of its file.
fn read_schemas(root: &Path) -> Result<Vec<(schema::Message, String)>> {
    let folder = root.join("schemas");
    let mut paths = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {folder:?}"))? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "schema")
        {
            paths.push(path);
        }
    }
    paths.sort();
    let mut messages = Vec::new();
    for path in paths {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path)?;
        for message in schema::parse(&text).with_context(|| format!("schemas/{name}"))? {
            messages.push((message, name.clone()));
        }
    }
    Ok(messages)
}

/// Each message with its versions, as `FetchRequest:4-18`.
pub(crate) fn message_versions() -> Result<Vec<String>> {
    let messages = read_schemas(&repository())?;
    let text = |message: &schema::Message| {
        let schema::Versions { first, last } = message.versions;
        format!("{}:{first}-{last}", message.name)
    };
    Ok(messages.iter().map(|(message, _)| text(message)).collect())
}

/// The generated files by name, not yet formatted.
fn generate(root: &Path) -> Result<BTreeMap<String, String>> {
    let (messages, origins): (Vec<_>, Vec<_>) = read_schemas(root)?.into_iter().unzip();
    let mut files = BTreeMap::new();
    for (message, origin) in messages.iter().zip(&origins) {
        let response_lifetime = api_key::response_lifetime(&messages, message);
        let text = emit::message(message, origin, response_lifetime);
        let file = format!("{}.rs", names::snake(&message.name));
        let before = files.insert(file, text);
        ensure!(before.is_none(), "{} is described twice", message.name);
    }
    files.insert("api_key.rs".into(), api_key::api_key(&messages));
    files.insert("mod.rs".into(), api_key::module(&messages));
    Ok(files)
}

/// Writes the files and removes those that no schema asks for any more.
fn write(root: &Path) -> Result<()> {
    let files = generate(root)?;
    let folder = output_folder(root);
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !files.contains_key(&name) {
            fs::remove_file(path)?;
        }
    }
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024"]);
    for (name, text) in &files {
        let path = folder.join(name);
        fs::write(&path, text)?;
        rustfmt.arg(path);
    }
    let status = rustfmt
        .status()
        .context("cannot run rustfmt; install it by `rustup component add rustfmt`")?;
    ensure!(status.success(), "rustfmt refused the generated code");
    println!("wrote {} files to {}", files.len(), folder.display());
    Ok(())
}

/// Says which files differ from what the schemas ask for.
fn check(root: &Path) -> Result<()> {
    let files = generate(root)?;
    let folder = output_folder(root);
    let mut drifted = Vec::new();
    for (name, text) in &files {
        let committed = fs::read_to_string(folder.join(name)).unwrap_or_default();
        if without_layout(&committed) != without_layout(text) {
            drifted.push(name.clone());
        }
    }
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !files.contains_key(&name) {
            drifted.push(name);
        }
    }
    ensure!(
        drifted.is_empty(),
        "generated code differs from schemas/ in {}: run `cargo xtask codegen` and commit what it writes",
        drifted.join(", ")
    );
    Ok(())
}

/// The code without what rustfmt may change, so that the check needs no rustfmt: layout, and the braces and commas that
/// come and go with it.
fn without_layout(code: &str) -> String {
    let is_layout = |c: char| c.is_whitespace() || matches!(c, '{' | '}' | ',');
    code.chars().filter(|c| !is_layout(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_messages_are_what_the_schemas_ask_for() {
        check(&repository()).unwrap();
    }
}
