//! InitProducerId, versions 0-5: a producer id for an idempotent producer.
//!
//! Behaviour: every request gets an id that nobody had before, with epoch 0, also one that names an id it already
//! has: without a transactional id there is nobody to fence.
//! Versions: 2 flexible; 3 the producer's present id and epoch, both or neither; 4 and 5 errors of transactions.
//! Not implemented: transactional ids: TRANSACTIONAL_ID_AUTHORIZATION_FAILED. It is one of the few codes that Java and
//! librdkafka both take for final; librdkafka repeats the request on nearly every other, until `init_transactions` times
//! out. What is wrong is said in words by FindCoordinator, which such a producer asks first. Version 6 (unstable in Kafka).

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse, RequestHeader};

const NO_PRODUCER_ID: i64 = -1;
const NO_PRODUCER_EPOCH: i16 = -1;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: InitProducerIdRequest<'_>,
    _version: i16,
) -> InitProducerIdResponse {
    if request.transactional_id.as_deref() == Some("") {
        return refused(ErrorCode::InvalidRequest);
    }
    if request.transactional_id.is_some() {
        return refused(ErrorCode::TransactionalIdAuthorizationFailed);
    }
    let has_id = request.producer_id != NO_PRODUCER_ID;
    let has_epoch = request.producer_epoch != NO_PRODUCER_EPOCH;
    if has_id != has_epoch {
        return refused(ErrorCode::InvalidRequest);
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
