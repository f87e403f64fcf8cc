//! The two services behind one door: reads a request, checks who asks, hands it on, and writes the answer.
//!
//! In -> out: the head and the body of a request -> an answer. Who drops the future has not asked: messages come back, a change goes on.

use crate::config::{AwsConfig, Caller};
use crate::shared::Shared;
use crate::sns::Sns;
use crate::sqs::Sqs;
use fanlog_aws_protocol::ids::uuid_text;
use fanlog_aws_protocol::sigv4::{self, Authentication};
use fanlog_aws_protocol::{AwsError, Call, Parsed, Refused, Reply, RequestHead, parse, wire_of};
use fanlog_broker::{Broker, FetchMemory};
use fanlog_model::GroupId;
use std::sync::Arc;

/// The longest name of a region.
const REGION_BYTES_MAX: usize = 32;

/// An answer, and the share of memory that it takes until it is sent.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers, without those of HTTP itself.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Bytes of messages count against the broker's memory for fetches until this is dropped.
    pub memory: Option<FetchMemory>,
}

/// What a request came to, before it is written.
pub(crate) struct Outcome {
    pub(crate) reply: Reply,
    pub(crate) memory: Option<FetchMemory>,
}

impl<R: Into<Reply>> From<R> for Outcome {
    fn from(reply: R) -> Self {
        Self {
            reply: reply.into(),
            memory: None,
        }
    }
}

/// SQS and SNS. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Service {
    shared: Arc<Shared>,
    sqs: Arc<Sqs>,
    sns: Arc<Sns>,
}

impl Service {
    /// Both services over a broker.
    pub fn new(broker: Arc<Broker>, config: AwsConfig) -> Self {
        let shared = Arc::new(Shared::new(broker, config));
        let sns = Arc::new(Sns::new(shared.clone()));
        let sqs = Arc::new(Sqs::new(shared.clone(), sns.clone()));
        Self { shared, sqs, sns }
    }

    /// Finishes what was under way when the broker stopped.
    pub async fn recover(&self) {
        self.sqs.recover().await;
        self.sns.recover().await;
    }

    /// Sends nothing to endpoints any more.
    pub fn stop(&self) {
        self.sns.stop();
    }

    /// The file of that name below the root, if it is the certificate by which endpoints check who sends to them.
    pub async fn certificate(&self, file: &str) -> Option<String> {
        self.sns.certificate(file).await
    }

    /// The queue of SQS that has the dead letters of a queue of the broker, if one has.
    pub fn keeper_of_dead_letters(&self, queue: &GroupId) -> Option<String> {
        let described = self.shared.broker.queues().describe(queue).ok()?;
        let topic = described.dead_letter?;
        let all = self.shared.all_queues().ok()?;
        let keeper = all.iter().find(|keeper| keeper.value.topic() == topic)?;
        Some(keeper.value.name.clone())
    }

    /// Answers a request.
    pub async fn answer(&self, head: &RequestHead<'_>, body: &[u8]) -> Answer {
        let request_id = uuid_text(self.shared.draw(), 4);
        let (wire, outcome) = match parse(head, body) {
            Ok(parsed) => {
                let wire = parsed.wire;
                (wire, self.outcome(head, body, parsed).await)
            }
            Err(Refused { error, wire }) => (wire, Err(error)),
        };
        let (result, memory) = match outcome {
            Ok(Outcome { reply, memory }) => (Ok(reply), memory),
            Err(error) => (Err(error), None),
        };
        let written = wire.answer(result, &request_id);
        Answer {
            status: written.status,
            headers: written.headers,
            body: written.body,
            memory,
        }
    }

    /// What is answered to a request that is refused before it is read.
    pub fn refuse(&self, head: &RequestHead<'_>, error: &AwsError) -> Answer {
        let request_id = uuid_text(self.shared.draw(), 4);
        let written = wire_of(head).failure(error, &request_id);
        Answer {
            status: written.status,
            headers: written.headers,
            body: written.body,
            memory: None,
        }
    }

    async fn outcome(
        &self,
        head: &RequestHead<'_>,
        body: &[u8],
        parsed: Parsed,
    ) -> Result<Outcome, AwsError> {
        if parsed.authentication.is_some() || !is_open(&parsed.call) {
            self.check_caller(head, body)?;
        }
        let caller = self.caller(head, parsed.authentication.as_ref());
        tracing::trace!(action = parsed.call.action(), region = %caller.region, "asked");
        match parsed.call {
            Call::Sqs(request) => self.sqs.answer(caller, request).await,
            Call::Sns(request) => self.sns.answer(caller, request).await,
        }
    }

    /// Whether who asks is who it says to be, where that is asked of them.
    fn check_caller(&self, head: &RequestHead<'_>, body: &[u8]) -> Result<(), AwsError> {
        let known = &self.shared.config.credentials.0;
        if known.is_empty() {
            return Ok(());
        }
        let secret_of = |id: &str| {
            let found = known.iter().find(|(known, _)| known == id);
            found.map(|(_, secret)| secret.clone())
        };
        let now_seconds = self.shared.now().0.div_euclid(1_000);
        sigv4::verify(head, body, &secret_of, now_seconds).map(|_| ())
    }

    fn caller(&self, head: &RequestHead<'_>, authentication: Option<&Authentication>) -> Caller {
        let config = &self.shared.config;
        let host = head.header("host").unwrap_or("localhost");
        let region = authentication.map(|found| found.scope.region.as_str());
        // It becomes a part of names: what can't be one is not another region.
        let region = region.filter(|region| is_region(region));
        let region = region.unwrap_or(&config.region);
        Caller {
            region: region.into(),
            account: config.account.as_str().into(),
            base_url: format!("http://{host}"),
            is_signed: authentication.is_some(),
            sender: authentication.map_or_else(
                || config.account.clone(),
                |found| found.access_key_id.clone(),
            ),
        }
    }
}

/// Whether an action is done for who does not sign: endpoints follow the addresses in what they are sent, and have no keys.
fn is_open(call: &Call) -> bool {
    use fanlog_aws_protocol::sns::Request::{ConfirmSubscription, Unsubscribe};
    matches!(call, Call::Sns(ConfirmSubscription(_) | Unsubscribe(_)))
}

fn is_region(text: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=REGION_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_legal)
}
