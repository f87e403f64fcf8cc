//! ShareAcknowledge, versions 1-2: what became of records that a member of a share group holds (KIP-932).
//!
//! Behaviour: all acknowledgements of a partition count or none; answered once durable. Session epoch -1 closes the
//! session, and what the member still holds is available again.
//! Versions: 2 renewals of locks (KIP-1222), and how long a lock lasts.

use crate::context::ConnectionContext;
use crate::errors;
use crate::share_acks::{self, Renewal};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::share_acknowledge_response::{
    PartitionData, ShareAcknowledgeTopicResponse,
};
use fanlog_protocol::messages::{RequestHeader, ShareAcknowledgeRequest, ShareAcknowledgeResponse};
use std::borrow::Cow;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: ShareAcknowledgeRequest<'_>,
    version: i16,
) -> ShareAcknowledgeResponse<'static> {
    let (group, member) = (request.group_id.as_deref(), request.member_id.as_deref());
    let Some(session) = share_acks::session_key(group, member) else {
        return refused(ErrorCode::InvalidRequest);
    };
    let shares = context.broker().shares();
    let is_closing = match shares.begin_acknowledge(&session, request.share_session_epoch) {
        Ok(is_closing) => is_closing,
        Err(error) => return refused(errors::of_share_session(&error)),
    };
    let renewal = Renewal {
        version,
        is_renew_ack: request.is_renew_ack,
    };
    let mut acknowledging = Vec::new();
    for topic in &request.topics {
        for partition in &topic.partitions {
            let place = (topic.topic_id, partition.partition_index);
            let ranges = partition.acknowledgement_batches.iter();
            let ranges = ranges.map(|b| (b.first_offset, b.last_offset, &*b.acknowledge_types));
            let one = share_acks::acknowledge(context, &session, place, ranges, renewal);
            acknowledging.push(one.await);
        }
    }
    if is_closing {
        share_acks::close(context, &session);
    }
    let mut response = ShareAcknowledgeResponse {
        acquisition_lock_timeout_ms: lock_ms(context, &session),
        ..Default::default()
    };
    for (topic, partition, outcome) in share_acks::outcomes(acknowledging).await {
        let data = PartitionData {
            partition_index: partition,
            error_code: outcome.code,
            error_message: outcome.message.map(Cow::Owned),
            ..Default::default()
        };
        match response.responses.last_mut() {
            Some(last) if last.topic_id == topic => last.partitions.push(data),
            _ => response.responses.push(ShareAcknowledgeTopicResponse {
                topic_id: topic,
                partitions: vec![data],
            }),
        }
    }
    response
}

fn refused(error: ErrorCode) -> ShareAcknowledgeResponse<'static> {
    ShareAcknowledgeResponse {
        error_code: error.code(),
        ..Default::default()
    }
}

fn lock_ms(context: &ConnectionContext, session: &fanlog_broker::SessionKey) -> i32 {
    let lock = context.broker().share_lock(&session.group);
    i32::try_from(lock.as_millis()).unwrap_or(i32::MAX)
}
