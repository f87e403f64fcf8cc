//! What particular clients depend on, and what writing refuses.

use bytes::Bytes;
use fanlog_protocol::messages::api_versions_response::{ApiVersion, FinalizedFeatureKey};
use fanlog_protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use fanlog_protocol::messages::*;
use fanlog_protocol::wire::{
    DecodeError, EncodeError, FramePart, GatherBuffer, Reader, RecordBytes,
};
use fanlog_protocol::{ApiKey, Message, Request};

fn written<'a>(message: &impl Message<'a>, version: i16) -> Vec<u8> {
    let mut buffer = GatherBuffer::new();
    message.encode(&mut buffer, version).unwrap();
    buffer.into_vec()
}

fn refusal<'a>(message: &impl Message<'a>, version: i16) -> EncodeError {
    message
        .encode(&mut GatherBuffer::new(), version)
        .unwrap_err()
}

fn fetch_response(records: Option<RecordBytes<'_>>) -> FetchResponse<'_> {
    let partition = PartitionData {
        records,
        ..PartitionData::default()
    };
    let topic = FetchableTopicResponse {
        topic: "t".into(),
        partitions: vec![partition],
        ..FetchableTopicResponse::default()
    };
    FetchResponse {
        responses: vec![topic],
        ..FetchResponse::default()
    }
}

/// P1: old librdkafka misreads tagged fields that say nothing.
#[test]
fn tagged_fields_with_their_defaults_are_not_written() {
    let mut response = ApiVersionsResponse {
        api_keys: vec![ApiVersion {
            api_key: 18,
            max_version: 4,
            ..ApiVersion::default()
        }],
        ..ApiVersionsResponse::default()
    };
    let plain = [0, 0, 2, 0, 18, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0];
    assert_eq!(written(&response, 3), plain);
    response.finalized_features_epoch = 0;
    response.finalized_features = vec![FinalizedFeatureKey::default()];
    let tags = &written(&response, 3)[plain.len() - 1..];
    // Two fields: tag 1, 8 bytes; tag 2, an array of one feature.
    assert_eq!(tags[..3], [2, 1, 8]);
    assert_eq!(tags[11..], [2, 7, 2, 1, 0, 0, 0, 0, 0]);
    // A version without tagged fields leaves them out, as they may be.
    assert_eq!(
        written(&response, 2),
        [0, 0, 0, 0, 0, 1, 0, 18, 0, 0, 0, 4, 0, 0, 0, 0]
    );
}

/// P2: a client that asks in a version which we lack must be able to read the answer.
#[test]
fn the_answer_to_api_versions_has_the_oldest_header() {
    for api in ApiKey::ALL {
        for version in api.valid_versions() {
            let is_flexible = api.is_flexible(version);
            assert_eq!(
                api.request_header_version(version),
                if is_flexible { 2 } else { 1 }
            );
            let response = i16::from(is_flexible && api != ApiKey::ApiVersions);
            assert_eq!(
                api.response_header_version(version),
                response,
                "{api:?} {version}"
            );
        }
        assert_eq!(ApiKey::from_i16(api.to_i16()), Some(api));
    }
    assert_eq!(ApiKey::from_i16(4), None);
    assert_eq!(FetchRequest::KEY.name(), "Fetch");
    assert!(ApiKey::Fetch.is_flexible(12) && !ApiKey::Fetch.is_flexible(11));
    assert!(!ApiKey::OffsetDelete.is_flexible(0));
    // The unstable version 6 of Kafka 4.4 is not ours to offer.
    assert_eq!(ApiKey::InitProducerId.valid_versions(), 0..=5);
}

/// P7: librdkafka takes null for an invalid size.
#[test]
fn an_answer_without_records_carries_none_and_not_null() {
    for version in FetchResponse::VERSIONS {
        let mut response = fetch_response(Some(RecordBytes::EMPTY));
        if version >= 13 {
            response.responses[0].topic = "".into();
        }
        let bytes = written(&response, version);
        let decoded = FetchResponse::decode_all(&bytes, version).unwrap();
        let records = decoded.responses[0].partitions[0].records.as_ref();
        assert!(records.is_some_and(RecordBytes::is_empty), "{version}");
    }
}

#[test]
fn record_bytes_are_shared_and_not_copied() {
    let slices = vec![
        Bytes::from(vec![1; 100]),
        Bytes::new(),
        Bytes::from(vec![2; 50]),
    ];
    let response = fetch_response(Some(RecordBytes::Shared(slices.clone())));
    let frame = GatherBuffer::frame(|buffer| response.encode(buffer, 11)).unwrap();
    let sent: Vec<*const u8> = frame.iter().map(|slice| slice.as_ptr()).collect();
    assert!(sent.contains(&slices[0].as_ptr()) && sent.contains(&slices[2].as_ptr()));
    let bytes = frame.concat();
    let length = i32::from_be_bytes(bytes[..4].try_into().unwrap());
    assert_eq!(length as usize, bytes.len() - 4);
    assert_eq!(bytes[4..], written(&response, 11));
    let decoded = FetchResponse::decode_all(&bytes[4..], 11).unwrap();
    assert_eq!(decoded, response);
    let records = decoded.responses[0].partitions[0].records.as_ref().unwrap();
    let borrowed = records.as_borrowed().unwrap();
    assert!(bytes.as_ptr_range().contains(&borrowed.as_ptr()));
}

#[test]
fn bytes_that_lie_apart_leave_their_place_in_the_frame() {
    let records = vec![7; 100];
    for version in [4, 11, 12, 17] {
        let whole = fetch_response(Some(RecordBytes::Borrowed(&records)));
        let expected = GatherBuffer::frame(|buffer| whole.encode(buffer, version)).unwrap();
        let apart = fetch_response(Some(RecordBytes::Apart(records.len())));
        let parts = GatherBuffer::frame_parts(|buffer| apart.encode(buffer, version)).unwrap();
        let mut bytes = Vec::new();
        for part in &parts {
            match part {
                FramePart::Bytes(part) => bytes.extend_from_slice(part),
                FramePart::Apart(length) => bytes.extend_from_slice(&records[..*length]),
            }
        }
        assert_eq!(bytes, expected.concat(), "{version}");
        assert!(parts.contains(&FramePart::Apart(100)));
    }
}

#[test]
fn strings_are_borrowed_from_the_frame() {
    let header = RequestHeader {
        client_id: Some("kcat".into()),
        ..RequestHeader::default()
    };
    // The client id has the old form in every version, so that its length can be read before the version is known.
    assert_eq!(
        written(&header, 2),
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 4, b'k', b'c', b'a', b't', 0]
    );
    let bytes = written(&header, 1);
    let decoded = RequestHeader::decode_all(&bytes, 1).unwrap();
    assert!(matches!(
        decoded.client_id,
        Some(std::borrow::Cow::Borrowed("kcat"))
    ));
}

#[test]
fn what_a_version_cannot_carry_is_refused() {
    let heartbeat = HeartbeatRequest {
        group_instance_id: Some("a".into()),
        ..HeartbeatRequest::default()
    };
    let field = "HeartbeatRequest.GroupInstanceId";
    let expected = EncodeError::FieldNotInVersion { field, version: 2 };
    assert_eq!(refusal(&heartbeat, 2), expected);
    assert!(!written(&heartbeat, 3).is_empty());

    let metadata = MetadataRequest {
        topics: None,
        ..MetadataRequest::default()
    };
    let field = "MetadataRequest.Topics";
    let expected = EncodeError::NullNotInVersion { field, version: 0 };
    assert_eq!(refusal(&metadata, 0), expected);
    assert_eq!(written(&metadata, 1), [0xff; 4]);

    let unknown = refusal(&ProduceRequest::default(), 2);
    assert!(matches!(
        unknown,
        EncodeError::UnsupportedVersion { version: 2, .. }
    ));

    let long = FindCoordinatorRequest {
        key: "x".repeat(40_000).into(),
        ..FindCoordinatorRequest::default()
    };
    assert_eq!(refusal(&long, 1), EncodeError::TooLong { length: 40_000 });
}

#[test]
fn records_of_internal_topics_stand_behind_their_version() {
    let key = OffsetCommitKey {
        group: "g".into(),
        topic: "t".into(),
        partition: 7,
    };
    let bytes = key.encode_with_version_prefix().unwrap();
    assert_eq!(bytes, [0, 1, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 7]);
    assert_eq!(OffsetCommitKey::decode_with_version_prefix(&bytes), Ok(key));
    // A key of another kind is told from it.
    assert!(matches!(
        GroupMetadataKey::decode_with_version_prefix(&bytes),
        Err(DecodeError::UnsupportedVersion { version: 1, .. })
    ));

    let value = OffsetCommitValue {
        offset: 5,
        leader_epoch: 2,
        ..OffsetCommitValue::default()
    };
    let bytes = value.encode_with_version_prefix(3).unwrap();
    assert_eq!(bytes[..2], [0, 3]);
    assert_eq!(
        OffsetCommitValue::decode_with_version_prefix(&bytes),
        Ok(value)
    );
    let trailing = [&bytes[..], &[0]].concat();
    assert_eq!(
        OffsetCommitValue::decode_with_version_prefix(&trailing),
        Err(DecodeError::TrailingBytes { count: 1 })
    );
}

#[test]
fn a_newer_consumers_metadata_is_read_as_far_as_we_know_it() {
    let subscription = ConsumerProtocolSubscription {
        topics: vec!["t".into()],
        rack_id: Some("r".into()),
        ..ConsumerProtocolSubscription::default()
    };
    let mut bytes = subscription.encode_with_version_prefix(3).unwrap();
    bytes[1] = 9;
    bytes.extend([1, 2, 3]);
    let decoded = ConsumerProtocolSubscription::decode_with_version_prefix(&bytes);
    assert_eq!(decoded, Ok(subscription));
}

#[test]
fn varints_of_more_than_32_bits_are_refused() {
    let check = |bytes: &[u8], expected: Option<u32>| {
        assert_eq!(
            Reader::new(bytes).unsigned_varint().ok(),
            expected,
            "{bytes:?}"
        );
    };
    check(&[0], Some(0));
    check(&[0x7f], Some(127));
    check(&[0x80, 1], Some(128));
    check(&[0xff, 0xff, 0xff, 0xff, 0x0f], Some(u32::MAX));
    check(&[0xff, 0xff, 0xff, 0xff, 0x10], None);
    check(&[0xff, 0xff, 0xff, 0xff, 0x8f, 0], None);
    check(&[0x80], None);
    let too_long = Reader::new(&[0xff; 9]).unsigned_varint();
    assert_eq!(too_long, Err(DecodeError::BadVarint { position: 0 }));
}

#[test]
fn a_tagged_field_stays_within_its_size() {
    // ResponseHeader 1: correlation id, then one tagged field whose size reaches beyond the message.
    let refused = ResponseHeader::decode_all(&[0, 0, 0, 1, 1, 5, 3, 0, 0], 1);
    assert!(
        matches!(refused, Err(DecodeError::BadLength { length: 3, .. })),
        "{refused:?}"
    );
    let skipped = ResponseHeader::decode_all(&[0, 0, 0, 1, 1, 5, 2, 0, 0], 1).unwrap();
    assert_eq!(skipped.correlation_id, 1);
    // Tag 1 of an ApiVersions response is a number of 8 bytes, and not of 9.
    let mut bytes = vec![0, 0, 1, 0, 0, 0, 0, 1, 1, 9];
    bytes.extend([0; 9]);
    let refused = ApiVersionsResponse::decode_all(&bytes, 3);
    assert!(
        matches!(refused, Err(DecodeError::BadLength { length: 9, .. })),
        "{refused:?}"
    );
    let mut many = vec![0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f];
    many.extend([0; 100]);
    let refused = ResponseHeader::decode_all(&many, 1);
    assert!(
        matches!(refused, Err(DecodeError::Truncated { .. })),
        "{refused:?}"
    );
}

#[test]
fn strings_are_checked() {
    let check = |bytes: &[u8]| Reader::new(bytes).string(false).unwrap_err();
    assert_eq!(check(&[0, 1, 0xff]), DecodeError::BadUtf8 { position: 2 });
    assert!(matches!(
        check(&[0x80, 0]),
        DecodeError::BadLength { length: -32768, .. }
    ));
    assert!(matches!(
        check(&[0, 2, 0]),
        DecodeError::BadLength { length: 2, .. }
    ));
    assert_eq!(
        check(&[0xff, 0xff]),
        DecodeError::UnexpectedNull { position: 2 }
    );
    let mut long = vec![0x81, 0x80, 0x02];
    long.resize(40_000, b'a');
    let refused = Reader::new(&long).string(true).unwrap_err();
    assert!(matches!(
        refused,
        DecodeError::BadLength { length: 32768, .. }
    ));
}
