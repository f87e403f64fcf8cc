//! StartMessageMoveTask, CancelMessageMoveTask and ListMessageMoveTasks.

use super::Sqs;
use crate::config::Caller;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sqs::{
    CancelMessageMoveTask, ListMessageMoveTasks, Response, StartMessageMoveTask,
};
use fanlog_broker::Broker;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct MoveTasks {}

impl MoveTasks {
    pub(super) fn new(_broker: Arc<Broker>) -> Self {
        Self {}
    }
}

impl Sqs {
    pub(super) async fn start_move(
        &self,
        _caller: &Caller,
        _asked: &StartMessageMoveTask,
    ) -> Result<Response, AwsError> {
        Err(AwsError::unsupported_operation("not there yet"))
    }

    pub(super) async fn cancel_move(
        &self,
        _asked: &CancelMessageMoveTask,
    ) -> Result<Response, AwsError> {
        Err(AwsError::unsupported_operation("not there yet"))
    }

    pub(super) fn list_moves(
        &self,
        _caller: &Caller,
        _asked: &ListMessageMoveTasks,
    ) -> Result<Response, AwsError> {
        Err(AwsError::unsupported_operation("not there yet"))
    }
}
