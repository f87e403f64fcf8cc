//! Topics of the broker's own, made when they are first needed.

use super::record::{Record, Topic};
use super::{Decision, Ledger};
use fanlog_model::invariants::CAT_1;
use fanlog_model::settings::Overrides;
use fanlog_model::{TopicId, TopicName};

/// An internal topic that must be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalTopic {
    /// The id that it gets if it is made now.
    pub id: TopicId,
    /// Its name.
    pub name: TopicName,
    /// How many partitions it gets if it is made now.
    pub partitions: i32,
    /// The settings it gets if it is made now, canonical.
    pub overrides: Overrides,
}

/// Decides that the topic is there: one that exists is left as it is. The reply is the topic.
///
/// # Panics
/// When `partitions` is not positive: the broker's settings bound it.
pub fn ensure_internal_topic(ledger: &Ledger, wanted: InternalTopic) -> Decision<Topic> {
    assert!(
        wanted.partitions > 0,
        "{CAT_1}: {} has partitions",
        wanted.name
    );
    if let Some(topic) = ledger.view().topic(&wanted.name) {
        return Decision {
            records: Vec::new(),
            reply: Topic::clone(topic),
        };
    }
    let topic = Topic {
        name: wanted.name,
        id: wanted.id,
        partitions: wanted.partitions,
        made: 0,
        overrides: wanted.overrides,
        is_internal: true,
    };
    Decision {
        records: vec![Record::Topic(topic.clone())],
        reply: topic,
    }
}
