//! AddPermission and RemovePermission of SQS.

use crate::action::Action;
use crate::checks;
use crate::error::AwsError;
use crate::fields::{FieldError, Fields, ListName};
use crate::limits::PERMISSION_ACTIONS_MAX;

/// What others may be allowed; `*` is all of it.
const ALLOWED: &[&str] = &[
    "*",
    "ChangeMessageVisibility",
    "DeleteMessage",
    "GetQueueAttributes",
    "GetQueueUrl",
    "ListDeadLetterSourceQueues",
    "PurgeQueue",
    "ReceiveMessage",
    "SendMessage",
];

/// Lets others use the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddPermission {
    /// Which queue.
    pub queue_url: String,
    /// What the permission is called.
    pub label: String,
    /// Who is allowed.
    pub account_ids: Vec<String>,
    /// What they are allowed, as names of actions.
    pub actions: Vec<String>,
}

impl Action for AddPermission {
    fn decode(fields: &mut Fields) -> Result<AddPermission, FieldError> {
        let account_ids = ListName {
            json: "AWSAccountIds",
            form: &["AWSAccountId", "AWSAccountIds"],
        };
        let actions = ListName {
            json: "Actions",
            form: &["ActionName", "Actions"],
        };
        Ok(AddPermission {
            queue_url: fields.required_text("QueueUrl")?,
            label: fields.required_text("Label")?,
            account_ids: fields.texts(account_ids)?.unwrap_or_default(),
            actions: fields.texts(actions)?.unwrap_or_default(),
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        checks::label(&self.label)?;
        if self.actions.is_empty() {
            return Err(AwsError::missing_parameter("Actions"));
        }
        if self.account_ids.is_empty() {
            let reason = "Unable to verify.";
            return Err(AwsError::invalid_value_for("PrincipalId", "[]", reason));
        }
        if self.actions.len() > PERMISSION_ACTIONS_MAX {
            return Err(AwsError::over_limit(format!(
                "{} Actions were found, maximum allowed is {PERMISSION_ACTIONS_MAX}.",
                self.actions.len()
            )));
        }
        let is_for_owners = |action: &&String| !ALLOWED.contains(&action.as_str());
        match self.actions.iter().find(is_for_owners) {
            Some(action) => Err(AwsError::invalid_value_for(
                "ActionName",
                &format!("SQS:{action}"),
                "Only the queue owner is allowed to invoke this action.",
            )),
            None => Ok(()),
        }
    }
}

/// Takes a permission back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovePermission {
    /// Of which queue.
    pub queue_url: String,
    /// What the permission is called.
    pub label: String,
}

impl Action for RemovePermission {
    fn decode(fields: &mut Fields) -> Result<RemovePermission, FieldError> {
        Ok(RemovePermission {
            queue_url: fields.required_text("QueueUrl")?,
            label: fields.required_text("Label")?,
        })
    }

    fn check(&self) -> Result<(), AwsError> {
        checks::label(&self.label)
    }
}
