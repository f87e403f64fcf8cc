//! A partition's folder with any bytes in its files: it opens or says why not, and what opens works.

use crate::batches::put_checksums_right;
use crate::parts;
use fanlog_environment::{Disk, Environment, ManualClock, OpenMode, SeededEntropy, SimulatedDisk};
use fanlog_model::{LeaderEpoch, Offset, TimestampMs, TopicId};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use fanlog_storage::formats::file_names;
use fanlog_storage::{AppendOrigin, Log, LogConfig, ReadLimit, RecoveryMode};
use std::path::Path;
use std::sync::Arc;

const NOW: TimestampMs = TimestampMs(1_700_000_000_000);
const DIR: &str = "orders-0";

/// One byte of flags, then files behind their lengths: offset index, time index, transaction index, snapshot, epochs,
/// mark, and the log.
pub(crate) fn recovery(bytes: &[u8]) {
    let Some((flags, bytes)) = bytes.split_first() else {
        return;
    };
    let (environment, disk) = environment();
    let created = Log::create(
        &environment,
        Path::new(DIR),
        TopicId::default(),
        config(),
        LeaderEpoch(0),
    );
    drop(created.expect("an empty disk takes a log"));
    let names = [
        file_names::with_offset(Offset::ZERO, "index"),
        file_names::with_offset(Offset::ZERO, "timeindex"),
        file_names::with_offset(Offset::ZERO, "txnindex"),
        file_names::with_offset(Offset(1), "snapshot"),
        "leader-epoch-checkpoint".to_owned(),
        "recovery-mark".to_owned(),
        file_names::with_offset(Offset::ZERO, "log"),
    ];
    for (name, part) in names.iter().zip(parts(bytes)) {
        let mut content = part.to_vec();
        if name.ends_with(".log") && flags & 1 != 0 {
            put_checksums_right(&mut content);
        }
        let is_kept = content.is_empty() && !name.ends_with(".log");
        if !is_kept {
            put_file(&disk, name, &content);
        }
    }
    let mode = RecoveryMode {
        clean: flags & 2 != 0,
    };
    let opened = Log::open(&environment, Path::new(DIR), config(), mode, LeaderEpoch(3));
    if let Ok(log) = opened {
        works(log);
    }
}

fn config() -> LogConfig {
    LogConfig {
        segment_bytes: 4096,
        index_interval_bytes: 1,
        ..LogConfig::default()
    }
}

fn environment() -> (Environment, Arc<SimulatedDisk>) {
    let disk = Arc::new(SimulatedDisk::new(1));
    let environment = Environment {
        clock: Arc::new(ManualClock::new(NOW)),
        entropy: Arc::new(SeededEntropy::new(1)),
        disk: disk.clone(),
    };
    (environment, disk)
}

fn put_file(disk: &SimulatedDisk, name: &str, content: &[u8]) {
    let path = Path::new(DIR).join(name);
    let file = disk
        .open(&path, OpenMode::CreateOrOpen)
        .expect("a simulated disk");
    file.set_len(0).expect("a simulated disk");
    file.write_all_at(content, 0).expect("a simulated disk");
    file.sync_all().expect("a simulated disk");
}

/// Looks things up, appends, syncs.
fn works(mut log: Log) {
    assert!(log.log_start_offset() <= log.log_end_offset());
    let end = log.log_end_offset();
    let _ = log.offset_for_timestamp(NOW, end);
    let _ = log.max_timestamp_offset(end);
    let limit = ReadLimit {
        max_bytes: 1 << 20,
        min_one_batch: true,
        below: end,
    };
    if let Ok(plan) = log.read(log.log_start_offset(), limit) {
        let _ = plan.read();
    }
    let mut builder = BatchBuilder::new(Compression::None);
    let record = NewRecord {
        timestamp: NOW,
        key: None,
        value: Some(b"next"),
        headers: &[],
    };
    builder.push(&record).expect("a small record");
    let mut batch = builder.build().expect("a small batch");
    let epoch = log.leader_epoch();
    if let Ok(appended) = log.append(&mut batch, AppendOrigin::Client, epoch, NOW) {
        assert_eq!(appended.first_offset, end, "LOG-3");
        let ticket = log.begin_sync().expect("there is something to sync");
        let synced = ticket.run();
        let durable = log.finish_sync(ticket, synced).expect("the disk is well");
        assert_eq!(durable, log.log_end_offset());
    }
}
