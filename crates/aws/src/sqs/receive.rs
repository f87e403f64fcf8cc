//! ReceiveMessage: messages of all that a queue reads, held for who asks.
//!
//! What is older than the queue keeps messages is not answered but ended here: a topic lets go of old records a segment at a time, and SQS
//! promises more.
//!
//! In -> out: how many, how long to wait, how long to hold -> messages.

use super::{Queue, QueueDocument, Sqs, message, refused};
use crate::config::Caller;
use crate::headers::ENCODING;
use crate::service::Outcome;
use fanlog_aws_protocol::sqs::{ReceiveMessage, ReceiveMessageResponse, Response};
use fanlog_aws_protocol::{AwsError, Reply};
use fanlog_broker::{FetchMemory, Message, Queues, Receive, SettleOutcome};
use fanlog_model::GroupId;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The most bytes of messages in an answer; one alone may have more.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// For how long messages that are too old are ended in one receive, beside the wait that was asked for.
const CLEARING_MAX: Duration = Duration::from_secs(2);

/// How many are looked at together once one was too old.
const OLD_AT_ONCE: usize = 256;

/// How much of a name is kept of who receives.
const CONSUMER_LENGTH_MAX: usize = 60;

const SYSTEM_ATTRIBUTES: &[&str] = &[
    "All",
    "ApproximateFirstReceiveTimestamp",
    "ApproximateReceiveCount",
    "AWSTraceHeader",
    "DeadLetterQueueSourceArn",
    "MessageDeduplicationId",
    "MessageGroupId",
    "SenderId",
    "SentTimestamp",
    "SequenceNumber",
];

/// What was received, before it is written.
pub(super) struct Taken {
    pub(super) messages: Vec<Message>,
    pub(super) memory: Option<FetchMemory>,
}

impl Sqs {
    pub(super) async fn receive(
        &self,
        caller: &Caller,
        asked: &ReceiveMessage,
    ) -> Result<Outcome, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let is_unknown = |name: &&String| !SYSTEM_ATTRIBUTES.contains(&name.as_str());
        if let Some(name) = asked.system_attribute_names.iter().find(is_unknown) {
            return Err(AwsError::invalid_attribute_name(name));
        }
        let attempt = asked.receive_request_attempt_id.as_deref();
        let attempt = attempt.filter(|_| queue.value.is_fifo());
        let again = match attempt {
            Some(id) => self.received_before(&queue, asked, id).await?,
            None => None,
        };
        let taken = match again {
            Some(taken) => taken,
            None => {
                let taken = self.take(caller, &queue, asked).await?;
                if let Some(id) = attempt {
                    self.attempts.note(&queue, id, &taken.messages);
                }
                taken
            }
        };
        let answer = self.answer_of(caller, &queue.value, asked, &taken.messages);
        let answer = answer.await;
        Ok(Outcome {
            reply: Reply::Sqs(Response::ReceiveMessage(answer)),
            memory: taken.memory,
        })
    }

    async fn answer_of(
        &self,
        caller: &Caller,
        queue: &QueueDocument,
        asked: &ReceiveMessage,
        messages: &[Message],
    ) -> ReceiveMessageResponse {
        let mut answered = Vec::with_capacity(messages.len());
        for message in messages {
            let delivery = self.sns.delivered(&caller.base_url, message).await;
            answered.push(match delivery {
                None => message::to_answer(&self.shared, queue, asked, message),
                Some(delivery) => {
                    let mut attributes = delivery.attributes;
                    attributes.retain(|name, _| name == ENCODING || asked.wants_attribute(name));
                    let body = delivery.body;
                    message::answered(&self.shared, queue, asked, message, body, attributes)
                }
            });
        }
        ReceiveMessageResponse { messages: answered }
    }

    /// Takes messages that are young enough, waiting for the first one.
    async fn take(
        &self,
        caller: &Caller,
        queue: &Queue,
        asked: &ReceiveMessage,
    ) -> Result<Taken, AwsError> {
        let document = &queue.value;
        let sources = self.sources(document);
        let records_max = usize::try_from(asked.max_number_of_messages.unwrap_or(1)).unwrap_or(1);
        let wait = seconds(asked.wait_time_seconds).unwrap_or_else(|| document.wait());
        let until = Instant::now() + wait;
        let patience = until.max(Instant::now() + CLEARING_MAX);
        let mut at_once = records_max;
        loop {
            let wanted = Receive {
                consumer: consumer(caller, document),
                records_max: at_once,
                bytes_max: BYTES_MAX,
                wait_max: until.saturating_duration_since(Instant::now()),
                lock: Some(self.visibility(document, asked)),
            };
            let queues = self.shared.broker.queues();
            let received = queues
                .receive_any(&sources, wanted)
                .await
                .map_err(refused)?;
            let (old, mut messages) = self.without_old(document, received.messages);
            let had_old = !old.is_empty();
            let surplus = messages.split_off(messages.len().min(records_max));
            let settling = settle_others(queues.clone(), old, surplus);
            if messages.is_empty() {
                settling.await;
            } else {
                // Who goes away while that is done would leave its messages held.
                tokio::spawn(settling);
            }
            if !messages.is_empty() || !had_old || Instant::now() >= patience {
                return Ok(Taken {
                    messages,
                    memory: Some(received.memory),
                });
            }
            // Where one is too old, many are.
            at_once = OLD_AT_ONCE;
        }
    }

    pub(super) fn visibility(&self, queue: &QueueDocument, asked: &ReceiveMessage) -> Duration {
        seconds(asked.visibility_timeout_seconds).unwrap_or_else(|| queue.visibility())
    }

    /// Those that are older than the queue keeps messages, and the others.
    fn without_old(
        &self,
        queue: &QueueDocument,
        messages: Vec<Message>,
    ) -> (Vec<Message>, Vec<Message>) {
        let now = self.shared.now().0;
        let kept = i64::try_from(queue.retention().as_millis()).unwrap_or(i64::MAX);
        let is_old = |message: &Message| {
            let sent = message::sent_at(queue, message);
            sent.is_some_and(|sent| sent.0.saturating_add(kept) < now)
        };
        messages.into_iter().partition(is_old)
    }
}

/// Ends messages that are too old, and gives back what is more than was asked for. What that does not succeed with now comes again when its
/// lock runs out.
async fn settle_others(queues: Arc<Queues>, old: Vec<Message>, surplus: Vec<Message>) {
    let ended = old.into_iter().map(|message| (message, SettleOutcome::Ack));
    let release = SettleOutcome::Release { delay: None };
    let given_back = surplus.into_iter();
    let given_back = given_back.map(|message| (message, release.clone()));
    let mut by_queue: HashMap<GroupId, Vec<_>> = HashMap::new();
    for (message, outcome) in ended.chain(given_back) {
        let of_queue = by_queue.entry(message.queue).or_default();
        of_queue.push((message.receipt, outcome));
    }
    for (queue, items) in by_queue {
        if let Err(error) = queues.settle(&queue, items).await {
            tracing::debug!(%queue, %error, "messages that are too old are ended later");
        }
    }
}

/// Who holds messages, as the queue's status names it. On a FIFO queue it is somebody new with each receive, so that a group is locked for
/// the same client too.
fn consumer(caller: &Caller, queue: &QueueDocument) -> Arc<str> {
    match queue.is_fifo() {
        true => "".into(),
        false => caller
            .sender
            .chars()
            .take(CONSUMER_LENGTH_MAX)
            .collect::<String>()
            .into(),
    }
}

pub(super) fn seconds(given: Option<i64>) -> Option<Duration> {
    let given = given.and_then(|seconds| u64::try_from(seconds).ok());
    given.map(Duration::from_secs)
}
