//! What queues do not serve yet.

use super::*;

impl Queues {
    fn unfinished<R>(&self) -> Result<R, QueueError> {
        let reason = "this broker does not serve that yet".into();
        Err(CoordinatorError::NotAvailable { reason }.into())
    }

    /// Sees to it that messages are not delivered any more: in one queue, or, if none is named, in all queues on their topics.
    ///
    /// # Errors
    /// There is no such queue.
    pub async fn cancel(
        &self,
        _queue: Option<&GroupId>,
        _messages: Vec<MessageId>,
    ) -> Result<Vec<CancelOutcome>, QueueError> {
        self.unfinished()
    }

    /// How a queue stands, and why it may be stuck.
    ///
    /// # Errors
    /// There is no such queue.
    pub fn status(&self, _queue: &GroupId) -> Result<QueueStatus, QueueError> {
        self.unfinished()
    }

    /// Some dead letters of a queue, from behind `after` on.
    ///
    /// # Errors
    /// There is no such queue, or its dead letters cannot be read.
    pub async fn dead_list(
        &self,
        _queue: &GroupId,
        _after: Option<MessageId>,
        _max: usize,
    ) -> Result<DeadLetters, QueueError> {
        self.unfinished()
    }

    /// One dead letter with all that it holds.
    ///
    /// # Errors
    /// There is no such queue or no such dead letter.
    pub async fn dead_show(
        &self,
        _queue: &GroupId,
        _id: MessageId,
    ) -> Result<DeadLetterShown, QueueError> {
        self.unfinished()
    }

    /// Delivers dead letters again.
    ///
    /// # Errors
    /// There is no such queue, or its dead letters cannot be read.
    pub async fn redrive(
        &self,
        _queue: &GroupId,
        _redrive: Redrive,
    ) -> Result<DeadDone, QueueError> {
        self.unfinished()
    }

    /// Gives dead letters up for good.
    ///
    /// # Errors
    /// There is no such queue, or its dead letters cannot be read.
    pub async fn discard(
        &self,
        _queue: &GroupId,
        _which: DeadSelection,
    ) -> Result<DeadDone, QueueError> {
        self.unfinished()
    }
}
