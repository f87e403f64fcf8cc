//! AddPermission and RemovePermission: statements of the queue's policy, which is kept and answered.
//!
//! Nothing is judged by it: whoever has a key of `aws.credentials` may do everything, or, without credentials, whoever reaches the port.

use super::Sqs;
use super::attributes::POLICY;
use super::queue::QueueDocument;
use crate::config::Caller;
use crate::policy::{one_or_all, statements};
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sqs::{AddPermission, RemovePermission, Response};
use serde_json::{Value, json};
use std::sync::Arc;

impl Sqs {
    pub(super) async fn add_permission(
        self: &Arc<Self>,
        caller: &Caller,
        asked: AddPermission,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let arn = queue.value.arn(&caller.account).to_string();
        self.change_document(&queue, move |queue| {
            let mut policy = policy_of(queue, &arn)?;
            let statements = statements(&mut policy)?;
            if statements.iter().any(|given| given["Sid"] == *asked.label) {
                let reason = "Already exists.";
                return Err(AwsError::invalid_value_for("Label", &asked.label, reason));
            }
            let principal = |account: &String| format!("arn:aws:iam::{account}:root");
            let action = |action: &String| format!("SQS:{action}");
            statements.push(json!({
                "Sid": asked.label,
                "Effect": "Allow",
                "Principal": { "AWS": one_or_all(asked.account_ids.iter().map(principal)) },
                "Action": one_or_all(asked.actions.iter().map(action)),
                "Resource": arn,
            }));
            keep(queue, &policy);
            Ok(())
        })
        .await?;
        Ok(Response::AddPermission)
    }

    pub(super) async fn remove_permission(
        self: &Arc<Self>,
        caller: &Caller,
        asked: RemovePermission,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let arn = queue.value.arn(&caller.account).to_string();
        self.change_document(&queue, move |queue| {
            let mut policy = policy_of(queue, &arn)?;
            let statements = statements(&mut policy)?;
            let before = statements.len();
            statements.retain(|given| given["Sid"] != *asked.label);
            if statements.len() == before {
                let reason = "can't find label on existing policy.";
                return Err(AwsError::invalid_value_for("Label", &asked.label, reason));
            }
            keep(queue, &policy);
            Ok(())
        })
        .await?;
        Ok(Response::RemovePermission)
    }
}

fn policy_of(queue: &QueueDocument, arn: &str) -> Result<Value, AwsError> {
    match queue.attributes.get(POLICY) {
        None => Ok(json!({
            "Version": "2012-10-17",
            "Id": format!("{arn}/SQSDefaultPolicy"),
            "Statement": [],
        })),
        Some(text) => serde_json::from_str(text).map_err(|error| {
            AwsError::internal_failure(format!("the policy can't be read: {error}"))
        }),
    }
}

fn keep(queue: &mut QueueDocument, policy: &Value) {
    queue
        .attributes
        .insert(POLICY.to_owned(), policy.to_string());
}
