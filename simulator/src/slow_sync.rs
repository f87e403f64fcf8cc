//! Syncs that take their time: others append meanwhile, and now and then the sync fails.
//!
//! Why it exists: between the drawing of a ticket and its return the log goes on; what holds then does not show where syncs take
//! no time.

use crate::actors::Attempt;
use crate::disk::Turn;
use crate::promises::Verdict;
use crate::promises::records::{BatchId, Place};
use crate::world::World;
use fanlog_broker::{AppendError, AppendReceipt, Partition};
use fanlog_environment::simulated::FailedSync;
use parking_lot::Mutex;
use std::sync::Arc;

const TURNS: &[(u64, Turn)] = &[
    (2, Turn::AtFolder),
    (2, Turn::BeforeBytes),
    (3, Turn::AfterBytes),
    (5, Turn::BeforeResult),
];

/// A batch to be appended while a sync is under way.
struct Job {
    batch: BatchId,
    partition: Arc<Partition>,
    bytes: Vec<u8>,
}

impl World {
    pub(crate) fn sync_slowly(&mut self) -> Verdict {
        let jobs = match self.chance.percent(25) {
            true => self.jobs_for_the_one_that_syncs()?,
            false => self.jobs_for_anyone(),
        };
        let done = Arc::new(Mutex::new(Vec::new()));
        let results = done.clone();
        let turn = self.chance.weighted(TURNS);
        self.trace.line(&format!("sync, slowly: {turn:?}"));
        let process = self.process.as_ref();
        let disk = &process.expect("a step is made while the broker runs").disk;
        let disk = disk.clone();
        disk.during_next_sync(
            turn,
            Box::new(move || {
                for mut job in jobs {
                    let result = job.partition.append(&mut job.bytes);
                    results.lock().push((job.batch, result));
                }
            }),
        );
        // Segments are synced behind the journal, or in the middle of it.
        let segments_first = self.chance.percent(30);
        if segments_first {
            self.broker().sync_next();
        }
        self.broker().sync_all();
        if !segments_first {
            self.broker().sync_next();
        }
        disk.forget_meanwhile();
        let done = std::mem::take(&mut *done.lock());
        for (batch, result) in done {
            self.take_in(batch, result)?;
        }
        Ok(())
    }

    fn jobs_for_anyone(&mut self) -> Vec<Job> {
        let count = 1 + self.chance.below(3);
        let jobs = (0..count).filter_map(|_| {
            let place = self.some_place()?;
            self.new_job(place)
        });
        jobs.collect()
    }

    /// One partition alone has something to sync, and everybody appends to it; perhaps its sync fails.
    fn jobs_for_the_one_that_syncs(&mut self) -> Result<Vec<Job>, crate::Violation> {
        let Some(place) = self.some_place() else {
            return Ok(Vec::new());
        };
        self.broker().sync_all();
        for _ in 0..1 + self.chance.below(3) {
            let batch = self.new_batch(place, None);
            if let Attempt::Appended(receipt) = self.append(batch)? {
                self.await_ack(batch, receipt, |_, _| Ok(()));
            }
        }
        if self.chance.percent(40) {
            let syncs = self.chance.weighted(&[(4, 0), (1, 1), (1, 2)]);
            self.trace.line(&format!("sync {syncs} from now will fail"));
            self.disk.fail_sync(syncs, FailedSync::Either);
            self.sync_may_fail();
        }
        let count = 2 + self.chance.below(4);
        Ok((0..count).filter_map(|_| self.new_job(place)).collect())
    }

    fn new_job(&mut self, place: Place) -> Option<Job> {
        let partition = self.partition(place)?;
        let batch = self.new_batch(place, None);
        let bytes = self.records.batch(batch).bytes.clone();
        Some(Job {
            batch,
            partition,
            bytes,
        })
    }

    fn take_in(&mut self, batch: BatchId, result: Result<AppendReceipt, AppendError>) -> Verdict {
        if let Attempt::Appended(receipt) = self.appended(batch, result)? {
            self.await_ack(batch, receipt, |_, _| Ok(()));
        }
        Ok(())
    }
}
