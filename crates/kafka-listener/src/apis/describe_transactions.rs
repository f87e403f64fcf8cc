//! DescribeTransactions, version 0: where transactional ids stand, and what their transactions have touched (KIP-664).

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::transaction::{DescribedTransaction, TransactionalId};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::describe_transactions_response::{TopicData, TransactionState};
use fanlog_protocol::messages::{
    DescribeTransactionsRequest, DescribeTransactionsResponse, RequestHeader,
};
use std::borrow::Cow;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeTransactionsRequest<'_>,
    _version: i16,
) -> DescribeTransactionsResponse<'static> {
    let mut states = Vec::with_capacity(request.transactional_ids.len());
    for id in &request.transactional_ids {
        states.push(describe(context, id).await);
    }
    DescribeTransactionsResponse {
        transaction_states: states,
        ..Default::default()
    }
}

async fn describe(context: &ConnectionContext, id: &str) -> TransactionState<'static> {
    if id.is_empty() {
        return refused(id, ErrorCode::InvalidRequest);
    }
    let transactions = context.broker().transactions();
    match transactions.describe(TransactionalId::from(id)).await {
        Ok(described) => state(&described),
        Err(error) => refused(id, errors::of_transaction(&error, true)),
    }
}

fn refused(id: &str, code: ErrorCode) -> TransactionState<'static> {
    TransactionState {
        transactional_id: Cow::Owned(id.to_owned()),
        error_code: code.code(),
        ..Default::default()
    }
}

fn state(described: &DescribedTransaction) -> TransactionState<'static> {
    let known = &described.transaction;
    let mut topics: Vec<TopicData<'static>> = Vec::new();
    for partition in &known.partitions {
        let name = partition.topic.as_str();
        if topics.last().is_none_or(|last| last.topic != name) {
            topics.push(TopicData {
                topic: Cow::Owned(name.to_owned()),
                partitions: Vec::new(),
            });
        }
        let last = topics.last_mut().expect("pushed above");
        last.partitions.push(partition.partition.get());
    }
    TransactionState {
        error_code: ErrorCode::None.code(),
        transactional_id: Cow::Owned(described.id.to_string()),
        transaction_state: Cow::Borrowed(known.state.name()),
        transaction_timeout_ms: known.timeout_ms,
        transaction_start_time_ms: known.started_at.get(),
        producer_id: known.producer_id.get(),
        producer_epoch: known.producer_epoch.get(),
        topics,
    }
}
