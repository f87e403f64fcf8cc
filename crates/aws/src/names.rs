//! What SQS's queues and SNS's topics are called inside: documents, topics and queues of the broker.
//!
//! Why it exists: one region is at home here (`aws.region`), and its names are plain, so that Kafka's clients find them; the few who ask for
//! another region get names of their own, as AWS gives them.
//! In -> out: a region and a name -> the names inside.
//!
//! ```text
//!                    at home                  in region R
//! document           mail                     R/mail
//! queue's topic      sqs.mail                 sqs.aws-R.mail
//! queue              mail                     aws-R.mail
//! SNS topic          orders                   aws-R.orders
//! queue on a topic   mail.sns.orders          aws-R.mail.sns.orders
//! ```
//! A name longer than a topic's may be keeps its beginning and has a digest of the whole.

use fanlog_aws_protocol::digest::content_deduplication_id;
use fanlog_model::{GroupId, TopicName};

/// Names up to this length are kept as they are: there is room for `.redrive` behind the longest queue's.
const NAME_BYTES_MAX: usize = 200;
/// How much of a longer one is kept.
const KEPT_BYTES: usize = 180;
/// How many digits of its digest follow.
const DIGEST_DIGITS: usize = 16;

/// Makes the names inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    home: String,
}

impl Names {
    /// With the region that is at home.
    pub(crate) fn new(home: &str) -> Self {
        let home = home.to_owned();
        Self { home }
    }

    /// Whether the region is the one at home.
    pub(crate) fn is_home(&self, region: &str) -> bool {
        self.home == region
    }

    /// The name of a document about something of that name.
    pub(crate) fn document(&self, region: &str, name: &str) -> String {
        match self.is_home(region) {
            true => name.to_owned(),
            false => format!("{region}/{name}"),
        }
    }

    /// The topic that a queue owns.
    pub(crate) fn queue_topic(&self, region: &str, queue: &str) -> TopicName {
        topic(&format!("sqs.{}", self.in_region(region, queue)))
    }

    /// The broker's queue that a queue is.
    pub(crate) fn queue(&self, region: &str, queue: &str) -> GroupId {
        group(&self.in_region(region, queue))
    }

    /// The topic that an SNS topic is.
    pub(crate) fn sns_topic(&self, region: &str, name: &str) -> TopicName {
        topic(&self.in_region(region, name))
    }

    /// The broker's queue by which a queue reads an SNS topic.
    pub(crate) fn subscription(&self, region: &str, queue: &str, sns_topic: &str) -> GroupId {
        group(&format!(
            "{}.sns.{sns_topic}",
            self.in_region(region, queue)
        ))
    }

    fn in_region(&self, region: &str, name: &str) -> String {
        match self.is_home(region) {
            true => name.to_owned(),
            false => format!("aws-{region}.{name}"),
        }
    }
}

fn topic(name: &str) -> TopicName {
    TopicName::new(&fitted(name))
        .expect("names were checked to have legal letters, and are short enough now")
}

fn group(name: &str) -> GroupId {
    GroupId::from(fitted(name).as_str())
}

fn fitted(name: &str) -> String {
    if name.len() <= NAME_BYTES_MAX {
        return name.to_owned();
    }
    let digest = content_deduplication_id(name);
    let kept: String = name.chars().take(KEPT_BYTES).collect();
    format!("{kept}-{}", &digest[..DIGEST_DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_model::settings::check_queue_name;

    #[test]
    fn names_at_home_are_plain_and_those_of_other_regions_are_apart() {
        let names = Names::new("us-east-1");
        let (home, away) = ("us-east-1", "eu-west-2");
        assert_eq!(names.document(home, "mail"), "mail");
        assert_eq!(names.document(away, "mail"), "eu-west-2/mail");
        assert_eq!(names.queue_topic(home, "mail").as_str(), "sqs.mail");
        assert_eq!(
            names.queue_topic(away, "mail").as_str(),
            "sqs.aws-eu-west-2.mail"
        );
        assert_eq!(names.queue(home, "mail.fifo").as_str(), "mail.fifo");
        assert_eq!(names.queue(away, "mail").as_str(), "aws-eu-west-2.mail");
        assert_eq!(names.sns_topic(home, "orders").as_str(), "orders");
        let subscription = names.subscription(home, "mail", "orders");
        assert_eq!(subscription.as_str(), "mail.sns.orders");
    }

    #[test]
    fn the_longest_names_fit_and_stay_apart() {
        let names = Names::new("us-east-1");
        let long = |last: char| format!("{}{last}", "n".repeat(255));
        let topic = |last: char| names.sns_topic("us-east-1", &long(last));
        assert_ne!(topic('a'), topic('b'));
        assert_eq!(topic('a').as_str().len(), KEPT_BYTES + 1 + DIGEST_DIGITS);
        let queue = names.subscription("ap-northeast-3", &"q".repeat(80), &long('a'));
        check_queue_name(queue.as_str()).expect("it is short enough");
        let redrive = format!("{queue}.redrive");
        assert!(TopicName::new(&redrive).is_ok());
    }
}
