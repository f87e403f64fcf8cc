//! Share groups beside Kafka's: the same program, brokers in turns; and a queue of ours under the same load, by the same program and over HTTP.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Options, PARTITIONS, Section, Tools, figure, median, shown};
use crate::bench::process::Process;
use crate::compat::broker::{Broker, End, Kind};
use crate::shell::{self, step};
use crate::toolchains;

const RECORDS: u64 = 500_000;
const SIZES: [&str; 2] = ["100", "1000"];
const MEMBERS: &str = "4";
const RATE: &str = "2000";
/// How long records are sent at a rate.
const SECONDS: f64 = 12.0;
const WARM_UP: &str = "3";

/// Who serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    Kafka,
    Fanlog,
    Queue,
    Http,
}

impl Row {
    const fn said(self) -> &'static str {
        match self {
            Self::Kafka => "Kafka 4.4, share group",
            Self::Fanlog => "Fanlog, share group",
            Self::Queue => "Fanlog, queue, share consumers",
            Self::Http => "Fanlog, queue, HTTP",
        }
    }
}

/// The values of a figure in the order of the rounds.
type Samples = BTreeMap<(Row, String), Vec<f64>>;

struct Turn<'a> {
    tools: &'a Tools,
    share_load: PathBuf,
    records: u64,
    seconds: String,
    samples: Samples,
}

/// Kafka and Fanlog in turns, each with an empty disk.
pub(super) fn measure(tools: &Tools, options: &Options) -> anyhow::Result<Section> {
    let kafka = Kind::Kafka(toolchains::kafka()?);
    let fanlog = Kind::Fanlog(tools.fanlog.clone());
    let mut turn = Turn {
        tools,
        share_load: toolchains::go()?.join("shareload"),
        records: options.count(RECORDS),
        seconds: (SECONDS * options.scale.max(0.5)).to_string(),
        samples: Samples::new(),
    };
    for round in 1..=options.rounds {
        let mut turns = [
            (&kafka, &[Row::Kafka][..]),
            (&fanlog, &[Row::Fanlog, Row::Queue, Row::Http]),
        ];
        if round.is_multiple_of(2) {
            turns.reverse();
        }
        for (kind, rows) in turns {
            let what = format!("round {round} of {}: {:?}", options.rounds, rows[0]);
            step(&what, || turn.of(kind, rows))?;
        }
    }
    turn.section()
}

impl Turn<'_> {
    fn of(&mut self, kind: &Kind, rows: &[Row]) -> anyhow::Result<()> {
        let mut broker = self.tools.start(kind)?;
        // The first requests pay for code that is not compiled yet and memory that was never touched.
        self.tools
            .fill(&broker, "warm-up", self.records, &["--record-bytes", "100"])?;
        self.drain(rows[0], &broker, "warm-up", "warm-up")?;
        for bytes in SIZES {
            let topic = format!("drained-{bytes}");
            let size = ["--record-bytes", bytes];
            self.tools.fill(&broker, &topic, self.records, &size)?;
            for row in rows {
                let group = format!("{row:?}-{bytes}").to_lowercase();
                let cpu = cpu(&broker)?;
                let found = self.drain(*row, &broker, &topic, &group)?;
                let cpu = self::cpu(&broker)? - cpu;
                let per_million = cpu / self.records as f64 * 1e6;
                self.note(*row, format!("rate-{bytes}"), found);
                self.note(*row, format!("cpu-{bytes}"), per_million);
            }
            self.tools.delete(&broker, &topic)?;
        }
        for row in rows {
            let topic = format!("acked-{row:?}").to_lowercase();
            self.tools.topic(&broker, &topic)?;
            let found = self.acked(*row, &broker, &topic)?;
            for name in ["sent_per_second", "p50_ms", "p99_ms"] {
                self.note(*row, name.to_owned(), figure(&found, name)?);
            }
        }
        broker.stop(End::Terminate)
    }

    fn note(&mut self, row: Row, name: String, value: f64) {
        println!("    {:<32} {name:<18} {value:.2}", row.said());
        self.samples.entry((row, name)).or_default().push(value);
    }

    /// Records a second.
    fn drain(&self, row: Row, broker: &Broker, topic: &str, group: &str) -> anyhow::Result<f64> {
        let records = self.records.to_string();
        let found = match row {
            Row::Http => {
                let at = ["--http", broker.http(), "--queue", group, "--topic", topic];
                let load = ["--records", &records, "--consumers", MEMBERS];
                let all = [&["queue", "drain"][..], &at, &load].concat();
                self.tools.load(&all)?
            }
            _ => self.share_load(row, broker, (topic, group), &["-records", &records])?,
        };
        let refused = figure(&found, "refused")?;
        anyhow::ensure!(refused == 0.0, "{refused} acknowledgements were refused");
        figure(&found, "records_per_second")
    }

    fn acked(&self, row: Row, broker: &Broker, topic: &str) -> anyhow::Result<super::Figures> {
        let group = format!("{topic}-group");
        if row == Row::Http {
            let at = ["--bootstrap", broker.bootstrap(), "--topic", topic];
            let queue = ["--http", broker.http(), "--queue", &group];
            let load = ["--rate", RATE, "--consumers", MEMBERS];
            let time = ["--seconds", &self.seconds, "--warm-up", WARM_UP];
            let all = [&["queue", "acked"][..], &at, &queue, &load, &time].concat();
            return self.tools.load(&all);
        }
        let load = [
            "-rate",
            RATE,
            "-seconds",
            &self.seconds,
            "-warm-up",
            WARM_UP,
        ];
        self.share_load(row, broker, (topic, &group), &load)
    }

    fn share_load(
        &self,
        row: Row,
        broker: &Broker,
        (topic, group): (&str, &str),
        more: &[&str],
    ) -> anyhow::Result<super::Figures> {
        let mut command = shell::command(&self.share_load);
        command
            .args(["-bootstrap", broker.bootstrap(), "-topic", topic])
            .args(["-group", group, "-members", MEMBERS])
            .args(more);
        if row == Row::Queue {
            let make = ["queue", "make", "--http", broker.http(), "--queue", group];
            let of = ["--topic", topic, "--records", "1"];
            self.tools.load(&[&make[..], &of].concat())?;
            command.arg("-queue");
        }
        self.tools.output(&mut command)
    }

    fn section(&self) -> anyhow::Result<Section> {
        let of = |row: Row, name: &str| {
            let values = self.samples.get(&(row, name.to_owned()));
            values.map_or(&[][..], Vec::as_slice)
        };
        let ratio = |row, name: &str| {
            let kafka = median(of(Row::Kafka, name))?;
            anyhow::Ok(median(of(row, name))? / kafka)
        };
        let mut missed = Vec::new();
        let mut table = format!(
            "{} records preloaded on {PARTITIONS} partitions, {MEMBERS} consumers, until all are acknowledged; then {RATE} records of 100 B a second for {} s, from\n\
             when each was due until its acknowledgement is answered. Share consumers are franz-go's, the same program for both brokers, with its defaults (500\n\
             records a fetch); over HTTP 500 messages a receive, acknowledged in one request. Defaults of each broker: Fanlog acknowledges what is on the disk,\n\
             Kafka what is in memory. CPU is the broker's, in seconds for a million records.\n\n\
             | | 100 B, records/s | CPU | 1 KB, records/s | CPU | at {RATE}/s: p50, ms | p99, ms |\n|---|---|---|---|---|---|---|\n",
            self.records, self.seconds
        );
        for row in [Row::Kafka, Row::Fanlog, Row::Queue, Row::Http] {
            let cells = [
                ("rate-100", 0),
                ("cpu-100", 1),
                ("rate-1000", 0),
                ("cpu-1000", 1),
                ("p50_ms", 2),
                ("p99_ms", 2),
            ];
            let cells = cells.map(|(name, digits)| shown(of(row, name), digits));
            table += &format!("| {} | {} |\n", row.said(), cells.join(" | "));
        }
        table +=
            "\n| beside Kafka | rate, 100 B | rate, 1 KB | p50 | p99 |\n|---|---|---|---|---|\n";
        for row in [Row::Fanlog, Row::Queue] {
            let mut cells = Vec::new();
            for (name, is_rate) in [
                ("rate-100", true),
                ("rate-1000", true),
                ("p50_ms", false),
                ("p99_ms", false),
            ] {
                let ratio = ratio(row, name)?;
                let is_goal = name != "p50_ms";
                let holds = if is_rate { ratio >= 1.0 } else { ratio <= 1.0 };
                if is_goal && !holds {
                    missed.push(format!("{}: {name} is {ratio:.2} of Kafka's", row.said()));
                }
                cells.push(format!("{ratio:.2}"));
            }
            table += &format!("| {} | {} |\n", row.said(), cells.join(" | "));
        }
        table += "\nThe goals: rates of 1.0 and more, a p99 of 1.0 and less.\n";
        Ok(Section {
            heading: "Share groups beside Kafka 4.4",
            text: table,
            missed,
        })
    }
}

fn cpu(broker: &Broker) -> anyhow::Result<f64> {
    Process::new(broker.process_id().unwrap_or_default()).cpu_seconds()
}
