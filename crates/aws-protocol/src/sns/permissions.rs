//! AddPermission and RemovePermission of SNS.

use crate::action::Action;
use crate::fields::{FieldError, Fields, ListName};

/// Lets others use the topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddPermission {
    /// Which topic.
    pub topic_arn: String,
    /// What the permission is called.
    pub label: String,
    /// Who is allowed.
    pub account_ids: Vec<String>,
    /// What they are allowed, as names of actions.
    pub action_names: Vec<String>,
}

impl Action for AddPermission {
    fn decode(fields: &mut Fields) -> Result<AddPermission, FieldError> {
        let account_ids = ListName {
            json: "AWSAccountId",
            form: &["AWSAccountId.member"],
        };
        let action_names = ListName {
            json: "ActionName",
            form: &["ActionName.member"],
        };
        Ok(AddPermission {
            topic_arn: fields.required_text("TopicArn")?,
            label: fields.required_text("Label")?,
            account_ids: fields.texts(account_ids)?.unwrap_or_default(),
            action_names: fields.texts(action_names)?.unwrap_or_default(),
        })
    }
}

/// Takes a permission back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovePermission {
    /// Of which topic.
    pub topic_arn: String,
    /// What the permission is called.
    pub label: String,
}

impl Action for RemovePermission {
    fn decode(fields: &mut Fields) -> Result<RemovePermission, FieldError> {
        Ok(RemovePermission {
            topic_arn: fields.required_text("TopicArn")?,
            label: fields.required_text("Label")?,
        })
    }
}
