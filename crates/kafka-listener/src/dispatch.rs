//! From a frame to the API that answers it.
//!
//! Why it exists: one table says which APIs and versions are served; ApiVersions advertises it and nothing else.
//! Owns: the table.   Never: what an API does (`apis/<name>.rs`).
//! In -> out: a frame -> a future of its answer.
//! Read next: `apis/produce.rs`, the one API that does not fit the common shape.

use crate::answer_slots::{AnswerSlot, SMALL_ANSWER_BYTES_MAX};
use crate::answer_writer::{AnswerPart, with_files};
use crate::apis::{self, fetch::Fetched};
use crate::context::ConnectionContext;
use crate::decode_memory;
use crate::error_counts::ErrorCodes;
use bytes::{Bytes, BytesMut};
use fanlog_broker::{FetchMemory, FileSlice};
use fanlog_protocol::messages::{self, RequestHeader, ResponseHeader};
use fanlog_protocol::wire::{EncodeError, GatherBuffer, Reader};
use fanlog_protocol::{ApiKey, ErrorCode};
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;

/// The bytes that every request begins with: key, version, correlation id.
const FIXED_HEADER_BYTES: usize = 8;

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// An answer's frame.
    Reply(Reply),
    /// Nothing is answered (a Produce with `acks=0`).
    None,
    /// The connection closes, for this reason.
    Close(String),
}

/// An answer's frame.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) parts: Vec<AnswerPart>,
    /// The share of the broker's memory that the parts take up; given back when they are sent.
    pub(crate) memory: Option<FetchMemory>,
    /// The slot that a large answer takes up until it is sent.
    pub(crate) slot: Option<AnswerSlot>,
}

impl Answer {
    /// Keeps the memory until the answer is sent.
    fn holding(self, memory: Option<FetchMemory>) -> Self {
        match self {
            Self::Reply(reply) => Self::Reply(Reply { memory, ..reply }),
            other => other,
        }
    }

    /// Keeps the slot until the answer is sent, where it is large.
    fn in_slot(self, slot: Option<AnswerSlot>) -> Self {
        match self {
            Self::Reply(reply) if reply.bytes() > SMALL_ANSWER_BYTES_MAX => {
                Self::Reply(Reply { slot, ..reply })
            }
            other => other,
        }
    }
}

impl Reply {
    /// How many bytes it has in memory.
    fn bytes(&self) -> usize {
        let in_memory = |part: &AnswerPart| match part {
            AnswerPart::Bytes(bytes) => bytes.len(),
            AnswerPart::File(_) => 0,
        };
        self.parts.iter().map(in_memory).sum()
    }
}

pub(crate) type AnswerFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A request that was taken in hand, or not.
pub(crate) enum Started {
    /// The connection closes, for this reason.
    Refused(String),
    /// The answer will come.
    UnderWay {
        line: RequestLine,
        answer: AnswerFuture,
        /// The next Produce may start before this one is answered.
        overlaps: bool,
        /// It may wait long for something that only the peer wants to know.
        is_long_wait: bool,
    },
}

/// The fixed beginning of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestLine {
    pub(crate) api: ApiKey,
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
}

/// Every API served, in the order of the keys.
pub(crate) const SERVED: &[ApiKey] = &[
    ApiKey::Produce,
    ApiKey::Fetch,
    ApiKey::ListOffsets,
    ApiKey::Metadata,
    ApiKey::OffsetCommit,
    ApiKey::OffsetFetch,
    ApiKey::FindCoordinator,
    ApiKey::JoinGroup,
    ApiKey::Heartbeat,
    ApiKey::LeaveGroup,
    ApiKey::SyncGroup,
    ApiKey::DescribeGroups,
    ApiKey::ListGroups,
    ApiKey::ApiVersions,
    ApiKey::CreateTopics,
    ApiKey::DeleteTopics,
    ApiKey::DeleteRecords,
    ApiKey::InitProducerId,
    ApiKey::OffsetForLeaderEpoch,
    ApiKey::AddPartitionsToTxn,
    ApiKey::AddOffsetsToTxn,
    ApiKey::EndTxn,
    ApiKey::WriteTxnMarkers,
    ApiKey::TxnOffsetCommit,
    ApiKey::DescribeAcls,
    ApiKey::CreateAcls,
    ApiKey::DeleteAcls,
    ApiKey::DescribeConfigs,
    ApiKey::AlterConfigs,
    ApiKey::DescribeLogDirs,
    ApiKey::CreatePartitions,
    ApiKey::CreateDelegationToken,
    ApiKey::RenewDelegationToken,
    ApiKey::ExpireDelegationToken,
    ApiKey::DescribeDelegationToken,
    ApiKey::DeleteGroups,
    ApiKey::ElectLeaders,
    ApiKey::IncrementalAlterConfigs,
    ApiKey::AlterPartitionReassignments,
    ApiKey::ListPartitionReassignments,
    ApiKey::OffsetDelete,
    ApiKey::DescribeClientQuotas,
    ApiKey::AlterClientQuotas,
    ApiKey::DescribeUserScramCredentials,
    ApiKey::AlterUserScramCredentials,
    ApiKey::DescribeQuorum,
    ApiKey::UpdateFeatures,
    ApiKey::DescribeCluster,
    ApiKey::DescribeProducers,
    ApiKey::DescribeTransactions,
    ApiKey::ListTransactions,
    ApiKey::ConsumerGroupHeartbeat,
    ApiKey::ConsumerGroupDescribe,
    ApiKey::ListConfigResources,
    ApiKey::DescribeTopicPartitions,
    ApiKey::ShareGroupHeartbeat,
    ApiKey::ShareGroupDescribe,
    ApiKey::ShareFetch,
    ApiKey::ShareAcknowledge,
    ApiKey::DescribeShareGroupOffsets,
    ApiKey::AlterShareGroupOffsets,
    ApiKey::DeleteShareGroupOffsets,
];

/// What ApiVersions says of an API. Produce is announced from 0, though 0 to 2 are refused: librdkafka before
/// 2.11.1 takes a higher minimum to mean that compression is not supported (KAFKA-18659).
pub(crate) fn advertised_versions(api: ApiKey) -> RangeInclusive<i16> {
    match api {
        ApiKey::Produce => 0..=*api.valid_versions().end(),
        other => other.valid_versions(),
    }
}

/// Whether a request may start while earlier Produce requests wait to be durable.
pub(crate) fn may_overlap(frame: &[u8]) -> bool {
    frame
        .first_chunk()
        .is_some_and(|key| i16::from_be_bytes(*key) == ApiKey::Produce as i16)
}

/// Takes a request in hand. A Produce is appended before this returns, so that appends keep the order of frames.
pub(crate) async fn start(context: &Arc<ConnectionContext>, frame: BytesMut) -> Started {
    let line = match request_line(&frame) {
        Ok(line) => line,
        Err(reason) => return Started::Refused(reason),
    };
    let RequestLine { api, version, .. } = line;
    if !api.valid_versions().contains(&version) {
        return match api {
            ApiKey::ApiVersions => ready(line, apis::api_versions::unsupported_version(line)),
            _ => Started::Refused(format!("version {version} of {} is not served", api.name())),
        };
    }
    if api == ApiKey::Produce {
        let answer = apis::produce::start(Arc::clone(context), line, frame).await;
        return Started::UnderWay {
            line,
            answer,
            overlaps: true,
            is_long_wait: false,
        };
    }
    let is_long_wait = matches!(
        api,
        ApiKey::Fetch | ApiKey::JoinGroup | ApiKey::SyncGroup | ApiKey::ShareFetch
    );
    let answer = Box::pin(handle(Arc::clone(context), line, frame.freeze()));
    Started::UnderWay {
        line,
        answer,
        overlaps: false,
        is_long_wait,
    }
}

fn ready(line: RequestLine, answer: Answer) -> Started {
    let answer = Box::pin(std::future::ready(answer));
    Started::UnderWay {
        line,
        answer,
        overlaps: false,
        is_long_wait: false,
    }
}

fn request_line(frame: &[u8]) -> Result<RequestLine, String> {
    let Some([k0, k1, v0, v1, correlation @ ..]) = frame.first_chunk::<FIXED_HEADER_BYTES>() else {
        return Err(format!(
            "a frame of {} bytes is too short for a request header",
            frame.len()
        ));
    };
    let key = i16::from_be_bytes([*k0, *k1]);
    let version = i16::from_be_bytes([*v0, *v1]);
    let correlation_id = i32::from_be_bytes(*correlation);
    match ApiKey::from_i16(key).filter(|api| SERVED.contains(api)) {
        Some(api) => Ok(RequestLine {
            api,
            version,
            correlation_id,
        }),
        None => Err(format!("API key {key} is not served")),
    }
}

/// Encodes an answer in the request's version (P8: errors too).
pub(crate) fn reply(
    line: RequestLine,
    body: impl FnOnce(&mut GatherBuffer) -> Result<(), EncodeError>,
) -> Answer {
    reply_with_files(line, Vec::new(), body)
}

/// As `reply`, of a body in which the bytes of `files` lie apart, in this order.
fn reply_with_files(
    line: RequestLine,
    files: Vec<FileSlice>,
    body: impl FnOnce(&mut GatherBuffer) -> Result<(), EncodeError>,
) -> Answer {
    let header = ResponseHeader {
        correlation_id: line.correlation_id,
    };
    let parts = GatherBuffer::frame_parts(|out| {
        header.encode(out, line.api.response_header_version(line.version))?;
        body(out)
    });
    match parts {
        Ok(parts) => Answer::Reply(Reply {
            parts: with_files(parts, files),
            memory: None,
            slot: None,
        }),
        Err(error) => Answer::Close(format!(
            "the answer to {} can't be encoded: {error}",
            line.api.name()
        )),
    }
}

/// Counts the errors that an answer carries.
pub(crate) fn count_errors(context: &ConnectionContext, api: ApiKey, answer: &dyn ErrorCodes) {
    answer.each_error_code(&mut |code| {
        if code != ErrorCode::None.code() {
            let name = ErrorCode::from_code(code).map_or("UNKNOWN", ErrorCode::name);
            let metrics = context.broker().metrics().listeners();
            metrics.request_error(api.name(), name);
        }
    });
}

/// Decodes the header and the body of one request and lets its API answer.
async fn handle(context: Arc<ConnectionContext>, line: RequestLine, frame: Bytes) -> Answer {
    let RequestLine { api, version, .. } = line;
    let header_version = api.request_header_version(version);
    let share = decode_memory::share(api, frame.len());
    let mut reader = Reader::with_budget(&frame, share);
    let header = match RequestHeader::decode(&mut reader, header_version) {
        Ok(header) => header,
        Err(error) => return Answer::Close(format!("bad header of {}: {error}", api.name())),
    };
    let slot = context.listener.answer_slots.slot_for(api).await;
    // Held until the request is done with.
    let decode_slot;
    macro_rules! decode {
        ($request:ident) => {{
            let mut decoded = messages::$request::decode(&mut reader, version);
            let slots = &context.listener.decode_slots;
            decode_slot = slots.slot_after(api, &decoded).await;
            if decode_slot.is_some() {
                let mut reader = Reader::new(&frame);
                let again = RequestHeader::decode(&mut reader, header_version);
                decoded = again.and_then(|_| messages::$request::decode(&mut reader, version));
            }
            decoded
        }};
    }
    macro_rules! answer {
        ($module:ident, $request:ident) => {
            match decode!($request) {
                Ok(request) => {
                    let response = apis::$module::handle(&context, &header, request, version).await;
                    count_errors(&context, api, &response);
                    let slot = match slot {
                        Some(slot) => Some(slot),
                        None => context.listener.answer_slots.slot_behind(api).await,
                    };
                    reply(line, |out| response.encode(out, version)).in_slot(slot)
                }
                Err(error) => {
                    Answer::Close(format!("bad {} version {version}: {error}", api.name()))
                }
            }
        };
    }
    match api {
        ApiKey::Fetch => match decode!(FetchRequest) {
            Ok(request) => {
                let Fetched {
                    response,
                    files,
                    memory,
                } = apis::fetch::handle(&context, request, version).await;
                count_errors(&context, api, &response);
                reply_with_files(line, files, |out| response.encode(out, version)).holding(memory)
            }
            Err(error) => Answer::Close(format!("bad Fetch version {version}: {error}")),
        },
        ApiKey::ShareFetch => match decode!(ShareFetchRequest) {
            Ok(request) => {
                let shared = apis::share_fetch::handle(&context, request, version).await;
                count_errors(&context, api, &shared.response);
                reply(line, |out| shared.response.encode(out, version)).holding(shared.memory)
            }
            Err(error) => Answer::Close(format!("bad ShareFetch version {version}: {error}")),
        },
        ApiKey::ShareAcknowledge => answer!(share_acknowledge, ShareAcknowledgeRequest),
        ApiKey::ShareGroupHeartbeat => answer!(share_group_heartbeat, ShareGroupHeartbeatRequest),
        ApiKey::ShareGroupDescribe => answer!(share_group_describe, ShareGroupDescribeRequest),
        ApiKey::DescribeShareGroupOffsets => answer!(
            describe_share_group_offsets,
            DescribeShareGroupOffsetsRequest
        ),
        ApiKey::AlterShareGroupOffsets => {
            answer!(alter_share_group_offsets, AlterShareGroupOffsetsRequest)
        }
        ApiKey::DeleteShareGroupOffsets => {
            answer!(delete_share_group_offsets, DeleteShareGroupOffsetsRequest)
        }
        ApiKey::ListOffsets => answer!(list_offsets, ListOffsetsRequest),
        ApiKey::Metadata => answer!(metadata, MetadataRequest),
        ApiKey::OffsetCommit => answer!(offset_commit, OffsetCommitRequest),
        ApiKey::OffsetFetch => answer!(offset_fetch, OffsetFetchRequest),
        ApiKey::FindCoordinator => answer!(find_coordinator, FindCoordinatorRequest),
        ApiKey::JoinGroup => answer!(join_group, JoinGroupRequest),
        ApiKey::Heartbeat => answer!(heartbeat, HeartbeatRequest),
        ApiKey::LeaveGroup => answer!(leave_group, LeaveGroupRequest),
        ApiKey::SyncGroup => answer!(sync_group, SyncGroupRequest),
        ApiKey::ConsumerGroupHeartbeat => {
            answer!(consumer_group_heartbeat, ConsumerGroupHeartbeatRequest)
        }
        ApiKey::ConsumerGroupDescribe => {
            answer!(consumer_group_describe, ConsumerGroupDescribeRequest)
        }
        ApiKey::DescribeGroups => answer!(describe_groups, DescribeGroupsRequest),
        ApiKey::ListGroups => answer!(list_groups, ListGroupsRequest),
        ApiKey::ApiVersions => answer!(api_versions, ApiVersionsRequest),
        ApiKey::CreateTopics => answer!(create_topics, CreateTopicsRequest),
        ApiKey::DeleteTopics => answer!(delete_topics, DeleteTopicsRequest),
        ApiKey::DeleteRecords => answer!(delete_records, DeleteRecordsRequest),
        ApiKey::InitProducerId => answer!(init_producer_id, InitProducerIdRequest),
        ApiKey::OffsetForLeaderEpoch => {
            answer!(offset_for_leader_epoch, OffsetForLeaderEpochRequest)
        }
        ApiKey::AddPartitionsToTxn => answer!(add_partitions_to_txn, AddPartitionsToTxnRequest),
        ApiKey::AddOffsetsToTxn => answer!(add_offsets_to_txn, AddOffsetsToTxnRequest),
        ApiKey::EndTxn => answer!(end_txn, EndTxnRequest),
        ApiKey::WriteTxnMarkers => answer!(write_txn_markers, WriteTxnMarkersRequest),
        ApiKey::TxnOffsetCommit => answer!(txn_offset_commit, TxnOffsetCommitRequest),
        ApiKey::DescribeTransactions => {
            answer!(describe_transactions, DescribeTransactionsRequest)
        }
        ApiKey::ListTransactions => answer!(list_transactions, ListTransactionsRequest),
        ApiKey::DescribeConfigs => answer!(describe_configs, DescribeConfigsRequest),
        ApiKey::AlterConfigs => answer!(alter_configs, AlterConfigsRequest),
        ApiKey::DescribeLogDirs => answer!(describe_log_dirs, DescribeLogDirsRequest),
        ApiKey::CreatePartitions => answer!(create_partitions, CreatePartitionsRequest),
        ApiKey::DeleteGroups => answer!(delete_groups, DeleteGroupsRequest),
        ApiKey::ElectLeaders => answer!(elect_leaders, ElectLeadersRequest),
        ApiKey::IncrementalAlterConfigs => {
            answer!(incremental_alter_configs, IncrementalAlterConfigsRequest)
        }
        ApiKey::ListPartitionReassignments => {
            answer!(
                list_partition_reassignments,
                ListPartitionReassignmentsRequest
            )
        }
        ApiKey::OffsetDelete => answer!(offset_delete, OffsetDeleteRequest),
        ApiKey::DescribeQuorum => answer!(describe_quorum, DescribeQuorumRequest),
        ApiKey::DescribeCluster => answer!(describe_cluster, DescribeClusterRequest),
        ApiKey::DescribeProducers => answer!(describe_producers, DescribeProducersRequest),
        ApiKey::ListConfigResources => {
            answer!(list_config_resources, ListConfigResourcesRequest)
        }
        ApiKey::DescribeTopicPartitions => {
            answer!(describe_topic_partitions, DescribeTopicPartitionsRequest)
        }
        ApiKey::DescribeAcls => answer!(describe_acls, DescribeAclsRequest),
        ApiKey::CreateAcls => answer!(create_acls, CreateAclsRequest),
        ApiKey::DeleteAcls => answer!(delete_acls, DeleteAclsRequest),
        ApiKey::CreateDelegationToken => {
            answer!(create_delegation_token, CreateDelegationTokenRequest)
        }
        ApiKey::RenewDelegationToken => {
            answer!(renew_delegation_token, RenewDelegationTokenRequest)
        }
        ApiKey::ExpireDelegationToken => {
            answer!(expire_delegation_token, ExpireDelegationTokenRequest)
        }
        ApiKey::DescribeDelegationToken => {
            answer!(describe_delegation_token, DescribeDelegationTokenRequest)
        }
        ApiKey::AlterPartitionReassignments => answer!(
            alter_partition_reassignments,
            AlterPartitionReassignmentsRequest
        ),
        ApiKey::DescribeClientQuotas => {
            answer!(describe_client_quotas, DescribeClientQuotasRequest)
        }
        ApiKey::AlterClientQuotas => answer!(alter_client_quotas, AlterClientQuotasRequest),
        ApiKey::DescribeUserScramCredentials => answer!(
            describe_user_scram_credentials,
            DescribeUserScramCredentialsRequest
        ),
        ApiKey::AlterUserScramCredentials => answer!(
            alter_user_scram_credentials,
            AlterUserScramCredentialsRequest
        ),
        ApiKey::UpdateFeatures => answer!(update_features, UpdateFeaturesRequest),
        ApiKey::Produce => Answer::Close("a Produce was routed past its own path".to_owned()),
        #[allow(
            unreachable_patterns,
            reason = "keys that the codec knows ahead of the listener"
        )]
        _ => Answer::Close(format!("{} is not served", api.name())),
    }
}
