//! A machine with its log, and everything that it has said.

use crate::transaction::*;
use crate::{CallId, Now};
use fanlog_model::{
    PartitionIndex, ProducerEpoch, ProducerId, TimestampMs, TopicName, TopicPartition,
};
use std::time::Duration;

pub(super) struct World {
    pub(super) settings: TransactionSettings,
    pub(super) ledger: Ledger,
    pub(super) waiting: Waiting,
    pub(super) log: Vec<TransactionRecord>,
    pub(super) markers: Vec<MarkersToWrite>,
    pub(super) answers: Vec<(CallId, Answer)>,
    pub(super) now_ms: i64,
    calls: u64,
    loads: u64,
    producer_ids: i64,
}

pub(super) fn partition(topic: &str, index: i32) -> TopicPartition {
    TopicPartition {
        topic: TopicName::new(topic).unwrap(),
        partition: PartitionIndex(index),
    }
}

pub(super) fn producer(id: i64, epoch: i16) -> Producer {
    Producer {
        id: ProducerId(id),
        epoch: ProducerEpoch(epoch),
    }
}

pub(super) fn replayed(log: &[TransactionRecord]) -> Ledger {
    let mut ledger = Ledger::default();
    for record in log {
        let encoded = record_format::encode(record).unwrap();
        let decoded = record_format::decode(Some(&encoded.key), encoded.value.as_deref());
        apply(&mut ledger, &decoded.unwrap());
    }
    ledger
}

impl World {
    pub(super) fn new() -> Self {
        let settings = TransactionSettings::default();
        let (waiting, _) = Waiting::after_loading(&settings, &Ledger::default(), 0, now(0));
        Self {
            settings,
            ledger: Ledger::default(),
            waiting,
            log: Vec::new(),
            markers: Vec::new(),
            answers: Vec::new(),
            now_ms: 0,
            calls: 0,
            loads: 0,
            producer_ids: 1000,
        }
    }

    pub(super) fn hand_in(&mut self, input: Input) {
        self.step(input);
    }

    fn step(&mut self, input: Input) {
        let decision = decide(
            &self.settings,
            &self.ledger,
            &mut self.waiting,
            now(self.now_ms),
            input.clone(),
        );
        for record in &decision.records {
            apply(&mut self.ledger, record);
        }
        self.log.extend(decision.records);
        self.markers.extend(decision.markers);
        let answers = decision.replies.into_iter();
        self.answers
            .extend(answers.map(|reply| (reply.call, reply.answer)));
        check_invariants(&self.ledger, &self.waiting);
        assert_eq!(replayed(&self.log), self.ledger, "replay equals live");
    }

    fn call(&mut self) -> CallId {
        self.calls += 1;
        CallId(self.calls)
    }

    fn answer(&self, call: CallId) -> Option<&Answer> {
        let mut answers = self.answers.iter().rev();
        answers
            .find(|(to, _)| *to == call)
            .map(|(_, answer)| answer)
    }

    fn fresh(&mut self) -> Option<ProducerId> {
        self.producer_ids += 1;
        Some(ProducerId(self.producer_ids))
    }

    pub(super) fn try_init(
        &mut self,
        id: &str,
        timeout_ms: i32,
        expected: Option<Producer>,
    ) -> Result<Producer, TransactionError> {
        let (call, fresh) = (self.call(), self.fresh());
        self.step(Input::InitProducerId(InitProducerId {
            call,
            id: id.into(),
            timeout_ms,
            expected,
            fresh,
        }));
        match self.answer(call) {
            Some(Answer::InitProducerId(result)) => result.clone(),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn init(&mut self, id: &str) -> Producer {
        self.try_init(id, 60_000, None).unwrap()
    }

    pub(super) fn add(
        &mut self,
        id: &str,
        producer: Producer,
        version: ClientVersion,
        verify_only: bool,
    ) -> Result<Vec<TopicPartition>, TransactionError> {
        let call = self.call();
        self.step(Input::AddPartitions(AddPartitions {
            call,
            id: id.into(),
            producer,
            partitions: vec![partition("t", 0)],
            verify_only,
            version,
        }));
        match self.answer(call) {
            Some(Answer::AddPartitions(result)) => result.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// Asks for the end; nothing while the answer waits for markers.
    pub(super) fn ask_end(
        &mut self,
        id: &str,
        producer: Producer,
        is_commit: bool,
        version: ClientVersion,
    ) -> (CallId, Option<Result<Producer, TransactionError>>) {
        let (call, fresh) = (self.call(), self.fresh());
        self.step(Input::End(EndTransaction {
            call,
            id: id.into(),
            producer,
            is_commit,
            version,
            fresh,
        }));
        (call, self.ended(call))
    }

    pub(super) fn ended(&self, call: CallId) -> Option<Result<Producer, TransactionError>> {
        self.answer(call).map(|answer| match answer {
            Answer::End(result) => result.clone(),
            other => panic!("{other:?}"),
        })
    }

    /// Ends, and writes the markers.
    pub(super) fn end(
        &mut self,
        id: &str,
        producer: Producer,
        is_commit: bool,
        version: ClientVersion,
    ) -> Result<Producer, TransactionError> {
        let (call, _) = self.ask_end(id, producer, is_commit, version);
        self.write_markers();
        self.ended(call).expect("the markers are written")
    }

    pub(super) fn write_markers(&mut self) {
        for markers in std::mem::take(&mut self.markers) {
            self.written(&markers);
        }
    }

    pub(super) fn written(&mut self, markers: &MarkersToWrite) {
        self.step(Input::MarkersWritten {
            id: markers.id.clone(),
            outcome: markers.outcome,
        });
    }

    pub(super) fn pass(&mut self, ms: i64) {
        self.now_ms += ms;
        while next_deadline(&self.waiting).is_some_and(|at| at <= now(self.now_ms).monotonic) {
            self.step(Input::Tick);
        }
    }

    /// The log keeps so many of its records; the machine is what they say.
    pub(super) fn crash(&mut self, kept: usize) {
        self.log.truncate(kept);
        self.ledger = replayed(&self.log);
        self.loads += 1;
        let (settings, now) = (&self.settings, now(self.now_ms));
        let (waiting, markers) = Waiting::after_loading(settings, &self.ledger, self.loads, now);
        self.waiting = waiting;
        self.markers.extend(markers);
        check_invariants(&self.ledger, &self.waiting);
    }

    pub(super) fn now(&self) -> Now {
        now(self.now_ms)
    }

    pub(super) fn state(&self, id: &str) -> &'static str {
        let known = self.ledger.get(&id.into());
        known.map_or("none", |known| known.state.name())
    }
}

fn now(ms: i64) -> Now {
    Now {
        wall: TimestampMs(1_800_000_000_000 + ms),
        monotonic: Duration::from_millis(ms.unsigned_abs()),
    }
}
