//! DescribeClientQuotas, versions 0-1: there are none, for anybody.
//!
//! Behaviour: a filter that Kafka refuses is refused with its code, and then there is no list of entries.
//! Versions: 1 flexible.

use crate::context::ConnectionContext;
use crate::quotas::{self, EntityError};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::describe_client_quotas_request::ComponentData;
use fanlog_protocol::messages::{
    DescribeClientQuotasRequest, DescribeClientQuotasResponse, RequestHeader,
};
use std::borrow::Cow;

const MATCH_EXACT: i8 = 0;
const MATCH_DEFAULT: i8 = 1;
const MATCH_SPECIFIED: i8 = 2;

type Refused = (ErrorCode, String);

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeClientQuotasRequest<'_>,
    _version: i16,
) -> DescribeClientQuotasResponse<'static> {
    match check(&request.components) {
        Ok(()) => DescribeClientQuotasResponse {
            error_message: None,
            entries: Some(Vec::new()),
            ..Default::default()
        },
        Err((error, message)) => DescribeClientQuotasResponse {
            error_code: error.code(),
            error_message: Some(Cow::Owned(message)),
            entries: None,
            ..Default::default()
        },
    }
}

fn check(components: &[ComponentData<'_>]) -> Result<(), Refused> {
    components.iter().try_for_each(check_match)?;
    let kinds: Vec<&str> = components
        .iter()
        .map(|component| component.entity_type.as_ref())
        .collect();
    quotas::check_kinds(&kinds).map_err(|error| {
        let code = match error {
            EntityError::Unknown(_) => ErrorCode::UnsupportedVersion,
            _ => ErrorCode::InvalidRequest,
        };
        (code, error.to_string())
    })
}

fn check_match(component: &ComponentData<'_>) -> Result<(), Refused> {
    let message = match (component.match_type, &component.r#match) {
        (MATCH_EXACT, Some(_)) | (MATCH_DEFAULT | MATCH_SPECIFIED, None) => return Ok(()),
        (MATCH_EXACT, None) => "an exact match wants a name".to_owned(),
        (MATCH_DEFAULT | MATCH_SPECIFIED, Some(_)) => "only an exact match takes a name".to_owned(),
        (other, _) => format!("there are no matches of type {other}"),
    };
    Err((ErrorCode::InvalidRequest, message))
}
