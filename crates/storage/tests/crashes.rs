//! A log lives through crashes at random operations, torn and reordered writes, failed syncs and full disks; after each
//! of them it must hold what it had promised, byte for byte. Same seed, same run.

#![expect(clippy::unwrap_used, reason = "a test, helpers included")]

use fanlog_environment::simulated::FailedSync;
use fanlog_environment::{Entropy, SeededEntropy, SimulatedEnvironment};
use fanlog_model::{
    BaseSequence, LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs, TopicId,
};
use fanlog_protocol::records::{BatchBuilder, BatchView, Compression, NewRecord};
use fanlog_storage::{
    AppendError, AppendOrigin, Log, LogConfig, OpenLogError, ReadLimit, RecoveryMode,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const SEEDS: u64 = 200;
const LIVES: u64 = 6;
const STEPS_MAX: u64 = 60;
/// How many batches a producer may have under way: a broker remembers as many.
const UNDER_WAY_MAX: usize = 5;
const PRODUCER: ProducerId = ProducerId(7);
const DIR: &str = "t-0";

/// A batch that its producer has not had an answer for.
#[derive(Clone)]
struct Sent {
    bytes: Vec<u8>,
    /// Where the log put it, once it had.
    at: Option<(Offset, Offset)>,
}

/// The world around one log: the disk, its producer, and what was promised to it.
struct World {
    seed: u64,
    machine: SimulatedEnvironment,
    chance: SeededEntropy,
    epoch: i32,
    /// By first offset: the bytes that a reader must find.
    batches: BTreeMap<i64, (i64, Vec<u8>)>,
    /// Everything below was acknowledged, or could be read.
    promised: Offset,
    /// The log's start was answered to be here, or was asked to be no further than there.
    start_answered: Offset,
    start_asked: Offset,
    next_sequence: i32,
    under_way: Vec<Sent>,
    was_created: bool,
    /// A sync of this life fails, or did: any operation may then be refused.
    has_sync_fault: bool,
}

/// The life of this process is over: the machine has crashed, or the log has stopped.
struct Over;

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the run of seed {} failed", self.seed);
        }
    }
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            machine: SimulatedEnvironment::new(seed),
            chance: SeededEntropy::new(seed),
            epoch: 0,
            batches: BTreeMap::new(),
            promised: Offset::ZERO,
            start_answered: Offset::ZERO,
            start_asked: Offset::ZERO,
            next_sequence: 0,
            under_way: Vec::new(),
            was_created: false,
            has_sync_fault: false,
        }
    }

    fn below(&self, bound: u64) -> u64 {
        self.chance.u64() % bound
    }

    fn config() -> LogConfig {
        LogConfig {
            segment_bytes: 6_000,
            index_interval_bytes: 700,
            retention_ms: -1,
            ..LogConfig::default()
        }
    }

    /// Starts the process until the log is open: a crash may come in the middle of a recovery too.
    fn start(&mut self, mode: RecoveryMode) -> Log {
        let is_cut_off = self.below(3) == 0;
        if is_cut_off {
            self.machine.disk.crash_at(self.below(25));
        }
        match self.open(mode) {
            Ok(log) if !self.machine.disk.is_crashed() => {
                self.machine.disk.lift_faults();
                log
            }
            Err(error) if !self.machine.disk.is_crashed() => {
                panic!("the log does not open: {error}")
            }
            _ => {
                self.end_process();
                self.start(RecoveryMode { clean: false })
            }
        }
    }

    fn open(&mut self, mode: RecoveryMode) -> Result<Log, OpenLogError> {
        self.epoch += 1;
        let (environment, epoch) = (self.machine.environment(), LeaderEpoch(self.epoch));
        let io_error = |source| OpenLogError::Io {
            path: DIR.into(),
            source,
        };
        if Log::exists(&environment, Path::new(DIR)).map_err(io_error)? {
            return Log::open(&environment, Path::new(DIR), Self::config(), mode, epoch);
        }
        assert!(!self.was_created, "the log is gone");
        let id = TopicId(self.chance.uuid());
        Log::create(&environment, Path::new(DIR), id, Self::config(), epoch)
    }

    /// Ends it by a power cut, or by kill -9: the page cache survives that.
    fn end_process(&mut self) {
        if self.below(3) == 0 {
            self.machine.disk.restart();
        } else {
            self.machine.disk.crash(self.chance.u64());
        }
    }

    /// What was promised must be there; what else is there counts as promised from now on, since it can be read.
    fn check_opened(&mut self, log: &Log) {
        self.was_created = true;
        let (start, end) = (log.log_start_offset(), log.log_end_offset());
        assert_eq!(
            log.durable_offset(),
            end,
            "what is served after a start is durable"
        );
        assert!(
            end >= self.promised,
            "ends at {end}; {} was promised",
            self.promised
        );
        assert!(
            start >= self.start_answered,
            "deleted records are back: {start}"
        );
        assert!(
            start <= self.start_asked.max(self.start_answered),
            "starts at {start}"
        );
        self.batches.retain(|_, (last, _)| *last < end.get());
        self.promised = end;
        self.start_answered = start;
        self.start_asked = start;
        self.check_content(log, end);
    }

    /// Reads everything from the start on.
    fn check_content(&self, log: &Log, end: Offset) {
        let mut from = log.log_start_offset();
        while from < end {
            let limit = ReadLimit {
                max_bytes: 1 + self.below(9_000) as usize,
                min_one_batch: true,
                below: end,
            };
            let plan = log.read(from, limit).unwrap();
            let bytes = plan.read().unwrap().concat();
            assert!(!bytes.is_empty(), "nothing is read at {from} of {end}");
            for batch in BatchView::parse_all(&bytes) {
                let batch = batch.unwrap();
                let (first, next) = (batch.base_offset(), batch.next_offset());
                assert!(
                    first <= from && from < next,
                    "{first} to {next} is read at {from}"
                );
                let (last, expected) = &self.batches[&first.get()];
                assert_eq!(next.get(), last + 1);
                let found = &bytes[batch_range(&bytes, first)];
                assert!(found == expected, "the batch at {first} has other bytes");
                from = next;
            }
        }
    }

    /// The producer repeats what it had no answer for: what survived is a duplicate at its old place (PRD-1), and the
    /// rest follows without a gap (PRD-2).
    fn retry_all(&mut self, log: &mut Log) -> Result<(), Over> {
        for index in 0..self.under_way.len() {
            let mut sent = self.under_way[index].clone();
            let survived = sent.at.filter(|(_, last)| *last < log.log_end_offset());
            let is_there = survived.is_some_and(|(first, _)| self.holds(first, &sent.bytes));
            let appended = self.append(log, &mut sent);
            self.under_way[index] = sent.clone();
            if appended? {
                assert!(survived.is_none() || sent.at == survived);
            } else {
                assert!(!is_there, "a batch that survived was appended again");
            }
        }
        Ok(())
    }

    fn holds(&self, first: Offset, sent: &[u8]) -> bool {
        let held = self.batches.get(&first.get());
        held.is_some_and(|(_, bytes)| bytes[17..] == sent[17..])
    }

    /// Appends a batch; whether it was a duplicate.
    fn append(&mut self, log: &mut Log, sent: &mut Sent) -> Result<bool, Over> {
        let mut bytes = sent.bytes.clone();
        let (epoch, now) = (LeaderEpoch(self.epoch), self.now());
        let appended = match log.append(&mut bytes, AppendOrigin::Client, epoch, now) {
            Ok(appended) => appended,
            Err(AppendError::Io { .. } | AppendError::Failed(_)) if self.is_over(log) => {
                // Part of it may have been written: it may be there after a restart.
                let first = log.log_end_offset();
                self.note(first, &sent.bytes);
                sent.at = None;
                return Err(Over);
            }
            Err(error) => panic!("append: {error}"),
        };
        if !appended.is_duplicate {
            self.batches.insert(
                appended.first_offset.get(),
                (appended.last_offset.get(), bytes),
            );
        }
        sent.at = Some((appended.first_offset, appended.last_offset));
        Ok(appended.is_duplicate)
    }

    /// What a batch looks like if the log was cut off after writing it.
    fn note(&mut self, first: Offset, sent: &[u8]) {
        let mut bytes = sent.to_vec();
        fanlog_protocol::records::set_base_offset(&mut bytes, first);
        fanlog_protocol::records::set_partition_leader_epoch(&mut bytes, LeaderEpoch(self.epoch));
        let count = i64::from(BatchView::parse(sent).unwrap().record_count());
        self.batches
            .insert(first.get(), (first.get() + count - 1, bytes));
    }

    fn now(&self) -> TimestampMs {
        use fanlog_environment::Clock;
        self.machine.clock.wall_ms()
    }

    fn is_over(&self, log: &Log) -> bool {
        self.machine.disk.is_crashed() || log.failure().is_some() || self.has_sync_fault
    }

    /// Whether anyone hears the answer: the last operation before a crash may have been answered in vain.
    fn heard(&self) -> Result<(), Over> {
        if self.machine.disk.is_crashed() {
            Err(Over)
        } else {
            Ok(())
        }
    }

    fn ended<T, E: std::fmt::Display>(&self, log: &Log, done: Result<T, E>) -> Result<T, Over> {
        match done {
            Ok(done) => self.heard().map(|()| done),
            Err(_) if self.is_over(log) => Err(Over),
            Err(error) => panic!("{error}"),
        }
    }

    fn new_batch(&mut self) -> Sent {
        let records = 1 + self.below(4);
        let compression = [Compression::None, Compression::Lz4][self.below(2) as usize];
        let sequence = BaseSequence(self.next_sequence);
        let mut builder =
            BatchBuilder::new(compression).producer(PRODUCER, ProducerEpoch(0), sequence);
        for _ in 0..records {
            let mut value = vec![0; self.below(900) as usize];
            self.chance.fill(&mut value);
            let record = NewRecord {
                timestamp: self.now(),
                value: Some(&value),
                ..NewRecord::default()
            };
            builder.push(&record).unwrap();
        }
        self.next_sequence += records as i32;
        Sent {
            bytes: builder.build().unwrap(),
            at: None,
        }
    }

    fn produce(&mut self, log: &mut Log) -> Result<(), Over> {
        if self.under_way.len() == UNDER_WAY_MAX {
            self.sync(log)?;
        }
        let mut sent = self.new_batch();
        let appended = self.append(log, &mut sent);
        self.under_way.push(sent);
        assert!(!appended?);
        self.heard()
    }

    fn sync(&mut self, log: &mut Log) -> Result<(), Over> {
        if let Some(ticket) = log.begin_sync() {
            let result = ticket.run();
            let finished = log.finish_sync(ticket, result);
            self.ended(log, finished)?;
        }
        self.heard()?;
        // A roll makes durable too what it closes.
        let durable = log.durable_offset();
        assert!(durable >= self.promised);
        self.promised = durable;
        let is_answered = |sent: &Sent| sent.at.is_some_and(|(_, last)| last < durable);
        self.under_way.retain(|sent| !is_answered(sent));
        Ok(())
    }

    /// The disk is full for a while: a refused append leaves no trace, and the same batch is taken later.
    fn fill_disk(&mut self, log: &mut Log) -> Result<(), Over> {
        self.sync(log)?;
        self.machine.disk.set_free_bytes(Some(self.below(3_000)));
        let end = log.log_end_offset();
        let mut sent = self.new_batch();
        let mut bytes = sent.bytes.clone();
        let epoch = LeaderEpoch(self.epoch);
        let refused = log.append(&mut bytes, AppendOrigin::Client, epoch, self.now());
        if self.machine.disk.is_crashed() || self.has_sync_fault {
            self.note(end, &sent.bytes);
            self.under_way.push(sent);
            return Err(Over);
        }
        assert!(log.failure().is_none(), "a full disk stops no log");
        let has_fitted = refused.is_ok();
        if has_fitted {
            self.note(end, &sent.bytes);
            sent.at = Some((end, Offset(log.log_end_offset().get() - 1)));
        } else {
            assert_eq!(log.log_end_offset(), end);
        }
        self.check_content(log, log.log_end_offset());
        self.machine.disk.set_free_bytes(None);
        let appended = self.append(log, &mut sent);
        self.under_way.push(sent);
        assert_eq!(appended?, has_fitted);
        self.heard()
    }

    fn delete_records(&mut self, log: &mut Log) -> Result<(), Over> {
        let span = self.promised.get() - log.log_start_offset().get();
        let to = log
            .log_start_offset()
            .plus(self.below(span as u64 / 2 + 1) as i64);
        self.start_asked = self.start_asked.max(to);
        let deleted = log.delete_records_before(to);
        self.start_answered = self.ended(log, deleted)?;
        Ok(())
    }

    fn retain(&mut self, log: &mut Log) -> Result<(), Over> {
        let config = LogConfig {
            retention_bytes: 15_000,
            ..Self::config()
        };
        log.update_config(config);
        self.start_asked = self.promised.max(self.start_asked);
        let retained = log.apply_retention(self.now());
        let retained = self.ended(log, retained)?;
        self.start_answered = retained.log_start_offset;
        Ok(())
    }

    fn step(&mut self, log: &mut Log) -> Result<(), Over> {
        self.machine
            .clock
            .advance(Duration::from_millis(self.below(50)));
        match self.below(20) {
            0..=10 => self.produce(log),
            11..=15 => self.sync(log),
            16 => self.fill_disk(log),
            17 => self.delete_records(log),
            18 => self.retain(log),
            _ => {
                self.check_content(log, log.durable_offset());
                Ok(())
            }
        }
    }

    /// One life of the process; whether it ended in order.
    fn live(&mut self, mut log: Log) -> bool {
        let steps = self.below(STEPS_MAX);
        self.has_sync_fault = false;
        match self.below(4) {
            0 => {}
            1 => {
                self.has_sync_fault = true;
                self.machine
                    .disk
                    .fail_sync(self.below(12), FailedSync::Either);
            }
            _ => self.machine.disk.crash_at(self.below(4 * STEPS_MAX)),
        }
        if self.retry_all(&mut log).is_err() {
            return false;
        }
        for _ in 0..steps {
            if self.step(&mut log).is_err() {
                return false;
            }
        }
        let end = log.log_end_offset();
        let closes = self.below(2) == 0 && log.close().is_ok() && !self.machine.disk.is_crashed();
        if closes {
            self.promised = end;
        }
        closes
    }

    fn run(mut self) {
        let mut mode = RecoveryMode { clean: false };
        for _ in 0..LIVES {
            let log = self.start(mode);
            self.check_opened(&log);
            mode.clean = self.live(log);
            self.end_process();
        }
        let log = self.start(RecoveryMode { clean: false });
        self.check_opened(&log);
    }
}

fn batch_range(bytes: &[u8], first: Offset) -> std::ops::Range<usize> {
    let mut at = 0;
    for batch in BatchView::parse_all(bytes) {
        let batch = batch.unwrap();
        if batch.base_offset() == first {
            return at..at + batch.total_len();
        }
        at += batch.total_len();
    }
    panic!("no batch at {first}")
}

#[test]
fn what_was_promised_is_there_after_any_crash() {
    for seed in 0..SEEDS {
        World::new(seed).run();
    }
}
