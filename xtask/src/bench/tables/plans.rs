//! What the tables show: which loads, which figures, and what there is to say about them.

use super::super::results::{BESIDE, JOURNAL};
use super::super::scenario::{self, Scenario};
use super::super::system::{FANLOG, FANLOG_OS, KAFKA, KAFKA_SYNCED, MACHINE, NOTHING_STORED};
use super::super::{LIMITS, START};
use super::{MB_PER_SECOND, Plan};

const SYSTEMS: &[&str] = &[FANLOG, FANLOG_OS, KAFKA, KAFKA_SYNCED, NOTHING_STORED];
const RATIOS: &[(&str, &str)] = &[(FANLOG, KAFKA), (FANLOG, KAFKA_SYNCED), (FANLOG_OS, KAFKA)];
const RECORDS_PER_SECOND: &str = "records_per_second";
const TIMES: &[(&str, &str)] = &[("p50_ms", "p50"), ("p99_ms", "p99"), ("p999_ms", "p99.9")];

/// All tables that are nothing but figures of loads.
pub(super) fn all() -> Vec<Plan<'static>> {
    let plans = [speed(), waiting(), cost(), journal(), machine()];
    plans.into_iter().flatten().collect()
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
