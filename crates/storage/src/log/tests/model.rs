//! A log does what a list of values does, whatever the order of operations.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Operation {
    Append {
        values: Vec<u16>,
        compression: usize,
    },
    Sync,
    Read {
        from: u8,
        max_bytes: u16,
    },
    Truncate {
        to: u8,
    },
    DeleteRecords {
        before: u8,
    },
    Roll,
    Kill,
    PowerCut {
        seed: u64,
    },
    CloseAndOpen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let values = prop::collection::vec(0u16..900, 1..4);
    prop_oneof![
        8 => (values, 0usize..5).prop_map(|(values, compression)| Operation::Append { values, compression }),
        4 => Just(Operation::Sync),
        4 => (any::<u8>(), any::<u16>()).prop_map(|(from, max_bytes)| Operation::Read { from, max_bytes }),
        1 => any::<u8>().prop_map(|to| Operation::Truncate { to }),
        1 => any::<u8>().prop_map(|before| Operation::DeleteRecords { before }),
        1 => Just(Operation::Roll),
        1 => Just(Operation::Kill),
        1 => any::<u64>().prop_map(|seed| Operation::PowerCut { seed }),
        1 => Just(Operation::CloseAndOpen),
    ]
}

struct Model {
    fixture: Fixture,
    log: Option<Log>,
    /// The value at each offset, and the first offset of its batch.
    values: Vec<(String, i64)>,
    start: i64,
    durable: i64,
    epoch: i32,
}

impl Model {
    fn new() -> Self {
        let fixture = Fixture::new();
        let log = Some(fixture.create(&small()));
        Self {
            fixture,
            log,
            values: Vec::new(),
            start: 0,
            durable: 0,
            epoch: 0,
        }
    }

    fn log(&mut self) -> &mut Log {
        self.log.as_mut().unwrap()
    }

    fn end(&self) -> i64 {
        self.values.len() as i64
    }

    /// An offset in the log, out of any number.
    fn pick(&self, number: u8, end: i64) -> i64 {
        self.start + i64::from(number) % (end - self.start + 1)
    }

    fn step(&mut self, operation: &Operation) {
        match operation {
            Operation::Append {
                values,
                compression,
            } => self.append(values, *compression),
            Operation::Sync => {
                self.durable = self.end();
                assert_eq!(sync(self.log()).unwrap().get(), self.durable);
            }
            Operation::Read { from, max_bytes } => {
                self.read(self.pick(*from, self.end()), (*max_bytes).into())
            }
            Operation::Truncate { to } => {
                let to = self.pick(*to, self.end());
                self.log().truncate_to(Offset(to)).unwrap();
                let end = if to < self.end() {
                    self.values[to as usize].1
                } else {
                    to
                };
                self.values.truncate(end as usize);
                if to != end
                    || end < self.durable
                    || self.log().durable_offset().get() > self.durable
                {
                    self.durable = self.log().durable_offset().get();
                }
                self.start = self.start.min(end);
            }
            Operation::DeleteRecords { before } => {
                let before = self.pick(*before, self.durable.max(self.start));
                self.start = self
                    .log()
                    .delete_records_before(Offset(before))
                    .unwrap()
                    .get();
                assert_eq!(self.start, before);
            }
            Operation::Roll => {
                self.log().roll_if_due(TimestampMs(i64::MAX)).unwrap();
            }
            Operation::Kill => {
                self.log = None;
                self.fixture.disk.restart();
                self.reopen(false, self.end());
            }
            Operation::PowerCut { seed } => {
                self.log = None;
                self.fixture.disk.crash(*seed);
                self.reopen(false, self.durable);
            }
            Operation::CloseAndOpen => {
                self.log.take().unwrap().close().unwrap();
                self.reopen(true, self.end());
            }
        }
        self.check();
    }

    fn append(&mut self, lengths: &[u16], compression: usize) {
        let first = self.end();
        let values: Vec<String> = lengths
            .iter()
            .enumerate()
            .map(|(i, length)| format!("{} {}", first + i as i64, "z".repeat((*length).into())))
            .collect();
        let records: Vec<Record<'_>> = values.iter().map(|v| (0, v.as_str())).collect();
        let bytes = builder(Compression::ALL[compression], &records)
            .build()
            .unwrap();
        let appended = send(self.log(), bytes).unwrap();
        assert_eq!(appended.first_offset.get(), first);
        self.values
            .extend(values.into_iter().map(|value| (value, first)));
        assert_eq!(appended.last_offset.get(), self.end() - 1);
    }

    fn read(&mut self, from: i64, max_bytes: usize) {
        let below = Offset(self.end());
        let limit = ReadLimit {
            max_bytes,
            min_one_batch: true,
            below,
        };
        let plan = self.log().read(Offset(from), limit).unwrap();
        let mut records = Vec::new();
        for bytes in plan.read().unwrap() {
            values(&bytes, &mut records);
        }
        assert_eq!(records.is_empty(), from == self.end());
        for (offset, value) in records {
            assert_eq!(value, self.values[offset as usize].0);
        }
    }

    fn reopen(&mut self, clean: bool, end_min: i64) {
        self.epoch += 1;
        let log = self.fixture.try_open(&small(), clean, self.epoch).unwrap();
        let end = log.log_end_offset().get();
        assert!(end >= end_min && end <= self.end());
        self.values.truncate(end as usize);
        self.durable = end;
        self.log = Some(log);
    }

    fn check(&mut self) {
        let (start, end, durable) = (self.start, self.end(), self.durable);
        let log = self.log();
        assert_eq!(log.log_start_offset().get(), start);
        assert_eq!(log.log_end_offset().get(), end);
        assert_eq!(log.durable_offset().get(), durable);
        let all = read_all(log, Offset(start), Offset(end));
        let first = all.first().map_or(end, |(offset, _)| *offset);
        assert!(first <= start);
        for (offset, value) in all {
            assert_eq!(value, self.values[offset as usize].0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn a_log_is_a_list(operations in prop::collection::vec(operation(), 1..60)) {
        let mut model = Model::new();
        for operation in &operations {
            model.step(operation);
        }
    }
}
