//! A broker over a temporary directory, its listener on a free port, and a client that speaks raw messages.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

pub mod transactions;

use fanlog_broker::{Broker, BrokerConfig};
use fanlog_environment::{Environment, RealDisk};
use fanlog_kafka_listener::{KafkaListener, ListenerConfig};
use fanlog_model::settings::check_statics;
use fanlog_model::{BaseSequence, BrokerId, ProducerEpoch, ProducerId, TimestampMs};
use fanlog_protocol::messages::create_topics_request::CreatableTopic;
use fanlog_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use fanlog_protocol::messages::fetch_response::PartitionData;
use fanlog_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use fanlog_protocol::messages::{
    CreateTopicsRequest, FetchRequest, FetchResponse, ProduceRequest, ProduceResponse,
    RequestHeader, ResponseHeader,
};
use fanlog_protocol::records::{BatchBuilder, BatchView, Compression, Decompressor, NewRecord};
use fanlog_protocol::wire::{GatherBuffer, Reader, RecordBytes};
use fanlog_protocol::{ApiKey, ErrorCode, Message, Request};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// Nothing in these tests takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);
pub const FRAME_BYTES_MAX: usize = 1024 * 1024;
pub const NODE_ID: i32 = 7;

/// A broker that listens.
pub struct Server {
    pub broker: Arc<Broker>,
    pub address: SocketAddr,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    dir: TempDir,
}

impl Server {
    pub async fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), &[]).await
    }

    pub async fn start_with(settings: &[(&str, &str)]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), settings).await
    }

    /// With another configuration of the listener.
    pub async fn start_listening(change: impl FnOnce(&mut ListenerConfig)) -> Self {
        Self::start_changed(tempfile::tempdir().unwrap(), &[], change).await
    }

    async fn start_in(dir: TempDir, settings: &[(&str, &str)]) -> Self {
        Self::start_changed(dir, settings, |_| {}).await
    }

    async fn start_changed(
        dir: TempDir,
        settings: &[(&str, &str)],
        change: impl FnOnce(&mut ListenerConfig),
    ) -> Self {
        let small = [
            ("offsets.topic.num.partitions", "2"),
            ("group.initial.rebalance.delay.ms", "0"),
        ];
        let statics = check_statics(small.iter().chain(settings).copied()).unwrap();
        let environment = Environment::real(RealDisk::open(dir.path()).unwrap());
        let config = BrokerConfig {
            statics,
            ..BrokerConfig::new(BrokerId(NODE_ID), "/data")
        };
        let broker = Broker::start(config, environment).unwrap();
        let (stop, stopped) = watch::channel(false);
        let (address, serving) = listen(&broker, stopped, change).await;
        Self {
            broker,
            address,
            stop,
            serving,
            dir,
        }
    }

    /// Has the broker listen on one more port.
    pub async fn listen_too(&self, change: impl FnOnce(&mut ListenerConfig)) -> SocketAddr {
        listen(&self.broker, self.stop.subscribe(), change).await.0
    }

    /// Stops cleanly and starts again over the same directory, on another port.
    pub async fn restart(self) -> Self {
        self.restart_after(|_| {}).await
    }

    /// As `restart`; while it is stopped, somebody does something to its directory.
    pub async fn restart_after(self, change: impl FnOnce(&Path)) -> Self {
        let Self {
            broker,
            stop,
            serving,
            dir,
            ..
        } = self;
        stop.send(true).unwrap();
        serving.await.unwrap();
        broker.shutdown().await;
        // What was spawned on the broker's behalf lets go of it in its own time; the directory is free then.
        let gone = Arc::downgrade(&broker);
        drop(broker);
        while gone.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
        change(dir.path());
        Self::start_in(dir, &[]).await
    }

    pub async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    /// A topic, created through the protocol; its id.
    pub async fn topic(&self, name: &'static str, partitions: i32) -> Uuid {
        let request = CreateTopicsRequest {
            topics: vec![CreatableTopic {
                name: name.into(),
                num_partitions: partitions,
                replication_factor: 1,
                ..Default::default()
            }],
            ..Default::default()
        };
        let created = self.client().await.call(&request, 7).await;
        assert_eq!(
            created.topics[0].error_code, 0,
            "{:?}",
            created.topics[0].error_message
        );
        created.topics[0].topic_id
    }
}

async fn listen(
    broker: &Arc<Broker>,
    stopped: watch::Receiver<bool>,
    change: impl FnOnce(&mut ListenerConfig),
) -> (SocketAddr, JoinHandle<()>) {
    let mut config = ListenerConfig {
        address: "127.0.0.1:0".parse().unwrap(),
        advertise: None,
        frame_bytes_max: FRAME_BYTES_MAX,
        request_memory_bytes: 64 * 1024 * 1024,
        connections_max: 100,
        idle_max: Duration::from_secs(600),
        fetch_sessions_max: 10,
        sent_from_file_min: fanlog_kafka_listener::SENT_FROM_FILE_MIN,
    };
    change(&mut config);
    let listener = KafkaListener::bind(config, broker.clone()).await.unwrap();
    let address = listener.local_address().unwrap();
    (address, tokio::spawn(listener.serve(stopped)))
}

/// A connection that speaks raw messages.
pub struct Client {
    pub stream: TcpStream,
    correlation_id: i32,
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Self {
        Self {
            stream: TcpStream::connect(address).await.unwrap(),
            correlation_id: 0,
        }
    }

    /// Sends a request and returns its correlation id.
    pub async fn send<R: Request<'static>>(&mut self, request: &R, version: i16) -> i32 {
        self.correlation_id += 1;
        let frame = frame(request, version, self.correlation_id);
        self.send_bytes(&frame).await;
        self.correlation_id
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// The next answer, as one to the request with `correlation_id`.
    pub async fn receive<R: Request<'static>>(
        &mut self,
        correlation_id: i32,
        version: i16,
    ) -> R::Response<'static> {
        let body = self.next_frame().await.expect("the connection stays open");
        let mut reader = Reader::new(body);
        let header =
            ResponseHeader::decode(&mut reader, R::KEY.response_header_version(version)).unwrap();
        assert_eq!(
            header.correlation_id, correlation_id,
            "answers come in the order of the requests"
        );
        let response = <R::Response<'static> as Message>::decode(&mut reader, version)
            .unwrap_or_else(|error| panic!("{} version {version}: {error}", R::KEY.name()));
        reader.finish().unwrap();
        response
    }

    pub async fn call<R: Request<'static>>(
        &mut self,
        request: &R,
        version: i16,
    ) -> R::Response<'static> {
        let correlation_id = self.send(request, version).await;
        self.receive::<R>(correlation_id, version).await
    }

    /// The next frame without its length, or none where the broker has closed the connection. Leaked: tests are short.
    pub async fn next_frame(&mut self) -> Option<&'static [u8]> {
        let read = async {
            let length = self.stream.read_i32().await.ok()?;
            let mut body = vec![0; usize::try_from(length).unwrap()];
            self.stream.read_exact(&mut body).await.ok()?;
            Some(&*body.leak())
        };
        tokio::time::timeout(PATIENCE, read)
            .await
            .expect("an answer or a close in time")
    }

    /// The partition's part of the answer to a Produce of one batch in the newest version that names topics.
    pub async fn produce(
        &mut self,
        topic: &'static str,
        acks: i16,
        batch: Vec<u8>,
    ) -> ProduceResponse<'static> {
        self.call(&produce(topic, 0, acks, batch), 12).await
    }

    pub async fn fetch(&mut self, topic: &'static str, offset: i64) -> PartitionData<'static> {
        let mut response = self.call(&fetch(topic, 0, offset), 12).await;
        only_partition(&mut response)
    }
}

/// A frame with its length prefix.
pub fn frame<R: Request<'static>>(request: &R, version: i16, correlation_id: i32) -> Vec<u8> {
    let header = RequestHeader {
        request_api_key: R::KEY as i16,
        request_api_version: version,
        correlation_id,
        client_id: Some("test".into()),
    };
    let slices = GatherBuffer::frame(|out| {
        header.encode(out, R::KEY.request_header_version(version))?;
        request.encode(out, version)
    });
    slices
        .unwrap_or_else(|error| panic!("{} version {version}: {error}", R::KEY.name()))
        .concat()
}

/// A frame that holds only the fixed part of a header.
pub fn bare_frame(key: i16, version: i16, correlation_id: i32) -> Vec<u8> {
    let mut bytes = 10i32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&key.to_be_bytes());
    bytes.extend_from_slice(&version.to_be_bytes());
    bytes.extend_from_slice(&correlation_id.to_be_bytes());
    bytes.extend_from_slice(&(-1i16).to_be_bytes());
    bytes
}

pub fn produce(
    topic: &'static str,
    partition: i32,
    acks: i16,
    batch: Vec<u8>,
) -> ProduceRequest<'static> {
    ProduceRequest {
        transactional_id: None,
        acks,
        timeout_ms: 30_000,
        topic_data: vec![TopicProduceData {
            name: topic.into(),
            topic_id: Uuid::nil(),
            partition_data: vec![PartitionProduceData {
                index: partition,
                records: Some(RecordBytes::Borrowed(batch.leak())),
            }],
        }],
    }
}

/// A fetch of one partition outside any session that waits for a byte.
pub fn fetch(topic: &'static str, partition: i32, offset: i64) -> FetchRequest<'static> {
    FetchRequest {
        max_wait_ms: 20_000,
        min_bytes: 1,
        max_bytes: 1 << 20,
        session_epoch: -1,
        topics: vec![FetchTopic {
            topic: topic.into(),
            partitions: vec![FetchPartition {
                partition,
                fetch_offset: offset,
                partition_max_bytes: 1 << 20,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

pub fn only_partition(response: &mut FetchResponse<'static>) -> PartitionData<'static> {
    assert_eq!(response.error_code, 0);
    assert_eq!(response.responses.len(), 1, "{response:?}");
    response.responses[0].partitions.remove(0)
}

pub fn batch(values: &[&str]) -> Vec<u8> {
    batch_at(values, 1_000)
}

pub fn batch_at(values: &[&str], timestamp: i64) -> Vec<u8> {
    fill(BatchBuilder::new(Compression::None), values, timestamp)
}

pub fn idempotent_batch(values: &[&str], producer: i64, epoch: i16, sequence: i32) -> Vec<u8> {
    let builder = BatchBuilder::new(Compression::None).producer(
        ProducerId(producer),
        ProducerEpoch(epoch),
        BaseSequence(sequence),
    );
    fill(builder, values, 1_000)
}

pub fn fill(mut builder: BatchBuilder, values: &[&str], timestamp: i64) -> Vec<u8> {
    for value in values {
        let record = NewRecord {
            timestamp: TimestampMs(timestamp),
            key: Some(b"k"),
            value: Some(value.as_bytes()),
            headers: &[],
        };
        builder.push(&record).unwrap();
    }
    builder.build().unwrap()
}

/// The values of all records of a fetched partition, with their offsets.
pub fn values(partition: &PartitionData<'_>) -> Vec<(i64, String)> {
    let bytes = partition.records.as_ref().expect("never null").to_vec();
    let mut decompressor = Decompressor::default();
    let mut found = Vec::new();
    for batch in BatchView::parse_all(&bytes) {
        let batch = batch.unwrap();
        batch.check_crc().unwrap();
        for record in batch.records(&mut decompressor).unwrap() {
            let record = record.unwrap();
            let value = String::from_utf8(record.value.unwrap().to_vec()).unwrap();
            found.push((
                batch.base_offset().0 + i64::from(record.offset_delta),
                value,
            ));
        }
    }
    found
}

pub fn versions(api: ApiKey) -> std::ops::RangeInclusive<i16> {
    api.valid_versions()
}

pub fn error(code: i16) -> ErrorCode {
    ErrorCode::from_code(code).unwrap()
}
