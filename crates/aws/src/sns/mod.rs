//! SNS.

use crate::config::Caller;
use crate::headers::Attributes;
use crate::service::Outcome;
use crate::shared::Shared;
use crate::sqs::QueueDocument;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sns::Request;
use fanlog_broker::Message;
use fanlog_model::GroupId;
use std::sync::Arc;

/// SNS.
#[derive(Debug)]
pub(crate) struct Sns {}

/// What a queue delivers for a notification.
pub(crate) struct Delivered {
    pub(crate) body: String,
    pub(crate) attributes: Attributes,
}

impl Sns {
    pub(crate) fn new(_shared: Arc<Shared>) -> Self {
        Self {}
    }

    pub(crate) async fn answer(
        self: &Arc<Self>,
        _caller: Caller,
        request: Request,
    ) -> Result<Outcome, AwsError> {
        let message = format!("{} is not there yet.", request.action());
        Err(AwsError::unsupported_operation(message))
    }

    /// The broker's queues by which a queue reads SNS topics.
    pub(crate) fn sources_of(&self, _queue: &QueueDocument) -> Vec<GroupId> {
        Vec::new()
    }

    /// A message of one of those queues, as it is delivered.
    pub(crate) fn delivered(
        &self,
        _queue: &QueueDocument,
        _message: &Message,
    ) -> Option<Delivered> {
        None
    }

    /// A queue is there now.
    pub(crate) async fn queue_created(&self, _queue: &QueueDocument) -> Result<(), AwsError> {
        Ok(())
    }

    /// A queue goes.
    pub(crate) async fn queue_deleted(&self, _queue: &QueueDocument) -> Result<(), AwsError> {
        Ok(())
    }

    /// A queue's settings are others now.
    pub(crate) async fn settings_changed(&self, _queue: &QueueDocument) -> Result<(), AwsError> {
        Ok(())
    }
}
