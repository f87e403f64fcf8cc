//! Names of resources: `arn:aws:sqs:region:account:queue`, `arn:aws:sns:region:account:topic[:subscription]`.

use std::fmt;

/// The longest name of a resource that is read.
const LENGTH_MAX: usize = 2048;

/// A name in its parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arn {
    /// `aws`, `aws-cn` and the like.
    pub partition: String,
    /// `sqs` or `sns`.
    pub service: String,
    /// As `us-east-1`.
    pub region: String,
    /// Twelve digits.
    pub account: String,
    /// The queue's or topic's name.
    pub name: String,
    /// What stands behind the topic in the name of a subscription.
    pub subscription: Option<String>,
}

impl Arn {
    /// The name of a queue.
    pub fn queue(region: &str, account: &str, name: &str) -> Arn {
        Arn::of("sqs", region, account, name)
    }

    /// The name of a topic.
    pub fn topic(region: &str, account: &str, name: &str) -> Arn {
        Arn::of("sns", region, account, name)
    }

    /// The name of a subscription to this topic.
    pub fn subscription(&self, id: &str) -> Arn {
        Arn {
            subscription: Some(id.to_owned()),
            ..self.clone()
        }
    }

    /// The topic of a subscription's name.
    pub fn without_subscription(&self) -> Arn {
        Arn {
            subscription: None,
            ..self.clone()
        }
    }

    fn of(service: &str, region: &str, account: &str, name: &str) -> Arn {
        Arn {
            partition: "aws".to_owned(),
            service: service.to_owned(),
            region: region.to_owned(),
            account: account.to_owned(),
            name: name.to_owned(),
            subscription: None,
        }
    }

    /// Reads a name; nothing if it is none of a queue, topic or subscription.
    pub fn parse(text: &str) -> Option<Arn> {
        if text.len() > LENGTH_MAX {
            return None;
        }
        let mut parts = text.split(':');
        let mut next = || parts.next().filter(|part| !part.is_empty());
        let (arn, partition, service) = (next()?, next()?, next()?);
        let (region, account, name, subscription) = (next()?, next()?, next()?, next());
        let is_known = arn == "arn"
            && partition.starts_with("aws")
            && (service == "sns" || (service == "sqs" && subscription.is_none()));
        let ends_there = !text.ends_with(':') && parts.next().is_none();
        (is_known && ends_there).then(|| Arn {
            partition: partition.to_owned(),
            subscription: subscription.map(str::to_owned),
            ..Arn::of(service, region, account, name)
        })
    }

    /// Reads the name of a queue.
    pub fn parse_queue(text: &str) -> Option<Arn> {
        Arn::parse(text).filter(|arn| arn.service == "sqs")
    }

    /// Reads the name of a topic.
    pub fn parse_topic(text: &str) -> Option<Arn> {
        Arn::parse(text).filter(|arn| arn.service == "sns" && arn.subscription.is_none())
    }

    /// Reads the name of a subscription.
    pub fn parse_subscription(text: &str) -> Option<Arn> {
        Arn::parse(text).filter(|arn| arn.subscription.is_some())
    }
}

impl fmt::Display for Arn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Arn {
            partition,
            service,
            region,
            account,
            name,
            subscription,
        } = self;
        write!(f, "arn:{partition}:{service}:{region}:{account}:{name}")?;
        match subscription {
            Some(id) => write!(f, ":{id}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Arn;

    #[test]
    fn what_is_written_is_read() {
        let queue = Arn::queue("us-east-1", "123456789012", "orders");
        assert_eq!(
            queue.to_string(),
            "arn:aws:sqs:us-east-1:123456789012:orders"
        );
        assert_eq!(Arn::parse_queue(&queue.to_string()), Some(queue));
        let topic = Arn::topic("eu-west-1", "1", "t.fifo");
        let subscription = topic.subscription("c0ffee");
        assert_eq!(
            Arn::parse_subscription(&subscription.to_string()),
            Some(subscription.clone())
        );
        assert_eq!(subscription.without_subscription(), topic);
    }

    #[test]
    fn other_names_are_not_read() {
        for other in [
            "",
            "arn",
            "arn:aws:sqs:r:a",
            "arn:aws:sqs:r:a:",
            "arn:aws:sqs:r:a:n:x",
            "arn:aws:sns:r:a:n:x:y",
            "arn:aws:sns:r:a:n:",
            "arn:aws:sns:r::n",
            "arn:aws:lambda:r:a:n",
            "brn:aws:sns:r:a:n",
            "not-existing-topic",
        ] {
            assert_eq!(Arn::parse(other), None, "{other}");
        }
    }
}
