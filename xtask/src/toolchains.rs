//! What the real clients need, installed or built once below `target/compat/` and reused while their pins and sources stay the same.
//!
//! Why it exists: the test command has to work on a fresh machine, and a client that is missing must fail the run, never be skipped.
//! In -> out: pins and sources under `compat/` -> programs that can be started.
//! Never: anything installed outside `target/`, except Debian packages when run as root.

mod javascript;

pub(crate) use self::javascript::{javascript, javascript_confluent, new_node, node};

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::shell::{self, step};

/// The folder for everything that is not ours.
pub(crate) fn cache() -> PathBuf {
    shell::target_dir().join("compat")
}

/// The Python interpreter that has the pinned clients.
pub(crate) fn python() -> anyhow::Result<PathBuf> {
    let pins = shell::repository().join("compat/python/requirements.txt");
    let venv = cache().join("venv");
    let python = venv.join("bin/python");
    once("Python clients (venv, pip)", &venv, &[&pins], || {
        need("python3", &["python3", "python3-venv"])?;
        make_venv(&venv)?;
        shell::run(
            shell::command(&python)
                .args(["-m", "pip", "install", "--quiet", "--requirement"])
                .arg(&pins),
        )
    })?;
    Ok(python)
}

/// Debian's Python comes without what makes a venv; as root it is installed, otherwise the error says how.
fn make_venv(venv: &Path) -> anyhow::Result<()> {
    let make = || {
        let _ = std::fs::remove_dir_all(venv);
        shell::run(shell::command("python3").args(["-m", "venv"]).arg(venv))
    };
    make()
        .or_else(|_| apt_install(&["python3-venv"]).and_then(|()| make()))
        .context("python3 cannot make a venv: on Debian, `apt-get install python3-venv`")
}

/// The class path of the Java client program.
pub(crate) fn java() -> anyhow::Result<String> {
    let project = shell::repository().join("compat/java");
    let out = cache().join("java");
    once("Java client (Maven)", &out, &[&project], || {
        need("javac", &["default-jdk-headless"])?;
        maven(&project, &out, &["compile", "dependency:copy-dependencies"])
    })?;
    Ok(format!(
        "{}:{}",
        out.join("classes").display(),
        out.join("lib/*").display()
    ))
}

/// The class path of the program that writes golden bytes by Kafka's own classes.
pub(crate) fn golden() -> anyhow::Result<String> {
    let project = shell::repository().join("compat/golden");
    let out = cache().join("golden");
    once("golden bytes (Maven)", &out, &[&project], || {
        need("javac", &["default-jdk-headless"])?;
        maven(&project, &out, &["compile", "dependency:copy-dependencies"])
    })?;
    Ok(format!(
        "{}:{}",
        out.join("classes").display(),
        out.join("lib/*").display()
    ))
}

/// The class path of Apache Kafka 4.4 itself: the judge of the suites, and its DumpLogSegments.
pub(crate) fn kafka() -> anyhow::Result<String> {
    let project = shell::repository().join("compat/kafka");
    let out = cache().join("kafka");
    let pom = project.join("pom.xml");
    once("Apache Kafka 4.4 (Maven)", &out, &[&pom], || {
        need("java", &["default-jre-headless"])?;
        maven(&project, &out, &["dependency:copy-dependencies"])
    })?;
    Ok(out.join("lib/*").display().to_string())
}

/// The class path of Kafka Connect's worker and the connectors for files.
pub(crate) fn connect() -> anyhow::Result<String> {
    let project = shell::repository().join("compat/connect");
    let out = cache().join("connect");
    let pom = project.join("pom.xml");
    once("Kafka Connect (Maven)", &out, &[&pom], || {
        need("java", &["default-jre-headless"])?;
        maven(&project, &out, &["dependency:copy-dependencies"])
    })?;
    Ok(out.join("lib/*").display().to_string())
}

/// The class path of the Kafka Streams program.
pub(crate) fn streams() -> anyhow::Result<String> {
    let project = shell::repository().join("compat/streams");
    let out = cache().join("streams");
    let sources = [project.join("pom.xml"), project.join("src")];
    once(
        "Kafka Streams (Maven)",
        &out,
        &[&sources[0], &sources[1]],
        || {
            need("javac", &["default-jdk-headless"])?;
            maven(&project, &out, &["compile", "dependency:copy-dependencies"])
        },
    )?;
    Ok(format!(
        "{}:{}",
        out.join("classes").display(),
        out.join("lib/*").display()
    ))
}

/// A folder with scripts named as in Kafka's distribution, which Maven does not have: what people type who have that.
pub(crate) fn kafka_scripts() -> anyhow::Result<PathBuf> {
    const TOOLS: &[(&str, &str)] = &[
        ("kafka-configs.sh", "ConfigCommand"),
        ("kafka-console-consumer.sh", "consumer.ConsoleConsumer"),
        ("kafka-console-producer.sh", "ConsoleProducer"),
        (
            "kafka-console-share-consumer.sh",
            "consumer.ConsoleShareConsumer",
        ),
        (
            "kafka-consumer-groups.sh",
            "consumer.group.ConsumerGroupCommand",
        ),
        ("kafka-topics.sh", "TopicCommand"),
    ];
    let out = cache().join("scripts");
    std::fs::create_dir_all(&out)?;
    let class_path = kafka()?;
    for (name, class) in TOOLS {
        let class = format!("org.apache.kafka.tools.{class}");
        write_script(&out.join(name), &class_path, &class)?;
    }
    let worker = "org.apache.kafka.connect.cli.ConnectDistributed";
    write_script(&out.join("connect-distributed.sh"), &connect()?, worker)?;
    Ok(out)
}

fn write_script(path: &Path, class_path: &str, class: &str) -> anyhow::Result<()> {
    let text = format!(
        "#!/bin/sh\nexec java -Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '{class_path}' {class} \"$@\"\n"
    );
    std::fs::write(path, text)?;
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, executable)?;
    Ok(())
}

/// The folder with the Go client programs.
pub(crate) fn go() -> anyhow::Result<PathBuf> {
    let module = shell::repository().join("compat/go");
    let out = cache().join("go");
    once("Go clients (go build)", &out, &[&module], || {
        if shell::find_program("go").is_none() {
            bail!(
                "go is missing: install Go 1.25 or later (https://go.dev/dl; Debian 12's own is too old) and run this again"
            );
        }
        std::fs::create_dir_all(&out)?;
        shell::run(
            shell::command("go")
                .args(["build", "-mod=readonly", "-buildvcs=false", "-o"])
                .arg(&out)
                .arg("./...")
                .current_dir(&module),
        )
    })?;
    Ok(out)
}

/// kcat as Debian packages it.
pub(crate) fn kcat() -> anyhow::Result<PathBuf> {
    need("kcat", &["kcat"])
}

/// curl, which the pages' examples use.
pub(crate) fn curl() -> anyhow::Result<PathBuf> {
    need("curl", &["curl"])
}

/// Finds a program; as root on Debian it installs the packages that bring it, otherwise it says how.
pub(crate) fn need(program: &str, packages: &[&str]) -> anyhow::Result<PathBuf> {
    if let Some(path) = shell::find_program(program) {
        return Ok(path);
    }
    apt_install(packages).with_context(|| format!("{program} is missing"))?;
    shell::find_program(program)
        .with_context(|| format!("{} brought no {program}", packages.join(" ")))
}

/// The same for a file that a package brings, such as a library's header.
pub(crate) fn need_file(file: &Path, package: &str) -> anyhow::Result<()> {
    if !file.is_file() {
        apt_install(&[package]).with_context(|| format!("{} is missing", file.display()))?;
    }
    anyhow::ensure!(file.is_file(), "{package} brought no {}", file.display());
    Ok(())
}

/// Installs Debian packages, where that is possible.
fn apt_install(packages: &[&str]) -> anyhow::Result<()> {
    let way_out = format!("apt-get install {}", packages.join(" "));
    let is_root = rustix::process::getuid().is_root();
    if !is_root || shell::find_program("apt-get").is_none() {
        bail!("`{way_out}` as root (or your system's equivalent), then run this again");
    }
    step(&way_out, || {
        shell::run(shell::command("apt-get").args(["update", "-qq"]))?;
        let mut install = shell::command("apt-get");
        install
            .args(["install", "-qq", "-y", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive");
        shell::run(&mut install)
    })
}

fn maven(project: &Path, out: &Path, goals: &[&str]) -> anyhow::Result<()> {
    let maven = need("mvn", &["maven"])?;
    shell::run(
        shell::command(maven)
            .args(["-q", "-B", "-f"])
            .arg(project.join("pom.xml"))
            .args(goals)
            .arg("-DincludeScope=runtime")
            .arg(format!("-DoutputDirectory={}", out.join("lib").display()))
            .arg(format!("-Dfanlog.build={}", out.display())),
    )
}

/// Runs `make` unless it succeeded before with the same `sources`; the note of that lies beside `out`.
pub(crate) fn once(
    what: &str,
    out: &Path,
    sources: &[&Path],
    make: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let stamp = out.with_extension("stamp");
    let mut hasher = DefaultHasher::new();
    for source in sources {
        fingerprint(source, &mut hasher)?;
    }
    let wanted = format!("{:016x}", hasher.finish());
    if out.exists() && std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    std::fs::create_dir_all(cache())?;
    let _ = std::fs::remove_file(&stamp);
    step(&format!("preparing: {what}"), make)?;
    std::fs::write(&stamp, wanted)?;
    Ok(())
}

fn fingerprint(path: &Path, hasher: &mut DefaultHasher) -> anyhow::Result<()> {
    hasher.write(path.as_os_str().as_encoded_bytes());
    if !path.is_dir() {
        let bytes = std::fs::read(path).with_context(|| format!("{}", path.display()))?;
        hasher.write(&bytes);
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    entries
        .iter()
        .try_for_each(|entry| fingerprint(entry, hasher))
}
