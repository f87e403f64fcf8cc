//! Cleaning of a log with transactions.

use super::compaction::{clean_with, compacted, keyed, memory, put_keyed, seal};
use super::transactions::{aborted, append_in, end};
use super::*;
use crate::compaction::CleanError;
use crate::formats::file_names::TRANSACTION_INDEX;

fn transactional(id: i64, sequence: i32, records: &[(&str, Option<&str>)]) -> Vec<u8> {
    keyed(Compression::None, records)
        .producer(ProducerId(id), ProducerEpoch(0), BaseSequence(sequence))
        .transactional()
        .build()
        .unwrap()
}

/// Nothing else says which transactions were aborted: the batches of a segment do not say where they began.
#[test]
fn an_index_of_aborted_transactions_that_cannot_take_its_place_stops_the_log_and_is_kept() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    append_in(&mut log, transactional(1, 0, &[("a", Some("1"))]));
    end(&mut log, 1, false);
    put_keyed(&mut log, &[("b", Some("1"))]);
    seal(&mut log);
    let expected = aborted(&log, Offset(0), Offset(3));
    assert_eq!(expected.len(), 1);
    let name = file_names::with_offset(Offset(0), TRANSACTION_INDEX);
    let path = Path::new(DIR).join(name);
    let mut cleaning = log.begin_cleaning(NOW, memory()).unwrap().unwrap();
    let result = cleaning.run(&mut |_| true, &mut |cleaned| {
        let begun = log.begin_swap(cleaned)?;
        let decided = begun.decide();
        // A folder in its place refuses the name.
        fixture.disk.remove_file(&path).unwrap();
        fixture.disk.create_dir_all(&path).unwrap();
        log.install_cleaned(cleaned, &begun, decided)
    });
    log.finish_cleaning(&cleaning);
    assert!(matches!(result, Err(CleanError::Failed(_))), "{result:?}");
    assert!(log.failure().is_some());
    drop(log);
    fixture.disk.remove_dir_all(&path).unwrap();
    fixture.disk.restart();
    let mut log = fixture.open(&compacted(), 1);
    assert_eq!(aborted(&log, Offset(0), Offset(3)), expected);
    put_keyed(&mut log, &[("b", Some("2"))]);
    seal(&mut log);
    clean_with(&mut log, NOW, memory()).unwrap();
    assert_eq!(aborted(&log, Offset(0), Offset(3)), expected);
}
