//! Whom client quotas could be for, and which there are, as Kafka has them: what the two APIs about them check.
//!
//! Why it exists: a request that is wrong is told so, before the rest is told that nothing here keeps quotas.

use std::collections::HashSet;

/// Kinds of entities.
const USER: &str = "user";
const CLIENT_ID: &str = "client-id";
const IP: &str = "ip";

const OF_CLIENTS: &[&str] = &[
    "consumer_byte_rate",
    "controller_mutation_rate",
    "producer_byte_rate",
    "request_percentage",
];
const OF_ADDRESSES: &[&str] = &["connection_creation_rate"];

/// Why an entity can't be one.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EntityError {
    #[error("the entity has no parts; give a user, a client-id or an ip")]
    Empty,
    #[error("an entity's kind is empty; give user, client-id or ip")]
    EmptyKind,
    #[error("the kind '{0}' is named twice")]
    Twice(String),
    #[error("there are no entities of the kind '{0}'; there are user, client-id and ip")]
    Unknown(String),
    #[error("an ip stands alone, without user and client-id")]
    Mixed,
}

/// Which quotas an entity of these kinds can have.
pub(crate) fn keys_of(kinds: &[&str]) -> Result<&'static [&'static str], EntityError> {
    if kinds.is_empty() {
        return Err(EntityError::Empty);
    }
    check_kinds(kinds)?;
    match kinds.contains(&IP) {
        true => Ok(OF_ADDRESSES),
        false => Ok(OF_CLIENTS),
    }
}

/// Checks the kinds of an entity or of a filter.
pub(crate) fn check_kinds(kinds: &[&str]) -> Result<(), EntityError> {
    let mut seen = HashSet::new();
    for kind in kinds {
        if kind.is_empty() {
            return Err(EntityError::EmptyKind);
        }
        if !seen.insert(*kind) {
            return Err(EntityError::Twice((*kind).to_owned()));
        }
    }
    if let Some(unknown) = kinds.iter().find(|kind| !is_known(kind)) {
        return Err(EntityError::Unknown((*unknown).to_owned()));
    }
    if kinds.contains(&IP) && kinds.len() > 1 {
        return Err(EntityError::Mixed);
    }
    Ok(())
}

fn is_known(kind: &str) -> bool {
    matches!(kind, USER | CLIENT_ID | IP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_clients_go_together_and_addresses_stand_alone() {
        assert_eq!(keys_of(&[USER, CLIENT_ID]), Ok(OF_CLIENTS));
        assert_eq!(keys_of(&[CLIENT_ID]), Ok(OF_CLIENTS));
        assert_eq!(keys_of(&[IP]), Ok(OF_ADDRESSES));
        assert_eq!(keys_of(&[IP, USER]), Err(EntityError::Mixed));
        assert_eq!(keys_of(&[]), Err(EntityError::Empty));
        assert_eq!(keys_of(&[""]), Err(EntityError::EmptyKind));
        let twice = EntityError::Twice(USER.to_owned());
        assert_eq!(keys_of(&[USER, USER]), Err(twice));
        let unknown = EntityError::Unknown("planet".to_owned());
        assert_eq!(keys_of(&["planet"]), Err(unknown));
        assert_eq!(check_kinds(&[]), Ok(()));
    }
}
