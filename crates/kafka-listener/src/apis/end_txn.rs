//! EndTxn, versions 0-5: a producer commits or aborts its transaction.
//!
//! Behaviour: answers when the outcome is durable and its markers are written, or, where these take longer than a second, without them.
//! A request that is repeated is answered as the one that it repeats.
//! Versions: 2 PRODUCER_FENCED; 3 flexible; 4 errors of the second generation of transactions; 5 that generation: every end bumps
//! the producer's epoch, and the answer names the one to go on with.

use super::add_partitions_to_txn::producer;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::transaction::{ClientVersion, TransactionalId};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::{EndTxnRequest, EndTxnResponse, RequestHeader};

const FENCED_SINCE: i16 = 2;
const SECOND_GENERATION_SINCE: i16 = 5;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: EndTxnRequest<'_>,
    version: i16,
) -> EndTxnResponse {
    if request.transactional_id.is_empty() {
        return refused(ErrorCode::InvalidRequest);
    }
    let generation = match version >= SECOND_GENERATION_SINCE {
        true => ClientVersion::Second,
        false => ClientVersion::First,
    };
    let ended = context.broker().transactions().end(
        TransactionalId::from(&*request.transactional_id),
        producer(request.producer_id, request.producer_epoch),
        request.committed,
        generation,
    );
    match ended.await {
        Ok(next) => EndTxnResponse {
            producer_id: next.id.get(),
            producer_epoch: next.epoch.get(),
            ..Default::default()
        },
        Err(error) => refused(errors::of_transaction(&error, version >= FENCED_SINCE)),
    }
}

fn refused(code: ErrorCode) -> EndTxnResponse {
    EndTxnResponse {
        error_code: code.code(),
        ..Default::default()
    }
}
