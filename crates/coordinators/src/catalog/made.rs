//! Noting that partitions have their folders: from then on a folder that is missing was lost, and is not made anew.

use super::record::{Record, Topic};
use super::{Decision, Ledger};
use fanlog_model::TopicId;

/// Decides on what is known of folders: of each topic named, so many partitions from 0 on have theirs. What is known
/// already, and topics that are gone, need no record.
pub fn note_made(ledger: &Ledger, made: &[(TopicId, i32)]) -> Decision<()> {
    let view = ledger.view();
    let record = |(id, made): &(TopicId, i32)| {
        let topic = view.topic_by_id(*id)?;
        let made = (*made).min(topic.partitions);
        let is_news = made > topic.made;
        is_news.then(|| {
            Record::Topic(Topic {
                made,
                ..Topic::clone(topic)
            })
        })
    };
    Decision {
        records: made.iter().filter_map(record).collect(),
        reply: (),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Catalog;
    use super::super::{PartitionGrowth, create_partitions};
    use super::*;

    fn note(catalog: &mut Catalog, made: i32) -> usize {
        let id = catalog.topic("t").map_or(TopicId::ZERO, |topic| topic.id);
        let decision = note_made(&catalog.ledger, &[(id, made)]);
        let records = decision.records.len();
        catalog.carry_out(decision);
        records
    }

    #[test]
    fn what_is_known_of_folders_only_rises_and_growth_leaves_it() {
        let mut catalog = Catalog::started(&[]);
        assert_eq!(note(&mut catalog, 3), 0);
        catalog.create("t", 3);
        let made = |catalog: &Catalog| catalog.topic("t").expect("it was created").made;
        assert_eq!(made(&catalog), 0);
        assert_eq!(note(&mut catalog, 2), 1);
        assert_eq!(note(&mut catalog, 2), 0);
        assert_eq!(note(&mut catalog, 1), 0);
        assert_eq!(made(&catalog), 2);
        assert_eq!(note(&mut catalog, 9), 1);
        assert_eq!(made(&catalog), 3);
        let growth = PartitionGrowth {
            topic: "t".to_owned(),
            count: 5,
            assignments: None,
        };
        let grown = create_partitions(&catalog.ledger, &catalog.rules, &[growth], false);
        catalog.carry_out(grown).remove(0).expect("it grows");
        assert_eq!(made(&catalog), 3);
    }
}
