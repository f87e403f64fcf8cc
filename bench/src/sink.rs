//! A broker that stores nothing: what a client reaches against it is the client's own limit.
//!
//! It answers ApiVersions, Metadata, InitProducerId and Produce, and ends the connection on anything else. A frame is received whole and
//! its batches are found, but neither checked nor kept.

use crate::connection::ANSWER_BYTES_MAX;
use anyhow::{Context, bail, ensure};
use fanlog_protocol::messages::api_versions_response::ApiVersion;
use fanlog_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use fanlog_protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use fanlog_protocol::messages::{
    ApiVersionsResponse, InitProducerIdResponse, MetadataRequest, MetadataResponse, ProduceRequest,
    ProduceResponse, RequestHeader, ResponseHeader,
};
use fanlog_protocol::wire::{GatherBuffer, Reader};
use fanlog_protocol::{ApiKey, ErrorCode};
use std::borrow::Cow;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// What it claims. Clients write today's batches only for a broker that can fetch, and some codecs only for one with coordinators; neither
/// is ever asked for by a producer.
const CLAIMED: &[(ApiKey, i16, i16)] = &[
    (ApiKey::Produce, 3, 9),
    (ApiKey::Fetch, 4, 11),
    (ApiKey::Metadata, 0, 8),
    (ApiKey::FindCoordinator, 0, 2),
    (ApiKey::ApiVersions, 0, 3),
    (ApiKey::InitProducerId, 0, 4),
];
const NODE_ID: i32 = 1;

/// A listener that is bound.
#[derive(Debug)]
pub struct Sink {
    listener: TcpListener,
    partitions: i32,
}

impl Sink {
    /// Listens; every topic has `partitions`.
    ///
    /// # Errors
    /// The address is taken.
    pub fn bind(address: &str, partitions: i32) -> anyhow::Result<Self> {
        let listener =
            TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
        Ok(Self {
            listener,
            partitions,
        })
    }

    /// Where clients connect.
    ///
    /// # Errors
    /// The system does not know the socket any more.
    pub fn address(&self) -> anyhow::Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// Serves, a thread for each connection, as long as the program runs.
    ///
    /// # Errors
    /// No connection can be accepted any more.
    pub fn serve(self) -> anyhow::Result<()> {
        let answers = Answers {
            address: self.address()?,
            partitions: self.partitions,
        };
        loop {
            let (stream, _) = self.listener.accept()?;
            thread::spawn(move || {
                // A client that goes is no news; one that asks for more than there is should be seen.
                if let Err(error) = answers.connection(stream) {
                    eprintln!("sink: {error:#}");
                }
            });
        }
    }
}

#[derive(Clone, Copy)]
struct Answers {
    address: SocketAddr,
    partitions: i32,
}

impl Answers {
    fn connection(self, mut stream: TcpStream) -> anyhow::Result<()> {
        stream.set_nodelay(true)?;
        let mut frame = Vec::new();
        let mut length = [0; 4];
        while stream.read_exact(&mut length).is_ok() {
            let length = u32::from_be_bytes(length) as usize;
            ensure!(length <= ANSWER_BYTES_MAX, "a request of {length} bytes");
            if frame.len() < length {
                frame.resize(length, 0);
            }
            if stream.read_exact(&mut frame[..length]).is_err() {
                break;
            }
            if let Some(answer) = self.answer(&frame[..length])? {
                stream.write_all(&answer)?;
            }
        }
        Ok(())
    }

    /// The answer's frame; none for a Produce that wants none.
    fn answer(self, frame: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
        ensure!(frame.len() >= 8, "a request of {} bytes", frame.len());
        let key = i16::from_be_bytes([frame[0], frame[1]]);
        let version = i16::from_be_bytes([frame[2], frame[3]]);
        let api = ApiKey::from_i16(key).with_context(|| format!("no API has key {key}"))?;
        let mut reader = Reader::new(frame);
        let header = RequestHeader::decode(&mut reader, api.request_header_version(version))?;
        let mut out = GatherBuffer::new();
        let correlation = ResponseHeader {
            correlation_id: header.correlation_id,
        };
        correlation.encode(&mut out, api.response_header_version(version))?;
        match api {
            ApiKey::ApiVersions => versions(version).encode(&mut out, version.min(3))?,
            ApiKey::Metadata => {
                let request = MetadataRequest::decode(&mut reader, version)?;
                self.metadata(&request).encode(&mut out, version)?;
            }
            ApiKey::InitProducerId => {
                let answer = InitProducerIdResponse {
                    producer_id: 1,
                    ..InitProducerIdResponse::default()
                };
                answer.encode(&mut out, version)?;
            }
            ApiKey::Produce => {
                let request = ProduceRequest::decode(&mut reader, version)?;
                if request.acks == 0 {
                    return Ok(None);
                }
                taken(&request).encode(&mut out, version)?;
            }
            other => bail!("{other:?} was asked of a broker that stores nothing"),
        }
        let body = out.into_vec();
        let mut answer = u32::try_from(body.len())?.to_be_bytes().to_vec();
        answer.extend(body);
        Ok(Some(answer))
    }

    fn metadata<'a>(self, request: &MetadataRequest<'a>) -> MetadataResponse<'a> {
        let partitions = (0..self.partitions).map(|index| MetadataResponsePartition {
            partition_index: index,
            leader_id: NODE_ID,
            leader_epoch: 0,
            replica_nodes: vec![NODE_ID],
            isr_nodes: vec![NODE_ID],
            ..MetadataResponsePartition::default()
        });
        let partitions: Vec<_> = partitions.collect();
        let asked = request.topics.iter().flatten();
        MetadataResponse {
            brokers: vec![MetadataResponseBroker {
                node_id: NODE_ID,
                host: Cow::Owned(self.address.ip().to_string()),
                port: self.address.port().into(),
                rack: None,
            }],
            controller_id: NODE_ID,
            topics: asked
                .map(|topic| MetadataResponseTopic {
                    name: topic.name.clone(),
                    partitions: partitions.clone(),
                    ..MetadataResponseTopic::default()
                })
                .collect(),
            ..MetadataResponse::default()
        }
    }
}

fn versions(version: i16) -> ApiVersionsResponse<'static> {
    let is_known = (0..=3).contains(&version);
    let error = if is_known {
        ErrorCode::None
    } else {
        ErrorCode::UnsupportedVersion
    };
    let claimed = CLAIMED.iter().map(|(key, least, most)| ApiVersion {
        api_key: key.to_i16(),
        min_version: *least,
        max_version: *most,
    });
    ApiVersionsResponse {
        error_code: error.code(),
        api_keys: claimed.collect(),
        ..ApiVersionsResponse::default()
    }
}

/// Everything at offset 0: nobody will look for it.
fn taken<'a>(request: &ProduceRequest<'a>) -> ProduceResponse<'a> {
    let topics = request.topic_data.iter();
    let responses = topics.map(|topic| TopicProduceResponse {
        name: topic.name.clone(),
        partition_responses: topic
            .partition_data
            .iter()
            .map(|partition| PartitionProduceResponse {
                index: partition.index,
                ..PartitionProduceResponse::default()
            })
            .collect(),
        ..TopicProduceResponse::default()
    });
    ProduceResponse {
        responses: responses.collect(),
        ..ProduceResponse::default()
    }
}
