//! Features (KIP-584): what clients may rely on beyond the versions of single APIs.
//!
//! Why it exists: a client turns to transactions of version 2, to KIP-848 or to share groups where the broker says that the feature is on.
//! Owns: the table, which ApiVersions shows and UpdateFeatures answers from.
//! Rule: a feature is in the table once everything that it stands for is served, at the highest level that is; its level never changes
//! while the broker runs, since no code waits behind a switch.

/// A feature that is on.
#[derive(Debug)]
pub(crate) struct Feature {
    pub(crate) name: &'static str,
    /// The levels that the feature has; Kafka calls 0 "off".
    pub(crate) level_min: i16,
    /// The level that is on.
    pub(crate) level: i16,
}

/// Every feature that is on.
pub(crate) const FEATURES: &[Feature] = &[
    Feature {
        // Consumer groups of the new protocol (KIP-848).
        name: "group.version",
        level_min: 0,
        level: 1,
    },
    Feature {
        // Share groups (KIP-932); level 2 is their dead letters (KIP-1191).
        name: "share.version",
        level_min: 0,
        level: 1,
    },
    Feature {
        // Transactions whose epoch rises with each, and which take partitions in by being written to (KIP-890).
        name: "transaction.version",
        level_min: 0,
        level: 2,
    },
];

/// The feature of this name.
pub(crate) fn find(name: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|feature| feature.name == name)
}
