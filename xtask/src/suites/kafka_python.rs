//! kafka-python's integration tests, from its sdist, with stand-ins for the modules that the sdist lacks.

use std::path::{Path, PathBuf};

use super::case::Case;
use super::{Bench, Suite, cache, ours};
use crate::compat::broker::{JVM_SMALL, Setup};
use crate::shell;
use crate::toolchains::{need, once};

const VERSION: &str = "3.0.12";
/// The newest version that this client knows how to recognise: it sends what such a broker understands.
const BROKER_VERSION: &str = "4.3.0";

pub(super) const SUITE: Suite = Suite {
    name: "kafka-python",
    source: "PyPI kafka-python 3.0.12",
    setup: Setup {
        // The tests assign partitions to broker 0.
        node_id: 0,
        settings: &[
            "num.partitions=4",
            "auto.create.topics.enable=true",
            "group.initial.rebalance.delay.ms=500",
            // One test has sessions of 3 seconds.
            "group.min.session.timeout.ms=1000",
        ],
        extra: &[],
        jvm: JVM_SMALL,
        port: None,
    },
    prepare,
    run,
};

fn prepare() -> anyhow::Result<PathBuf> {
    let ours = ours(SUITE.name);
    let root = cache().join(SUITE.name);
    once("kafka-python's tests (pip)", &root, &[&ours], || {
        need("python3", &["python3", "python3-venv"])?;
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root)?;
        let python = root.join("venv/bin/python");
        shell::run(
            shell::command("python3")
                .args(["-m", "venv"])
                .arg(root.join("venv")),
        )?;
        let pins = ours.join("requirements.txt");
        let pip = |args: &[&str]| {
            let mut pip = shell::command(&python);
            pip.args(["-m", "pip", "--quiet"]).args(args);
            pip
        };
        shell::run(pip(&["install", "--requirement"]).arg(&pins))?;
        let sdist = format!("kafka-python=={VERSION}");
        shell::run(
            pip(&[
                "download",
                "--no-deps",
                "--no-binary",
                ":all:",
                &sdist,
                "--dest",
            ])
            .arg(&root),
        )?;
        let archive = root.join(format!("kafka_python-{VERSION}.tar.gz"));
        shell::run(
            shell::command("tar")
                .arg("xzf")
                .arg(archive)
                .arg("-C")
                .arg(&root),
        )?;
        lay_out(&root, &ours)
    })?;
    Ok(root)
}

/// Only the tests, so that the installed client is what they import; our stand-ins among them.
fn lay_out(root: &Path, ours: &Path) -> anyhow::Result<()> {
    let tests = root.join("test");
    std::fs::rename(root.join(format!("kafka_python-{VERSION}/test")), &tests)?;
    for file in std::fs::read_dir(ours.join("test"))? {
        let file = file?;
        std::fs::copy(file.path(), tests.join(file.file_name()))?;
    }
    // The fixtures look for a Kafka there, and use it only to start brokers of their own.
    let servers = root.join("servers").join(BROKER_VERSION);
    Ok(std::fs::create_dir_all(servers.join("kafka-bin/libs"))?)
}

fn run(bench: &Bench) -> anyhow::Result<Vec<Case>> {
    let outcomes = bench.logs.join("outcomes.txt");
    let log = std::fs::File::create(bench.logs.join("pytest.log"))?;
    let mut pytest = shell::command(bench.installed.join("venv/bin/python"));
    pytest
        .args(["-m", "pytest", "test/integration", "-p", "no:cacheprovider"])
        .args([
            "--verbose",
            "-o",
            "log_level=DEBUG",
            "--timeout=120",
            "--timeout-method=signal",
        ])
        .current_dir(&bench.installed)
        .env("KAFKA_URI", format!("kafka://{}", bench.bootstrap))
        .env("KAFKA_VERSION", BROKER_VERSION)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdout(log.try_clone()?)
        .stderr(log);
    super::pytest(&mut pytest, &outcomes, &bench.logs)
}
