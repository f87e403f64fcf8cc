//! Choices of settings for queues.

/// A choice.
pub(crate) struct Kind {
    pub(crate) settings: &'static [(&'static str, &'static str)],
    /// Whether the records of a key wait for each other.
    pub(crate) is_keyed: bool,
    /// 0 for without an end.
    pub(crate) attempts_max: u16,
    pub(crate) is_filtered: bool,
    pub(crate) dead: Dead,
    /// The shortest rest after so many attempts, in milliseconds.
    pub(crate) rest_ms_min: fn(u16) -> i64,
}

/// Where records go after their last attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dead {
    OfQueue,
    Topic(&'static str),
    None,
}

impl Kind {
    pub(crate) fn dead_topic(&self, queue: &str) -> Option<String> {
        match self.dead {
            Dead::OfQueue => Some(format!("{queue}.dead")),
            Dead::Topic(topic) => Some(topic.to_owned()),
            Dead::None => None,
        }
    }
}

/// What the header `kind` of a record says that queues with a filter want.
pub(crate) const FILTERED_KIND: &str = "wanted";

pub(crate) const KINDS: &[Kind] = &[
    Kind {
        settings: &[
            ("max-attempts", "3"),
            ("backoff", "fixed:500ms"),
            ("lock", "2s"),
        ],
        is_keyed: false,
        attempts_max: 3,
        is_filtered: false,
        dead: Dead::OfQueue,
        rest_ms_min: |_| 500,
    },
    Kind {
        settings: &[
            ("order", "key"),
            ("max-attempts", "3"),
            ("backoff", "exponential:200ms:1s:20"),
            ("lock", "1s"),
        ],
        is_keyed: true,
        attempts_max: 3,
        is_filtered: false,
        dead: Dead::OfQueue,
        rest_ms_min: |attempts| 160 << attempts.saturating_sub(1).min(2),
    },
    Kind {
        settings: &[
            ("max-attempts", "0"),
            ("backoff", "none"),
            ("filter", r#"{"kind":["wanted"]}"#),
            ("lock", "3s"),
        ],
        is_keyed: false,
        attempts_max: 0,
        is_filtered: true,
        dead: Dead::OfQueue,
        rest_ms_min: |_| 0,
    },
    Kind {
        settings: &[
            ("order", "key"),
            ("max-attempts", "2"),
            ("backoff", "none"),
            ("dead-letter", "none"),
            ("max-in-flight", "5"),
            ("lock", "2s"),
        ],
        is_keyed: true,
        attempts_max: 2,
        is_filtered: false,
        dead: Dead::None,
        rest_ms_min: |_| 0,
    },
    Kind {
        settings: &[
            ("max-attempts", "1"),
            ("backoff", "fixed:1s:50"),
            ("dead-letter", "bin"),
            ("max-in-flight", "8"),
            ("lock", "1s"),
        ],
        is_keyed: false,
        attempts_max: 1,
        is_filtered: false,
        dead: Dead::Topic("bin"),
        rest_ms_min: |_| 500,
    },
    Kind {
        settings: &[
            ("order", "key"),
            ("max-attempts", "2"),
            ("filter", r#"{"kind":["wanted"]}"#),
            ("backoff", "fixed:300ms"),
            ("dead-letter", "bin"),
            ("lock", "1500ms"),
        ],
        is_keyed: true,
        attempts_max: 2,
        is_filtered: true,
        dead: Dead::Topic("bin"),
        rest_ms_min: |_| 300,
    },
];
