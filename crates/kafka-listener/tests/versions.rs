//! Every version of every API that is advertised is served: a request of it, as Kafka's own classes wrote it, is answered in that version.
#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_protocol::ApiKey;
use fanlog_protocol::messages::*;
use fanlog_protocol::wire::Reader;
use std::collections::BTreeMap;
use std::path::Path;

/// Client telemetry: librdkafka 2.5.0 crashes on what such a broker could answer (P76).
const TELEMETRY_KEYS: [i16; 2] = [71, 72];

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    match hex {
        "-" => Vec::new(),
        _ => (0..hex.len()).step_by(2).map(digits).collect(),
    }
}

/// The golden requests of an API that a new message of Kafka's gives, by version.
fn default_requests(api: ApiKey) -> BTreeMap<i16, Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/tests/golden");
    let text = std::fs::read_to_string(folder.join(format!("{}.hex", api.name()))).unwrap();
    let name = format!("{}Request", api.name());
    let mut requests = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == name && words[2] == "default" {
            requests.insert(words[1].parse().unwrap(), bytes(words[3]));
        }
    }
    requests
}

/// Checks that the bytes are one response of the API in the version, and nothing more.
fn check_response(api: ApiKey, version: i16, reader: &mut Reader<'static>) {
    let name = format!("{}Response", api.name());
    macro_rules! by_name {
        ($($message:ident)*) => {
            match name.as_str() {
                $(stringify!($message) => drop($message::decode(reader, version).unwrap()),)*
                _ => panic!("no message is named {name}"),
            }
        };
    }
    fanlog_protocol::with_every_message!(by_name);
    reader.finish().unwrap();
}

#[tokio::test]
async fn every_advertised_version_is_answered_in_itself() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let advertised = client.call(&ApiVersionsRequest::default(), 0).await;
    let mut answered = 0;
    for range in &advertised.api_keys {
        assert!(!TELEMETRY_KEYS.contains(&range.api_key));
        let api = ApiKey::from_i16(range.api_key).unwrap();
        let requests = default_requests(api);
        for version in range.min_version..=range.max_version {
            if api == ApiKey::Produce {
                // Versions below 3 are advertised for librdkafka's sake (P3), and a default Produce wants no answer.
                continue;
            }
            let mut body = bare_frame(api.to_i16(), version, 77).split_off(4);
            if api.request_header_version(version) == 2 {
                body.push(0);
            }
            body.extend(&requests[&version]);
            let mut client = server.client().await;
            let frame = [&(body.len() as i32).to_be_bytes()[..], &body].concat();
            client.send_bytes(&frame).await;
            let answer = client.next_frame().await;
            let answer =
                answer.unwrap_or_else(|| panic!("{} {version} is not answered", api.name()));
            let mut reader = Reader::new(answer);
            let header = api.response_header_version(version);
            let header = ResponseHeader::decode(&mut reader, header).unwrap();
            assert_eq!(header.correlation_id, 77);
            check_response(api, version, &mut reader);
            answered += 1;
        }
    }
    assert!(answered > 140, "only {answered} versions were answered");
}
