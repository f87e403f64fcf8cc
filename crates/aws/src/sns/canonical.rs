//! What of a message is signed: its fields in the order of their names, each on a line of its own, and its value on the next.
//!
//! In -> out: the fields of a message to an endpoint -> the text that the signature is over.

/// The fields of a message that its signature covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signed<'a> {
    /// `Notification` or `SubscriptionConfirmation`.
    pub(crate) kind: &'static str,
    pub(crate) message: &'a str,
    pub(crate) message_id: &'a str,
    /// Of a notification that has one.
    pub(crate) subject: Option<&'a str>,
    pub(crate) timestamp: &'a str,
    pub(crate) topic_arn: &'a str,
    /// Of a confirmation: its address and its token.
    pub(crate) confirmation: Option<(&'a str, &'a str)>,
}

impl Signed<'_> {
    /// The text that is signed.
    pub(crate) fn text(&self) -> String {
        let (url, token) = self.confirmation.unzip();
        let fields = [
            ("Message", Some(self.message)),
            ("MessageId", Some(self.message_id)),
            ("Subject", self.subject),
            ("SubscribeURL", url),
            ("Timestamp", Some(self.timestamp)),
            ("Token", token),
            ("TopicArn", Some(self.topic_arn)),
            ("Type", Some(self.kind)),
        ];
        let mut text = String::with_capacity(self.message.len() + 512);
        for (name, value) in fields {
            if let Some(value) = value {
                text.push_str(name);
                text.push('\n');
                text.push_str(value);
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_stand_in_the_order_of_their_names() {
        let mut signed = Signed {
            kind: "Notification",
            message: "hello",
            message_id: "1",
            subject: None,
            timestamp: "2026-01-01T00:00:00.000Z",
            topic_arn: "arn:t",
            confirmation: None,
        };
        let without = "Message\nhello\nMessageId\n1\nTimestamp\n2026-01-01T00:00:00.000Z\nTopicArn\narn:t\nType\nNotification\n";
        assert_eq!(signed.text(), without);
        signed.subject = Some("news");
        assert!(signed.text().contains("\nSubject\nnews\nTimestamp\n"));
        signed.subject = None;
        signed.kind = "SubscriptionConfirmation";
        signed.confirmation = Some(("http://here", "t0"));
        assert!(
            signed
                .text()
                .contains("\nSubscribeURL\nhttp://here\nTimestamp\n")
        );
        assert!(signed.text().contains("\nToken\nt0\nTopicArn\n"));
    }
}
