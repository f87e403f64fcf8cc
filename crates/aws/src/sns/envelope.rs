//! What subscribers get: notifications and confirmations, as AWS writes them.
//!
//! In -> out: a message, its signature and addresses -> JSON, a line for each field.
//!
//! ```text
//! {
//!   "Type" : "Notification",
//!   "MessageId" : "..",
//!   "SequenceNumber" : "..",          of FIFO topics
//!   "TopicArn" : "..",
//!   "Subject" : "..",                 if it has one
//!   "Message" : "..",
//!   "Timestamp" : "2026-01-01T00:00:00.000Z",
//!   "SignatureVersion" : "1",
//!   "Signature" : "..",
//!   "SigningCertURL" : "..",
//!   "UnsubscribeURL" : "..",
//!   "MessageAttributes" : {           if it has any
//!     "store" : {"Type":"String","Value":"x"}
//!   }
//! }
//! ```

use super::canonical::Signed;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fanlog_aws_protocol::{AttributeValue, MessageAttribute};
use std::collections::BTreeMap;

const CONFIRMATION: &str = "SubscriptionConfirmation";

/// A signature, over which digest it is, and where the certificate is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature<'a> {
    pub(crate) version: &'a str,
    pub(crate) text: &'a str,
    pub(crate) certificate_url: &'a str,
}

/// A message that was published.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notification<'a> {
    pub(crate) message_id: &'a str,
    /// Of a FIFO topic.
    pub(crate) sequence_number: Option<&'a str>,
    pub(crate) topic_arn: &'a str,
    pub(crate) subject: Option<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) timestamp: &'a str,
    pub(crate) attributes: &'a BTreeMap<String, MessageAttribute>,
}

/// The question whether an endpoint wants a topic's messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Confirmation<'a> {
    pub(crate) message_id: &'a str,
    pub(crate) token: &'a str,
    pub(crate) topic_arn: &'a str,
    pub(crate) subscribe_url: &'a str,
    pub(crate) timestamp: &'a str,
}

impl<'a> Notification<'a> {
    /// What its signature is over.
    pub(crate) fn signed(&self) -> Signed<'a> {
        Signed {
            kind: "Notification",
            message: self.message,
            message_id: self.message_id,
            subject: self.subject,
            timestamp: self.timestamp,
            topic_arn: self.topic_arn,
            confirmation: None,
        }
    }

    /// The JSON.
    pub(crate) fn write(&self, signature: Signature<'_>, unsubscribe_url: &str) -> String {
        let mut lines = Lines::new(self.message.len());
        lines.text("Type", "Notification");
        lines.text("MessageId", self.message_id);
        if let Some(number) = self.sequence_number {
            lines.text("SequenceNumber", number);
        }
        lines.text("TopicArn", self.topic_arn);
        if let Some(subject) = self.subject {
            lines.text("Subject", subject);
        }
        lines.text("Message", self.message);
        lines.text("Timestamp", self.timestamp);
        lines.signature(signature);
        lines.text("UnsubscribeURL", unsubscribe_url);
        if !self.attributes.is_empty() {
            lines.attributes(self.attributes);
        }
        lines.end()
    }
}

impl<'a> Confirmation<'a> {
    fn message(&self) -> String {
        format!(
            "You have chosen to subscribe to the topic {}.\nTo confirm the subscription, visit the SubscribeURL included in this message.",
            self.topic_arn
        )
    }

    /// The text that its signature is over.
    pub(crate) fn signed_text(&self) -> String {
        let signed = Signed {
            kind: CONFIRMATION,
            message: &self.message(),
            message_id: self.message_id,
            subject: None,
            timestamp: self.timestamp,
            topic_arn: self.topic_arn,
            confirmation: Some((self.subscribe_url, self.token)),
        };
        signed.text()
    }

    /// The JSON.
    pub(crate) fn write(&self, signature: Signature<'_>) -> String {
        let mut lines = Lines::new(512);
        lines.text("Type", CONFIRMATION);
        lines.text("MessageId", self.message_id);
        lines.text("Token", self.token);
        lines.text("TopicArn", self.topic_arn);
        lines.text("Message", &self.message());
        lines.text("SubscribeURL", self.subscribe_url);
        lines.text("Timestamp", self.timestamp);
        lines.signature(signature);
        lines.end()
    }
}

struct Lines(String);

impl Lines {
    fn new(length: usize) -> Self {
        let mut text = String::with_capacity(length + 1_024);
        text.push('{');
        Self(text)
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str("\n  \"");
        self.0.push_str(name);
        self.0.push_str("\" : ");
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.0.push_str(&quoted(value));
    }

    fn signature(&mut self, signature: Signature<'_>) {
        self.text("SignatureVersion", signature.version);
        self.text("Signature", signature.text);
        self.text("SigningCertURL", signature.certificate_url);
    }

    fn attributes(&mut self, attributes: &BTreeMap<String, MessageAttribute>) {
        self.name("MessageAttributes");
        self.0.push('{');
        for (number, (name, attribute)) in attributes.iter().enumerate() {
            if number > 0 {
                self.0.push(',');
            }
            let value = match &attribute.value {
                AttributeValue::Binary(bytes) => STANDARD.encode(bytes),
                AttributeValue::String(text) => text.clone(),
                AttributeValue::Missing => String::new(),
            };
            let (name, data_type) = (quoted(name), quoted(&attribute.data_type));
            let line = format!(
                "\n    {name} : {{\"Type\":{data_type},\"Value\":{}}}",
                quoted(&value)
            );
            self.0.push_str(&line);
        }
        self.0.push_str("\n  }");
    }

    fn end(mut self) -> String {
        self.0.push_str("\n}");
        self.0
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNATURE: Signature<'_> = Signature {
        version: "1",
        text: "c2ln",
        certificate_url: "http://here/cert.pem",
    };

    #[test]
    fn a_notification_is_written_as_aws_writes_it() {
        let attributes = BTreeMap::from([
            ("store".to_owned(), MessageAttribute::string("a\"b")),
            (
                "bytes".to_owned(),
                MessageAttribute {
                    data_type: "Binary".to_owned(),
                    value: AttributeValue::Binary(vec![2, 3, 4]),
                },
            ),
        ]);
        let notification = Notification {
            message_id: "m1",
            sequence_number: None,
            topic_arn: "arn:t",
            subject: Some("news"),
            message: "line\nline",
            timestamp: "2026-01-01T00:00:00.000Z",
            attributes: &attributes,
        };
        let expected = r#"{
  "Type" : "Notification",
  "MessageId" : "m1",
  "TopicArn" : "arn:t",
  "Subject" : "news",
  "Message" : "line\nline",
  "Timestamp" : "2026-01-01T00:00:00.000Z",
  "SignatureVersion" : "1",
  "Signature" : "c2ln",
  "SigningCertURL" : "http://here/cert.pem",
  "UnsubscribeURL" : "http://here/?u",
  "MessageAttributes" : {
    "bytes" : {"Type":"Binary","Value":"AgME"},
    "store" : {"Type":"String","Value":"a\"b"}
  }
}"#;
        assert_eq!(notification.write(SIGNATURE, "http://here/?u"), expected);
        let none = BTreeMap::new();
        let plain = Notification {
            sequence_number: Some("100"),
            subject: None,
            attributes: &none,
            ..notification
        };
        let plain: serde_json::Value = serde_json::from_str(&plain.write(SIGNATURE, "u")).unwrap();
        assert_eq!(plain["SequenceNumber"], "100");
        assert!(plain.get("Subject").is_none() && plain.get("MessageAttributes").is_none());
    }

    #[test]
    fn a_confirmation_says_where_to_confirm() {
        let confirmation = Confirmation {
            message_id: "m1",
            token: "t0",
            topic_arn: "arn:t",
            subscribe_url: "http://here/?Action=ConfirmSubscription",
            timestamp: "2026-01-01T00:00:00.000Z",
        };
        let written: serde_json::Value =
            serde_json::from_str(&confirmation.write(SIGNATURE)).unwrap();
        assert_eq!(written["Type"], "SubscriptionConfirmation");
        assert_eq!(written["Token"], "t0");
        let message = written["Message"].as_str().unwrap();
        assert!(confirmation.signed_text().starts_with(&format!(
            "Message\n{message}\nMessageId\nm1\nSubscribeURL\n"
        )));
    }
}
