//! ApiVersions, versions 0-5: what this broker serves, the first thing that a client asks.
//!
//! Behaviour: lists exactly `dispatch::SERVED`. A version that we lack is answered in version 0 with
//! UNSUPPORTED_VERSION and the range of ApiVersions itself, so that the client can ask again (KIP-511); the
//! connection stays open. The answer's header has no tagged fields in any version.
//! Versions: 1 throttle time; 3 flexible, client software name and version, features (KIP-584); 4 features whose
//! minimum is 0; 5 cluster and node id, where a client was sent to the wrong cluster (KIP-1242).
//! Features: those of `features.rs`; their epoch is the start counter, which rises with every start and so with every new table.

use crate::context::ConnectionContext;
use crate::dispatch::{self, Answer, RequestLine, SERVED, advertised_versions};
use crate::features::{FEATURES, Feature};
use fanlog_protocol::messages::api_versions_response::{
    ApiVersion, FinalizedFeatureKey, SupportedFeatureKey,
};
use fanlog_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse, RequestHeader};
use fanlog_protocol::{ApiKey, ErrorCode};
use std::borrow::Cow;

/// From this version on clients must name their software.
const SOFTWARE_NAME_SINCE: i16 = 3;
/// The epoch of no features at all.
const NO_EPOCH: i64 = -1;
/// Before this version a feature may not have 0 among its levels.
const LEVEL_0_SINCE: i16 = 4;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: ApiVersionsRequest<'_>,
    version: i16,
) -> ApiVersionsResponse<'static> {
    let names_itself = is_software_text(&request.client_software_name)
        && is_software_text(&request.client_software_version);
    if version >= SOFTWARE_NAME_SINCE && !names_itself {
        return refused(ErrorCode::InvalidRequest);
    }
    // Both or neither: half an identity says nothing.
    if request.cluster_id.is_some() != (request.node_id >= 0) {
        return refused(ErrorCode::InvalidRequest);
    }
    if !is_meant_for_us(context, &request) {
        return refused(ErrorCode::RebootstrapRequired);
    }
    ApiVersionsResponse {
        api_keys: SERVED.iter().map(|api| entry(*api)).collect(),
        supported_features: supported(FEATURES, version),
        finalized_features: FEATURES.iter().map(finalized).collect(),
        finalized_features_epoch: match FEATURES {
            [] => NO_EPOCH,
            _ => i64::from(context.broker().leader_epoch().0),
        },
        ..Default::default()
    }
}

fn supported(features: &'static [Feature], version: i16) -> Vec<SupportedFeatureKey<'static>> {
    features
        .iter()
        .filter(|feature| feature.level_min > 0 || version >= LEVEL_0_SINCE)
        .map(|feature| SupportedFeatureKey {
            name: Cow::Borrowed(feature.name),
            min_version: feature.level_min,
            max_version: feature.level,
        })
        .collect()
}

fn finalized(feature: &Feature) -> FinalizedFeatureKey<'static> {
    FinalizedFeatureKey {
        name: Cow::Borrowed(feature.name),
        max_version_level: feature.level,
        min_version_level: feature.level,
    }
}

/// The answer to a version that we lack.
pub(crate) fn unsupported_version(line: RequestLine) -> Answer {
    let response = ApiVersionsResponse {
        error_code: ErrorCode::UnsupportedVersion.code(),
        api_keys: vec![entry(ApiKey::ApiVersions)],
        ..Default::default()
    };
    dispatch::reply(RequestLine { version: 0, ..line }, |out| {
        response.encode(out, 0)
    })
}

fn refused(error: ErrorCode) -> ApiVersionsResponse<'static> {
    ApiVersionsResponse {
        error_code: error.code(),
        ..Default::default()
    }
}

fn entry(api: ApiKey) -> ApiVersion {
    let versions = advertised_versions(api);
    ApiVersion {
        api_key: api as i16,
        min_version: *versions.start(),
        max_version: *versions.end(),
    }
}

/// KIP-511: letters, digits, dots and dashes, with a letter or digit at both ends.
fn is_software_text(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let is_outer = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.chars().all(is_inner) && is_outer(text.chars().next()) && is_outer(text.chars().last())
}

fn is_meant_for_us(context: &ConnectionContext, request: &ApiVersionsRequest<'_>) -> bool {
    let broker = context.broker();
    let is_our_cluster = request
        .cluster_id
        .as_ref()
        .is_none_or(|id| id == broker.cluster_id());
    is_our_cluster && (request.node_id < 0 || request.node_id == broker.node_id().0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_software_name_is_checked_as_kip_511_says() {
        for good in ["librdkafka", "apache-kafka-java", "2.0.2", "a", "7"] {
            assert!(is_software_text(good), "{good}");
        }
        for bad in ["", "-a", "a-", ".", "a b", "ä", "a_b"] {
            assert!(!is_software_text(bad), "{bad}");
        }
    }

    #[test]
    fn produce_is_announced_from_version_0() {
        assert_eq!(advertised_versions(ApiKey::Produce), 0..=13);
    }
}
