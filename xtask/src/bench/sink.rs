//! A broker that stores nothing: what librdkafka reaches at most.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::Context;

use super::measure::{Figures, Tools};
use super::rdkafka::At;
use super::results::{BESIDE, Results};
use super::scenario::{Load, Scenario};
use super::system::NOTHING_STORED;
use super::turn::say;
use crate::shell;

/// `fanlog-bench sink`; it ends with the value.
struct Sink {
    process: Child,
    bootstrap: String,
}

impl Sink {
    fn start(tools: &Tools) -> anyhow::Result<Sink> {
        let mut command = shell::command(&tools.load);
        let mut process = command
            .arg("sink")
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let stdout = process.stdout.take().context("stdout was asked for")?;
        let mut sink = Sink {
            process,
            bootstrap: String::new(),
        };
        BufReader::new(stdout).read_line(&mut sink.bootstrap)?;
        sink.bootstrap = sink.bootstrap.trim().to_owned();
        anyhow::ensure!(!sink.bootstrap.is_empty(), "the sink did not start");
        Ok(sink)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Every load by which librdkafka produces.
pub(super) fn turn(tools: &Tools, seconds: f64, loads: &[&Scenario], results: &mut Results) {
    for load in loads {
        let Load::LibrdkafkaProduce(bytes, linger) = load.load else {
            continue;
        };
        match one(tools, bytes, linger, seconds) {
            Ok(found) => {
                say(load.name, &found);
                for (name, value) in found {
                    results.add(BESIDE, load.name, NOTHING_STORED, &name, value);
                }
            }
            Err(error) => results.fail(BESIDE, load.name, NOTHING_STORED, &format!("{error:#}")),
        }
    }
}

fn one(tools: &Tools, bytes: u32, linger: u32, seconds: f64) -> anyhow::Result<Figures> {
    let sink = Sink::start(tools)?;
    let at = At {
        bootstrap: &sink.bootstrap,
        topic: "nothing",
        disk: &tools.dir,
        sent_max: 0.0,
    };
    let rdkafka = tools.rdkafka.as_ref();
    let rdkafka = rdkafka.context("librdkafka's load tool was not prepared")?;
    rdkafka.produce(at, bytes, linger, Duration::from_secs_f64(seconds))
}
