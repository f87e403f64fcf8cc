use super::*;
use fanlog_protocol::records::{BatchBuilder, NewRecord};

/// A batch of records at these deltas from a base; their keys are their offsets.
fn batch(base: i64, deltas: &[i32], compression: Compression) -> Bytes {
    let mut builder = BatchBuilder::new(compression).base_offset(Offset(base));
    for delta in deltas {
        let key = (base + i64::from(*delta)).to_string();
        let record = NewRecord {
            timestamp: TimestampMs(1_000 + i64::from(*delta)),
            key: Some(key.as_bytes()),
            value: Some(b"value"),
            headers: &[("deliver-after", Some(b"5"))],
        };
        builder.push_at(*delta, &record).unwrap();
    }
    Bytes::from(builder.build().unwrap())
}

fn piece(batches: Vec<Bytes>, from: i64) -> Piece {
    let read = FetchedRecords {
        records: batches,
        ..FetchedRecords::default()
    };
    Piece::of(
        &read,
        Part::all(Offset(from), Offset(100)),
        (&|_| true, Some(Duration::ZERO)),
    )
    .unwrap()
}

fn shown(found: &[Found]) -> String {
    let one = |found: &Found| match found.is_gap {
        true => format!("gap {}-{}", found.first, found.last),
        false => format!("{} due {}", found.first, found.due.unwrap()),
    };
    found.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn records_and_holes_are_found_in_order_whatever_the_compression() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let batches = vec![batch(0, &[0, 3], compression), batch(6, &[0], compression)];
        let piece = piece(batches, 0);
        let all = "0 due 1005, gap 1-2, 3 due 1008, gap 4-5, 6 due 1005";
        assert_eq!(shown(&piece.found_from(Offset(0))), all);
        assert_eq!(
            shown(&piece.found_from(Offset(2))),
            "gap 2-2, 3 due 1008, gap 4-5, 6 due 1005"
        );
        assert_eq!(shown(&piece.found_from(Offset(7))), "");
        assert_eq!(piece.end(), Offset(7));
        let (record, timestamp) = piece.record(Offset(3)).unwrap();
        assert_eq!(record.key, Some(b"3".as_slice()));
        assert_eq!(timestamp, TimestampMs(1_003));
        assert!(piece.record(Offset(2)).is_none());
        assert!(piece.record(Offset(7)).is_none());
    }
}

#[test]
fn what_lies_before_the_offset_that_was_asked_for_is_not_found() {
    let piece = piece(vec![batch(0, &[0, 1, 2, 3], Compression::Lz4)], 2);
    assert_eq!(
        shown(&piece.found_from(Offset(2))),
        "2 due 1007, 3 due 1008"
    );
    assert!(!piece.covers(Offset(1)));
    assert!(piece.covers(Offset(3)));
}

#[test]
fn where_nothing_was_read_there_is_nothing() {
    let piece = piece(Vec::new(), 40);
    assert_eq!(shown(&piece.found_from(Offset(40))), "gap 40-99");
    assert_eq!(piece.end(), Offset(100));
}

#[test]
fn aborted_transactions_and_markers_are_gaps() {
    let of = |base: i64, producer: i64| {
        let builder = BatchBuilder::new(Compression::None).base_offset(Offset(base));
        let mut builder = builder
            .producer(
                ProducerId(producer),
                fanlog_model::ProducerEpoch(0),
                fanlog_model::BaseSequence(0),
            )
            .transactional();
        let headers: &[(&str, Option<&[u8]>)] = &[("deliver-after", Some(b"5"))];
        let record = NewRecord {
            headers,
            ..NewRecord::default()
        };
        builder.push(&record).unwrap();
        Bytes::from(builder.build().unwrap())
    };
    let read = FetchedRecords {
        records: vec![of(0, 7), of(1, 8)],
        aborted_transactions: vec![AbortedTransaction {
            producer_id: ProducerId(7),
            first_offset: Offset(0),
        }],
        ..FetchedRecords::default()
    };
    let piece = Piece::of(
        &read,
        Part::all(Offset(0), Offset(2)),
        (&|_| true, Some(Duration::ZERO)),
    )
    .unwrap();
    assert_eq!(shown(&piece.found_from(Offset(0))), "gap 0-0, 1 due 5");
}

#[test]
fn no_more_is_looked_through_than_was_asked_for_and_the_rest_is_not_taken_for_a_hole() {
    let read = FetchedRecords {
        records: vec![batch(0, &[0, 1, 2, 3], Compression::None)],
        ..FetchedRecords::default()
    };
    let part = Part {
        records_max: 2,
        ..Part::all(Offset(1), Offset(100))
    };
    let piece = Piece::of(&read, part, (&|_| true, Some(Duration::ZERO))).unwrap();
    assert_eq!(
        shown(&piece.found_from(Offset(1))),
        "1 due 1006, 2 due 1007"
    );
    assert!(piece.covers(Offset(2)) && !piece.covers(Offset(3)));
}
