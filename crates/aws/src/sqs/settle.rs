//! DeleteMessage, ChangeMessageVisibility, and their batches.
//!
//! A receipt whose lock ran out still ends its message on a standard queue: the work is done, and the message is not to come back. On a FIFO
//! queue it is refused, since others of the group may have been handed out.

use super::{Queue, Sqs};
use crate::config::Caller;
use fanlog_aws_protocol::sqs::{
    BatchKind, BatchResponse, ChangeMessageVisibility, ChangeMessageVisibilityBatch, DeleteMessage,
    DeleteMessageBatch, Response,
};
use fanlog_aws_protocol::{AwsError, BatchFailure};
use fanlog_broker::{QueueError, Receipt, SettleFailure, SettleOutcome};
use fanlog_model::GroupId;
use std::collections::HashMap;
use std::time::Duration;

/// What one receipt comes to.
type Each = Result<(), AwsError>;

impl Sqs {
    pub(super) async fn delete_message(
        &self,
        caller: &Caller,
        asked: DeleteMessage,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let items = vec![(asked.receipt_handle, SettleOutcome::Ack)];
        one(self.settle(&queue, items).await)?;
        Ok(Response::DeleteMessage)
    }

    pub(super) async fn delete_messages(
        &self,
        caller: &Caller,
        asked: DeleteMessageBatch,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let mut answer = BatchResponse {
            kind: BatchKind::Delete,
            ..BatchResponse::default()
        };
        let (mut names, mut items) = (Vec::new(), Vec::new());
        for entry in asked.entries {
            names.push((entry.id, entry.receipt_handle.clone()));
            items.push((entry.receipt_handle, SettleOutcome::Ack));
        }
        note(&mut answer, names, self.settle(&queue, items).await);
        Ok(Response::DeleteMessageBatch(answer))
    }

    pub(super) async fn change_visibility(
        &self,
        caller: &Caller,
        asked: ChangeMessageVisibility,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let outcome = visible_after(asked.visibility_timeout_seconds);
        let items = vec![(asked.receipt_handle, outcome)];
        one(self.settle(&queue, items).await)?;
        Ok(Response::ChangeMessageVisibility)
    }

    pub(super) async fn change_visibilities(
        &self,
        caller: &Caller,
        asked: ChangeMessageVisibilityBatch,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let mut answer = BatchResponse {
            kind: BatchKind::ChangeVisibility,
            ..BatchResponse::default()
        };
        let (mut names, mut items) = (Vec::new(), Vec::new());
        for entry in asked.entries {
            match entry.checked_timeout() {
                Err(error) => answer.failed.push(error.of_entry(&entry.id)),
                Ok(seconds) => {
                    names.push((entry.id, entry.receipt_handle.clone()));
                    items.push((entry.receipt_handle, visible_after(seconds)));
                }
            }
        }
        note(&mut answer, names, self.settle(&queue, items).await);
        Ok(Response::ChangeMessageVisibilityBatch(answer))
    }

    /// What becomes of messages, receipt by receipt; in the order given.
    async fn settle(&self, queue: &Queue, items: Vec<(String, SettleOutcome)>) -> Vec<Each> {
        let sources = self.sources(&queue.value);
        let queues = self.shared.broker.queues();
        let mut answers: Vec<Option<Each>> = vec![None; items.len()];
        let mut by_source: HashMap<GroupId, Vec<usize>> = HashMap::new();
        for (position, (receipt, _)) in items.iter().enumerate() {
            match queues.queue_of(&sources, &Receipt(receipt.clone())) {
                Some(source) => by_source.entry(source).or_default().push(position),
                None => answers[position] = Some(Err(AwsError::receipt_handle_is_invalid())),
            }
        }
        for (source, positions) in by_source {
            let item = |position: &usize| {
                let (receipt, outcome) = &items[*position];
                (Receipt(receipt.clone()), outcome.clone())
            };
            let settled = queues.settle(&source, positions.iter().map(item).collect());
            let settled = match settled.await {
                Ok(each) => each,
                Err(error) => {
                    let error = gone_or_unavailable(&error);
                    for position in positions {
                        answers[position] = Some(Err(error.clone()));
                    }
                    continue;
                }
            };
            for (position, one) in positions.into_iter().zip(settled) {
                let (receipt, outcome) = &items[position];
                answers[position] = Some(match one {
                    Ok(_) => Ok(()),
                    Err(SettleFailure::Refused(_)) => {
                        self.settle_late(queue, &source, receipt, outcome).await
                    }
                    Err(error) => Err(failed(&error)),
                });
            }
        }
        let answers = answers.into_iter();
        answers
            .map(|answer| answer.expect("each position has its answer"))
            .collect()
    }

    /// The receipt holds nothing any more.
    async fn settle_late(
        &self,
        queue: &Queue,
        source: &GroupId,
        receipt: &str,
        outcome: &SettleOutcome,
    ) -> Each {
        let (queues, handle) = (self.shared.broker.queues(), Receipt(receipt.to_owned()));
        if queue.value.is_fifo() {
            return Err(AwsError::receipt_handle_has_expired(receipt));
        }
        let lock = match outcome {
            SettleOutcome::Extend(lock) => *lock,
            SettleOutcome::Nack { .. } => Duration::ZERO,
            _ => {
                let deleted = queues.delete_expired(source, &handle).await;
                return deleted.map(|_| ()).map_err(|error| failed(&error));
            }
        };
        // Whoever holds it by now has it so long: so does Amazon.
        match queues.extend_any(source, &handle, lock).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(AwsError::message_not_inflight()),
            Err(error) => Err(failed(&error)),
        }
    }
}

/// Zero gives it back: the attempt counts, and it comes again at once.
fn visible_after(seconds: i64) -> SettleOutcome {
    match u64::try_from(seconds) {
        Ok(seconds @ 1..) => SettleOutcome::Extend(Duration::from_secs(seconds)),
        _ => SettleOutcome::Nack {
            delay: Some(Duration::ZERO),
            reason: "its visibility was set to zero".to_owned(),
        },
    }
}

fn one(each: Vec<Each>) -> Each {
    each.into_iter().next().unwrap_or(Ok(()))
}

fn note(answer: &mut BatchResponse, names: Vec<(String, String)>, each: Vec<Each>) {
    for ((id, receipt), one) in names.into_iter().zip(each) {
        match one {
            Ok(()) => answer.successful.push(id),
            Err(error) => answer.failed.push(of_entry(error, &id, &receipt)),
        }
    }
}

/// In a batch the handle is named, so that one sees which.
fn of_entry(error: AwsError, id: &str, receipt: &str) -> BatchFailure {
    let mut failure = error.of_entry(id);
    if failure.code == "ReceiptHandleIsInvalid" {
        let message =
            format!("The input receipt handle \"{receipt}\" is not a valid receipt handle.");
        failure.message = Some(message);
    }
    failure
}

fn gone_or_unavailable(error: &QueueError) -> AwsError {
    match error {
        QueueError::NoSuchQueue { .. } => AwsError::queue_does_not_exist(),
        error => AwsError::service_unavailable(error.to_string()),
    }
}

fn failed(error: &SettleFailure) -> AwsError {
    match error {
        SettleFailure::NoReceipt(_) | SettleFailure::OfAnother { .. } => {
            AwsError::receipt_handle_is_invalid()
        }
        SettleFailure::Refused(_) => AwsError::message_not_inflight(),
        SettleFailure::DueTooLate(_) => AwsError::invalid_parameter_value(error.to_string()),
        SettleFailure::Unavailable(_) => AwsError::service_unavailable(error.to_string()),
    }
}
