//! SQS: one file per group of actions.
//!
//! Why it exists: see `lib.rs`. A queue is a document (`queue.rs`), a topic of its own, and queues of the broker: one on that topic, and
//! one on each SNS topic that it subscribes to.
//! In -> out: a request of SQS -> its answer.
//! Read next: `queue.rs`, `send.rs`, `receive.rs`.

mod attributes;
mod queue;
mod redrive;

mod change;
mod create;
mod delete;
mod list;
mod move_tasks;
mod observe;
mod permissions;
mod purge;
mod tags;

mod attempts;
mod message;
mod receive;
mod send;
mod settle;

pub(crate) use queue::{Queue, QueueDocument, SPACE};

use crate::config::Caller;
use crate::service::Outcome;
use crate::shared::Shared;
use crate::sns::Sns;
use attempts::Attempts;
use fanlog_aws_protocol::sqs::{Request, Response};
use fanlog_aws_protocol::{AwsError, queue_url};
use fanlog_broker::QueueError;
use move_tasks::MoveTasks;
use purge::Purges;
use std::sync::Arc;

/// SQS.
#[derive(Debug)]
pub(crate) struct Sqs {
    shared: Arc<Shared>,
    sns: Arc<Sns>,
    attempts: Attempts,
    purges: Purges,
    moves: MoveTasks,
}

impl Sqs {
    pub(crate) fn new(shared: Arc<Shared>, sns: Arc<Sns>) -> Self {
        Self {
            moves: MoveTasks::new(shared.broker.clone()),
            attempts: Attempts::default(),
            purges: Purges::default(),
            shared,
            sns,
        }
    }

    /// Answers a request.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        caller: Caller,
        request: Request,
    ) -> Result<Outcome, AwsError> {
        let of = &caller;
        let response = match request {
            Request::AddPermission(asked) => self.add_permission(of, asked).await?,
            Request::CancelMessageMoveTask(asked) => self.cancel_move(&asked).await?,
            Request::ChangeMessageVisibility(asked) => self.change_visibility(of, asked).await?,
            Request::ChangeMessageVisibilityBatch(asked) => {
                self.change_visibilities(of, asked).await?
            }
            Request::CreateQueue(asked) => self.create_queue(of, asked).await?,
            Request::DeleteMessage(asked) => self.delete_message(of, asked).await?,
            Request::DeleteMessageBatch(asked) => self.delete_messages(of, asked).await?,
            Request::DeleteQueue(asked) => self.delete_queue(of, &asked).await?,
            Request::GetQueueAttributes(asked) => self.get_attributes(of, &asked).await?,
            Request::GetQueueUrl(asked) => self.get_url(of, &asked)?,
            Request::ListDeadLetterSourceQueues(asked) => self.list_sources(of, &asked)?,
            Request::ListMessageMoveTasks(asked) => self.list_moves(of, &asked)?,
            Request::ListQueueTags(asked) => self.list_tags(of, &asked)?,
            Request::ListQueues(asked) => self.list_queues(of, &asked)?,
            Request::PurgeQueue(asked) => self.purge(of, &asked).await?,
            Request::ReceiveMessage(asked) => return self.receive(of, &asked).await,
            Request::RemovePermission(asked) => self.remove_permission(of, asked).await?,
            Request::SendMessage(asked) => self.send(of, asked).await?,
            Request::SendMessageBatch(asked) => self.send_batch(of, asked).await?,
            Request::SetQueueAttributes(asked) => self.set_attributes(of, &asked).await?,
            Request::StartMessageMoveTask(asked) => self.start_move(of, &asked).await?,
            Request::TagQueue(asked) => self.tag(of, asked).await?,
            Request::UntagQueue(asked) => self.untag(of, asked).await?,
        };
        Ok(Response::into(response))
    }

    /// The queue that a request means by its address.
    fn queue(&self, caller: &Caller, url: &str) -> Result<Queue, AwsError> {
        let address = queue_url::parse(url).ok_or_else(AwsError::queue_does_not_exist)?;
        let is_ours = |account: &String| *account == *caller.account;
        if !address.account.as_ref().is_none_or(is_ours) {
            return Err(AwsError::queue_does_not_exist());
        }
        let queue = self.shared.queue(&caller.region, &address.name)?;
        queue.ok_or_else(AwsError::queue_does_not_exist)
    }

    /// The queue's address, in the words of who asks.
    fn url(&self, caller: &Caller, queue: &QueueDocument) -> String {
        queue_url::format(&caller.base_url, &caller.account, &queue.name)
    }

    /// The broker's queues that make up a queue: its own first.
    fn sources(&self, queue: &QueueDocument) -> Vec<fanlog_model::GroupId> {
        let mut sources = vec![queue.group()];
        sources.extend(self.sns.sources_of(queue));
        sources
    }
}

/// What the broker says of its queues, in SQS's words.
fn refused(error: QueueError) -> AwsError {
    match error {
        QueueError::NoSuchQueue { .. } | QueueError::NoSuchTopic { .. } => {
            AwsError::queue_does_not_exist()
        }
        QueueError::Unavailable(_) | QueueError::Read { .. } => {
            AwsError::service_unavailable(error.to_string())
        }
        QueueError::Limit { .. } => AwsError::over_limit(error.to_string()),
        error => AwsError::invalid_parameter_value(error.to_string()),
    }
}
