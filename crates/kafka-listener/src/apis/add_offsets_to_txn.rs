//! AddOffsetsToTxn, versions 0-4: a group's offsets become part of a producer's transaction.
//!
//! Versions: 2 PRODUCER_FENCED; 3 flexible; 4 errors of the second generation of transactions, which needs this request no more.

use super::add_partitions_to_txn::producer;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::transaction::{ClientVersion, TransactionalId};
use fanlog_model::GroupId;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse, RequestHeader};

const FENCED_SINCE: i16 = 2;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: AddOffsetsToTxnRequest<'_>,
    version: i16,
) -> AddOffsetsToTxnResponse {
    if request.transactional_id.is_empty() {
        return answer(ErrorCode::InvalidRequest);
    }
    let group = GroupId::from(&*request.group_id);
    let added = context.broker().transactions().add_offsets(
        TransactionalId::from(&*request.transactional_id),
        producer(request.producer_id, request.producer_epoch),
        &group,
        ClientVersion::First,
    );
    answer(match added.await {
        Ok(()) => ErrorCode::None,
        Err(error) => errors::of_transaction(&error, version >= FENCED_SINCE),
    })
}

fn answer(code: ErrorCode) -> AddOffsetsToTxnResponse {
    AddOffsetsToTxnResponse {
        error_code: code.code(),
        ..Default::default()
    }
}
