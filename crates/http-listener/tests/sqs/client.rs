//! SQS as SDKs ask it: in JSON, with the action in a header.

use crate::support::{Served, ask, serve, serve_in};
use fanlog_http_listener::HttpConfig;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

/// Longer than anything here takes.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// A broker with SQS.
pub(crate) struct Sqs {
    pub(crate) served: Served,
}

/// A queue, by its address.
pub(crate) struct Queue<'a> {
    sqs: &'a Sqs,
    pub(crate) url: String,
}

impl Sqs {
    pub(crate) async fn start() -> Self {
        Self {
            served: serve().await,
        }
    }

    pub(crate) async fn start_with(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::TempDir::new().unwrap();
        let served = serve_in(folder, any_port(), settings).await;
        Self { served }
    }

    /// Stops the broker and starts another over what it has left.
    pub(crate) async fn restarted(self) -> Self {
        let folder = self.served.end().await;
        let served = serve_in(folder, any_port(), &[]).await;
        Self { served }
    }

    /// Status, head and body of an action.
    pub(crate) async fn ask(&self, action: &str, fields: Value) -> (u16, String, Value) {
        let target = format!("AmazonSQS.{action}");
        let headers = [
            ("content-type", "application/x-amz-json-1.0"),
            ("x-amz-target", target.as_str()),
        ];
        let text = fields.to_string();
        let (status, head, body) =
            ask(self.served.address, "POST", "/", &headers, text.as_bytes()).await;
        let body = match body.is_empty() {
            true => json!({}),
            false => serde_json::from_str(&body).unwrap(),
        };
        (status, head, body)
    }

    /// As `ask`, of what must succeed.
    pub(crate) async fn done(&self, action: &str, fields: Value) -> Value {
        let (status, _, body) = self.ask(action, fields).await;
        assert_eq!(status, 200, "{action}: {body}");
        body
    }

    /// As `ask`, of what must be refused: the code of the query protocol, and the message.
    pub(crate) async fn refused(&self, action: &str, fields: Value) -> (String, String) {
        let (status, head, body) = self.ask(action, fields).await;
        assert!(status >= 400, "{action}: {body}");
        let code = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            (name == "x-amzn-query-error").then(|| value.split(';').next().unwrap().to_owned())
        });
        let message = body["message"].as_str().unwrap_or_default().to_owned();
        (code.unwrap(), message)
    }

    pub(crate) async fn create(&self, name: &str, attributes: Value) -> Queue<'_> {
        let fields = json!({ "QueueName": name, "Attributes": attributes });
        let url = self.done("CreateQueue", fields).await["QueueUrl"].clone();
        self.queue(url.as_str().unwrap())
    }

    pub(crate) fn queue(&self, url: &str) -> Queue<'_> {
        let url = url.to_owned();
        Queue { sqs: self, url }
    }

    /// A queue that is there already.
    pub(crate) async fn found(&self, name: &str) -> Queue<'_> {
        let url = self.done("GetQueueUrl", json!({ "QueueName": name })).await;
        self.queue(url["QueueUrl"].as_str().unwrap())
    }
}

fn any_port() -> HttpConfig {
    HttpConfig::new(SocketAddr::from(([127, 0, 0, 1], 0)))
}

impl Queue<'_> {
    fn with_url(&self, mut fields: Value) -> Value {
        fields["QueueUrl"] = self.url.as_str().into();
        fields
    }

    pub(crate) async fn done(&self, action: &str, fields: Value) -> Value {
        self.sqs.done(action, self.with_url(fields)).await
    }

    pub(crate) async fn refused(&self, action: &str, fields: Value) -> (String, String) {
        self.sqs.refused(action, self.with_url(fields)).await
    }

    pub(crate) async fn send(&self, body: &str) -> Value {
        self.done("SendMessage", json!({ "MessageBody": body }))
            .await
    }

    /// To a FIFO queue.
    pub(crate) async fn send_to(&self, group: &str, body: &str) -> Value {
        let fields = json!({ "MessageBody": body, "MessageGroupId": group });
        self.done("SendMessage", fields).await
    }

    /// The messages of a receive.
    pub(crate) async fn receive(&self, mut fields: Value) -> Vec<Value> {
        fields["MessageSystemAttributeNames"] = json!(["All"]);
        fields["MessageAttributeNames"] = json!(["All"]);
        let mut received = self.done("ReceiveMessage", fields).await;
        match received["Messages"].take() {
            Value::Array(messages) => messages,
            _ => Vec::new(),
        }
    }

    /// The one message that there is, waiting for it.
    pub(crate) async fn receive_one(&self) -> Value {
        let mut messages = self.receive(json!({ "WaitTimeSeconds": 20 })).await;
        assert_eq!(messages.len(), 1, "{messages:?}");
        messages.remove(0)
    }

    /// The bodies of what can be received now.
    pub(crate) async fn bodies(&self) -> Vec<String> {
        let messages = self.receive(json!({ "MaxNumberOfMessages": 10 })).await;
        messages.iter().map(body).collect()
    }

    pub(crate) async fn delete(&self, message: &Value) {
        let fields = json!({ "ReceiptHandle": message["ReceiptHandle"] });
        self.done("DeleteMessage", fields).await;
    }

    pub(crate) async fn set_visibility(&self, message: &Value, seconds: u32) {
        let fields = json!({
            "ReceiptHandle": message["ReceiptHandle"],
            "VisibilityTimeout": seconds,
        });
        self.done("ChangeMessageVisibility", fields).await;
    }

    /// All attributes of the queue.
    pub(crate) async fn attributes(&self) -> Value {
        let fields = json!({ "AttributeNames": ["All"] });
        self.done("GetQueueAttributes", fields).await["Attributes"].clone()
    }

    pub(crate) async fn arn(&self) -> String {
        self.attributes().await["QueueArn"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// How many messages are visible, not visible, and delayed.
    pub(crate) async fn counts(&self) -> [u64; 3] {
        let attributes = self.attributes().await;
        ["", "NotVisible", "Delayed"].map(|kind| {
            let name = format!("ApproximateNumberOfMessages{kind}");
            attributes[&name].as_str().unwrap().parse().unwrap()
        })
    }
}

pub(crate) fn body(message: &Value) -> String {
    message["Body"].as_str().unwrap().to_owned()
}

/// A system attribute of a message.
pub(crate) fn system<'a>(message: &'a Value, name: &str) -> &'a str {
    message["Attributes"][name].as_str().unwrap_or_default()
}
