//! SNS and SQS as SDKs ask them: forms and XML of the one, JSON of the other; and an endpoint that notes what it is sent.

use crate::support::{Served, ask};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

pub(crate) const SOON: Duration = Duration::from_secs(30);

/// Status and XML of an action of SNS.
pub(crate) async fn sns(
    served: &Served,
    action: &str,
    parameters: &[(&str, &str)],
) -> (u16, String) {
    let mut form = format!("Action={action}&Version=2010-03-31");
    for (name, value) in parameters {
        form.push_str(&format!("&{name}={}", encoded(value)));
    }
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    let (status, _, body) = ask(served.address, "POST", "/", &kind, form.as_bytes()).await;
    (status, body)
}

/// As `sns`, of what must succeed.
pub(crate) async fn done(served: &Served, action: &str, parameters: &[(&str, &str)]) -> String {
    let (status, xml) = sns(served, action, parameters).await;
    assert_eq!(status, 200, "{action}: {xml}");
    xml
}

/// As `sns`, of what must be refused: code and message.
pub(crate) async fn refused(
    served: &Served,
    action: &str,
    parameters: &[(&str, &str)],
) -> (String, String) {
    let (status, xml) = sns(served, action, parameters).await;
    assert!(status >= 400, "{action}: {status} {xml}");
    (text(&xml, "Code"), text(&xml, "Message"))
}

/// The text of the first element of that name.
pub(crate) fn text(xml: &str, name: &str) -> String {
    texts(xml, name).into_iter().next().unwrap_or_default()
}

/// The texts of all elements of that name.
pub(crate) fn texts(xml: &str, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let parts = xml.split(&open).skip(1);
    let text = |part: &str| {
        let (text, _) = part.split_once(&close).unwrap();
        let text = text.replace("&lt;", "<").replace("&gt;", ">");
        text.replace("&quot;", "\"").replace("&amp;", "&")
    };
    parts.map(text).collect()
}

/// The value of an attribute in an answer of Get..Attributes.
pub(crate) fn attribute(xml: &str, name: &str) -> Option<String> {
    let at = texts(xml, "key").iter().position(|key| key == name)?;
    texts(xml, "value").into_iter().nth(at)
}

fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// What an action of SQS answers; it must succeed.
pub(crate) async fn sqs(served: &Served, action: &str, body: Value) -> Value {
    let target = format!("AmazonSQS.{action}");
    let headers = [
        ("content-type", "application/x-amz-json-1.0"),
        ("x-amz-target", target.as_str()),
    ];
    let body = body.to_string();
    let (status, _, answer) = ask(served.address, "POST", "/", &headers, body.as_bytes()).await;
    assert_eq!(status, 200, "{action} {body}: {answer}");
    serde_json::from_str(&answer).unwrap_or(Value::Null)
}

/// Makes a queue of SQS; its address.
pub(crate) async fn queue(served: &Served, name: &str, attributes: Value) -> String {
    let body = json!({ "QueueName": name, "Attributes": attributes });
    let made = sqs(served, "CreateQueue", body).await;
    made["QueueUrl"].as_str().unwrap().to_owned()
}

/// The name of a queue as a resource.
pub(crate) fn queue_arn(name: &str) -> String {
    format!("arn:aws:sqs:us-east-1:000000000000:{name}")
}

/// Subscribes a queue with attributes; the subscription's name.
pub(crate) async fn subscribe(
    served: &Served,
    topic: &str,
    queue: &str,
    attributes: &[(&str, &str)],
) -> String {
    subscribe_to(served, topic, "sqs", &queue_arn(queue), attributes).await
}

/// Subscribes an endpoint with attributes; the subscription's name.
pub(crate) async fn subscribe_to(
    served: &Served,
    topic: &str,
    protocol: &str,
    endpoint: &str,
    attributes: &[(&str, &str)],
) -> String {
    let mut given = vec![
        ("TopicArn".to_owned(), topic.to_owned()),
        ("Protocol".to_owned(), protocol.to_owned()),
        ("Endpoint".to_owned(), endpoint.to_owned()),
        ("ReturnSubscriptionArn".to_owned(), "true".to_owned()),
    ];
    for (number, (name, value)) in attributes.iter().enumerate() {
        let entry = format!("Attributes.entry.{}", number + 1);
        given.push((format!("{entry}.key"), (*name).to_owned()));
        given.push((format!("{entry}.value"), (*value).to_owned()));
    }
    let given: Vec<(&str, &str)> = given
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    text(&done(served, "Subscribe", &given).await, "SubscriptionArn")
}

/// Receives until there are so many messages, or fails; all are deleted.
pub(crate) async fn receive(served: &Served, url: &str, count: usize) -> Vec<Value> {
    let receiving = async {
        let mut all = Vec::new();
        while all.len() < count {
            let body = json!({
                "QueueUrl": url, "MaxNumberOfMessages": 10, "WaitTimeSeconds": 5,
                "MessageAttributeNames": ["All"], "MessageSystemAttributeNames": ["All"],
            });
            let received = sqs(served, "ReceiveMessage", body).await;
            for message in received["Messages"].as_array().into_iter().flatten() {
                let body = json!({ "QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"] });
                sqs(served, "DeleteMessage", body).await;
                all.push(message.clone());
            }
        }
        all
    };
    let all = timeout(SOON, receiving).await;
    all.unwrap_or_else(|_| panic!("{count} messages come to {url}"))
}

/// Whether a queue has nothing.
pub(crate) async fn is_empty(served: &Served, url: &str) -> bool {
    let body = json!({ "QueueUrl": url, "MaxNumberOfMessages": 10 });
    let received = sqs(served, "ReceiveMessage", body).await;
    received["Messages"].as_array().is_none_or(Vec::is_empty)
}

/// The envelope in a message's body.
pub(crate) fn envelope(message: &Value) -> Value {
    serde_json::from_str(message["Body"].as_str().unwrap()).unwrap()
}

/// A request that an endpoint was sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    head: String,
    pub(crate) body: String,
}

impl Sent {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// An endpoint: what it is sent it tells; what it answers it is told, and `204` for all else.
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    sent: mpsc::UnboundedReceiver<Sent>,
    answers: Arc<Mutex<VecDeque<u16>>>,
}

impl Endpoint {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, sent) = mpsc::unbounded_channel();
        let answers = Arc::new(Mutex::new(VecDeque::new()));
        let of_task = answers.clone();
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let (tell, answers) = (tell.clone(), of_task.clone());
                tokio::spawn(async move { answer(socket, &tell, &answers).await });
            }
        });
        Self {
            address,
            sent,
            answers,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/in", self.address)
    }

    /// The next requests are answered so; 0 is silence.
    pub(crate) async fn will_answer(&self, statuses: &[u16]) {
        self.answers.lock().await.extend(statuses);
    }

    /// The next request.
    pub(crate) async fn next(&mut self) -> Sent {
        let next = timeout(SOON, self.sent.recv()).await;
        next.expect("a request comes in time").unwrap()
    }
}

async fn answer(
    mut socket: TcpStream,
    tell: &mpsc::UnboundedSender<Sent>,
    answers: &Mutex<VecDeque<u16>>,
) {
    let mut request = Vec::new();
    let mut buf = [0; 16 * 1024];
    let (head, body) = loop {
        let count = socket.read(&mut buf).await.unwrap();
        assert!(count > 0, "the request breaks off");
        request.extend_from_slice(&buf[..count]);
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let length = line.to_ascii_lowercase();
                length
                    .strip_prefix("content-length: ")?
                    .parse::<usize>()
                    .ok()
            });
            if body.len() >= length.unwrap() {
                break (head.to_owned(), body.to_owned());
            }
        }
    };
    let status = answers.lock().await.pop_front().unwrap_or(204);
    let _ = tell.send(Sent { head, body });
    if status == 0 {
        // Until the other side gives up.
        let _ = socket.read(&mut buf).await;
        return;
    }
    let line = format!("HTTP/1.1 {status} Said\r\ncontent-length: 0\r\n\r\n");
    socket.write_all(line.as_bytes()).await.unwrap();
}
