//! Problem details (RFC 9457): what every refusal looks like.
//!
//! Why it exists: a program wants a name that stays, a person wants to read what is wrong and what to do.
//! In -> out: a kind, and words -> `application/problem+json`.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

/// What `type` begins with; the kind's name follows.
pub(crate) const TYPE_PREFIX: &str = "urn:fanlog:problem:";

/// The media type of a problem.
pub(crate) const PROBLEM_TYPE: &str = "application/problem+json";

macro_rules! kinds {
    ($($kind:ident $name:literal $status:ident $title:literal;)*) => {
        /// Which kind of problem: its name, status and title stay as they are.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($kind,)*
        }

        impl Kind {
            /// Every kind, for the OpenAPI document.
            pub(crate) const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The last part of its `type`.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// The HTTP status that it is answered with.
            pub(crate) const fn status(self) -> StatusCode {
                match self {
                    $(Self::$kind => StatusCode::$status,)*
                }
            }

            /// What it is, in a few words.
            pub(crate) const fn title(self) -> &'static str {
                match self {
                    $(Self::$kind => $title,)*
                }
            }
        }
    };
}

kinds! {
    UnknownPath "unknown-path" NOT_FOUND "There is nothing at this path";
    MethodNotAllowed "method-not-allowed" METHOD_NOT_ALLOWED "The path does not take this method";
    CrossSite "cross-site" FORBIDDEN "The request comes from a page of another site";
    UnknownHost "unknown-host" MISDIRECTED_REQUEST "The broker does not know itself by this name";
    UnsupportedMediaType "unsupported-media-type" UNSUPPORTED_MEDIA_TYPE "The body is not JSON";
    BodyTooLarge "body-too-large" PAYLOAD_TOO_LARGE "The body is too large";
    SlowBody "slow-body" REQUEST_TIMEOUT "The body did not arrive in time";
    BrokenBody "broken-body" BAD_REQUEST "The body did not arrive whole";
    InvalidJson "invalid-json" BAD_REQUEST "The body is not the JSON that is wanted";
    InvalidField "invalid-field" BAD_REQUEST "A field or parameter is wrong";
    InvalidName "invalid-name" BAD_REQUEST "A name breaks a rule";
    InvalidSetting "invalid-setting" BAD_REQUEST "A setting is unknown or its value is wrong";
    UnknownTopic "unknown-topic" NOT_FOUND "There is no such topic";
    UnknownPartition "unknown-partition" NOT_FOUND "The topic has no such partition";
    TopicExists "topic-exists" CONFLICT "There is a topic of this name";
    InternalTopic "internal-topic" FORBIDDEN "The topic is the broker's own";
    TopicDeletionOff "topic-deletion-off" FORBIDDEN "Topics are not deleted here";
    TooManyPartitions "too-many-partitions" CONFLICT "There would be too many partitions";
    MessageTooLarge "message-too-large" PAYLOAD_TOO_LARGE "The message is too large for its topic";
    MessageRefused "message-refused" BAD_REQUEST "The topic does not take the message";
    DueTooLate "due-too-late" CONFLICT "Retention would take the message before it is due";
    DedupOff "dedup-off" CONFLICT "The topic does not remember message ids";
    OffsetOutOfRange "offset-out-of-range" BAD_REQUEST "The partition does not have this offset";
    UnknownQueue "unknown-queue" NOT_FOUND "There is no such queue";
    QueueExists "queue-exists" CONFLICT "There is a queue of this name";
    NameIsGroup "name-is-group" CONFLICT "The name is that of a group";
    UnknownMessage "unknown-message" NOT_FOUND "There is no such message";
    UnknownRedrive "unknown-redrive" NOT_FOUND "The queue has no such redrive";
    RedriveUnderWay "redrive-under-way" CONFLICT "A redrive of the queue is under way";
    RedriveOver "redrive-over" CONFLICT "The redrive is over";
    InvalidReceipt "invalid-receipt" BAD_REQUEST "The receipt is not one of this queue";
    DeadLettersElsewhere "dead-letters-elsewhere" CONFLICT "The dead letters are messages of another queue";
    LockLost "lock-lost" CONFLICT "The message is not held under this receipt any more";
    UnknownGroup "unknown-group" NOT_FOUND "There is no such group";
    Damaged "damaged" INTERNAL_SERVER_ERROR "Stored bytes are damaged";
    Unavailable "unavailable" SERVICE_UNAVAILABLE "It can't be served now; retry";
    Internal "internal" INTERNAL_SERVER_ERROR "An error of the broker's own";
}

/// A refusal: what kind, what exactly, and what a program may want to know of it.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) kind: Kind,
    detail: String,
    fields: Map<String, Value>,
}

impl Problem {
    /// A problem; `detail` names the thing, the value and the way out.
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            fields: Map::new(),
        }
    }

    /// A field that is wrong, by its name.
    pub(crate) fn of_field(name: &str, detail: impl Into<String>) -> Self {
        Self::new(Kind::InvalidField, detail).with("field", name)
    }

    /// With one more member.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Whether the request itself is at fault.
    pub(crate) fn is_of_request(&self) -> bool {
        self.kind.status().is_client_error()
    }

    /// What is wrong, in words.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// As JSON.
    pub(crate) fn to_json(&self) -> Value {
        let mut members = Map::new();
        let kind = format!("{TYPE_PREFIX}{}", self.kind.name());
        members.insert("type".to_owned(), kind.into());
        members.insert("title".to_owned(), self.kind.title().into());
        members.insert("status".to_owned(), self.kind.status().as_u16().into());
        members.insert("detail".to_owned(), self.detail.as_str().into());
        members.extend(self.fields.clone());
        Value::Object(members)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        if self.kind.status().is_server_error() {
            tracing::debug!(problem = self.kind.name(), detail = %self.detail, "an HTTP request failed");
        }
        let body = self.to_json().to_string();
        let mut response = (self.kind.status(), body).into_response();
        let value = header::HeaderValue::from_static(PROBLEM_TYPE);
        response.headers_mut().insert(header::CONTENT_TYPE, value);
        if self.kind == Kind::Unavailable {
            let second = header::HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, second);
        }
        response
    }
}
