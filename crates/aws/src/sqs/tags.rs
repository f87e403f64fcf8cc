//! TagQueue, UntagQueue and ListQueueTags.

use super::Sqs;
use crate::config::Caller;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::limits::{TAG_KEY_LENGTH_MAX, TAG_VALUE_LENGTH_MAX, TAGS_MAX};
use fanlog_aws_protocol::sqs::{
    ListQueueTags, ListQueueTagsResponse, Response, TagQueue, UntagQueue,
};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Sqs {
    pub(super) async fn tag(
        self: &Arc<Self>,
        caller: &Caller,
        asked: TagQueue,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        self.change_document(&queue, |queue| {
            let mut tags = queue.tags.clone();
            tags.extend(asked.tags);
            check_tags(&queue.name, &tags)?;
            queue.tags = tags;
            Ok(())
        })
        .await?;
        Ok(Response::TagQueue)
    }

    pub(super) async fn untag(
        self: &Arc<Self>,
        caller: &Caller,
        asked: UntagQueue,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        self.change_document(&queue, move |queue| {
            queue.tags.retain(|key, _| !asked.tag_keys.contains(key));
            Ok(())
        })
        .await?;
        Ok(Response::UntagQueue)
    }

    pub(super) fn list_tags(
        &self,
        caller: &Caller,
        asked: &ListQueueTags,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let tags = queue.value.tags.clone();
        Ok(Response::ListQueueTags(ListQueueTagsResponse { tags }))
    }
}

/// Whether a queue may have these tags.
pub(super) fn check_tags(queue: &str, tags: &BTreeMap<String, String>) -> Result<(), AwsError> {
    if tags.len() > TAGS_MAX {
        let message = format!("Too many tags added for queue {queue}.");
        return Err(AwsError::invalid_parameter_value(message));
    }
    for (key, value) in tags {
        if !(1..=TAG_KEY_LENGTH_MAX).contains(&key.chars().count()) {
            let message = format!(
                "Tag keys must be between 1 and {TAG_KEY_LENGTH_MAX} characters in length."
            );
            return Err(AwsError::invalid_parameter_value(message));
        }
        if value.chars().count() > TAG_VALUE_LENGTH_MAX {
            let message = format!(
                "Tag values must be between 0 and {TAG_VALUE_LENGTH_MAX} characters in length."
            );
            return Err(AwsError::invalid_parameter_value(message));
        }
    }
    Ok(())
}
