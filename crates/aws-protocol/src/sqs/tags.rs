//! ListQueueTags, TagQueue and UntagQueue.

use std::collections::BTreeMap;

use crate::action::{Action, Encode};
use crate::error::AwsError;
use crate::fields::{FieldError, Fields, ListName, MapName};
use crate::limits::TAG_KEY_LENGTH_MAX;
use crate::writer::{ListNames, MapNames, Writer};

/// `Tags` of a request.
pub(super) const TAGS: MapName = MapName {
    list: ListName {
        json: "Tags",
        form: &["Tag", "Tags"],
    },
    key: "Key",
    value: "Value",
};

/// Lists a queue's tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQueueTags {
    /// Which queue.
    pub queue_url: String,
}

/// The tags; if there are none, the field is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListQueueTagsResponse {
    /// By key.
    pub tags: BTreeMap<String, String>,
}

impl Action for ListQueueTags {
    fn decode(fields: &mut Fields) -> Result<ListQueueTags, FieldError> {
        Ok(ListQueueTags {
            queue_url: fields.required_text("QueueUrl")?,
        })
    }
}

impl Encode for ListQueueTagsResponse {
    fn encode(&self, out: &mut dyn Writer) {
        if self.tags.is_empty() {
            return;
        }
        let names = MapNames {
            list: ListNames {
                json: "Tags",
                around: None,
                element: "Tag",
            },
            key: "Key",
            value: "Value",
        };
        out.text_map(names, &self.tags);
    }
}

/// Adds tags, or changes their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagQueue {
    /// To which queue.
    pub queue_url: String,
    /// By key.
    pub tags: BTreeMap<String, String>,
}

impl Action for TagQueue {
    fn decode(fields: &mut Fields) -> Result<TagQueue, FieldError> {
        Ok(TagQueue {
            queue_url: fields.required_text("QueueUrl")?,
            tags: fields.text_map(TAGS)?.unwrap_or_default(),
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        if self.tags.is_empty() {
            return Err(AwsError::missing_parameter("Tags"));
        }
        Ok(())
    }
}

/// Removes tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntagQueue {
    /// From which queue.
    pub queue_url: String,
    /// Their keys; those that are not there do not matter.
    pub tag_keys: Vec<String>,
}

impl Action for UntagQueue {
    fn decode(fields: &mut Fields) -> Result<UntagQueue, FieldError> {
        let names = ListName {
            json: "TagKeys",
            form: &["TagKey", "TagKeys"],
        };
        Ok(UntagQueue {
            queue_url: fields.required_text("QueueUrl")?,
            tag_keys: fields.texts(names)?.unwrap_or_default(),
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        let is_fine = |key: &String| (1..=TAG_KEY_LENGTH_MAX).contains(&key.chars().count());
        if self.tag_keys.is_empty() || !self.tag_keys.iter().all(is_fine) {
            return Err(AwsError::invalid_parameter_value(
                "Tag keys must be between 1 and 128 characters in length.",
            ));
        }
        Ok(())
    }
}
