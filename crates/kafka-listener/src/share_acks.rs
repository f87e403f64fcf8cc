//! Acknowledgements, as ShareFetch and ShareAcknowledge carry them alike.
//!
//! In -> out: the ranges of one partition -> decided upon at once, answered once durable.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::{PendingAck, SessionKey, ShareAckError};
use fanlog_coordinators::share::{AckError, AckRange, AckType};
use fanlog_model::{Offset, PartitionIndex, TopicId};
use fanlog_protocol::ErrorCode;
use uuid::Uuid;

/// The bytes that a member's id may have: Kafka's are UUIDs as text.
const MEMBER_BYTES_MAX: usize = 36;
/// Renewals are understood from this version on, in both APIs.
const RENEWAL_SINCE: i16 = 2;

/// What becomes of the acknowledgements of one partition.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AckOutcome {
    pub(crate) code: i16,
    pub(crate) message: Option<String>,
}

/// Acknowledgements of one partition, decided upon.
pub(crate) struct Acknowledging {
    pub(crate) topic: Uuid,
    pub(crate) partition: i32,
    decided: Result<PendingAck, AckOutcome>,
}

/// Whether the request may renew locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Renewal {
    pub(crate) version: i16,
    pub(crate) is_renew_ack: bool,
}

/// The group and member of a request; none if they can't be.
pub(crate) fn session_key(group: Option<&str>, member: Option<&str>) -> Option<SessionKey> {
    let member = member.filter(|id| !id.is_empty() && id.len() <= MEMBER_BYTES_MAX)?;
    Some(SessionKey {
        group: group?.into(),
        member: member.into(),
    })
}

/// Decides on the acknowledgements of one partition: `ranges` are first and last offset, and types.
pub(crate) async fn acknowledge<'a>(
    context: &ConnectionContext,
    session: &SessionKey,
    (topic, partition): (Uuid, i32),
    ranges: impl Iterator<Item = (i64, i64, &'a [i8])>,
    renewal: Renewal,
) -> Acknowledging {
    let decided = match parse(ranges, renewal) {
        None => Err(AckOutcome {
            code: ErrorCode::InvalidRequest.code(),
            message: None,
        }),
        Some(ranges) => {
            let shares = context.broker().shares();
            let (topic, partition) = (TopicId(topic), PartitionIndex(partition));
            let SessionKey { group, member } = session;
            let decided = shares.acknowledge(group, member, topic, partition, &ranges);
            decided.await.map_err(|error| outcome(&error))
        }
    };
    Acknowledging {
        topic,
        partition,
        decided,
    }
}

impl Acknowledging {
    /// Waits until the acknowledgements are durable.
    pub(crate) async fn outcome(self) -> AckOutcome {
        match self.decided {
            Ok(pending) => match pending.durable().await {
                Ok(()) => AckOutcome::default(),
                Err(error) => outcome(&error),
            },
            Err(refused) => refused,
        }
    }
}

fn outcome(error: &ShareAckError) -> AckOutcome {
    // As Kafka, which has no words for what it checks before it looks at the records.
    let is_about_records = !matches!(
        error,
        ShareAckError::Lookup(_) | ShareAckError::Refused(AckError::Malformed(_))
    );
    AckOutcome {
        code: errors::of_share_ack(error).code(),
        message: is_about_records.then(|| error.to_string()),
    }
}

fn parse<'a>(
    ranges: impl Iterator<Item = (i64, i64, &'a [i8])>,
    renewal: Renewal,
) -> Option<Vec<AckRange>> {
    let parsed = ranges.map(|(first, last, types)| {
        let types = types.iter().map(|code| ack_type(*code, renewal));
        Some(AckRange {
            first: Offset(first),
            last: Offset(last),
            types: types.collect::<Option<_>>()?,
        })
    });
    parsed.collect()
}

fn ack_type(code: i8, renewal: Renewal) -> Option<AckType> {
    match code {
        0 => Some(AckType::Gap),
        1 => Some(AckType::Accept),
        2 => Some(AckType::Release),
        3 => Some(AckType::Reject),
        4 if renewal.version >= RENEWAL_SINCE && renewal.is_renew_ack => Some(AckType::Renew),
        _ => None,
    }
}

/// Closes a session whose last request is answered, and with it what the member holds.
pub(crate) fn close(context: &ConnectionContext, session: &SessionKey) {
    context.broker().shares().close_session(session);
}

/// The outcomes of all, in the order in which they were asked.
pub(crate) async fn outcomes(all: Vec<Acknowledging>) -> Vec<(Uuid, i32, AckOutcome)> {
    let mut outcomes = Vec::with_capacity(all.len());
    for one in all {
        let (topic, partition) = (one.topic, one.partition);
        outcomes.push((topic, partition, one.outcome().await));
    }
    outcomes
}
