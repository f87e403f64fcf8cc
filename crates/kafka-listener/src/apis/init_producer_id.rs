//! InitProducerId, versions 0-5: a producer id, for an idempotent producer or for a transactional id.
//!
//! Behaviour: without a transactional id every request gets an id that nobody had before, with epoch 0, also one that names an id it
//! already has: there is nobody to fence. With one, the producer that had it before is fenced, and its transaction aborted.
//! Versions: 2 flexible; 3 the producer's present id and epoch, both or neither; 4 PRODUCER_FENCED; 5 errors of the second generation of
//! transactions.
//! Not implemented: version 6 (two-phase commit; unstable in Kafka).

use super::add_partitions_to_txn::producer;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::transaction::TransactionalId;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse, RequestHeader};

const FENCED_SINCE: i16 = 4;
const NO_PRODUCER_ID: i64 = -1;
const NO_PRODUCER_EPOCH: i16 = -1;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: InitProducerIdRequest<'_>,
    version: i16,
) -> InitProducerIdResponse {
    if request.transactional_id.as_deref() == Some("") {
        return refused(ErrorCode::InvalidRequest);
    }
    let has_id = request.producer_id != NO_PRODUCER_ID;
    let has_epoch = request.producer_epoch != NO_PRODUCER_EPOCH;
    if has_id != has_epoch {
        return refused(ErrorCode::InvalidRequest);
    }
    if let Some(id) = &request.transactional_id {
        let expected = has_id.then(|| producer(request.producer_id, request.producer_epoch));
        let transactions = context.broker().transactions();
        let given = transactions.init_producer_id(
            TransactionalId::from(&**id),
            request.transaction_timeout_ms,
            expected,
        );
        return match given.await {
            Ok(given) => InitProducerIdResponse {
                producer_id: given.id.0,
                producer_epoch: given.epoch.0,
                ..Default::default()
            },
            Err(error) => refused(errors::of_transaction(&error, version >= FENCED_SINCE)),
        };
    }
    match context.broker().init_producer_id().await {
        Ok(id) => InitProducerIdResponse {
            producer_id: id.0,
            producer_epoch: 0,
            ..Default::default()
        },
        Err(error) => {
            tracing::warn!(%error, "no producer id could be given");
            refused(errors::of_init_producer_id(&error))
        }
    }
}

fn refused(error: ErrorCode) -> InitProducerIdResponse {
    InitProducerIdResponse {
        error_code: error.code(),
        producer_id: NO_PRODUCER_ID,
        producer_epoch: NO_PRODUCER_EPOCH,
        ..Default::default()
    }
}
