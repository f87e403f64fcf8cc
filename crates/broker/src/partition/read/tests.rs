use super::*;
use crate::{Broker, BrokerConfig};
use fanlog_environment::{Environment, ManualClock, SeededEntropy, SimulatedDisk};
use fanlog_model::{BaseSequence, BrokerId, ProducerEpoch, ProducerId};
use fanlog_protocol::records::{BatchBuilder, Compression, EndMarker, NewRecord};
use fanlog_storage::{AppendOrigin, CheckedBatches};
use std::sync::Arc;

const PRODUCER: ProducerId = ProducerId(7);
const EPOCH: ProducerEpoch = ProducerEpoch(0);
const NOW: TimestampMs = TimestampMs(0);

fn append(log: &mut Log, mut batch: Vec<u8>) -> Offset {
    let (end, config, epoch) = (
        log.log_end_offset(),
        log.config().clone(),
        log.leader_epoch(),
    );
    let checked = CheckedBatches::check(&config, &mut batch, AppendOrigin::Coordinator, NOW);
    let checked = checked.unwrap().allowed_at(Some(end));
    log.append_checked(checked, epoch).unwrap().first_offset
}

/// An aborted transaction of one record in a segment of its own; where it begins, and where the next segment does.
fn aborted_transaction(log: &mut Log) -> (Offset, Offset) {
    log.roll_if_due(TimestampMs(i64::MAX)).unwrap();
    let mut builder = BatchBuilder::new(Compression::None)
        .producer(PRODUCER, EPOCH, BaseSequence(0))
        .transactional();
    let record = NewRecord {
        key: Some(b"key"),
        value: Some(b"aborted"),
        ..NewRecord::default()
    };
    builder.push(&record).unwrap();
    let first = append(log, builder.build().unwrap());
    let marker = EndMarker {
        is_commit: false,
        coordinator_epoch: 0,
    };
    let marker = append(log, marker.batch(PRODUCER, EPOCH, NOW));
    log.roll_if_due(TimestampMs(i64::MAX)).unwrap();
    let ticket = log.begin_sync().unwrap();
    let result = ticket.run();
    log.finish_sync(ticket, result).unwrap();
    (first, marker.plus(1))
}

/// The plan holds the file of records whose segment goes, and what says that they were aborted, before that is looked for.
#[tokio::test]
async fn a_read_that_the_logs_start_overtakes_is_not_told_that_nothing_was_aborted() {
    let mut config = BrokerConfig::new(BrokerId(1), "/data");
    config.sync_threads = 0;
    config.has_timers = false;
    let environment = Environment {
        clock: Arc::new(ManualClock::new(NOW)),
        entropy: Arc::new(SeededEntropy::new(1)),
        disk: Arc::new(SimulatedDisk::new(1)),
    };
    let broker = Broker::start(config, environment).unwrap();
    let partition = broker.catalog.partition();
    let (first, next) = partition.change(aborted_transaction).unwrap();
    let wanted = Wanted {
        from: first,
        bytes_max: 1 << 20,
        whole_batch: true,
        isolation: Isolation::ReadCommitted,
    };
    let readable = partition.readable(wanted).unwrap();
    assert_eq!(readable.standing.aborted_transactions.len(), 1);

    let (swaps, mut planned) = partition.planned(wanted).unwrap();
    assert_eq!(planned.plan.next_offset, next);
    let deleted = partition.change(|log| log.delete_records_before(next));
    deleted.unwrap().unwrap();
    assert!(!partition.find_aborted(swaps, &mut planned).unwrap());
    assert!(matches!(
        partition.readable(wanted),
        Err(FetchError::OffsetOutOfRange { .. })
    ));
}
