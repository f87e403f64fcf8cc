//! StartMessageMoveTask, CancelMessageMoveTask and ListMessageMoveTasks.

use crate::action::{Action, Encode};
use crate::checks;
use crate::error::AwsError;
use crate::fields::{FieldError, Fields};
use crate::limits::{MOVE_TASK_RATE_MAX, MOVE_TASKS_RESULTS_MAX};
use crate::writer::{ListNames, Writer, optional_integer, optional_text};

/// Starts to move the messages of a dead letter queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartMessageMoveTask {
    /// The dead letter queue.
    pub source_arn: String,
    /// Where to; back to where each came from, if it is not said.
    pub destination_arn: Option<String>,
    /// How fast at most; between 1 and 500.
    pub max_number_of_messages_per_second: Option<i64>,
}

/// By what the task is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartMessageMoveTaskResponse {
    /// The handle.
    pub task_handle: String,
}

impl Action for StartMessageMoveTask {
    fn decode(fields: &mut Fields) -> Result<StartMessageMoveTask, FieldError> {
        Ok(StartMessageMoveTask {
            source_arn: fields.required_text("SourceArn")?,
            destination_arn: fields.text("DestinationArn")?,
            max_number_of_messages_per_second: fields.integer("MaxNumberOfMessagesPerSecond")?,
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        let rate = self.max_number_of_messages_per_second;
        checks::in_range("MaxNumberOfMessagesPerSecond", rate, 1, MOVE_TASK_RATE_MAX)
    }
}

impl Encode for StartMessageMoveTaskResponse {
    fn encode(&self, out: &mut dyn Writer) {
        out.text("TaskHandle", &self.task_handle);
    }
}

/// Stops a task; what it moved stays moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelMessageMoveTask {
    /// The task's handle.
    pub task_handle: String,
}

/// How far it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelMessageMoveTaskResponse {
    /// How many messages were moved.
    pub approximate_number_of_messages_moved: i64,
}

impl Action for CancelMessageMoveTask {
    fn decode(fields: &mut Fields) -> Result<CancelMessageMoveTask, FieldError> {
        Ok(CancelMessageMoveTask {
            task_handle: fields.required_text("TaskHandle")?,
        })
    }
}

impl Encode for CancelMessageMoveTaskResponse {
    fn encode(&self, out: &mut dyn Writer) {
        let moved = self.approximate_number_of_messages_moved;
        out.integer("ApproximateNumberOfMessagesMoved", moved);
    }
}

/// Lists the latest tasks of a dead letter queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListMessageMoveTasks {
    /// The dead letter queue.
    pub source_arn: String,
    /// How many at most; between 1 and 10, 1 if it is not said.
    pub max_results: Option<i64>,
}

/// The tasks, the latest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListMessageMoveTasksResponse {
    /// The field is there even if there are none.
    pub results: Vec<MessageMoveTask>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageMoveTask {
    /// Its handle, while it runs.
    pub task_handle: Option<String>,
    /// `RUNNING`, `COMPLETED`, `CANCELLING`, `CANCELLED` or `FAILED`.
    pub status: String,
    /// The dead letter queue.
    pub source_arn: String,
    /// Where to, if it was said.
    pub destination_arn: Option<String>,
    /// How fast at most, if it was said.
    pub max_number_of_messages_per_second: Option<i64>,
    /// How many were moved.
    pub approximate_number_of_messages_moved: i64,
    /// How many there were to move.
    pub approximate_number_of_messages_to_move: Option<i64>,
    /// Why it failed.
    pub failure_reason: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub started_timestamp_ms: i64,
}

impl Action for ListMessageMoveTasks {
    fn decode(fields: &mut Fields) -> Result<ListMessageMoveTasks, FieldError> {
        Ok(ListMessageMoveTasks {
            source_arn: fields.required_text("SourceArn")?,
            max_results: fields.integer("MaxResults")?,
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        checks::in_range("MaxResults", self.max_results, 1, MOVE_TASKS_RESULTS_MAX)
    }
}

impl Encode for ListMessageMoveTasksResponse {
    fn encode(&self, out: &mut dyn Writer) {
        let names = ListNames {
            json: "Results",
            around: None,
            element: "ListMessageMoveTasksResultEntry",
        };
        out.structures(names, self.results.len(), &mut |index, out| {
            self.results[index].encode(out);
        });
    }
}

impl Encode for MessageMoveTask {
    fn encode(&self, out: &mut dyn Writer) {
        optional_text(out, "TaskHandle", self.task_handle.as_deref());
        out.text("Status", &self.status);
        out.text("SourceArn", &self.source_arn);
        optional_text(out, "DestinationArn", self.destination_arn.as_deref());
        let rate = self.max_number_of_messages_per_second;
        optional_integer(out, "MaxNumberOfMessagesPerSecond", rate);
        let moved = self.approximate_number_of_messages_moved;
        out.integer("ApproximateNumberOfMessagesMoved", moved);
        let to_move = self.approximate_number_of_messages_to_move;
        optional_integer(out, "ApproximateNumberOfMessagesToMove", to_move);
        optional_text(out, "FailureReason", self.failure_reason.as_deref());
        out.integer("StartedTimestamp", self.started_timestamp_ms);
    }
}
