//! Why a coordinator does not answer, and why a decision was not logged.

use crate::append_types::AppendError;
use fanlog_protocol::records::BuildError;
use fanlog_protocol::wire::EncodeError;
use std::sync::Arc;
use thiserror::Error;

/// Why a coordinator does not answer. Fate: the client retries.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CoordinatorError {
    /// Its log is being replayed.
    #[error("the coordinator is loading; retry")]
    Loading,
    /// Its log cannot be written or read, so it would promise what it cannot keep.
    #[error("the coordinator is not available: {reason}")]
    NotAvailable {
        /// What happened.
        reason: Arc<str>,
    },
}

/// Why a decision was not logged.
#[derive(Debug, Error)]
pub(crate) enum LogError {
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Append(#[from] AppendError),
}
