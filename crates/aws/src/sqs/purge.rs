//! PurgeQueue: everything that is there goes, durably; once a minute for each queue, as Amazon has it.

use super::{Queue, Sqs, refused};
use crate::config::Caller;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sqs::{PurgeQueue, Response};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// How long a queue is not purged again.
const PAUSE: Duration = Duration::from_secs(60);

/// When queues were purged, by name and life.
#[derive(Debug, Default)]
pub(super) struct Purges(Mutex<HashMap<(String, u64), Instant>>);

impl Purges {
    /// Notes a purge, unless there was one a moment ago.
    fn begin(&self, queue: &Queue) -> bool {
        let now = Instant::now();
        let mut purges = self.0.lock();
        purges.retain(|_, at| now.saturating_duration_since(*at) < PAUSE);
        let key = (queue.name().to_owned(), queue.value.life());
        // Who is refused does not put the others off.
        let is_new = !purges.contains_key(&key);
        purges.entry(key).or_insert(now);
        is_new
    }

    fn undo(&self, queue: &Queue) {
        let key = (queue.name().to_owned(), queue.value.life());
        self.0.lock().remove(&key);
    }
}

impl Sqs {
    pub(super) async fn purge(
        &self,
        caller: &Caller,
        asked: &PurgeQueue,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        if !self.purges.begin(&queue) {
            return Err(AwsError::purge_queue_in_progress(&queue.value.name));
        }
        for source in self.sources(&queue.value) {
            let purged = self.shared.broker.queues().purge(&source).await;
            purged
                .map_err(refused)
                .inspect_err(|_| self.purges.undo(&queue))?;
        }
        Ok(Response::PurgeQueue)
    }
}
