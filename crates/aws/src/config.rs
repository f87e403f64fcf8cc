//! What SQS and SNS are told, and who asks them.

use fanlog_aws_protocol::names::NameRules;
use fanlog_model::settings::{AwsCredentials, AwsSettings};
use std::sync::Arc;

/// What SQS and SNS are told.
#[derive(Clone, Debug)]
pub struct AwsConfig {
    /// The region of who does not say one, and whose names are plain.
    pub region: String,
    /// The account that everything belongs to.
    pub account: String,
    /// Who may ask; empty for anybody.
    pub credentials: AwsCredentials,
    /// Which names are taken.
    pub names: NameRules,
    /// How many partitions new topics have.
    pub partitions: i32,
    /// Whether SNS asks endpoints whether they want messages.
    pub asks_endpoints: bool,
    /// What the addresses begin with that SNS may deliver to.
    pub sns_endpoints: Vec<String>,
}

impl AwsConfig {
    /// As the broker's settings say.
    pub fn of(settings: &AwsSettings) -> Self {
        Self {
            region: settings.region.clone(),
            account: settings.account.clone(),
            credentials: settings.credentials.clone(),
            names: match settings.has_strict_names {
                true => NameRules::Strict,
                false => NameRules::WithDots,
            },
            partitions: settings.queue_partitions,
            asks_endpoints: settings.has_sns_confirmation,
            sns_endpoints: settings.sns_endpoints.clone(),
        }
    }
}

/// Who asks, and in which words it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The region that it means: that of its signature, or ours.
    pub(crate) region: Arc<str>,
    /// The account that it belongs to: ours.
    pub(crate) account: Arc<str>,
    /// By which it reached us: `http://host:port`, for addresses of queues.
    pub(crate) base_url: String,
    /// Whether it has signed its request, where that is asked of anybody.
    pub(crate) is_signed: bool,
    /// The id of its access key; of who does not sign, the account.
    pub(crate) sender: String,
}
