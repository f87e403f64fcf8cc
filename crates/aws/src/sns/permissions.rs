//! AddPermission, RemovePermission: statements of the topic's policy. They are kept and returned; who may do what, `aws.credentials` says.

use super::{Response, Sns};
use crate::config::Caller;
use crate::policy::{one_or_all, statements};
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sns::{AddPermission, RemovePermission};
use serde_json::json;
use std::sync::Arc;

/// What others may be allowed.
const ACTIONS: [&str; 9] = [
    "GetTopicAttributes",
    "SetTopicAttributes",
    "AddPermission",
    "RemovePermission",
    "DeleteTopic",
    "Subscribe",
    "ListSubscriptionsByTopic",
    "Publish",
    "Receive",
];
const LABEL: &str = "Sid";

impl Sns {
    pub(super) async fn add_permission(
        self: &Arc<Self>,
        caller: &Caller,
        asked: AddPermission,
    ) -> Result<Response, AwsError> {
        let topic = self.topic(caller, &asked.topic_arn)?;
        let account = caller.account.clone();
        let changed = self.change_topic(&topic, move |topic| {
            let mut policy = topic.policy(&account);
            let statements = statements(&mut policy)?;
            if statements.iter().any(|one| one[LABEL] == *asked.label) {
                return Err(AwsError::invalid_parameter("Statement already exists"));
            }
            let is_known = |name: &String| ACTIONS.contains(&name.as_str());
            if asked.action_names.is_empty() || !asked.action_names.iter().all(is_known) {
                return Err(AwsError::invalid_parameter(
                    "Policy statement action out of service scope!",
                ));
            }
            if asked.account_ids.is_empty() {
                return Err(AwsError::invalid_parameter(
                    "Invalid parameter: AWSAccountId Reason: no value for required parameter",
                ));
            }
            let accounts = asked.account_ids.iter();
            let principals = accounts.map(|id| format!("arn:aws:iam::{id}:root"));
            let actions = asked.action_names.iter().map(|name| format!("SNS:{name}"));
            statements.push(json!({
                "Sid": asked.label,
                "Effect": "Allow",
                "Principal": { "AWS": one_or_all(principals) },
                "Action": one_or_all(actions),
                "Resource": topic.arn(&account).to_string(),
            }));
            topic.set("Policy", &policy.to_string())
        });
        changed.await?;
        Ok(Response::AddPermission)
    }

    pub(super) async fn remove_permission(
        self: &Arc<Self>,
        caller: &Caller,
        asked: RemovePermission,
    ) -> Result<Response, AwsError> {
        let topic = self.topic(caller, &asked.topic_arn)?;
        let account = caller.account.clone();
        let changed = self.change_topic(&topic, move |topic| {
            let mut policy = topic.policy(&account);
            statements(&mut policy)?.retain(|one| one[LABEL] != *asked.label);
            topic.set("Policy", &policy.to_string())
        });
        changed.await?;
        Ok(Response::RemovePermission)
    }
}
