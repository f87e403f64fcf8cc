//! TagResource, UntagResource, ListTagsForResource.

use super::topics::Topic;
use super::{Response, Sns};
use crate::config::Caller;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_aws_protocol::limits::{TAG_KEY_LENGTH_MAX, TAG_VALUE_LENGTH_MAX, TAGS_MAX};
use fanlog_aws_protocol::sns::{
    ListTagsForResource, ListTagsForResourceResponse, TagResource, UntagResource,
};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Sns {
    pub(super) async fn tag(
        self: &Arc<Self>,
        caller: &Caller,
        asked: TagResource,
    ) -> Result<Response, AwsError> {
        check_tags(&asked.tags)?;
        let topic = self.resource(caller, &asked.resource_arn)?;
        let changed = self.change_topic(&topic, move |topic| {
            for (key, value) in asked.tags {
                match topic.tags.iter_mut().find(|(known, _)| *known == key) {
                    Some(tag) => tag.1 = value,
                    None => topic.tags.push((key, value)),
                }
            }
            check_count(topic.tags.len())
        });
        changed.await?;
        Ok(Response::TagResource)
    }

    pub(super) async fn untag(
        self: &Arc<Self>,
        caller: &Caller,
        asked: UntagResource,
    ) -> Result<Response, AwsError> {
        let topic = self.resource(caller, &asked.resource_arn)?;
        let changed = self.change_topic(&topic, move |topic| {
            topic.tags.retain(|(key, _)| !asked.tag_keys.contains(key));
            Ok(())
        });
        changed.await?;
        Ok(Response::UntagResource)
    }

    pub(super) fn list_tags(
        &self,
        caller: &Caller,
        asked: &ListTagsForResource,
    ) -> Result<Response, AwsError> {
        let tags = self
            .resource(caller, &asked.resource_arn)?
            .value
            .tags
            .clone();
        let listed = ListTagsForResourceResponse { tags };
        Ok(Response::ListTagsForResource(listed))
    }

    fn resource(&self, caller: &Caller, arn: &str) -> Result<Topic, AwsError> {
        let topic = Arn::parse_topic(arn).map(|arn| self.find_topic(caller, &arn));
        let topic = topic.transpose()?.flatten();
        topic.ok_or_else(|| AwsError::resource_not_found("Resource does not exist"))
    }
}

/// Whether these may be tags of one topic.
pub(super) fn check_tags(tags: &[(String, String)]) -> Result<(), AwsError> {
    check_count(tags.len())?;
    let invalid = |reason: &str| {
        AwsError::invalid_parameter(format!("Invalid parameter: Tags Reason: {reason}"))
    };
    let mut keys = BTreeSet::new();
    for (key, value) in tags {
        if !(1..=TAG_KEY_LENGTH_MAX).contains(&key.chars().count()) {
            return Err(invalid("a key has 1 to 128 characters"));
        }
        if value.chars().count() > TAG_VALUE_LENGTH_MAX {
            return Err(invalid("a value has at most 256 characters"));
        }
        if key.to_ascii_lowercase().starts_with("aws:") {
            return Err(invalid("keys that begin with aws: are Amazon's own"));
        }
        if !keys.insert(key) {
            return Err(invalid("a key stands twice"));
        }
    }
    Ok(())
}

fn check_count(count: usize) -> Result<(), AwsError> {
    match count > TAGS_MAX {
        true => Err(AwsError::tag_limit_exceeded(
            "Could not complete request: tag quota of per resource exceeded",
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_few_short_and_named_once() {
        let tag = |key: &str| (key.to_owned(), "v".to_owned());
        let check = |tags: &[(String, String)], expected: Option<&str>| {
            let code = check_tags(tags).err().map(|error| error.query_code);
            assert_eq!(code, expected, "{tags:?}");
        };
        check(&[tag("a"), tag("b")], None);
        check(&[tag("a"), tag("a")], Some("InvalidParameter"));
        check(&[tag("")], Some("InvalidParameter"));
        check(&[tag("AWS:x")], Some("InvalidParameter"));
        check(&[tag(&"k".repeat(129))], Some("InvalidParameter"));
        let many: Vec<_> = (0..51).map(|n| tag(&n.to_string())).collect();
        check(&many, Some("TagLimitExceeded"));
        check(&many[..50], None);
    }
}
