//! The name of a transactional producer.

use std::fmt;
use std::sync::Arc;

/// A transactional id: whoever uses it last is the one producer of that name. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionalId(pub Arc<str>);

impl TransactionalId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for TransactionalId {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for TransactionalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
