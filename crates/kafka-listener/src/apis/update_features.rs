//! UpdateFeatures, versions 0-2: what is on is fixed; to ask for exactly that succeeds, anything else is INVALID_UPDATE_VERSION.
//!
//! Behaviour: one update that can't be fails all, with its reason on top, as in Kafka. `validate_only` makes no difference.
//! Versions: 0 a flag for downgrades; 1 kinds of updates, `validate_only`; 2 no results per feature.
//! Not implemented: changing a level. A feature is on once it is complete, and nothing can turn it off (`features.rs`).

use crate::context::ConnectionContext;
use crate::features::{self, Feature};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::update_features_request::FeatureUpdateKey;
use fanlog_protocol::messages::update_features_response::UpdatableFeatureResult;
use fanlog_protocol::messages::{RequestHeader, UpdateFeaturesRequest, UpdateFeaturesResponse};
use std::borrow::Cow;

const UPGRADE: i8 = 1;
const SAFE_DOWNGRADE: i8 = 2;
const UNSAFE_DOWNGRADE: i8 = 3;

const KINDS_SINCE: i16 = 1;

pub(crate) async fn handle(
    _context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: UpdateFeaturesRequest<'_>,
    version: i16,
) -> UpdateFeaturesResponse<'static> {
    let failed = request.feature_updates.iter().find_map(|update| {
        let kind = kind(update, version);
        let feature = features::find(&update.feature);
        check(feature, update.max_version_level, kind)
            .err()
            .map(|why| (update, why))
    });
    if let Some((update, why)) = failed {
        let message = format!(
            "nothing was updated: feature '{}' can't go to level {}: {why}",
            update.feature, update.max_version_level
        );
        return UpdateFeaturesResponse {
            error_code: ErrorCode::InvalidUpdateVersion.code(),
            error_message: Some(Cow::Owned(message)),
            ..Default::default()
        };
    }
    let result = |update: &FeatureUpdateKey<'_>| UpdatableFeatureResult {
        feature: Cow::Owned(update.feature.to_string()),
        error_message: None,
        ..Default::default()
    };
    UpdateFeaturesResponse {
        error_message: None,
        results: request.feature_updates.iter().map(result).collect(),
        ..Default::default()
    }
}

fn kind(update: &FeatureUpdateKey<'_>, version: i16) -> i8 {
    match version >= KINDS_SINCE {
        true => update.upgrade_type,
        false if update.allow_downgrade => SAFE_DOWNGRADE,
        false => UPGRADE,
    }
}

/// Whether the feature is at that level already; otherwise why it can't get there.
fn check(feature: Option<&Feature>, level: i16, kind: i8) -> Result<(), String> {
    if !matches!(kind, UPGRADE | SAFE_DOWNGRADE | UNSAFE_DOWNGRADE) {
        return Err(format!("there are no updates of type {kind}"));
    }
    let Some(feature) = feature else {
        return Err("this broker has no such feature".to_owned());
    };
    let Feature {
        level_min,
        level: fixed,
        ..
    } = feature;
    if level == *fixed {
        return Ok(());
    }
    if level < *level_min || level > *fixed {
        return Err(format!("it has levels {level_min} to {fixed}"));
    }
    Err(match kind {
        UPGRADE => format!(
            "it is at {fixed}, and a lower level wants the type of update that is a downgrade"
        ),
        _ => format!("it is fixed at {fixed} in this broker"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: Feature = Feature {
        name: "group.version",
        level_min: 0,
        level: 1,
    };

    #[test]
    fn only_the_level_that_is_on_can_be_asked_for() {
        for kind in [UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE] {
            assert_eq!(check(Some(&GROUPS), 1, kind), Ok(()));
            for level in [-1, 0, 2] {
                assert!(check(Some(&GROUPS), level, kind).is_err(), "{level} {kind}");
            }
            assert!(check(None, 1, kind).is_err());
        }
        for kind in [-1, 0, 4] {
            assert!(check(Some(&GROUPS), 1, kind).is_err());
        }
    }

    #[test]
    fn in_version_0_a_flag_stands_for_the_kind() {
        let update = |allow_downgrade| FeatureUpdateKey {
            allow_downgrade,
            upgrade_type: UNSAFE_DOWNGRADE,
            ..Default::default()
        };
        assert_eq!(kind(&update(false), 0), UPGRADE);
        assert_eq!(kind(&update(true), 0), SAFE_DOWNGRADE);
        assert_eq!(kind(&update(false), 1), UNSAFE_DOWNGRADE);
    }
}
