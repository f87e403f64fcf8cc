//! The suites that are one Python program each, with a line per check.
//!
//! In -> out: a broker that runs, a program under `compat/` -> a verdict for each of its checks.

use std::process::Command;

use super::Session;
use crate::shell::{self, step};
use crate::toolchains;

/// One of them.
struct Script {
    /// Its name on the command line.
    name: &'static str,
    /// Where it lies below `compat/`.
    path: &'static str,
    needs: Needs,
    /// Whether `cargo xtask test` runs it too.
    is_quick: bool,
    /// Whether it is about what Apache Kafka does not have.
    is_ours: bool,
}

/// What must be there before it starts.
enum Needs {
    /// The pinned Python clients and nothing else.
    Python,
    /// curl.
    Curl,
    /// Our programs over the clients of Java and Go too.
    Clients,
    /// Apache Kafka's programs.
    Kafka,
    /// Kafka Connect.
    Connect,
    /// Our program over Kafka Streams.
    Streams,
}

const SCRIPTS: &[Script] = &[
    Script {
        name: "raw",
        path: "raw/probes.py",
        needs: Needs::Python,
        is_quick: true,
        is_ours: false,
    },
    Script {
        name: "commit-race",
        path: "commit_race/race.py",
        needs: Needs::Python,
        is_quick: true,
        is_ours: false,
    },
    Script {
        name: "compaction",
        path: "compaction/latest_per_key.py",
        needs: Needs::Python,
        is_quick: true,
        is_ours: false,
    },
    Script {
        name: "groups",
        path: "groups/groups.py",
        needs: Needs::Clients,
        is_quick: false,
        is_ours: false,
    },
    Script {
        name: "transactions",
        path: "transactions/of_clients.py",
        needs: Needs::Clients,
        is_quick: false,
        is_ours: false,
    },
    Script {
        name: "share-confluent",
        path: "shares/share_confluent.py",
        needs: Needs::Python,
        is_quick: false,
        is_ours: false,
    },
    Script {
        name: "ways",
        path: "queues/ways.py",
        needs: Needs::Clients,
        is_quick: true,
        is_ours: true,
    },
    Script {
        name: "http",
        path: "queues/api.py",
        needs: Needs::Curl,
        is_quick: false,
        is_ours: true,
    },
    Script {
        name: "dedup",
        path: "queues/dedup.py",
        needs: Needs::Python,
        is_quick: false,
        is_ours: true,
    },
    Script {
        name: "openapi",
        path: "queues/openapi.py",
        needs: Needs::Python,
        is_quick: true,
        is_ours: true,
    },
    Script {
        name: "tools",
        path: "tools/tools.py",
        needs: Needs::Kafka,
        is_quick: false,
        is_ours: false,
    },
    Script {
        name: "verifiable",
        path: "tools/verifiable.py",
        needs: Needs::Kafka,
        is_quick: false,
        is_ours: false,
    },
    Script {
        name: "connect",
        path: "connect/connect.py",
        needs: Needs::Connect,
        is_quick: false,
        is_ours: false,
    },
    Script {
        name: "streams",
        path: "streams/words.py",
        needs: Needs::Streams,
        is_quick: false,
        is_ours: false,
    },
];

/// Whether a suite has this name.
pub(super) fn is_known(name: &str) -> bool {
    SCRIPTS.iter().any(|script| script.name == name)
}

impl Session<'_> {
    /// Runs those that are wanted.
    pub(super) fn scripts(&mut self) -> anyhow::Result<()> {
        let wanted = SCRIPTS.iter().filter(|script| {
            let is_left_out = self.options.is_quick && !script.is_quick;
            self.options.wants(script.name) && !is_left_out
        });
        for script in wanted {
            if script.is_ours && !self.broker.is_fanlog() {
                if self.options.is_named(script.name) {
                    self.tally
                        .fail(script.name, "only Fanlog has what it is about");
                }
                continue;
            }
            let command = self.command(script)?;
            self.script(script.name, command);
        }
        Ok(())
    }

    fn command(&self, script: &Script) -> anyhow::Result<Command> {
        let mut command = shell::command(toolchains::python()?);
        command
            .arg(shell::repository().join("compat").join(script.path))
            .arg(self.broker.bootstrap())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        if self.broker.is_fanlog() {
            command.arg("--fanlog");
        }
        if script.is_ours {
            command.args(["--http", self.broker.http()]);
            command.env("FANLOG", self.broker.program());
            if self.options.is_quick {
                command.arg("--quick");
            }
        }
        match script.needs {
            Needs::Python => &mut command,
            Needs::Curl => command.env("CURL", toolchains::curl()?),
            Needs::Clients => command
                .env("JAVA_CLIENT_CLASS_PATH", toolchains::java()?)
                .env("GO_CLIENTS", toolchains::go()?),
            Needs::Kafka => command.env("KAFKA_CLASS_PATH", toolchains::kafka()?),
            Needs::Connect => command.env("CONNECT_CLASS_PATH", toolchains::connect()?),
            Needs::Streams => command.env("STREAMS_CLASS_PATH", toolchains::streams()?),
        };
        Ok(command)
    }

    fn script(&mut self, name: &str, mut command: Command) {
        let (mut passed, mut failed) = (0, 0);
        let outcome = step(&format!("suite {name}"), || {
            shell::run_lines(&mut command, |line| {
                passed += u64::from(line.starts_with("ok\t"));
                failed += u64::from(line.starts_with("failed\t"));
                if let Some(failure) = line.strip_prefix("failed\t") {
                    self.tally.fail(name, failure);
                }
            })
        });
        self.tally.pass(passed);
        if let Err(error) = outcome
            && failed == 0
        {
            failed = 1;
            self.tally.fail(name, &format!("{error:#}"));
        }
        self.results
            .add_other(name, &format!("{passed} passed, {failed} failed"));
    }
}
