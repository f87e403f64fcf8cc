//! ListTransactions, versions 0-2: the transactional ids there are (KIP-664).
//!
//! Versions: 1 only transactions under way for longer than so many milliseconds; 2 names by a regular expression (RE2 syntax), which
//! must match the whole name.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::CallId;
use fanlog_coordinators::transaction::List;
use fanlog_model::ProducerId;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::list_transactions_response::TransactionState;
use fanlog_protocol::messages::{ListTransactionsRequest, ListTransactionsResponse, RequestHeader};
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::time::Duration;

/// A pattern that takes more memory is refused.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: ListTransactionsRequest<'_>,
    _version: i16,
) -> ListTransactionsResponse<'static> {
    let pattern = request.transactional_id_pattern.as_deref();
    let pattern = pattern.filter(|pattern| !pattern.is_empty());
    let pattern = match pattern.map(whole).transpose() {
        Ok(pattern) => pattern,
        Err(_) => return refused(ErrorCode::InvalidRegularExpression),
    };
    let list = List {
        call: CallId(0),
        states: request
            .state_filters
            .iter()
            .map(|s| s.to_string())
            .collect(),
        producers: request
            .producer_id_filters
            .iter()
            .map(|id| ProducerId(*id))
            .collect(),
        longer_than: u64::try_from(request.duration_filter)
            .ok()
            .map(Duration::from_millis),
    };
    let listed = match context.broker().transactions().list(list).await {
        Ok(listed) => listed,
        Err(error) => return refused(errors::of_coordinator(&error)),
    };
    let is_wanted = |id: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(id));
    let wanted = listed
        .transactions
        .iter()
        .filter(|listed| is_wanted(listed.id.as_str()));
    ListTransactionsResponse {
        unknown_state_filters: listed.unknown_states.into_iter().map(Cow::Owned).collect(),
        transaction_states: wanted
            .map(|listed| TransactionState {
                transactional_id: Cow::Owned(listed.id.to_string()),
                producer_id: listed.producer_id.get(),
                transaction_state: Cow::Borrowed(listed.state.name()),
            })
            .collect(),
        ..Default::default()
    }
}

/// The expression, of a whole name.
fn whole(pattern: &str) -> Result<Regex, regex::Error> {
    let build = |text: &str| {
        RegexBuilder::new(text)
            .size_limit(PATTERN_BYTES_MAX)
            .build()
    };
    // By itself first: brackets that only fit ours are none.
    build(pattern)?;
    build(&format!("^(?:{pattern})$"))
}

fn refused(code: ErrorCode) -> ListTransactionsResponse<'static> {
    ListTransactionsResponse {
        error_code: code.code(),
        ..Default::default()
    }
}
