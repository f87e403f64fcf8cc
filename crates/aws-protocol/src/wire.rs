//! How a request came in, which is how its answer goes out.

use crate::error::AwsError;
use crate::writer::{JsonWriter, Writer, XmlWriter};
use crate::{sns, sqs};

/// Which of the two services a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// The Simple Queue Service.
    Sqs,
    /// The Simple Notification Service.
    Sns,
}

/// How a request and its answer are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// AWS JSON 1.0, of SQS alone.
    Json,
    /// A form in, XML out.
    Query,
}

/// How an answer is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    /// Whose namespace and errors.
    pub service: Service,
    /// Which protocol.
    pub protocol: Protocol,
}

/// An answer of either service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Of SQS.
    Sqs(sqs::Response),
    /// Of SNS.
    Sns(sns::Response),
}

impl From<sqs::Response> for Reply {
    fn from(response: sqs::Response) -> Reply {
        Reply::Sqs(response)
    }
}

impl From<sns::Response> for Reply {
    fn from(response: sns::Response) -> Reply {
        Reply::Sns(response)
    }
}

impl Reply {
    fn action(&self) -> &'static str {
        match self {
            Reply::Sqs(response) => response.action(),
            Reply::Sns(response) => response.action(),
        }
    }

    fn has_result(&self) -> bool {
        match self {
            Reply::Sqs(response) => response.has_result(),
            Reply::Sns(response) => {
                response.has_result() || sns::WITH_EMPTY_RESULT.contains(&response.action())
            }
        }
    }

    fn encode(&self, out: &mut dyn Writer) {
        match self {
            Reply::Sqs(response) => response.encode(out),
            Reply::Sns(response) => response.encode(out),
        }
    }
}

/// An answer of HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers, without those of HTTP itself (length, date).
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Wire {
    /// Writes what came of a request. The request id, shaped as a UUID, comes from whoever may draw one.
    pub fn answer(&self, result: Result<impl Into<Reply>, AwsError>, request_id: &str) -> Answer {
        match result {
            Ok(reply) => self.success(&reply.into(), request_id),
            Err(error) => self.failure(&error, request_id),
        }
    }

    /// Writes an error.
    pub fn failure(&self, error: &AwsError, request_id: &str) -> Answer {
        match self.protocol {
            Protocol::Json => json_failure(error, request_id),
            Protocol::Query => self.xml_failure(error, request_id),
        }
    }

    fn success(&self, reply: &Reply, request_id: &str) -> Answer {
        let body = match self.protocol {
            Protocol::Json => {
                let mut out = JsonWriter::open();
                reply.encode(&mut out);
                out.finish()
            }
            Protocol::Query => self.xml_success(reply, request_id),
        };
        Answer {
            status: 200,
            headers: self.headers(request_id),
            body,
        }
    }

    fn headers(&self, request_id: &str) -> Vec<(&'static str, String)> {
        let content_type = match self.protocol {
            Protocol::Json => "application/x-amz-json-1.0",
            Protocol::Query => "text/xml",
        };
        vec![
            ("content-type", content_type.to_owned()),
            ("x-amzn-requestid", request_id.to_owned()),
        ]
    }

    fn namespace(&self) -> &'static str {
        match self.service {
            Service::Sqs => sqs::XML_NAMESPACE,
            Service::Sns => sns::XML_NAMESPACE,
        }
    }

    fn xml_success(&self, reply: &Reply, request_id: &str) -> Vec<u8> {
        let action = reply.action();
        let mut out = XmlWriter::open();
        let head = format!("{action}Response xmlns=\"{}\"", self.namespace());
        out.element(&head, &mut |out| {
            if reply.has_result() {
                out.element(&format!("{action}Result"), &mut |out| reply.encode(out));
            }
            out.element("ResponseMetadata", &mut |out| {
                out.text("RequestId", request_id)
            });
        });
        out.finish()
    }

    fn xml_failure(&self, error: &AwsError, request_id: &str) -> Answer {
        let mut out = XmlWriter::open();
        let head = format!("ErrorResponse xmlns=\"{}\"", self.namespace());
        out.element(&head, &mut |out| {
            out.element("Error", &mut |out| {
                out.text("Type", fault(error));
                out.text("Code", error.query_code);
                out.text("Message", &error.message);
            });
            out.text("RequestId", request_id);
        });
        Answer {
            status: error.status,
            headers: self.headers(request_id),
            body: out.finish(),
        }
    }
}

fn fault(error: &AwsError) -> &'static str {
    if error.is_sender {
        "Sender"
    } else {
        "Receiver"
    }
}

fn json_failure(error: &AwsError, request_id: &str) -> Answer {
    let wire = Wire {
        service: Service::Sqs,
        protocol: Protocol::Json,
    };
    let mut headers = wire.headers(request_id);
    let query_error = format!("{};{}", error.query_code, fault(error));
    headers.push(("x-amzn-query-error", query_error));
    let mut out = JsonWriter::open();
    out.text("__type", error.json_type);
    if !error.message.is_empty() {
        out.text("message", &error.message);
    }
    Answer {
        status: error.status,
        headers,
        body: out.finish(),
    }
}
