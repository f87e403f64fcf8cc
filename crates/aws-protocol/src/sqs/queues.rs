//! CreateQueue, DeleteQueue, GetQueueUrl, ListQueues, ListDeadLetterSourceQueues and PurgeQueue.

use std::collections::BTreeMap;

use super::attributes::ATTRIBUTES;
use super::tags::TAGS;
use crate::action::{Action, Encode};
use crate::checks;
use crate::error::AwsError;
use crate::fields::{FieldError, Fields, MapName};
use crate::limits::{LIST_RESULTS_MAX, QUEUE_NAME_LENGTH_MAX};
use crate::writer::{ListNames, Writer, optional_text};

/// Makes a queue, or answers the one with these attributes that is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreateQueue {
    /// Its name; `names::check_queue_name` has the rules.
    pub queue_name: String,
    /// Its attributes, as text.
    pub attributes: BTreeMap<String, String>,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// The queue's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateQueueResponse {
    /// Where the queue is.
    pub queue_url: String,
}

/// The tags are spelt with a small letter in JSON.
const TAGS_AT_CREATION: MapName = MapName {
    list: crate::fields::ListName {
        json: "tags",
        form: &["Tag", "tags"],
    },
    ..TAGS
};

impl Action for CreateQueue {
    fn decode(fields: &mut Fields) -> Result<CreateQueue, FieldError> {
        Ok(CreateQueue {
            queue_name: fields.required_text("QueueName")?,
            attributes: fields.text_map(ATTRIBUTES)?.unwrap_or_default(),
            tags: fields.text_map(TAGS_AT_CREATION)?.unwrap_or_default(),
        })
    }
}

impl Encode for CreateQueueResponse {
    fn encode(&self, out: &mut dyn Writer) {
        out.text("QueueUrl", &self.queue_url);
    }
}

/// Deletes a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteQueue {
    /// Which queue.
    pub queue_url: String,
}

impl Action for DeleteQueue {
    fn decode(fields: &mut Fields) -> Result<DeleteQueue, FieldError> {
        Ok(DeleteQueue {
            queue_url: fields.required_text("QueueUrl")?,
        })
    }
}

/// Asks for a queue's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetQueueUrl {
    /// Its name.
    pub queue_name: String,
    /// Whose queue it is, if not the caller's.
    pub owner_account: Option<String>,
}

/// The queue's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetQueueUrlResponse {
    /// Where the queue is.
    pub queue_url: String,
}

impl Action for GetQueueUrl {
    fn decode(fields: &mut Fields) -> Result<GetQueueUrl, FieldError> {
        Ok(GetQueueUrl {
            queue_name: fields.required_text("QueueName")?,
            owner_account: fields.text("QueueOwnerAWSAccountId")?,
        })
    }
}

impl Encode for GetQueueUrlResponse {
    fn encode(&self, out: &mut dyn Writer) {
        out.text("QueueUrl", &self.queue_url);
    }
}

/// Lists queues, in pages if `max_results` is given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListQueues {
    /// What names begin with.
    pub name_prefix: Option<String>,
    /// From the page before.
    pub next_token: Option<String>,
    /// How many at most; between 1 and 1,000.
    pub max_results: Option<i64>,
}

/// A page of queues.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListQueuesResponse {
    /// Their addresses; if there are none, the field is left out.
    pub queue_urls: Vec<String>,
    /// For the next page.
    pub next_token: Option<String>,
}

impl Action for ListQueues {
    fn decode(fields: &mut Fields) -> Result<ListQueues, FieldError> {
        Ok(ListQueues {
            name_prefix: fields.text("QueueNamePrefix")?,
            next_token: fields.text("NextToken")?,
            max_results: fields.integer("MaxResults")?,
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        if let Some(prefix) = &self.name_prefix
            && prefix.chars().count() > QUEUE_NAME_LENGTH_MAX
        {
            let reason = "Must be at most 80 characters long.";
            return Err(AwsError::invalid_value_for(
                "QueueNamePrefix",
                prefix,
                reason,
            ));
        }
        checks::in_range("MaxResults", self.max_results, 1, LIST_RESULTS_MAX)
    }
}

impl Encode for ListQueuesResponse {
    fn encode(&self, out: &mut dyn Writer) {
        if !self.queue_urls.is_empty() {
            let names = ListNames {
                json: "QueueUrls",
                around: None,
                element: "QueueUrl",
            };
            out.texts(names, &self.queue_urls);
        }
        optional_text(out, "NextToken", self.next_token.as_deref());
    }
}

/// Lists the queues whose dead letters come here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListDeadLetterSourceQueues {
    /// Which queue.
    pub queue_url: String,
    /// From the page before.
    pub next_token: Option<String>,
    /// How many at most; between 1 and 1,000.
    pub max_results: Option<i64>,
}

/// A page of queues.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListDeadLetterSourceQueuesResponse {
    /// Their addresses; the field is there even if there are none.
    pub queue_urls: Vec<String>,
    /// For the next page.
    pub next_token: Option<String>,
}

impl Action for ListDeadLetterSourceQueues {
    fn decode(fields: &mut Fields) -> Result<ListDeadLetterSourceQueues, FieldError> {
        Ok(ListDeadLetterSourceQueues {
            queue_url: fields.required_text("QueueUrl")?,
            next_token: fields.text("NextToken")?,
            max_results: fields.integer("MaxResults")?,
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        checks::in_range("MaxResults", self.max_results, 1, LIST_RESULTS_MAX)
    }
}

impl Encode for ListDeadLetterSourceQueuesResponse {
    fn encode(&self, out: &mut dyn Writer) {
        let names = ListNames {
            // With a small letter, and no other list of addresses has it.
            json: "queueUrls",
            around: None,
            element: "QueueUrl",
        };
        out.texts(names, &self.queue_urls);
        optional_text(out, "NextToken", self.next_token.as_deref());
    }
}

/// Deletes all messages of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeQueue {
    /// Which queue.
    pub queue_url: String,
}

impl Action for PurgeQueue {
    fn decode(fields: &mut Fields) -> Result<PurgeQueue, FieldError> {
        Ok(PurgeQueue {
            queue_url: fields.required_text("QueueUrl")?,
        })
    }
}
