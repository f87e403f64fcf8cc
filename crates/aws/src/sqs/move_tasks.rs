//! StartMessageMoveTask, CancelMessageMoveTask and ListMessageMoveTasks: messages of a dead letter queue go back to where they failed, or
//! to another queue.
//!
//! The broker moves them, each once whatever crashes; what is kept here is that they are to be moved. A task that a stop has cut short goes
//! on at the next start, with what is left.
//! Owns: the tasks under way.   In -> out: a source, a destination, a rate -> a task and how far it is.

use super::{Queue, Sqs};
use crate::config::Caller;
use crate::documents::{Documents, Stored};
use crate::shared::to_the_end;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_aws_protocol::ids::uuid_text;
use fanlog_aws_protocol::sqs::{
    CancelMessageMoveTask, CancelMessageMoveTaskResponse, ListMessageMoveTasks,
    ListMessageMoveTasksResponse, MessageMoveTask, Response, StartMessageMoveTask,
    StartMessageMoveTaskResponse,
};
use fanlog_broker::{Broker, MoveEnd, MoveMessages, MoveTask, MoveTo};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// The space of the documents.
const SPACE: &str = "aws.move";
/// The format that is written.
const FORMAT: u16 = 1;
/// How many tasks of a queue are remembered.
const TASKS_MAX: usize = 10;
/// Beside how many others a task goes on.
const RUNNING_MAX: usize = 100;

/// What is kept of a task; its document's name is its handle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TaskDocument {
    format: u16,
    source_arn: String,
    destination_arn: Option<String>,
    rate: Option<u32>,
    status: Status,
    /// How many had arrived when this was written.
    moved: u64,
    to_move: u64,
    failure: Option<String>,
    started_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Status {
    #[serde(rename = "RUNNING")]
    Running,
    #[serde(rename = "COMPLETED")]
    Completed,
    #[serde(rename = "CANCELLED")]
    Cancelled,
    #[serde(rename = "FAILED")]
    Failed,
}

/// A task under way in this life of the broker, with what was moved before.
#[derive(Clone, Debug)]
struct Running {
    task: Arc<MoveTask>,
    moved_before: u64,
}

impl Running {
    fn moved(&self) -> u64 {
        self.moved_before + self.task.moved()
    }
}

/// The tasks.
#[derive(Debug)]
pub(super) struct MoveTasks {
    documents: Documents<TaskDocument>,
    running: Mutex<HashMap<String, Running>>,
}

impl MoveTasks {
    pub(super) fn new(broker: Arc<Broker>) -> Self {
        Self {
            documents: Documents::new(broker, SPACE),
            running: Mutex::default(),
        }
    }

    fn running(&self, handle: &str) -> Option<Running> {
        self.running.lock().get(handle).cloned()
    }

    /// The tasks of a queue, the latest first.
    fn of(&self, source_arn: &str) -> Result<Vec<Arc<Stored<TaskDocument>>>, AwsError> {
        let mut tasks = self.documents.list()?;
        tasks.retain(|task| task.value.source_arn == source_arn);
        tasks.sort_by_key(|task| std::cmp::Reverse(task.value.started_ms));
        Ok(tasks)
    }
}

impl Sqs {
    pub(super) async fn start_move(
        self: &Arc<Self>,
        caller: &Caller,
        asked: &StartMessageMoveTask,
    ) -> Result<Response, AwsError> {
        let source = self.queue_by_arn(caller, "SourceArn", &asked.source_arn)?;
        let account = &self.shared.config.account;
        let arn = source.value.arn(account);
        let all = self.shared.all_queues()?;
        let mut senders = all.iter().map(|queue| queue.value.redrive_target());
        if !senders.any(|target| target.as_ref() == Some(&arn)) {
            let message = "Source queue must be configured as a Dead Letter Queue.";
            return Err(AwsError::invalid_parameter_value(message));
        }
        if let Some(destination) = &asked.destination_arn {
            let to = self.queue_by_arn(caller, "DestinationArn", destination)?;
            if to.name() == source.name() {
                let message = "Source queue arn and destination queue arn cannot be the same.";
                return Err(AwsError::invalid_parameter_value(message));
            }
            if to.value.is_fifo() != source.value.is_fifo() {
                let message = "The destination must be the same type of queue as the source.";
                return Err(AwsError::invalid_parameter_value(message));
            }
        }
        let group = source.value.group();
        let counts = self.shared.broker.queues().counts(&group);
        let counts = counts.await.map_err(super::refused)?;
        let rate = asked.max_number_of_messages_per_second;
        let document = TaskDocument {
            format: FORMAT,
            source_arn: arn.to_string(),
            destination_arn: asked.destination_arn.clone(),
            rate: rate.and_then(|rate| u32::try_from(rate).ok()),
            status: Status::Running,
            moved: 0,
            to_move: counts.visible + counts.delayed,
            failure: None,
            started_ms: self.shared.now().0,
        };
        let (sqs, handle) = (self.clone(), uuid_text(self.shared.draw(), 4));
        let started = to_the_end(async move { sqs.start_now(handle, document).await });
        let task_handle = started.await?;
        let answer = StartMessageMoveTaskResponse { task_handle };
        Ok(Response::StartMessageMoveTask(answer))
    }

    async fn start_now(
        self: &Arc<Self>,
        handle: String,
        document: TaskDocument,
    ) -> Result<String, AwsError> {
        let _changing = self.shared.changing.lock().await;
        let before = self.moves.of(&document.source_arn)?;
        if before
            .iter()
            .any(|task| task.value.status == Status::Running)
        {
            let message = "There is already a task running. Only one active task is allowed for a source queue arn at a given time.";
            return Err(AwsError::invalid_parameter_value(message));
        }
        if self.moves.running.lock().len() >= RUNNING_MAX {
            let message = format!("{RUNNING_MAX} tasks are running; wait for one to end.");
            return Err(AwsError::over_limit(message));
        }
        for old in before.iter().skip(TASKS_MAX - 1) {
            self.moves.documents.delete(old).await?;
        }
        let task = self.moves.documents.create(&handle, &document).await?;
        self.run(&task);
        Ok(handle)
    }

    /// Has the messages moved, beside everything else.
    fn run(self: &Arc<Self>, task: &Arc<Stored<TaskDocument>>) {
        let running = Running {
            task: Arc::default(),
            moved_before: task.value.moved,
        };
        let handle = task.name().to_owned();
        let mut all = self.moves.running.lock();
        all.insert(handle.clone(), running.clone());
        drop(all);
        let (sqs, document) = (self.clone(), task.value.clone());
        tokio::spawn(async move {
            let ended = sqs.move_all(&document, &running.task).await;
            sqs.note_end(&handle, &running, ended).await;
            sqs.moves.running.lock().remove(&handle);
        });
    }

    async fn move_all(
        &self,
        document: &TaskDocument,
        task: &MoveTask,
    ) -> Result<MoveEnd, AwsError> {
        let queue_of = |arn: &str| -> Result<Queue, AwsError> {
            let arn = Arn::parse(arn).ok_or_else(AwsError::queue_does_not_exist)?;
            let queue = self.shared.queue_of(&arn)?;
            queue.ok_or_else(AwsError::queue_does_not_exist)
        };
        let source = queue_of(&document.source_arn)?;
        let to = match &document.destination_arn {
            Some(destination) => MoveTo::Topic(queue_of(destination)?.value.topic()),
            None => {
                // What came by a subscription goes back to the queue of the subscription, since its topic has other readers.
                let own = |queue: &Queue| (queue.value.group(), queue.value.topic());
                MoveTo::Origin(self.shared.all_queues()?.iter().map(own).collect())
            }
        };
        let wanted = MoveMessages {
            to,
            rate: document.rate,
        };
        let queues = self.shared.broker.queues();
        let group = source.value.group();
        let moved = queues.move_messages(&group, &wanted, task).await;
        moved.map_err(|error| AwsError::internal_failure(error.to_string()))
    }

    /// A task whose end can't be written goes on at the next start, and finds nothing left.
    async fn note_end(&self, handle: &str, running: &Running, ended: Result<MoveEnd, AwsError>) {
        if !self.shared.broker.is_serving() {
            return;
        }
        let _changing = self.shared.changing.lock().await;
        let Ok(Some(before)) = self.moves.documents.get(handle) else {
            return;
        };
        let mut document = before.value.clone();
        document.moved = running.moved();
        (document.status, document.failure) = match ended {
            Ok(MoveEnd::Done) => (Status::Completed, None),
            Ok(MoveEnd::Cancelled) => (Status::Cancelled, None),
            Err(error) => (Status::Failed, Some(error.message)),
        };
        if let Err(error) = self.moves.documents.replace(&before, &document).await {
            tracing::warn!(task = handle, %error, "the end of a task that moves messages is not noted");
        }
    }

    /// Tasks that a stop has cut short go on.
    pub(super) fn recover_moves(self: &Arc<Self>) {
        let tasks = self.moves.documents.list().unwrap_or_default();
        for task in tasks
            .iter()
            .filter(|task| task.value.status == Status::Running)
        {
            self.run(task);
        }
    }

    pub(super) async fn cancel_move(
        &self,
        asked: &CancelMessageMoveTask,
    ) -> Result<Response, AwsError> {
        let handle = &asked.task_handle;
        let no_such_task = || AwsError::resource_not_found_exception("Task does not exist.");
        if self.moves.documents.get(handle)?.is_none() {
            return Err(no_such_task());
        }
        let running = self.moves.running(handle);
        let running = running.ok_or_else(|| {
            AwsError::unsupported_operation("Only active tasks can be cancelled.")
        })?;
        running.task.cancel();
        let moved = i64::try_from(running.moved()).unwrap_or(i64::MAX);
        let answer = CancelMessageMoveTaskResponse {
            approximate_number_of_messages_moved: moved,
        };
        Ok(Response::CancelMessageMoveTask(answer))
    }

    pub(super) fn list_moves(
        &self,
        caller: &Caller,
        asked: &ListMessageMoveTasks,
    ) -> Result<Response, AwsError> {
        let source = self.queue_by_arn(caller, "SourceArn", &asked.source_arn)?;
        let arn = source.value.arn(&self.shared.config.account);
        let tasks = self.moves.of(&arn.to_string())?;
        let max = usize::try_from(asked.max_results.unwrap_or(1)).unwrap_or(1);
        let results = tasks.iter().take(max).map(|task| self.shown(task));
        let results = results.collect();
        Ok(Response::ListMessageMoveTasks(
            ListMessageMoveTasksResponse { results },
        ))
    }

    fn shown(&self, task: &Stored<TaskDocument>) -> MessageMoveTask {
        let document = &task.value;
        let running = self.moves.running(task.name());
        let running = running.filter(|_| document.status == Status::Running);
        let is_cancelling = running
            .as_ref()
            .is_some_and(|running| running.task.is_cancelled());
        let status = match document.status {
            Status::Running if is_cancelling => "CANCELLING",
            Status::Running => "RUNNING",
            Status::Completed => "COMPLETED",
            Status::Cancelled => "CANCELLED",
            Status::Failed => "FAILED",
        };
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let moved = running.as_ref().map_or(document.moved, Running::moved);
        MessageMoveTask {
            task_handle: running.map(|_| task.name().to_owned()),
            status: status.to_owned(),
            source_arn: document.source_arn.clone(),
            destination_arn: document.destination_arn.clone(),
            max_number_of_messages_per_second: document.rate.map(i64::from),
            approximate_number_of_messages_moved: number(moved),
            approximate_number_of_messages_to_move: Some(number(document.to_move)),
            failure_reason: document.failure.clone(),
            started_timestamp_ms: document.started_ms,
        }
    }

    fn queue_by_arn(&self, caller: &Caller, name: &str, text: &str) -> Result<Queue, AwsError> {
        let arn = Arn::parse(text).filter(|arn| arn.service == "sqs");
        let arn = arn.ok_or_else(|| {
            let message = format!("You must use this format to specify the {name}: arn:<partition>:<service>:<region>:<account-id>:<resource-id>");
            AwsError::invalid_parameter_value(message)
        })?;
        let queue = self.shared.queue_of(&arn)?;
        let queue = queue.filter(|queue| *queue.value.region == *caller.region);
        queue.ok_or_else(|| {
            let message =
                format!("The resource that you specified for the {name} parameter doesn't exist.");
            AwsError::resource_not_found_exception(message)
        })
    }
}
