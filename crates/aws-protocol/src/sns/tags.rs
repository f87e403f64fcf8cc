//! ListTagsForResource, TagResource and UntagResource.

use crate::action::{Action, Encode};
use crate::fields::{FieldError, Fields, ListName};
use crate::writer::{ListNames, Writer};

/// `Tags` of a request.
pub(super) const TAGS: ListName = ListName {
    json: "Tags",
    form: &["Tags.member"],
};

/// Reads a list of tags.
pub(super) fn decode_tags(
    fields: &mut Fields,
    name: ListName,
) -> Result<Vec<(String, String)>, FieldError> {
    let tags = fields.structures(name)?.unwrap_or_default();
    let tags = tags
        .into_iter()
        .map(|mut tag| Ok((tag.required_text("Key")?, tag.required_text("Value")?)));
    tags.collect()
}

/// Lists a topic's tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListTagsForResource {
    /// Which topic.
    pub resource_arn: String,
}

/// The tags.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListTagsForResourceResponse {
    /// Keys and values, in the order in which they were added.
    pub tags: Vec<(String, String)>,
}

impl Action for ListTagsForResource {
    fn decode(fields: &mut Fields) -> Result<ListTagsForResource, FieldError> {
        Ok(ListTagsForResource {
            resource_arn: fields.required_text("ResourceArn")?,
        })
    }
}

impl Encode for ListTagsForResourceResponse {
    fn encode(&self, out: &mut dyn Writer) {
        let names = ListNames {
            json: "Tags",
            around: Some("Tags"),
            element: "member",
        };
        out.structures(names, self.tags.len(), &mut |index, out| {
            let (key, value) = &self.tags[index];
            out.text("Key", key);
            out.text("Value", value);
        });
    }
}

/// Adds tags, or changes their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagResource {
    /// To which topic.
    pub resource_arn: String,
    /// Keys and values.
    pub tags: Vec<(String, String)>,
}

impl Action for TagResource {
    fn decode(fields: &mut Fields) -> Result<TagResource, FieldError> {
        Ok(TagResource {
            resource_arn: fields.required_text("ResourceArn")?,
            tags: decode_tags(fields, TAGS)?,
        })
    }
}

/// Removes tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntagResource {
    /// From which topic.
    pub resource_arn: String,
    /// Their keys; those that are not there do not matter.
    pub tag_keys: Vec<String>,
}

impl Action for UntagResource {
    fn decode(fields: &mut Fields) -> Result<UntagResource, FieldError> {
        let names = ListName {
            json: "TagKeys",
            form: &["TagKeys.member"],
        };
        Ok(UntagResource {
            resource_arn: fields.required_text("ResourceArn")?,
            tag_keys: fields.texts(names)?.unwrap_or_default(),
        })
    }
}
