//! Settings of one queue: its policy, kept in the catalog.

use super::declaration::{Effect, Setting, SettingType, Update, Valid, settings};
use super::queue_settings::{ATTEMPTS_MAX, DELAY_MS_MAX, IN_FLIGHT_MAX, LOCK_MS_MAX, LOCK_MS_MIN};
use Effect::Honoured;
use Valid::{Any, Backoff, Between, DeadLetter, Duration, OneOf, Until};

#[rustfmt::skip]
pub(super) const TABLE: &[Setting] = settings! {
    "backoff", String, Some("exponential:1s:5m:20"), Backoff, PerQueue, Honoured, [], "How long a record rests after an attempt that failed; the jitter takes up to so many hundredths off it.";
    "dead-letter", String, Some(""), DeadLetter, PerQueue, Honoured, [], "The topic that records go to after their last attempt; empty for the queue's name and .dead, none to give them up.";
    "delay", String, Some("0s"), Duration(0, DELAY_MS_MAX), PerQueue, Honoured, [], "How long a record waits from its timestamp on before it is delivered, where its own headers don't say.";
    "filter", String, Some(""), Any, PerQueue, Honoured, [], "Which records the queue wants, as an SNS filter policy in JSON; empty for all.";
    "filter-scope", String, Some("headers"), OneOf(&["headers", "body"]), PerQueue, Honoured, [], "Whether the filter looks at a record's headers or at its value, read as JSON.";
    "lock", String, Some("30s"), Duration(LOCK_MS_MIN, LOCK_MS_MAX), PerQueue, Honoured, [], "How long a record is held for its consumer, where the consumer does not say.";
    "max-attempts", Int, Some("5"), Between(0, ATTEMPTS_MAX), PerQueue, Honoured, [], "How often a record is delivered at most; 0 for without an end.";
    "max-in-flight", Int, Some("100000"), Between(1, IN_FLIGHT_MAX), PerQueue, Honoured, [], "Records of one partition that consumers may hold at once.";
    "order", String, Some("none"), OneOf(&["none", "key"]), PerQueue, Honoured, [], "Whether the records of a key wait for each other.";
    "paused", Boolean, Some("false"), Any, PerQueue, Honoured, [], "Whether nothing is handed out; what is held may still be settled.";
    "retention-hold", Boolean, Some("true"), Any, PerQueue, Honoured, [], "Whether retention waits for the queue, up to the topic's retention.hold.bytes.";
    "until", String, Some(""), Until, PerQueue, Honoured, [], "Where the queue ends: of a partition it reads nothing from its offset on, of one that is not named nothing at all; empty for no end.";
};
