//! A catalog in a test: decisions are taken, logged and applied as the runtime does.

use super::*;
use fanlog_model::TopicId;
use fanlog_model::settings::check_statics;
use uuid::Uuid;

/// The ledger, the log behind it, and the rules.
pub(super) struct Catalog {
    pub(super) ledger: Ledger,
    pub(super) log: Vec<Record>,
    pub(super) rules: Rules,
    drawn: u128,
}

impl Catalog {
    /// Broker 1, started with these settings.
    pub(super) fn started(statics: &[(&str, &str)]) -> Self {
        let statics = check_statics(statics.iter().copied()).expect("legal settings");
        Self {
            ledger: Ledger::new(),
            log: Vec::new(),
            rules: Rules {
                broker_id: BrokerId(1),
                statics: Arc::new(statics),
            },
            drawn: 0,
        }
    }

    /// Logs and applies what was decided.
    pub(super) fn carry_out<R>(&mut self, decision: Decision<R>) -> R {
        for record in decision.records {
            apply(&mut self.ledger, &record);
            self.log.push(record);
        }
        self.ledger.check_invariants();
        decision.reply
    }

    /// The next id, as the runtime would draw it.
    pub(super) fn draw_id(&mut self) -> TopicId {
        self.drawn += 1;
        TopicId(Uuid::from_u128(self.drawn))
    }

    /// A plain topic to ask for.
    pub(super) fn new_topic(&mut self, name: &str, partitions: i32) -> NewTopic {
        NewTopic {
            id: self.draw_id(),
            name: name.to_owned(),
            partitions,
            replication_factor: -1,
            assignments: Vec::new(),
            overrides: Vec::new(),
        }
    }

    /// Creates a plain topic.
    pub(super) fn create(&mut self, name: &str, partitions: i32) {
        let request = [self.new_topic(name, partitions)];
        let decision = create_topics(&self.ledger, &self.rules, &request, false);
        self.carry_out(decision)[0].as_ref().expect("a legal topic");
    }

    /// Makes `__consumer_offsets`.
    pub(super) fn ensure_offsets_topic(&mut self) -> Topic {
        let wanted = InternalTopic {
            id: self.draw_id(),
            name: TopicName::new("__consumer_offsets").expect("a legal name"),
            partitions: 50,
            overrides: Overrides::new(),
        };
        let decision = ensure_internal_topic(&self.ledger, wanted);
        self.carry_out(decision)
    }

    /// The topic of that name.
    pub(super) fn topic(&self, name: &str) -> Option<Arc<Topic>> {
        self.ledger.view().topic_named(name).cloned()
    }
}

/// What went wrong, as text; `ok` if nothing did.
pub(super) fn outcome<T, E: std::fmt::Display>(result: &Result<T, E>) -> String {
    result
        .as_ref()
        .map_or_else(ToString::to_string, |_| "ok".to_owned())
}
