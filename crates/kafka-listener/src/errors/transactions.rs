//! Reasons of the transaction coordinator.

use super::{of_append, of_coordinator, of_group_failure, of_lookup, of_unavailable};
use fanlog_broker::{
    AllowError, AppendError, MarkerError, TransactionRequestError, TransactionalCommitError,
};
use fanlog_coordinators::transaction::TransactionError;
use fanlog_protocol::ErrorCode;

/// What a producer is told; `knows_fenced` says that its version knows PRODUCER_FENCED, which older ones call by the epoch.
pub(crate) fn of_transaction(error: &TransactionRequestError, knows_fenced: bool) -> ErrorCode {
    match error {
        TransactionRequestError::Coordinator(error) => of_coordinator(error),
        TransactionRequestError::Refused(error) => of_refused(error, knows_fenced),
    }
}

fn of_refused(error: &TransactionError, knows_fenced: bool) -> ErrorCode {
    match error {
        TransactionError::InvalidId { .. } => ErrorCode::InvalidRequest,
        TransactionError::InvalidTimeout { .. } => ErrorCode::InvalidTransactionTimeout,
        TransactionError::ProducerIdMapping { .. } => ErrorCode::InvalidProducerIdMapping,
        TransactionError::Fenced { .. } if knows_fenced => ErrorCode::ProducerFenced,
        TransactionError::Fenced { .. } => ErrorCode::InvalidProducerEpoch,
        TransactionError::Concurrent { .. } => ErrorCode::ConcurrentTransactions,
        TransactionError::InvalidState { .. } => ErrorCode::InvalidTxnState,
        TransactionError::NotInTransaction { .. } => ErrorCode::TransactionAbortable,
        TransactionError::NotFound { .. } => ErrorCode::TransactionalIdNotFound,
        // One of the few codes at which every client stops instead of trying again until it gives up.
        TransactionError::MemoryFull { .. } => ErrorCode::TransactionalIdAuthorizationFailed,
        TransactionError::NeedsProducerId => ErrorCode::UnknownServerError,
    }
}

/// What a Produce of this version is told. The versions before 11 don't know that a transaction can be aborted and the producer go on,
/// and those before 12 take a transaction that is still being completed for final: they try again at another code.
pub(crate) fn of_allow(error: &AllowError, version: i16) -> ErrorCode {
    let code = match error {
        AllowError::Unavailable(error) => return of_unavailable(error),
        AllowError::Transaction(error) => of_transaction(error, false),
    };
    match code {
        ErrorCode::TransactionAbortable if version < 11 => ErrorCode::InvalidTxnState,
        ErrorCode::ConcurrentTransactions if version < 12 => ErrorCode::NotEnoughReplicas,
        ErrorCode::CoordinatorLoadInProgress | ErrorCode::CoordinatorNotAvailable => {
            ErrorCode::NotEnoughReplicas
        }
        code => code,
    }
}

/// What a TxnOffsetCommit of this version is told.
pub(crate) fn of_transactional_commit(error: &TransactionalCommitError, version: i16) -> ErrorCode {
    let code = match error {
        TransactionalCommitError::Transaction(error) => of_transaction(error, false),
        TransactionalCommitError::Group(error) => of_group_failure(error),
        TransactionalCommitError::Refused(refused) => super::append::of_refused_batch(refused),
        TransactionalCommitError::Unavailable(_) => ErrorCode::CoordinatorNotAvailable,
    };
    match code {
        ErrorCode::TransactionAbortable if version < 4 => ErrorCode::InvalidTxnState,
        // Producers before 2.0 would take it for final.
        ErrorCode::CoordinatorLoadInProgress if version < 2 => ErrorCode::CoordinatorNotAvailable,
        ErrorCode::ConcurrentTransactions if version < 5 => ErrorCode::CoordinatorLoadInProgress,
        code => code,
    }
}

pub(crate) fn of_marker(error: &MarkerError) -> ErrorCode {
    match error {
        MarkerError::Lookup(error) => of_lookup(error),
        MarkerError::Append(AppendError::Refused(refused)) => {
            super::append::of_refused_batch(refused)
        }
        MarkerError::Append(error) => of_append(error).code,
        MarkerError::Unavailable(error) => of_unavailable(error),
        MarkerError::Coordinator(error) => of_coordinator(error),
    }
}
