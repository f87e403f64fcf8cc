//! The tables, drawn from the results: each is a table of `bench/RESULTS.md` and a picture in `docs/bench/`.

use super::results::{BESIDE, EXAMPLE, JOURNAL, Kind, Results, Spread};
use super::scenario::{self, Scenario};
use super::system::{FANLOG, FANLOG_OS, KAFKA, KAFKA_SYNCED, MACHINE, NOTHING_STORED};
use super::{LIMITS, START};

/// One table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) kind: Kind,
    /// The name of its picture.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    /// Whether the picture's axis is logarithmic.
    pub(super) is_log: bool,
    /// Two sentences about it.
    pub(super) text: &'static str,
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Row>,
    /// Pairs of columns whose medians are divided in the table.
    pub(super) ratios: &'static [(&'static str, &'static str)],
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) label: String,
    /// One for each column.
    pub(super) cells: Vec<Cell>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) spread: Option<Spread>,
    pub(super) failure: Option<String>,
}

impl Table {
    /// The median of a row in a column.
    pub(super) fn median(&self, row: &Row, column: &str) -> Option<f64> {
        let at = self.columns.iter().position(|name| *name == column)?;
        Some(row.cells[at].spread?.median)
    }
}

const SYSTEMS: &[&str] = &[FANLOG, FANLOG_OS, KAFKA, KAFKA_SYNCED, NOTHING_STORED];
const RATIOS: &[(&str, &str)] = &[(FANLOG, KAFKA), (FANLOG, KAFKA_SYNCED), (FANLOG_OS, KAFKA)];
const MB_PER_SECOND: &str = "megabytes_per_second";
const RECORDS_PER_SECOND: &str = "records_per_second";
const TIMES: &[(&str, &str)] = &[("p50_ms", "p50"), ("p99_ms", "p99"), ("p999_ms", "p99.9")];

/// What a table shows, before the results are looked at.
struct Plan<'a> {
    kind: Kind,
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    is_log: bool,
    text: &'static str,
    columns: &'a [&'static str],
    ratios: &'static [(&'static str, &'static str)],
    /// Label, load, figure.
    rows: Vec<(String, &'static str, &'static str)>,
}

impl Plan<'_> {
    /// The table, without rows and columns of which nothing was measured.
    fn table(self, results: &Results) -> Table {
        let cell = |load: &str, figure: &str, system: &str| Cell {
            spread: results.spread(self.kind, load, system, figure),
            failure: results.failure(self.kind, load, system).map(str::to_owned),
        };
        let is_known = |cell: &Cell| cell.spread.is_some() || cell.failure.is_some();
        let columns: Vec<&'static str> = self
            .columns
            .iter()
            .copied()
            .filter(|system| {
                let mut rows = self.rows.iter();
                rows.any(|(_, load, figure)| is_known(&cell(load, figure, system)))
            })
            .collect();
        let rows = self.rows.iter().map(|(label, load, figure)| Row {
            label: label.clone(),
            cells: columns.iter().map(|one| cell(load, figure, one)).collect(),
        });
        let rows = rows.filter(|row| row.cells.iter().any(is_known)).collect();
        Table {
            kind: self.kind,
            id: self.id,
            title: self.title,
            unit: self.unit,
            is_log: self.is_log,
            text: self.text,
            columns,
            rows,
            ratios: self.ratios,
        }
    }
}

/// Every table of which something was measured.
pub(super) fn all(results: &Results) -> Vec<Table> {
    let plans = [speed(), waiting(), cost(), journal(), machine()];
    let mut tables: Vec<Table> = plans
        .into_iter()
        .flatten()
        .map(|plan| plan.table(results))
        .collect();
    tables.insert(0, near(results));
    tables.extend(example(results));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn of(loads: &[Scenario], figure: &'static str) -> Vec<(String, &'static str, &'static str)> {
    let row = |one: &Scenario| (one.about.to_owned(), one.name, figure);
    loads.iter().map(row).collect()
}

/// Several figures of each load.
fn each(
    loads: &[Scenario],
    figures: &[(&'static str, &str)],
) -> Vec<(String, &'static str, &'static str)> {
    let rows = loads.iter().flat_map(|one| {
        let figures = figures.iter();
        figures.map(|(figure, label)| (format!("{}: {label}", one.about), one.name, *figure))
    });
    rows.collect()
}

fn beside(
    id: &'static str,
    title: &'static str,
    (unit, is_log): (&'static str, bool),
    rows: Vec<(String, &'static str, &'static str)>,
    text: &'static str,
) -> Plan<'static> {
    Plan {
        kind: BESIDE,
        id,
        title,
        unit,
        is_log,
        text,
        columns: SYSTEMS,
        ratios: RATIOS,
        rows,
    }
}

fn speed() -> Vec<Plan<'static>> {
    vec![
        beside(
            "produce",
            "Produce, batches encoded before",
            ("MB/s", false),
            of(scenario::PRODUCE, MB_PER_SECOND),
            "Megabytes acknowledged in a second when four connections keep five batches under way each and the batches were encoded before, so \
             that the client is not what is measured. Fanlog and *Kafka, synced* acknowledge what is on the disk, the other two what is in memory.",
        ),
        beside(
            "singles",
            "Single 1 KiB records, each awaited",
            ("records/s", true),
            of(scenario::SINGLES, RECORDS_PER_SECOND),
            "Sixteen producers send a record and wait for its acknowledgement before they send the next. How much one sync is shared by those who \
             wait decides here.",
        ),
        beside(
            "librdkafka",
            "Through librdkafka",
            ("records/s", true),
            of(scenario::LIBRDKAFKA, RECORDS_PER_SECOND),
            "librdkafka's own load tool on one partition, an outsider that no broker's author wrote. *nothing stored* is a broker that \
             acknowledges and forgets: what the client reaches at most.",
        ),
        beside(
            "fetch",
            "Fetch from the page cache",
            ("MB/s", false),
            of(scenario::FETCH, MB_PER_SECOND),
            "Readers take a topic of a gigabyte again and again, and look only at the headers of batches. What bare read-and-send and sendfile reach \
             on this machine is in the picture of its limits.",
        ),
    ]
}

fn waiting() -> Vec<Plan<'static>> {
    let saturated = [scenario::PRODUCE, scenario::SINGLES].concat();
    vec![
        beside(
            "acknowledgement",
            "Time until acknowledged, at a given rate",
            ("ms", true),
            each(scenario::LATENCY, TIMES),
            "Records of 100 B are sent by the clock, whatever the broker does, and a record that could not be sent in time counts from when it was \
             due. A broker that can't keep the rate shows as seconds.",
        ),
        beside(
            "end-to-end",
            "Time until a consumer has it",
            ("ms", true),
            each(scenario::END_TO_END, TIMES),
            "From when a record of 100 B was due to be sent until a consumer had it, by one clock in one process. The consumer asks for anything, at \
             once (`fetch.min.bytes=1`).",
        ),
        beside(
            "saturated",
            "Time until acknowledged, at full speed",
            ("ms", true),
            each(&saturated, &[("p50_ms", "p50"), ("p99_ms", "p99")]),
            "The same loads as in the first pictures, now by how long each batch waited. With twenty batches under way a broker that is twice as fast \
             keeps each waiting half as long.",
        ),
        beside(
            "stall",
            "The longest stall",
            ("ms", true),
            of(
                &[saturated.as_slice(), scenario::LATENCY].concat(),
                "stall_ms",
            ),
            "The longest time in which no connection got any acknowledgement. A broker that syncs much at once, or collects garbage, stands still \
             here.",
        ),
    ]
}

fn cost() -> Vec<Plan<'static>> {
    let moved = [
        scenario::PRODUCE,
        scenario::SINGLES,
        scenario::FETCH,
        scenario::LIBRDKAFKA,
    ]
    .concat();
    let fills: Vec<Scenario> = moved
        .iter()
        .copied()
        .filter(|one| one.load.fills())
        .collect();
    let start = |figure, label: &str| (label.to_owned(), START, figure);
    vec![
        beside(
            "processor",
            "Processor time of the broker",
            ("seconds per GB", true),
            of(&moved, "broker_cpu_s_per_gb"),
            "User and system time of all the broker's threads for each gigabyte moved, as /proc has it. On a machine with two processors what the \
             broker uses the load tool lacks.",
        ),
        beside(
            "disk",
            "Bytes to the disk",
            ("bytes per byte of batches", false),
            of(&fills, "disk_bytes_per_byte"),
            "What the broker had written to the disk for each byte of payload, as /proc has it. A journal writes twice what a log alone writes \
             once.",
        ),
        beside(
            "memory",
            "Memory",
            ("MiB resident", true),
            vec![
                start("idle_mib", "when started"),
                start("peak_mib", "at most, in all loads"),
            ],
            "What the broker's process holds right after its start, and the most it held in any load. The page cache is not in it.",
        ),
        beside(
            "start",
            "Start and recovery",
            ("ms", true),
            vec![
                start("start_ms", "start on an empty disk"),
                start(
                    "recovery_ms",
                    "start after kill -9 with 1 GB in 16 partitions",
                ),
            ],
            "From the start of the process until it accepts a connection, and after `kill -9` until every partition of a topic answers. Kafka gets the \
             memory and the collector that its own start script gives it.",
        ),
    ]
}

fn journal() -> Vec<Plan<'static>> {
    let plan = |id, title, unit, is_log, rows, text| Plan {
        kind: JOURNAL,
        id,
        title,
        unit,
        is_log,
        text,
        columns: &[FANLOG, FANLOG_OS],
        ratios: &[(FANLOG, FANLOG_OS)],
        rows,
    };
    let loads = scenario::JOURNAL;
    vec![
        plan(
            "journal",
            "Journal: speed over partitions",
            "MB/s",
            true,
            of(loads, MB_PER_SECOND),
            "Fanlog alone, from 1 to 1,000 partitions, single records to batches of a megabyte. Topics of class `sync` go through the journal, those \
             of class `os` do not.",
        ),
        plan(
            "journal-acknowledgement",
            "Journal: time until acknowledged",
            "ms",
            true,
            each(loads, &[("p50_ms", "p50"), ("p99_ms", "p99")]),
            "How long each batch of these loads waited for its acknowledgement. Single records are sent by 16 producers that wait, batches by four \
             connections with five under way.",
        ),
        plan(
            "journal-stall",
            "Journal: the longest stall",
            "ms",
            true,
            of(loads, "stall_ms"),
            "The longest time in which no connection got any acknowledgement. Segments are synced behind the journal, and this is where it would \
             show if that were done all at once.",
        ),
        plan(
            "journal-disk",
            "Journal: bytes to the disk",
            "bytes per byte of batches",
            false,
            of(loads, "disk_bytes_per_byte"),
            "What the broker had written to the disk for each byte of payload. Twice is the price of the journal, and single records pay for the \
             padding of their syncs.",
        ),
    ]
}

fn machine() -> Vec<Plan<'static>> {
    let plan = |id, title, unit, rows, text| Plan {
        kind: BESIDE,
        id,
        title,
        unit,
        is_log: true,
        text,
        columns: &[MACHINE],
        ratios: &[],
        rows,
    };
    let row = |figure, label: &str| (label.to_owned(), LIMITS, figure);
    vec![
        plan(
            "machine",
            "What the machine gives, in the same run",
            "MB/s",
            vec![
                row("crc_megabytes_per_second", "CRC-32C of 64 KiB"),
                row(
                    "write_megabytes_per_second",
                    "write 64 KiB one after the other, into the page cache",
                ),
                row("loopback_megabytes_per_second", "loopback send, 64 KiB"),
                row(
                    "bare_read_and_send_megabytes_per_second",
                    "bare read and send of cached file bytes, 1 MiB",
                ),
                row(
                    "bare_sendfile_megabytes_per_second",
                    "bare sendfile of the same",
                ),
                row(
                    "bare_64k_recycled_megabytes_per_second",
                    "bare loop, 64 KiB, recycled file",
                ),
                row(
                    "bare_64k_growing_megabytes_per_second",
                    "bare loop, 64 KiB, growing file",
                ),
                row(
                    "bare_1m_recycled_megabytes_per_second",
                    "bare loop, 1 MiB, recycled file",
                ),
                row(
                    "bare_1m_growing_megabytes_per_second",
                    "bare loop, 1 MiB, growing file",
                ),
            ],
            "What two threads without a broker reach, on the same disk and loopback. *Bare loop* is the least that a durable log does: receive, \
             checksum, write, one fdatasync for all that has come (5 under way), acknowledge.",
        ),
        plan(
            "machine-sync",
            "One fdatasync, after 64 KiB",
            "ms",
            vec![
                row("fdatasync_growing_p50_ms", "growing file: p50"),
                row("fdatasync_growing_p99_ms", "growing file: p99"),
                row("fdatasync_recycled_p50_ms", "recycled file: p50"),
                row("fdatasync_recycled_p99_ms", "recycled file: p99"),
            ],
            "How long the disk takes to make 64 KiB durable. A file whose blocks are there and were written before needs no change of metadata.",
        ),
    ]
}

/// A share of a limit: what, ours as (load, system), the limit as (load, system, figure).
type Share = (
    &'static str,
    (&'static str, &'static str),
    (&'static str, &'static str, &'static str),
);

const SHARES: &[Share] = &[
    (
        "64 KiB batches, synced, of the bare loop on a recycled file",
        ("produce-64k-p1", FANLOG),
        (LIMITS, MACHINE, "bare_64k_recycled_megabytes_per_second"),
    ),
    (
        "1 MB batches, synced, of the bare loop on a growing file",
        ("produce-1m-p1", FANLOG),
        (LIMITS, MACHINE, "bare_1m_growing_megabytes_per_second"),
    ),
    (
        "librdkafka, 1 KiB, os, of the same with nothing stored",
        ("librdkafka-1k-linger5", FANLOG_OS),
        ("librdkafka-1k-linger5", NOTHING_STORED, MB_PER_SECOND),
    ),
    (
        "fetch by one group, of bare read and send",
        ("fetch-1", FANLOG),
        (LIMITS, MACHINE, "bare_read_and_send_megabytes_per_second"),
    ),
    (
        "fetch by one group, of bare sendfile",
        ("fetch-1", FANLOG),
        (LIMITS, MACHINE, "bare_sendfile_megabytes_per_second"),
    ),
    (
        "64 KiB batches, synced: 16 partitions, of one",
        ("produce-64k-p16", FANLOG),
        ("produce-64k-p1", FANLOG, MB_PER_SECOND),
    ),
    (
        "64 KiB batches, synced: 100 partitions, of one",
        ("produce-64k-p100", FANLOG),
        ("produce-64k-p1", FANLOG, MB_PER_SECOND),
    ),
    (
        "64 KiB batches, synced: 1,000 partitions, of one",
        ("produce-64k-p1000", FANLOG),
        ("produce-64k-p1", FANLOG, MB_PER_SECOND),
    ),
];

/// How near Fanlog comes to the limits, round by round.
fn near(results: &Results) -> Table {
    let row = |(label, ours, limit): &Share| {
        let ours = results.rounds(BESIDE, ours.0, ours.1, MB_PER_SECOND);
        let limits = results.rounds(BESIDE, limit.0, limit.1, limit.2);
        // A round that failed on one side leaves nobody to tell which belong together.
        let shares = if ours.len() == limits.len() {
            let pairs = ours.iter().zip(limits);
            pairs.map(|(ours, limit)| 100.0 * ours / limit).collect()
        } else {
            Vec::new()
        };
        let cell = Cell {
            spread: Spread::of(&shares),
            failure: None,
        };
        Row {
            label: (*label).to_owned(),
            cells: vec![cell],
        }
    };
    let rows = SHARES.iter().map(row);
    Table {
        kind: BESIDE,
        id: "near",
        title: "How near to the limits",
        unit: "%",
        is_log: false,
        text: "Fanlog's speed as a share of what the machine, the client or one partition gives in the same round. A hundred is the limit; the bare \
               loop has one connection and Fanlog four, so that more is possible.",
        columns: vec![FANLOG],
        rows: rows.filter(|row| row.cells[0].spread.is_some()).collect(),
        ratios: &[],
    }
}

/// The worked example's columns.
pub(super) const RUN_A: &str = "run A";
pub(super) const RUN_B: &str = "run B";
/// Its load.
pub(super) const BURST: &str = "burst";

fn example(results: &Results) -> Vec<Table> {
    let plan = |id, title, unit, rows: &[(&'static str, &str)], text| Plan {
        kind: EXAMPLE,
        id,
        title,
        unit,
        is_log: true,
        text,
        columns: &[RUN_A, RUN_B],
        ratios: &[],
        rows: rows
            .iter()
            .map(|(figure, label)| ((*label).to_owned(), BURST, *figure))
            .collect(),
    };
    let plans = [
        plan(
            "example",
            "The worked example: time until acknowledged",
            "ms",
            &[
                ("p50_ms", "in the burst: p50"),
                ("p99_ms", "in the burst: p99"),
                ("p999_ms", "in the burst: p99.9"),
                ("max_ms", "in the burst: most"),
                ("stall_ms", "the longest stall"),
            ],
            "50,000 `order.placed` of 1 KB a second for 180 s, synced, while four groups read. In run B one group is held to 2,000 a second until \
             the burst is long over.",
        ),
        plan(
            "example-rates",
            "The worked example: records",
            "records/s",
            &[
                ("records_per_second", "acknowledged in the burst"),
                ("read_records_per_second", "read by all groups in the burst"),
                (
                    "capped_records_per_second",
                    "the group that is held back, while it is",
                ),
                (
                    "drain_records_per_second",
                    "the same group, once it is let go",
                ),
            ],
            "What was published and read in a second. The last bar says how fast a backlog of millions is worked off when nothing holds the group.",
        ),
        plan(
            "example-processor",
            "The worked example: processor time in the burst",
            "% of one processor",
            &[
                ("broker_cpu_percent", "broker"),
                ("generator_cpu_percent", "generator: publishers and groups"),
            ],
            "Broker and generator share two processors, 200 % in all. Where the rate was not reached, this says whose limit it was.",
        ),
        plan(
            "example-counts",
            "The worked example: counts",
            "records",
            &[
                ("records", "acknowledged"),
                (
                    "backlog",
                    "backlog of the group that is held back, when it is let go",
                ),
                ("lost", "lost, over all groups"),
                ("duplicated", "duplicated, over all groups"),
                ("out_of_order", "out of order, over all groups"),
                ("incomplete_groups", "groups that did not come to the end"),
                ("unsent", "due in the burst and never sent"),
                (
                    "predicted_drain_minutes",
                    "minutes the backlog would have lasted, predicted",
                ),
                (
                    "drain_seconds",
                    "seconds it lasted once the group was let go",
                ),
            ],
            "Every record has its number in its partition, and every group checks it. A zero has no bar.",
        ),
    ];
    plans.map(|plan| plan.table(results)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn shares_are_taken_round_by_round() {
        let mut results = Results::default();
        for (ours, limit) in [(80.0, 100.0), (90.0, 300.0), (50.0, 50.0)] {
            results.add(BESIDE, "produce-64k-p1", FANLOG, MB_PER_SECOND, ours);
            let figure = "bare_64k_recycled_megabytes_per_second";
            results.add(BESIDE, LIMITS, MACHINE, figure, limit);
        }
        let near = near(&results);
        assert_eq!(near.rows.len(), 1);
        let expected = Spread {
            median: 80.0,
            least: 30.0,
            most: 100.0,
        };
        assert_eq!(near.rows[0].cells[0].spread, Some(expected));
    }

    #[test]
    fn a_failed_load_has_its_row_and_a_system_that_never_ran_no_column() {
        let mut results = Results::default();
        results.add(BESIDE, "fetch-1", FANLOG, MB_PER_SECOND, 10.0);
        results.fail(BESIDE, "fetch-4", KAFKA, "it broke");
        let tables = all(&results);
        let fetch = tables.iter().find(|table| table.id == "fetch").unwrap();
        assert_eq!(fetch.columns, [FANLOG, KAFKA]);
        assert_eq!(fetch.rows.len(), 2);
        assert_eq!(fetch.median(&fetch.rows[0], FANLOG), Some(10.0));
        assert_eq!(fetch.rows[1].cells[1].failure.as_deref(), Some("it broke"));
    }

    #[test]
    fn every_table_has_a_picture_of_its_own_and_two_sentences() {
        let plans = [speed(), waiting(), cost(), journal(), machine()];
        let plans: Vec<_> = plans.into_iter().flatten().collect();
        let ids: BTreeSet<_> = plans.iter().map(|plan| plan.id).collect();
        assert_eq!(ids.len(), plans.len());
        for plan in plans {
            assert!(
                plan.text.ends_with('.') && !plan.rows.is_empty(),
                "{}",
                plan.id
            );
        }
    }
}
