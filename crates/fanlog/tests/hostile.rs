//! Malformed frames of every API against a running `fanlog serve`: it keeps serving, nothing panics, memory stays flat.
//!
//! The frames are requests that Kafka's own classes wrote (`crates/protocol/tests/golden`), spoilt in four ways. Fifty of
//! each kind by default; `FANLOG_HOSTILE_FRAMES=1000` for the long run (`cargo xtask torture --only hostile`).

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic, and helpers of tests are tests"
)]

mod support;

use fanlog_client::{Admin, NewTopic, Producer, ProducerConfig, ProducerRecord};
use fanlog_model::{TimestampMs, TopicName};
use fanlog_protocol::ApiKey;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use support::{Broker, unique};

/// What the broker's memory may grow by, however many frames come: caches, and what legal requests among them leave.
const GROWTH_MIB_MAX: u64 = 64;
const FRAMES_BY_DEFAULT: u32 = 50;
const THREADS: u64 = 8;
/// How long the broker may take to end a connection that said everything it had to say.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a frame is spoilt.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The body ends early, and the length says so.
    Cut,
    /// Some bytes are others.
    Mutated,
    /// The length before the frame is not its length.
    WrongLength,
    /// A count or length inside claims the most that it can.
    OversizeCount,
}

const KINDS: [Kind; 4] = [
    Kind::Cut,
    Kind::Mutated,
    Kind::WrongLength,
    Kind::OversizeCount,
];

/// A small random number generator, so that a seed names a run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Requests by API, each a frame without its length.
fn golden_requests() -> BTreeMap<ApiKey, Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/tests/golden");
    let mut requests: BTreeMap<ApiKey, Vec<Vec<u8>>> = BTreeMap::new();
    for api in ApiKey::ALL {
        let file = folder.join(format!("{}.hex", api.name()));
        let text = std::fs::read_to_string(file).unwrap();
        let name = format!("{}Request", api.name());
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if words[0] == name {
                let version = words[1].parse().unwrap();
                let frame = [header(api, version), bytes(words[3])].concat();
                requests.entry(api).or_default().push(frame);
            }
        }
    }
    requests
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    match hex {
        "-" => Vec::new(),
        _ => (0..hex.len()).step_by(2).map(digits).collect(),
    }
}

fn header(api: ApiKey, version: i16) -> Vec<u8> {
    let mut header = api.to_i16().to_be_bytes().to_vec();
    header.extend(version.to_be_bytes());
    header.extend([0, 0, 0, 1, 0, 1, b'h']);
    if api.request_header_version(version) == 2 {
        header.push(0);
    }
    header
}

/// What goes over the socket.
fn spoilt(frame: &[u8], kind: Kind, chance: &mut Chance) -> Vec<u8> {
    // The API and its version stay: other bytes decide what is reached.
    const KEPT: usize = 8;
    let mut body = frame.to_vec();
    let at = KEPT + chance.below(body.len() - KEPT);
    let mut length = None;
    match kind {
        Kind::Cut => body.truncate(at),
        Kind::Mutated => {
            for _ in 0..=chance.below(4) {
                let at = KEPT + chance.below(body.len() - KEPT);
                body[at] = [0, 0x7f, 0x80, 0xff, chance.below(256) as u8][chance.below(5)];
            }
        }
        Kind::WrongLength => {
            let true_length = body.len() as i32;
            let wrong = [
                -1,
                i32::MIN,
                i32::MAX,
                100_000_000,
                true_length + 1,
                true_length - 1,
                0,
            ];
            length = Some(wrong[chance.below(wrong.len())]);
        }
        Kind::OversizeCount => {
            let claims: [&[u8]; 4] = [
                &[0x7f, 0xff, 0xff, 0xff],
                &[0xff, 0xff, 0xff, 0xff, 0x07],
                &[0x80, 0x80, 0x80, 0x08],
                &[0x7f, 0xff],
            ];
            let claim = claims[chance.below(claims.len())];
            let end = (at + claim.len()).min(body.len());
            body.splice(at..end, claim.iter().copied());
        }
    }
    let length = length.unwrap_or(body.len() as i32);
    [&length.to_be_bytes()[..], &body].concat()
}

/// Sends one frame and nothing more, and waits until the broker ends the connection.
fn provoke(address: &str, frame: &[u8]) {
    let mut stream = connect(address);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // The broker may have closed by now.
    let _ = stream.write_all(frame);
    let _ = stream.shutdown(Shutdown::Write);
    let ended = stream.read_to_end(&mut Vec::new());
    let is_waiting = ended.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    assert!(!is_waiting, "no end after {PATIENCE:?} of {frame:02x?}");
}

fn connect(address: &str) -> TcpStream {
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => return stream,
            // All ports are waiting out their last connection: they come back by themselves.
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => std::thread::yield_now(),
            Err(error) => panic!("the broker takes no more connections: {error}"),
        }
    }
}

/// Sends `count` frames of every kind of every API.
fn provoke_all(address: &str, requests: &BTreeMap<ApiKey, Vec<Vec<u8>>>, count: u32, seed: u64) {
    let sent = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let sent = &sent;
            scope.spawn(move || {
                let mut chance = Chance(seed * THREADS + thread);
                for frames in requests.values() {
                    for kind in KINDS {
                        for _ in (thread..u64::from(count)).step_by(THREADS as usize) {
                            let frame = &frames[chance.below(frames.len())];
                            provoke(address, &spoilt(frame, kind, &mut chance));
                            sent.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let kinds = requests.len() * KINDS.len();
    assert_eq!(sent.into_inner(), kinds as u64 * u64::from(count));
}

/// The memory that a process has now, in MiB.
fn resident_mib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.unwrap().split_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() / 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_frames_of_every_kind_leave_the_broker_serving_and_its_memory_flat() {
    let count = std::env::var("FANLOG_HOSTILE_FRAMES");
    let count = count.map_or(FRAMES_BY_DEFAULT, |count| count.parse().unwrap());
    let log = tempfile::NamedTempFile::new().unwrap();
    let settings = [
        "fanlog.partitions.max=300",
        "auto.create.topics.enable=false",
    ];
    let broker = Broker::start_with(&settings, Some(log.reopen().unwrap()));
    let process = broker.process_id().expect("hostile frames are for our own");
    broker.cluster().await;
    let requests = golden_requests();
    assert_eq!(requests.len(), ApiKey::ALL.len());
    let (address, frames) = (broker.address.clone(), requests.clone());
    let before = tokio::task::spawn_blocking(move || {
        // The first frames fill caches and stacks, which then stay as they are.
        provoke_all(&address, &frames, (count / 10).max(8), 1);
        let before = resident_mib(process);
        provoke_all(&address, &frames, count, 2);
        before
    });
    let before = before.await.unwrap();
    serves(&broker).await;
    let after = resident_mib(process);
    println!("{count} frames of each kind: {before} MiB before, {after} MiB after");
    assert!(
        after <= before + GROWTH_MIB_MAX,
        "memory grew from {before} to {after} MiB"
    );
    let said = std::fs::read_to_string(log.path()).unwrap();
    let panic = said.lines().find(|line| line.contains("panicked"));
    assert_eq!(panic, None, "{said}");
}

/// A topic can be made and takes a record.
async fn serves(broker: &Broker) {
    let cluster = broker.cluster().await;
    let name = unique("after");
    let admin = Admin::new(cluster.clone());
    admin
        .create_topic(&NewTopic::new(&name, 1), false)
        .await
        .unwrap();
    let producer = Producer::new(&cluster, ProducerConfig::default()).unwrap();
    let record = ProducerRecord {
        topic: TopicName::new(&name).unwrap(),
        partition: None,
        timestamp: TimestampMs(0),
        key: None,
        value: Some("value".into()),
        headers: Vec::new(),
    };
    producer.send(record).await.unwrap().await.unwrap();
}
