//! The settings of SQS and SNS.

use super::layers::{BrokerLayers, effective_broker_value};
use super::parse::items;
use std::fmt;

/// What SQS and SNS are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsSettings {
    /// `aws.account`.
    pub account: String,
    /// `aws.credentials`.
    pub credentials: AwsCredentials,
    /// `aws.queue.partitions`.
    pub queue_partitions: i32,
    /// `aws.region`.
    pub region: String,
    /// `aws.sns.confirmation`.
    pub has_sns_confirmation: bool,
    /// `aws.sns.endpoints`.
    pub sns_endpoints: Vec<String>,
    /// `aws.strict-names`.
    pub has_strict_names: bool,
}

/// Ids of access keys and the secrets that go with them. Never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AwsCredentials(pub Vec<(String, String)>);

impl fmt::Debug for AwsCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AwsCredentials({} hidden)", self.0.len())
    }
}

impl AwsCredentials {
    /// Pairs as people write them: `id:secret,id:secret`.
    pub(super) fn of(text: &str) -> Option<Self> {
        let pair = |item: String| {
            let (id, secret) = item.split_once(':')?;
            let is_whole = !id.is_empty() && !secret.is_empty() && id.is_ascii();
            is_whole.then(|| (id.to_owned(), secret.to_owned()))
        };
        items(text)
            .into_iter()
            .map(pair)
            .collect::<Option<_>>()
            .map(Self)
    }
}

impl AwsSettings {
    pub(super) fn resolve(layers: &BrokerLayers<'_>) -> Self {
        let text = |name: &str| {
            effective_broker_value(name, layers)
                .expect("every honoured setting has a default; the tables' test says so")
        };
        let partitions = text("aws.queue.partitions").parse();
        let credentials = AwsCredentials::of(text("aws.credentials"));
        Self {
            account: text("aws.account").to_owned(),
            credentials: credentials.expect("it was checked, or is the default"),
            queue_partitions: partitions.expect("it was checked, or is the default"),
            region: text("aws.region").to_owned(),
            has_sns_confirmation: text("aws.sns.confirmation") == "true",
            sns_endpoints: items(text("aws.sns.endpoints")),
            has_strict_names: text("aws.strict-names") == "true",
        }
    }
}

/// Twelve digits.
pub(super) fn is_account(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Letters, digits and dashes: it stands in ARNs between colons.
pub(super) fn is_region(text: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=32).contains(&text.len()) && text.bytes().all(is_legal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::broker_settings;

    #[test]
    fn credentials_are_pairs_and_are_never_shown() {
        let pair = |id: &str, secret: &str| (id.to_owned(), secret.to_owned());
        let check = |text: &str, expected: Option<Vec<(String, String)>>| {
            assert_eq!(
                AwsCredentials::of(text),
                expected.map(AwsCredentials),
                "{text}"
            );
        };
        check("", Some(Vec::new()));
        check("a:b", Some(vec![pair("a", "b")]));
        check(
            "a:b:c, d:/+=",
            Some(vec![pair("a", "b:c"), pair("d", "/+=")]),
        );
        for wrong in ["a", "a:", ":b", "a:b,c"] {
            check(wrong, None);
        }
        let shown = format!("{:?}", AwsCredentials::of("key:secret"));
        assert_eq!(shown, "Some(AwsCredentials(1 hidden))");
        let refused = broker_settings()["aws.credentials"]
            .canonical("hush")
            .unwrap_err();
        assert!(!refused.to_string().contains("hush"), "{refused}");
    }

    #[test]
    fn accounts_and_regions_are_what_arns_take() {
        let takes = |name: &str, value: &str| broker_settings()[name].canonical(value).is_ok();
        assert!(takes("aws.account", "123456789012"));
        assert!(!takes("aws.account", "12345678901"));
        assert!(!takes("aws.account", "12345678901x"));
        assert!(takes("aws.region", "eu-central-1"));
        assert!(!takes("aws.region", ""));
        assert!(!takes("aws.region", "eu:central"));
    }
}
