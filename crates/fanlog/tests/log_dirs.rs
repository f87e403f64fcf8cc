//! The data folder, as Kafka's tools are told of it: from the root, also where the broker was told otherwise.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

#[allow(dead_code, reason = "this test asks by hand")]
mod support;

use fanlog_protocol::messages::describe_configs_request::DescribeConfigsResource;
use fanlog_protocol::messages::{
    DescribeConfigsRequest, DescribeLogDirsRequest, RequestHeader, ResponseHeader,
};
use fanlog_protocol::wire::{GatherBuffer, Reader};
use fanlog_protocol::{Message, Request};
use std::io::{Read, Write};
use std::net::TcpStream;
use support::Broker;

/// The resource type of a broker.
const BROKER: i8 = 4;

/// Asks once, over a connection of its own.
fn ask<R: Request<'static>>(broker: &Broker, request: &R, version: i16) -> R::Response<'static> {
    let header = RequestHeader {
        request_api_key: R::KEY as i16,
        request_api_version: version,
        correlation_id: 1,
        client_id: Some("test".into()),
    };
    let frame = GatherBuffer::frame(|out| {
        header.encode(out, R::KEY.request_header_version(version))?;
        request.encode(out, version)
    });
    let mut stream = TcpStream::connect(&broker.address).unwrap();
    stream.write_all(&frame.unwrap().concat()).unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut body = vec![0; usize::try_from(i32::from_be_bytes(length)).unwrap()];
    stream.read_exact(&mut body).unwrap();
    // Leaked: the test is short.
    let mut reader = Reader::new(body.leak());
    ResponseHeader::decode(&mut reader, R::KEY.response_header_version(version)).unwrap();
    <R::Response<'static> as Message>::decode(&mut reader, version).unwrap()
}

#[test]
fn the_data_folder_is_named_from_the_root() {
    let Some((broker, around)) = Broker::start_in("here") else {
        // Another broker is under test, which lies where it lies.
        return;
    };
    // The system may know the folder by another name as well.
    let expected = around.canonicalize().unwrap().join("here");
    let expected = expected.to_str().unwrap();
    let dirs = ask(&broker, &DescribeLogDirsRequest { topics: None }, 4);
    assert_eq!(dirs.results[0].log_dir, expected);
    let configs = DescribeConfigsRequest {
        resources: vec![DescribeConfigsResource {
            resource_type: BROKER,
            resource_name: "1".into(),
            configuration_keys: Some(vec!["log.dirs".into()]),
        }],
        ..Default::default()
    };
    let configs = ask(&broker, &configs, 4);
    let shown = configs.results[0].configs[0].value.as_deref();
    assert_eq!(shown, Some(expected));
}
