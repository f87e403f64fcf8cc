//! Sessions by themselves: what a consumer is told, and what is remembered.

use super::*;

fn key(partition: i32) -> PartitionKey {
    PartitionKey {
        topic: TopicKey::Name("t".into()),
        partition,
    }
}

fn wanted(fetch_offset: i64) -> Wanted {
    Wanted {
        fetch_offset,
        max_bytes: 1000,
        current_leader_epoch: -1,
        last_fetched_epoch: -1,
    }
}

fn request(session_id: i32, epoch: i32, partitions: &[i32]) -> SessionRequest {
    SessionRequest {
        session_id,
        epoch,
        uses_topic_ids: false,
        partitions: partitions.iter().map(|p| (key(*p), wanted(0))).collect(),
        forgotten: Vec::new(),
        names: Vec::new(),
        draw: 77 << 1,
        now: Duration::ZERO,
    }
}

fn order(plan: &SessionPlan) -> Vec<i32> {
    plan.partitions.iter().map(|(k, _)| k.partition).collect()
}

fn quiet(high_watermark: i64) -> Found {
    Found {
        has_records: false,
        has_error: false,
        is_diverging: false,
        high_watermark,
        log_start_offset: 0,
    }
}

fn tell(sessions: &mut FetchSessions, plan: &SessionPlan, found: &[(i32, Found)]) -> Vec<i32> {
    let found = found.iter().map(|(p, f)| (key(*p), *f)).collect();
    let told = sessions.retain_news(plan, found, |f| *f);
    told.iter().map(|(k, _)| k.partition).collect()
}

#[test]
fn only_partitions_with_news_are_told_in_an_incremental_answer() {
    let mut sessions = FetchSessions::new(10);
    let full = sessions.begin(request(0, 0, &[0, 1])).unwrap();
    assert_eq!((full.session_id, full.is_incremental), (77, false));
    assert_eq!(
        tell(&mut sessions, &full, &[(0, quiet(5)), (1, quiet(5))]),
        [0, 1]
    );
    let next = sessions.begin(request(77, 1, &[])).unwrap();
    assert_eq!(order(&next), [0, 1]);
    assert_eq!(
        tell(&mut sessions, &next, &[(0, quiet(5)), (1, quiet(6))]),
        [1]
    );
}

#[test]
fn an_error_is_told_every_time_and_its_end_too() {
    let mut sessions = FetchSessions::new(10);
    let full = sessions.begin(request(0, 0, &[0])).unwrap();
    tell(&mut sessions, &full, &[(0, quiet(5))]);
    let error = Found {
        has_error: true,
        ..quiet(5)
    };
    for epoch in 1..3 {
        let plan = sessions.begin(request(77, epoch, &[])).unwrap();
        assert_eq!(tell(&mut sessions, &plan, &[(0, error)]), [0]);
    }
    let plan = sessions.begin(request(77, 3, &[])).unwrap();
    assert_eq!(tell(&mut sessions, &plan, &[(0, quiet(5))]), [0]);
}

#[test]
fn a_partition_that_gave_records_is_read_last_next_time() {
    let mut sessions = FetchSessions::new(10);
    let full = sessions.begin(request(0, 0, &[0, 1, 2])).unwrap();
    let gave = Found {
        has_records: true,
        ..quiet(1)
    };
    tell(
        &mut sessions,
        &full,
        &[(0, gave), (1, quiet(1)), (2, quiet(1))],
    );
    assert_eq!(
        order(&sessions.begin(request(77, 1, &[])).unwrap()),
        [1, 2, 0]
    );
}

#[test]
fn partitions_are_added_changed_and_forgotten() {
    let mut sessions = FetchSessions::new(10);
    sessions.begin(request(0, 0, &[0, 1])).unwrap();
    let mut change = request(77, 1, &[1, 2]);
    change.partitions[0].1 = wanted(9);
    change.forgotten = vec![key(0)];
    let plan = sessions.begin(change).unwrap();
    assert_eq!(
        plan.partitions,
        vec![(key(1), wanted(9)), (key(2), wanted(0))]
    );
}

#[test]
fn a_session_is_left_when_id_epoch_or_naming_do_not_fit() {
    let mut sessions = FetchSessions::new(10);
    sessions.begin(request(0, 0, &[0])).unwrap();
    assert_eq!(
        sessions.begin(request(5, 1, &[])).unwrap_err(),
        SessionError::NotFound(5)
    );
    let error = sessions.begin(request(77, 2, &[])).unwrap_err();
    assert_eq!(
        error,
        SessionError::Epoch {
            id: 77,
            expected: 1,
            given: 2
        }
    );
    let by_id = SessionRequest {
        uses_topic_ids: true,
        ..request(77, 1, &[])
    };
    assert_eq!(
        sessions.begin(by_id).unwrap_err(),
        SessionError::TopicNaming(77)
    );
    assert_eq!(
        sessions.begin(request(77, -1, &[0])).unwrap().session_id,
        SESSION_NONE
    );
    assert_eq!(
        sessions.begin(request(77, 1, &[])).unwrap_err(),
        SessionError::NotFound(77)
    );
}

#[test]
fn a_full_cache_gives_no_session_until_one_is_old() {
    let mut sessions = FetchSessions::new(1);
    assert_eq!(sessions.begin(request(0, 0, &[0])).unwrap().session_id, 77);
    assert_eq!(
        sessions.begin(request(0, 0, &[0])).unwrap().session_id,
        SESSION_NONE
    );
    let late = SessionRequest {
        now: EVICT_AFTER * 2,
        draw: 9 << 1,
        ..request(0, 0, &[0])
    };
    assert_eq!(sessions.begin(late).unwrap().session_id, 9);
    assert_eq!(
        sessions.begin(request(77, 1, &[])).unwrap_err(),
        SessionError::NotFound(77)
    );
}
