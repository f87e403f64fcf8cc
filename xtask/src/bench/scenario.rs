//! The loads, as data: each on a topic of its own.

/// One load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// In a reader's words.
    pub(super) about: &'static str,
    pub(super) partitions: u32,
    pub(super) load: Load,
}

/// What makes the load.
#[derive(Clone, Copy, Debug)]
pub(super) enum Load {
    /// `fanlog-bench produce` with these arguments.
    Produce(&'static [&'static str]),
    /// `fanlog-bench latency` with these arguments.
    Latency(&'static [&'static str]),
    /// `fanlog-bench end-to-end` with these arguments.
    EndToEnd(&'static [&'static str]),
    /// So many readers of a topic that was filled before.
    Fetch(u32),
    /// librdkafka: bytes of a record, and how long it waits for more, in ms.
    LibrdkafkaProduce(u32, u32),
    /// Records of so many bytes, read back.
    LibrdkafkaConsume(u32),
}

impl Load {
    /// Whether it writes as fast as it can.
    pub(super) fn fills(self) -> bool {
        matches!(self, Load::Produce(_) | Load::LibrdkafkaProduce(..))
    }
}

const fn load(name: &'static str, about: &'static str, partitions: u32, load: Load) -> Scenario {
    Scenario {
        name,
        about,
        partitions,
        load,
    }
}

pub(super) const BATCHES_64K: Load = Load::Produce(&["--batch-bytes", "65536"]);
pub(super) const BATCHES_1M: Load = Load::Produce(&["--batch-bytes", "1000000"]);
/// Sixteen producers that wait for each acknowledgement.
pub(super) const SINGLE: Load = Load::Produce(&[
    "--batch-bytes",
    "1",
    "--connections",
    "16",
    "--in-flight",
    "1",
]);
const BATCHES_OF_100_B: Load = Load::Produce(&["--batch-bytes", "65536", "--record-bytes", "100"]);
const BATCHES_LZ4: Load = Load::Produce(&["--batch-bytes", "65536", "--compression", "lz4"]);
const AT_5000: Load = Load::Latency(&["--rate", "5000"]);
const AT_50000: Load = Load::Latency(&["--rate", "50000", "--batch-records", "10"]);

/// Batches that were encoded before, four connections with five under way.
pub(super) const PRODUCE: &[Scenario] = &[
    load(
        "produce-64k-p1",
        "64 KiB batches of 1 KiB records, 1 partition",
        1,
        BATCHES_64K,
    ),
    load(
        "produce-64k-p16",
        "64 KiB batches, 16 partitions",
        16,
        BATCHES_64K,
    ),
    load(
        "produce-64k-p100",
        "64 KiB batches, 100 partitions",
        100,
        BATCHES_64K,
    ),
    load(
        "produce-64k-p1000",
        "64 KiB batches, 1,000 partitions",
        1000,
        BATCHES_64K,
    ),
    load(
        "produce-1m-p1",
        "1 MB batches of 1 KiB records, 1 partition",
        1,
        BATCHES_1M,
    ),
    load(
        "produce-1m-p16",
        "1 MB batches, 16 partitions",
        16,
        BATCHES_1M,
    ),
    load(
        "produce-1m-p100",
        "1 MB batches, 100 partitions",
        100,
        BATCHES_1M,
    ),
    load(
        "produce-64k-100b-p16",
        "64 KiB batches of 100 B records, 16 partitions",
        16,
        BATCHES_OF_100_B,
    ),
    load(
        "produce-64k-lz4-p16",
        "64 KiB batches of 1 KiB records in lz4, 16 partitions; bytes as stored",
        16,
        BATCHES_LZ4,
    ),
];

pub(super) const SINGLES: &[Scenario] = &[
    load("produce-single-p1", "16 producers, 1 partition", 1, SINGLE),
    load(
        "produce-single-p16",
        "16 producers, 16 partitions",
        16,
        SINGLE,
    ),
];

/// The rate is kept, whatever the broker does.
pub(super) const LATENCY: &[Scenario] = &[
    load(
        "latency-5000-p1",
        "5,000 single records a second, 1 partition",
        1,
        AT_5000,
    ),
    load(
        "latency-5000-p16",
        "5,000 single records a second, 16 partitions",
        16,
        AT_5000,
    ),
    load(
        "latency-5000-p100",
        "5,000 single records a second, 100 partitions",
        100,
        AT_5000,
    ),
    load(
        "latency-5000-p1000",
        "5,000 single records a second, 1,000 partitions",
        1000,
        AT_5000,
    ),
    load(
        "latency-50000-p16",
        "50,000 records a second in batches of 10, 16 partitions",
        16,
        AT_50000,
    ),
];

pub(super) const END_TO_END: &[Scenario] = &[
    load(
        "end-to-end-5000-p1",
        "5,000 single records a second, 1 partition",
        1,
        Load::EndToEnd(&["--rate", "5000"]),
    ),
    load(
        "end-to-end-5000-p16",
        "5,000 single records a second, 16 partitions",
        16,
        Load::EndToEnd(&["--rate", "5000"]),
    ),
];

pub(super) const FETCH: &[Scenario] = &[
    load("fetch-1", "one group, 4 partitions", 4, Load::Fetch(1)),
    load(
        "fetch-4",
        "four groups at once, 4 partitions",
        4,
        Load::Fetch(4),
    ),
];

pub(super) const LIBRDKAFKA: &[Scenario] = &[
    load(
        "librdkafka-1k-linger5",
        "produce 1 KiB, linger 5 ms",
        1,
        Load::LibrdkafkaProduce(1024, 5),
    ),
    load(
        "librdkafka-1k-linger0",
        "produce 1 KiB, linger 0",
        1,
        Load::LibrdkafkaProduce(1024, 0),
    ),
    load(
        "librdkafka-100b-linger5",
        "produce 100 B, linger 5 ms",
        1,
        Load::LibrdkafkaProduce(100, 5),
    ),
    load(
        "librdkafka-100b-linger0",
        "produce 100 B, linger 0",
        1,
        Load::LibrdkafkaProduce(100, 0),
    ),
    load(
        "librdkafka-consume-1k",
        "consume 1 KiB from the page cache",
        1,
        Load::LibrdkafkaConsume(1024),
    ),
];

/// All of the comparison, in the order in which they run.
pub(super) fn beside() -> impl Iterator<Item = &'static Scenario> {
    [PRODUCE, SINGLES, LATENCY, END_TO_END, FETCH, LIBRDKAFKA]
        .into_iter()
        .flatten()
}

/// The matrix of the journal.
pub(super) const JOURNAL: &[Scenario] = &[
    load("single-p1", "single 1 KiB records, 1 partition", 1, SINGLE),
    load("single-p16", "single, 16 partitions", 16, SINGLE),
    load("single-p100", "single, 100 partitions", 100, SINGLE),
    load("single-p1000", "single, 1,000 partitions", 1000, SINGLE),
    load("64k-p1", "64 KiB batches, 1 partition", 1, BATCHES_64K),
    load("64k-p16", "64 KiB, 16 partitions", 16, BATCHES_64K),
    load("64k-p100", "64 KiB, 100 partitions", 100, BATCHES_64K),
    load("64k-p1000", "64 KiB, 1,000 partitions", 1000, BATCHES_64K),
    load("1m-p1", "1 MB batches, 1 partition", 1, BATCHES_1M),
    load("1m-p16", "1 MB, 16 partitions", 16, BATCHES_1M),
    load("1m-p100", "1 MB, 100 partitions", 100, BATCHES_1M),
    load("1m-p1000", "1 MB, 1,000 partitions", 1000, BATCHES_1M),
];

#[cfg(test)]
mod tests {
    use super::{JOURNAL, beside};
    use std::collections::BTreeSet;

    #[test]
    fn no_two_loads_have_the_same_name() {
        let names: BTreeSet<&str> = beside().map(|one| one.name).collect();
        assert_eq!(names.len(), beside().count());
        let names: BTreeSet<&str> = JOURNAL.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), 12);
    }
}
