//! Broker settings of SQS and SNS, which are served on the HTTP port.

use super::declaration::{Effect, Setting, SettingType, Update, Valid, settings};
use Effect::Honoured;
use Valid::{Any, AwsAccount, AwsCredentials, AwsRegion, Between};

#[rustfmt::skip]
pub(super) const TABLE: &[Setting] = settings! {
    "aws.account", String, Some("000000000000"), AwsAccount, ReadOnly, Honoured, [], "The AWS account that queues and topics belong to: it stands in their ARNs and in queue URLs.";
    "aws.credentials", Password, Some(""), AwsCredentials, ReadOnly, Honoured, [], "Who may use SQS and SNS: their signatures are verified. Empty: whoever reaches the port may, with any credentials.";
    "aws.queue.partitions", Int, Some("1"), Between(1, 1_000), ReadOnly, Honoured, [], "Partitions of the topic that a new SQS queue owns, and of a new SNS topic.";
    "aws.region", String, Some("us-east-1"), AwsRegion, ReadOnly, Honoured, [], "The AWS region that stands in ARNs.";
    "aws.sns.confirmation", Boolean, Some("true"), Any, ReadOnly, Honoured, [], "Whether SNS asks an HTTP(S) endpoint whether it wants a topic's messages before it sends any; false for tests.";
    "aws.sns.endpoints", List, Some(""), Any, ReadOnly, Honoured, [], "Where SNS may deliver over HTTP(S): hosts, as https://a.example, or paths below one; http:// and https:// for all; empty: none.";
    "aws.strict-names", Boolean, Some("false"), Any, ReadOnly, Honoured, [], "Whether names are refused that AWS refuses; else queues and topics may have dots in their names.";
};
