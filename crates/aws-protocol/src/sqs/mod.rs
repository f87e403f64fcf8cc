//! SQS: its 23 actions, one file per group of them.
//!
//! In -> out: `Fields` -> `Request`; `Response` -> fields of an answer. Read next: `send.rs`.

mod attributes;
mod batch;
mod delete;
mod move_tasks;
mod permissions;
mod queues;
mod receive;
mod send;
mod tags;
mod visibility;

pub use attributes::{GetQueueAttributes, GetQueueAttributesResponse, SetQueueAttributes};
pub use batch::{BatchKind, BatchResponse};
pub use delete::{DeleteMessage, DeleteMessageBatch, DeleteMessageBatchEntry};
pub use move_tasks::{
    CancelMessageMoveTask, CancelMessageMoveTaskResponse, ListMessageMoveTasks,
    ListMessageMoveTasksResponse, MessageMoveTask, StartMessageMoveTask,
    StartMessageMoveTaskResponse,
};
pub use permissions::{AddPermission, RemovePermission};
pub use queues::{
    CreateQueue, CreateQueueResponse, DeleteQueue, GetQueueUrl, GetQueueUrlResponse,
    ListDeadLetterSourceQueues, ListDeadLetterSourceQueuesResponse, ListQueues, ListQueuesResponse,
    PurgeQueue,
};
pub use receive::{Message, ReceiveMessage, ReceiveMessageResponse};
pub use send::{
    OutgoingMessage, SendMessage, SendMessageBatch, SendMessageBatchEntry,
    SendMessageBatchResponse, SendMessageBatchResultEntry, SendMessageResponse,
};
pub use tags::{ListQueueTags, ListQueueTagsResponse, TagQueue, UntagQueue};
pub use visibility::{
    ChangeMessageVisibility, ChangeMessageVisibilityBatch, ChangeMessageVisibilityBatchEntry,
};

use crate::action::{Action, Encode, Read, actions};
use crate::fields::Fields;
use crate::writer::Writer;

/// The version that SQS's forms name.
pub const VERSION: &str = "2012-11-05";

/// What stands before the action in `X-Amz-Target`.
pub(crate) const TARGET: &str = "AmazonSQS";

/// The namespace of XML answers.
pub(crate) const XML_NAMESPACE: &str = "http://queue.amazonaws.com/doc/2012-11-05/";

actions! {
    /// Lets others use the queue.
    AddPermission;
    /// Stops moving messages.
    CancelMessageMoveTask -> CancelMessageMoveTaskResponse;
    /// Sets for how long a message stays invisible from now on.
    ChangeMessageVisibility;
    /// The same for up to ten messages.
    ChangeMessageVisibilityBatch -> BatchResponse;
    /// Makes a queue.
    CreateQueue -> CreateQueueResponse;
    /// Deletes a message for good.
    DeleteMessage;
    /// The same for up to ten messages.
    DeleteMessageBatch -> BatchResponse;
    /// Deletes a queue with its messages.
    DeleteQueue;
    /// Asks for attributes of a queue.
    GetQueueAttributes -> GetQueueAttributesResponse;
    /// Asks for a queue's address.
    GetQueueUrl -> GetQueueUrlResponse;
    /// Lists the queues whose dead letters come here.
    ListDeadLetterSourceQueues -> ListDeadLetterSourceQueuesResponse;
    /// Lists the moves of a queue's messages.
    ListMessageMoveTasks -> ListMessageMoveTasksResponse;
    /// Lists a queue's tags.
    ListQueueTags -> ListQueueTagsResponse;
    /// Lists queues.
    ListQueues -> ListQueuesResponse;
    /// Deletes all messages of a queue.
    PurgeQueue;
    /// Takes messages.
    ReceiveMessage -> ReceiveMessageResponse;
    /// Takes a permission back.
    RemovePermission;
    /// Sends a message.
    SendMessage -> SendMessageResponse;
    /// Sends up to ten messages.
    SendMessageBatch -> SendMessageBatchResponse;
    /// Sets attributes of a queue.
    SetQueueAttributes;
    /// Starts to move the messages of a dead letter queue back, or elsewhere.
    StartMessageMoveTask -> StartMessageMoveTaskResponse;
    /// Adds tags.
    TagQueue;
    /// Removes tags.
    UntagQueue;
}
