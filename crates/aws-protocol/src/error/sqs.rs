//! The errors of SQS's actions, one constructor each.

use super::AwsError;
use super::common::shortened;
use crate::limits::{BATCH_ENTRIES_MAX, MESSAGE_BYTES_MAX};

impl AwsError {
    /// The queue is not there, or its address is none.
    pub fn queue_does_not_exist() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#QueueDoesNotExist",
            "AWS.SimpleQueueService.NonExistentQueue",
            400,
            "The specified queue does not exist.",
        )
    }

    /// A queue of this name is there with other attributes.
    pub fn queue_name_exists(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#QueueNameExists",
            "QueueAlreadyExists",
            400,
            message,
        )
    }

    /// A queue of this name was deleted a moment ago.
    pub fn queue_deleted_recently() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#QueueDeletedRecently",
            "AWS.SimpleQueueService.QueueDeletedRecently",
            400,
            "A queue of this name was deleted less than 60 seconds ago.",
        )
    }

    /// The receipt handle is not one of this queue's.
    pub fn receipt_handle_is_invalid() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#ReceiptHandleIsInvalid",
            "ReceiptHandleIsInvalid",
            400,
            "The input receipt handle is invalid.",
        )
    }

    /// The same for an entry of a batch, which says which handle it was.
    pub fn receipt_handle_of_entry_is_invalid(receipt_handle: &str) -> AwsError {
        AwsError {
            message: format!(
                "The input receipt handle \"{}\" is not a valid receipt handle.",
                shortened(receipt_handle)
            ),
            ..AwsError::receipt_handle_is_invalid()
        }
    }

    /// The receipt handle was one of this queue's, and no longer counts.
    pub fn receipt_handle_has_expired(receipt_handle: &str) -> AwsError {
        AwsError::invalid_value_for(
            "ReceiptHandle",
            receipt_handle,
            "The receipt handle has expired.",
        )
    }

    /// The message is there, but nobody holds it.
    pub fn message_not_inflight() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#MessageNotInflight",
            "AWS.SimpleQueueService.MessageNotInflight",
            400,
            "The specified message is not in flight.",
        )
    }

    /// A queue has no attribute of this name, or none that can be set.
    pub fn invalid_attribute_name(name: &str) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#InvalidAttributeName",
            "InvalidAttributeName",
            400,
            format!("Unknown Attribute {}.", shortened(name)),
        )
    }

    /// An attribute of a queue can't have this value.
    pub fn invalid_attribute_value(name: &str) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#InvalidAttributeValue",
            "InvalidAttributeValue",
            400,
            format!("Invalid value for the parameter {}.", shortened(name)),
        )
    }

    /// The body has characters that no message may have.
    pub fn invalid_message_contents() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#InvalidMessageContents",
            "InvalidMessageContents",
            400,
            "The message has a character outside of #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.",
        )
    }

    /// A batch without entries; `entry` is the query protocol's name of an entry.
    pub fn empty_batch_request(entry: &str) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#EmptyBatchRequest",
            "AWS.SimpleQueueService.EmptyBatchRequest",
            400,
            format!("There should be at least one {entry} in the request."),
        )
    }

    /// A batch with more entries than a batch may have.
    pub fn too_many_entries_in_batch_request(count: usize) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#TooManyEntriesInBatchRequest",
            "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
            400,
            format!(
                "Maximum number of entries per request are {BATCH_ENTRIES_MAX}. You have sent {count}."
            ),
        )
    }

    /// Two entries of a batch have one id.
    pub fn batch_entry_ids_not_distinct(id: &str) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#BatchEntryIdsNotDistinct",
            "AWS.SimpleQueueService.BatchEntryIdsNotDistinct",
            400,
            format!("Id {} repeated.", shortened(id)),
        )
    }

    /// An entry's id has characters or a length that no id may have.
    pub fn invalid_batch_entry_id() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#InvalidBatchEntryId",
            "AWS.SimpleQueueService.InvalidBatchEntryId",
            400,
            "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.",
        )
    }

    /// The messages of a batch are too large together.
    pub fn batch_request_too_long(bytes: usize) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#BatchRequestTooLong",
            "AWS.SimpleQueueService.BatchRequestTooLong",
            400,
            format!(
                "Batch requests cannot be longer than {MESSAGE_BYTES_MAX} bytes. You have sent {bytes} bytes."
            ),
        )
    }

    /// The message is larger than the queue takes.
    pub fn message_too_long(limit_bytes: usize) -> AwsError {
        AwsError::invalid_parameter_value(format!(
            "One or more parameters are invalid. Reason: Message must be shorter than {limit_bytes} bytes."
        ))
    }

    /// The queue was purged less than a minute ago.
    pub fn purge_queue_in_progress(queue: &str) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#PurgeQueueInProgress",
            "AWS.SimpleQueueService.PurgeQueueInProgress",
            403,
            format!("Only one PurgeQueue operation on {queue} is allowed every 60 seconds."),
        )
    }

    /// A limit would be passed.
    pub fn over_limit(message: impl Into<String>) -> AwsError {
        AwsError::sender("com.amazonaws.sqs#OverLimit", "OverLimit", 403, message)
    }

    /// The action exists, but not for this queue or message.
    pub fn unsupported_operation(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#UnsupportedOperation",
            "AWS.SimpleQueueService.UnsupportedOperation",
            400,
            message,
        )
    }

    /// What the request names is not there: a move task, or the queue that it is about.
    pub fn resource_not_found_exception(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#ResourceNotFoundException",
            "ResourceNotFoundException",
            404,
            message,
        )
    }

    /// The queue's address is none of ours.
    pub fn invalid_address(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#InvalidAddress",
            "InvalidAddress",
            404,
            message,
        )
    }

    /// Too many requests at once.
    pub fn request_throttled(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazonaws.sqs#RequestThrottled",
            "RequestThrottled",
            403,
            message,
        )
    }
}
