//! Records that go from their files to the socket.

mod common;

use common::*;
use fanlog_protocol::messages::{DeleteTopicsRequest, FetchRequest};
use fanlog_protocol::{ApiKey, ErrorCode};
use std::fs;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// A fetch of everything in the first partitions of `t`.
fn fetch_all(partitions: i32) -> FetchRequest<'static> {
    let mut request = fetch("t", 0, 0);
    request.max_bytes = 50_000_000;
    for partition in 0..partitions {
        let mut wanted = request.topics[0].partitions[0].clone();
        wanted.partition = partition;
        wanted.partition_max_bytes = 50_000_000;
        request.topics[0].partitions.push(wanted);
    }
    request.topics[0].partitions.remove(0);
    request
}

/// A topic of one partition with `count` batches of 400 KB.
async fn large_topic(server: &Server, count: usize) {
    server.topic("t", 1).await;
    let mut client = server.client().await;
    for n in 0..count {
        let value = format!("{n:07}").repeat(60_000);
        let answer = client.produce("t", -1, batch(&[&value])).await;
        assert_eq!(answer.responses[0].partition_responses[0].error_code, 0);
    }
}

fn assert_is_large_topic(read: &[(i64, String)], count: usize) {
    assert_eq!(read.len(), count);
    for (n, (offset, value)) in read.iter().enumerate() {
        assert_eq!(*offset, n as i64);
        assert!(*value == format!("{n:07}").repeat(60_000), "record {n}");
    }
}

#[tokio::test]
async fn files_and_copies_give_the_same_bytes() {
    let server = Server::start().await;
    let id = server.topic("t", 6).await;
    let mut client = server.client().await;
    // Partition 1 stays empty, others have from 100 bytes to 3 MB in batches of several sizes.
    for (partition, batches, size) in [(0, 1, 30), (2, 40, 1_000), (3, 1, 60_000), (4, 9, 333_333)]
    {
        for n in 0..batches {
            let value = format!("{n}").repeat(size);
            let request = produce("t", partition, -1, batch(&[&value, "and another"]));
            client.call(&request, 12).await;
        }
    }
    let mut copying = Client::connect(
        server
            .listen_too(|c| c.sent_from_file_min = usize::MAX)
            .await,
    )
    .await;
    let mut sending = Client::connect(server.listen_too(|c| c.sent_from_file_min = 1).await).await;
    let mut mixing =
        Client::connect(server.listen_too(|c| c.sent_from_file_min = 20_000).await).await;
    for version in versions(ApiKey::Fetch) {
        for offset in [0, 1, 8, 17] {
            let mut request = fetch_all(7);
            for partition in &mut request.topics[0].partitions {
                partition.fetch_offset = offset;
            }
            if version < 7 {
                request.session_epoch = FetchRequest::default().session_epoch;
            }
            if version >= 13 {
                request.topics[0].topic = "".into();
                request.topics[0].topic_id = id;
            }
            let mut frames = Vec::new();
            for client in [&mut copying, &mut sending, &mut mixing] {
                client.send(&request, version).await;
                frames.push(client.next_frame().await.unwrap());
            }
            assert!(frames[0].len() > 50);
            assert!(frames[0] == frames[1], "version {version} from {offset}");
            assert!(frames[0] == frames[2], "version {version} from {offset}");
        }
    }
}

#[tokio::test]
async fn a_reader_that_stops_in_mid_frame_holds_up_nobody_and_reads_on() {
    let server = Server::start().await;
    large_topic(&server, 20).await;
    let mut slow = server.client().await;
    let asked = slow.send(&fetch_all(1), 12).await;
    let mut begin = vec![0; 1_000];
    slow.stream.read_exact(&mut begin).await.unwrap();
    // It takes nothing more; others are served, also from the same file.
    let mut other = server.client().await;
    for _ in 0..3 {
        let mut response = other.call(&fetch_all(1), 12).await;
        assert_is_large_topic(&values(&only_partition(&mut response)), 20);
    }
    // Whoever had to wait this long looks again whether the bytes are in memory; no test needs to wait as long.
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(150)).await;
    tokio::time::resume();
    let mut rest = begin.split_off(4);
    let length = i32::from_be_bytes(begin.try_into().unwrap());
    let read = rest.len();
    rest.resize(usize::try_from(length).unwrap(), 0);
    slow.stream.read_exact(&mut rest[read..]).await.unwrap();
    assert_eq!(rest[..4], asked.to_be_bytes());
    let mut fast = server.client().await;
    fast.send(&fetch_all(1), 12).await;
    let whole = fast.next_frame().await.unwrap();
    assert!(rest[4..] == whole[4..]);
}

#[tokio::test]
async fn a_reader_that_goes_away_in_mid_frame_leaves_nothing_behind() {
    let server = Server::start().await;
    large_topic(&server, 20).await;
    for _ in 0..3 {
        let mut client = server.client().await;
        client.send(&fetch_all(1), 12).await;
        let mut begin = vec![0; 1_000];
        client.stream.read_exact(&mut begin).await.unwrap();
    }
    let mut client = server.client().await;
    let mut response = client.call(&fetch_all(1), 12).await;
    assert_is_large_topic(&values(&only_partition(&mut response)), 20);
    drop(client);
    let open = || {
        let text = server.broker.metrics().encode().unwrap();
        let line = text
            .lines()
            .find(|line| line.starts_with("fanlog_connections{"));
        line.map(str::to_owned).unwrap()
    };
    let gone = async {
        while !open().ends_with(" 0") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone)
        .await
        .unwrap();
}

#[tokio::test]
async fn what_is_being_sent_arrives_though_its_topic_is_deleted() {
    let server = Server::start().await;
    large_topic(&server, 20).await;
    let mut client = server.client().await;
    let asked = client.send(&fetch_all(1), 12).await;
    // The answer is on its way.
    client.stream.readable().await.unwrap();
    let delete = DeleteTopicsRequest {
        topic_names: vec!["t".into()],
        ..Default::default()
    };
    let deleted = server.client().await.call(&delete, 5).await;
    assert_eq!(deleted.responses[0].error_code, 0);
    let mut response = client.receive::<FetchRequest<'static>>(asked, 12).await;
    assert_is_large_topic(&values(&only_partition(&mut response)), 20);
}

#[tokio::test]
async fn what_was_there_before_a_start_is_checked_before_it_is_sent() {
    let server = Server::start().await;
    large_topic(&server, 60).await;
    let server = server.restart().await;
    let mut client = server.client().await;
    let mut read = Vec::new();
    let mut fetches = 0;
    while read.len() < 60 {
        let mut request = fetch_all(1);
        request.topics[0].partitions[0].fetch_offset = read.len() as i64;
        let mut response = client.call(&request, 12).await;
        read.extend(values(&only_partition(&mut response)));
        fetches += 1;
    }
    assert_is_large_topic(&read, 60);
    assert!(fetches > 2, "old records come in bounded portions");

    let server = server
        .restart_after(|dir| {
            let log = dir.join("t-0/00000000000000000000.log");
            let mut bytes = fs::read(&log).unwrap();
            let at = 30 * 420_100 + 100_000;
            bytes[at] ^= 1;
            fs::write(&log, bytes).unwrap();
        })
        .await;
    let copying = server.listen_too(|c| c.sent_from_file_min = usize::MAX);
    let mut copying = Client::connect(copying.await).await;
    let mut client = server.client().await;
    let mut at_damage = fetch_all(1);
    at_damage.topics[0].partitions[0].fetch_offset = 29;
    let before = fetch("t", 0, 10);
    for client in [&mut client, &mut copying] {
        let mut response = client.call(&at_damage, 12).await;
        let partition = only_partition(&mut response);
        assert_eq!(error(partition.error_code), ErrorCode::CorruptMessage);
        assert!(partition.records.is_some_and(|records| records.is_empty()));
        let mut response = client.call(&before, 12).await;
        assert_eq!(values(&only_partition(&mut response)).len(), 2);
    }
}
