//! CreateTopic, DeleteTopic, ListTopics, GetTopicAttributes and SetTopicAttributes.

use std::collections::BTreeMap;

use super::tags::{TAGS, decode_tags};
use crate::action::{Action, Encode};
use crate::fields::{FieldError, Fields, ListName, MapName};
use crate::writer::{ListNames, MapNames, Writer, optional_text};

/// `Attributes` of a request.
pub(super) const ATTRIBUTES: MapName = MapName {
    list: ListName {
        json: "Attributes",
        form: &["Attributes.entry"],
    },
    key: "key",
    value: "value",
};

/// `Attributes` of an answer.
pub(super) const ATTRIBUTES_OUT: MapNames = MapNames {
    list: ListNames {
        json: "Attributes",
        around: Some("Attributes"),
        element: "entry",
    },
    key: "key",
    value: "value",
};

/// Makes a topic, or answers the one that is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreateTopic {
    /// Its name; `names::check_topic_name` has the rules.
    pub name: String,
    /// Its attributes, as text.
    pub attributes: BTreeMap<String, String>,
    /// Its tags, in the order in which they came.
    pub tags: Vec<(String, String)>,
    /// A policy that only Amazon's service could hold to.
    pub data_protection_policy: Option<String>,
}

/// By what the topic is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTopicResponse {
    /// Its name as a resource.
    pub topic_arn: String,
}

impl Action for CreateTopic {
    fn decode(fields: &mut Fields) -> Result<CreateTopic, FieldError> {
        Ok(CreateTopic {
            name: fields.required_text("Name")?,
            attributes: fields.text_map(ATTRIBUTES)?.unwrap_or_default(),
            tags: decode_tags(fields, TAGS)?,
            data_protection_policy: fields.text("DataProtectionPolicy")?,
        })
    }
}

impl Encode for CreateTopicResponse {
    fn encode(&self, out: &mut dyn Writer) {
        out.text("TopicArn", &self.topic_arn);
    }
}

/// Deletes a topic; one that is not there is deleted already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteTopic {
    /// Which topic.
    pub topic_arn: String,
}

impl Action for DeleteTopic {
    fn decode(fields: &mut Fields) -> Result<DeleteTopic, FieldError> {
        Ok(DeleteTopic {
            topic_arn: fields.required_text("TopicArn")?,
        })
    }
}

/// Lists topics, in pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListTopics {
    /// From the page before.
    pub next_token: Option<String>,
}

/// A page of topics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListTopicsResponse {
    /// Their names as resources.
    pub topic_arns: Vec<String>,
    /// For the next page.
    pub next_token: Option<String>,
}

impl Action for ListTopics {
    fn decode(fields: &mut Fields) -> Result<ListTopics, FieldError> {
        Ok(ListTopics {
            next_token: fields.text("NextToken")?,
        })
    }
}

impl Encode for ListTopicsResponse {
    fn encode(&self, out: &mut dyn Writer) {
        let names = ListNames {
            json: "Topics",
            around: Some("Topics"),
            element: "member",
        };
        out.structures(names, self.topic_arns.len(), &mut |index, out| {
            out.text("TopicArn", &self.topic_arns[index]);
        });
        optional_text(out, "NextToken", self.next_token.as_deref());
    }
}

/// Asks for a topic's attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetTopicAttributes {
    /// Which topic.
    pub topic_arn: String,
}

/// The attributes as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GetTopicAttributesResponse {
    /// By name.
    pub attributes: BTreeMap<String, String>,
}

impl Action for GetTopicAttributes {
    fn decode(fields: &mut Fields) -> Result<GetTopicAttributes, FieldError> {
        Ok(GetTopicAttributes {
            topic_arn: fields.required_text("TopicArn")?,
        })
    }
}

impl Encode for GetTopicAttributesResponse {
    fn encode(&self, out: &mut dyn Writer) {
        out.text_map(ATTRIBUTES_OUT, &self.attributes);
    }
}

/// Sets an attribute of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetTopicAttributes {
    /// Of which topic.
    pub topic_arn: String,
    /// Which attribute.
    pub attribute_name: String,
    /// To what; without it the attribute is taken back.
    pub attribute_value: Option<String>,
}

impl Action for SetTopicAttributes {
    fn decode(fields: &mut Fields) -> Result<SetTopicAttributes, FieldError> {
        Ok(SetTopicAttributes {
            topic_arn: fields.required_text("TopicArn")?,
            attribute_name: fields.required_text("AttributeName")?,
            attribute_value: fields.text("AttributeValue")?,
        })
    }
}
