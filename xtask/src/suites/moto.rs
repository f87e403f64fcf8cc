//! moto's tests of SQS and SNS, from its sdist, over the wire against the broker; or against moto's own server.
//!
//! A test is left out if it calls another service, or an action that is none of the 42 of SQS and SNS, or nothing over the
//! wire at all. Which those are is recorded, not read: against moto's own server every test runs, what each called is kept,
//! and the list in `expectations.txt` has to be that.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::case::{Case, Outcome};
use super::{Bench, Suite, cache, ours};
use crate::compat::broker::{JVM_SMALL, Setup};
use crate::shell;
use crate::toolchains::{need, once};

const VERSION: &str = "5.2.5";
/// The tests have it written in them, as `http://localhost:5000`.
const PORT: u16 = 5000;
/// How long moto's server may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) const SUITE: Suite = Suite {
    name: "moto",
    source: "PyPI moto 5.2.5, tests/test_sqs and tests/test_sns",
    setup: Setup {
        node_id: 0,
        settings: &[],
        extra: &[
            "aws.strict-names=true",
            "aws.account=123456789012",
            "aws.region=us-east-1",
            // Tests subscribe endpoints that are nowhere; none is delivered to.
            "aws.sns.endpoints=http://,https://",
            "aws.sns.confirmation=false",
        ],
        jvm: JVM_SMALL,
        port: None,
    },
    prepare,
    run,
};

/// The actions that Fanlog speaks, and the one of STS that the proxy answers.
const SPOKEN: &[&str] = &[
    "sns:AddPermission",
    "sns:ConfirmSubscription",
    "sns:CreateTopic",
    "sns:DeleteTopic",
    "sns:GetSubscriptionAttributes",
    "sns:GetTopicAttributes",
    "sns:ListSubscriptions",
    "sns:ListSubscriptionsByTopic",
    "sns:ListTagsForResource",
    "sns:ListTopics",
    "sns:Publish",
    "sns:PublishBatch",
    "sns:RemovePermission",
    "sns:SetSubscriptionAttributes",
    "sns:SetTopicAttributes",
    "sns:Subscribe",
    "sns:TagResource",
    "sns:Unsubscribe",
    "sns:UntagResource",
    "sqs:AddPermission",
    "sqs:CancelMessageMoveTask",
    "sqs:ChangeMessageVisibility",
    "sqs:ChangeMessageVisibilityBatch",
    "sqs:CreateQueue",
    "sqs:DeleteMessage",
    "sqs:DeleteMessageBatch",
    "sqs:DeleteQueue",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "sqs:ListDeadLetterSourceQueues",
    "sqs:ListMessageMoveTasks",
    "sqs:ListQueueTags",
    "sqs:ListQueues",
    "sqs:PurgeQueue",
    "sqs:ReceiveMessage",
    "sqs:RemovePermission",
    "sqs:SendMessage",
    "sqs:SendMessageBatch",
    "sqs:SetQueueAttributes",
    "sqs:StartMessageMoveTask",
    "sqs:TagQueue",
    "sqs:UntagQueue",
    "sts:GetCallerIdentity",
];

fn python(root: &Path) -> PathBuf {
    root.join("venv/bin/python")
}

fn sources(root: &Path) -> PathBuf {
    root.join(format!("moto-{VERSION}"))
}

fn prepare() -> anyhow::Result<PathBuf> {
    let root = cache().join(SUITE.name);
    let pins = ours(SUITE.name).join("requirements.txt");
    once("moto's tests (pip)", &root, &[&pins], || {
        need("python3", &["python3", "python3-venv"])?;
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root)?;
        let mut venv = shell::command("python3");
        shell::run(venv.args(["-m", "venv"]).arg(root.join("venv")))?;
        let pip = |args: &[&str]| {
            let mut pip = shell::command(python(&root));
            pip.args(["-m", "pip", "--quiet"]).args(args);
            pip
        };
        shell::run(pip(&["install", "--requirement"]).arg(&pins))?;
        let sdist = format!("moto=={VERSION}");
        let download = ["download", "--no-deps", "--no-binary", ":all:", &sdist];
        shell::run(pip(&download).arg("--dest").arg(&root))?;
        let archive = root.join(format!("moto-{VERSION}.tar.gz"));
        let mut tar = shell::command("tar");
        shell::run(tar.arg("xzf").arg(archive).arg("-C").arg(&root))
    })?;
    Ok(root)
}

/// A process that ends with the value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(bench: &Bench) -> anyhow::Result<Vec<Case>> {
    if bench.http.is_empty() {
        return against_itself(bench);
    }
    let left_out: Vec<&str> = bench.expectations.left_out().collect();
    let _proxy = proxy(bench, &bench.http, &[])?;
    pytest(bench, &left_out)
}

/// Every test against moto's own server: the harness must not be what makes one fail, and the list of those that are left out
/// must be what was seen.
fn against_itself(bench: &Bench) -> anyhow::Result<Vec<Case>> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let address = format!("127.0.0.1:{port}");
    let log = std::fs::File::create(bench.logs.join("moto-server.log"))?;
    let mut server = shell::command(python(&bench.installed));
    server
        .args(["-m", "moto.server", "-H", "127.0.0.1", "-p"])
        .arg(port.to_string())
        .current_dir(sources(&bench.installed))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdout(log.try_clone()?)
        .stderr(log);
    let _server = Running(server.spawn().context("moto.server")?);
    let deadline = Instant::now() + START_TIMEOUT;
    while std::net::TcpStream::connect(&address).is_err() {
        anyhow::ensure!(Instant::now() < deadline, "moto.server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    let _proxy = proxy(bench, &address, &["--moto"])?;
    let cases = pytest(bench, &[])?;
    let calls = std::fs::read_to_string(bench.logs.join("calls.txt"))?;
    let wrong = misjudged(bench, &cases, &calls);
    anyhow::ensure!(
        wrong.is_empty(),
        "expectations.txt leaves out other tests than those that call what is not spoken:\n{}",
        wrong.join("\n")
    );
    Ok(cases)
}

/// Lines that the list lacks, and lines that it should not have.
fn misjudged(bench: &Bench, cases: &[Case], calls: &str) -> Vec<String> {
    let calls = calls.lines().filter_map(|line| line.split_once('\t'));
    let mut wrong = Vec::new();
    for (name, calls) in calls {
        let is_skipped = |case: &Case| case.name == name && case.outcome == Outcome::Skipped;
        if cases.iter().any(is_skipped) {
            continue;
        }
        let reason = reason_to_leave_out(calls);
        match (reason, bench.expectations.leaves_out(name)) {
            (Some(reason), false) => wrong.push(format!("left-out {name}  {reason}")),
            (None, true) => wrong.push(format!("{name} calls nothing else: take the line out")),
            _ => {}
        }
    }
    wrong
}

fn reason_to_leave_out(calls: &str) -> Option<String> {
    if calls.is_empty() {
        return Some(
            "calls nothing over the wire: it tests moto inside its own process".to_owned(),
        );
    }
    let others: BTreeSet<&str> = calls
        .split(',')
        .filter(|call| !SPOKEN.contains(call))
        .collect();
    let others: Vec<&str> = others.into_iter().collect();
    (!others.is_empty()).then(|| format!("calls {}", others.join(", ")))
}

/// Starts `proxy.py`, which says when it listens.
fn proxy(bench: &Bench, address: &str, more: &[&str]) -> anyhow::Result<Running> {
    TcpListener::bind(("127.0.0.1", PORT))
        .with_context(|| format!("the suite wants port {PORT}; stop what listens there"))?;
    let log = std::fs::File::create(bench.logs.join("proxy.log"))?;
    let mut command = shell::command(python(&bench.installed));
    command
        .arg(ours(SUITE.name).join("proxy.py"))
        .args([&PORT.to_string(), address])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(log);
    let mut child = Running(command.spawn().context("proxy.py")?);
    let output = child.0.stdout.take().context("its output is piped")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    if line.trim() != "ready" {
        bail!("proxy.py did not start; see {}", bench.logs.display());
    }
    Ok(child)
}

fn pytest(bench: &Bench, left_out: &[&str]) -> anyhow::Result<Vec<Case>> {
    let outcomes = bench.logs.join("outcomes.txt");
    let names = bench.logs.join("left-out.txt");
    std::fs::write(&names, left_out.join("\n"))?;
    let log = std::fs::File::create(bench.logs.join("pytest.log"))?;
    let mut pytest = shell::command(python(&bench.installed));
    pytest
        .args(["-m", "pytest", "tests/test_sqs", "tests/test_sns"])
        .args(["-p", "no:cacheprovider", "-p", "fanlog_moto"])
        .args(["--timeout=120", "--timeout-method=signal", "--color=no"])
        .current_dir(sources(&bench.installed))
        .env("PYTHONPATH", ours(SUITE.name))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TEST_SERVER_MODE", "true")
        .env(
            "TEST_SERVER_MODE_ENDPOINT",
            format!("http://localhost:{PORT}"),
        )
        .env("AWS_ACCESS_KEY_ID", "tests")
        .env("AWS_SECRET_ACCESS_KEY", "tests")
        .env("AWS_DEFAULT_REGION", "us-east-1")
        .env("FANLOG_CALLS", bench.logs.join("calls.txt"))
        .env("FANLOG_LEFT_OUT", &names)
        .stdout(log.try_clone()?)
        .stderr(log);
    super::pytest(&mut pytest, &outcomes, &bench.logs)
}

#[cfg(test)]
mod tests {
    use super::{SPOKEN, reason_to_leave_out};

    #[test]
    fn a_test_is_left_out_for_what_it_calls() {
        assert_eq!(SPOKEN.len(), 42 + 1);
        assert_eq!(
            reason_to_leave_out("sqs:SendMessage,sts:GetCallerIdentity"),
            None
        );
        let other = reason_to_leave_out("iam:CreateRole,sqs:SendMessage");
        assert_eq!(other.as_deref(), Some("calls iam:CreateRole"));
        assert!(reason_to_leave_out("").is_some());
    }
}
