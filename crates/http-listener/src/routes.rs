//! Every operation below /v1: where it is, who does it, and what it takes. The router and the OpenAPI document come from this table alone.

use crate::context::Context;
use crate::{
    cancel, dead, openapi, publish, queues, reading, receive, redrives, settle, status, topics,
};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{MethodRouter, delete, get, patch, post};
use tokio::time::Instant;

/// An operation.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// Its name in the OpenAPI document.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    /// Parameters of the query: name and schema.
    pub(crate) query: &'static [(&'static str, &'static str)],
    /// The schema of the body. A body's fields may stand in the query instead, where they are simple.
    pub(crate) body: Option<&'static str>,
    /// The schema of the answer; none for an answer without a body.
    pub(crate) answer: Option<&'static str>,
    pub(crate) status: u16,
    pub(crate) handler: fn() -> MethodRouter<Context>,
}

macro_rules! routes {
    ($($method:ident $path:literal $id:literal $summary:literal
        query [$($name:literal $schema:literal),*] body $body:expr; answers $status:literal $answer:expr; by $handler:path;)*) => {
        /// The table.
        pub(crate) const ROUTES: &[Route] = &[$(Route {
            method: stringify!($method),
            path: $path,
            id: $id,
            summary: $summary,
            query: &[$(($name, $schema)),*],
            body: $body,
            answer: $answer,
            status: $status,
            handler: || $method($handler),
        },)*];
    };
}

routes! {
    get "/v1/openapi.json" "openapi" "This document."
        query [] body None; answers 200 Some("Anything"); by openapi::serve;
    post "/v1/topics" "createTopic" "Creates a topic; answers once it is durable."
        query [] body Some("NewTopic"); answers 201 Some("Topic"); by topics::create;
    get "/v1/topics" "listTopics" "Lists topics by name."
        query ["after" "Text", "max" "Count", "internal" "Flag"] body None; answers 200 Some("Topics"); by topics::list;
    get "/v1/topics/{topic}" "describeTopic" "Tells a topic's partitions, where each begins and ends, and its own settings."
        query [] body None; answers 200 Some("Topic"); by topics::describe;
    delete "/v1/topics/{topic}" "deleteTopic" "Deletes a topic with all its records."
        query [] body None; answers 204 None; by topics::delete;
    post "/v1/topics/{topic}/records" "publish" "Publishes records; answers once they are durable. A body that is not JSON is one record's value."
        query ["key" "Text", "partition" "Count", "deliver_after" "Duration", "deliver_at" "Time", "message_id" "Text"]
        body Some("NewRecords"); answers 200 Some("PublishedRecords"); by publish::publish;
    get "/v1/topics/{topic}/partitions/{partition}/records" "readRecords" "Reads records from an offset or a time on, waiting for the first one if asked to."
        query ["offset" "Position", "time" "Time", "max" "Count", "wait" "Duration", "isolation" "Isolation"]
        body None; answers 200 Some("Records"); by reading::read;
    post "/v1/topics/{topic}/cancel" "cancelInTopic" "Sees to it that messages are not delivered any more, in all queues on the topic."
        query [] body Some("Messages"); answers 200 Some("Cancelled"); by cancel::in_topic;
    post "/v1/queues" "createQueue" "Creates a queue on a topic; settings stand beside name and topic."
        query [] body Some("NewQueue"); answers 201 Some("Queue"); by queues::create;
    get "/v1/queues" "listQueues" "Lists queues by name."
        query [] body None; answers 200 Some("Queues"); by queues::list;
    get "/v1/queues/{queue}" "describeQueue" "Tells a queue's topic and settings."
        query [] body None; answers 200 Some("Queue"); by queues::describe;
    patch "/v1/queues/{queue}" "alterQueue" "Changes settings of a queue; null takes one back to its default."
        query [] body Some("QueueSettings"); answers 200 Some("Queue"); by queues::alter;
    delete "/v1/queues/{queue}" "deleteQueue" "Ends a queue and forgets what became of its records. The topic stays, and so do its dead letters."
        query [] body None; answers 204 None; by queues::delete;
    post "/v1/queues/{queue}/pause" "pauseQueue" "Hands out no more messages until it is resumed."
        query [] body None; answers 200 Some("Queue"); by queues::pause;
    post "/v1/queues/{queue}/resume" "resumeQueue" "Hands out messages again."
        query [] body None; answers 200 Some("Queue"); by queues::resume;
    post "/v1/queues/{queue}/receive" "receive" "Takes the next messages, each under a lock and with a receipt, waiting for the first one if asked to."
        query ["max" "Count", "wait" "Duration", "consumer" "Text", "lock" "Duration"]
        body Some("Receive"); answers 200 Some("Received"); by receive::receive;
    post "/v1/queues/{queue}/ack" "ack" "Messages are done."
        query ["receipt" "Text"] body Some("Settle"); answers 200 Some("Settled"); by settle::ack;
    post "/v1/queues/{queue}/nack" "nack" "Attempts failed: the messages come again after the delay, or as the queue's backoff says, or become dead letters."
        query ["receipt" "Text", "delay" "Duration", "reason" "Text"] body Some("Settle"); answers 200 Some("Settled"); by settle::nack;
    post "/v1/queues/{queue}/reject" "reject" "Messages become dead letters now."
        query ["receipt" "Text", "reason" "Text"] body Some("Settle"); answers 200 Some("Settled"); by settle::reject;
    post "/v1/queues/{queue}/release" "release" "Messages were not tried: they come again, and no attempt is burnt."
        query ["receipt" "Text", "delay" "Duration"] body Some("Settle"); answers 200 Some("Settled"); by settle::release;
    post "/v1/queues/{queue}/extend" "extend" "Messages are still being worked on: their locks last so long from now on."
        query ["receipt" "Text", "lock" "Duration"] body Some("Settle"); answers 200 Some("Settled"); by settle::extend;
    post "/v1/queues/{queue}/cancel" "cancelInQueue" "Sees to it that messages are not delivered any more, in this queue."
        query [] body Some("Messages"); answers 200 Some("Cancelled"); by cancel::in_queue;
    get "/v1/queues/{queue}/status" "queueStatus" "Why is this stuck? Depth, ages, who holds what, blocked keys and why, when it will be empty."
        query [] body None; answers 200 Some("QueueStatus"); by status::of_queue;
    get "/v1/groups/{group}/status" "groupStatus" "Why is this stuck? How far a consumer group or share group is behind, how fast it reads, when retention reaches what it has not read."
        query [] body None; answers 200 Some("GroupStatus"); by status::of_group;
    get "/v1/queues/{queue}/dead" "listDeadLetters" "Lists dead letters."
        query ["after" "Text", "max" "Count"] body None; answers 200 Some("DeadLetters"); by dead::list;
    get "/v1/queues/{queue}/dead/{topic}/{partition}/{offset}" "showDeadLetter" "Shows a dead letter with all that it holds."
        query [] body None; answers 200 Some("DeadLetter"); by dead::show;
    post "/v1/queues/{queue}/dead/redrive" "redriveDeadLetters" "Delivers dead letters again."
        query [] body Some("Redrive"); answers 200 Some("DeadDone"); by dead::redrive;
    post "/v1/queues/{queue}/dead/redrives" "startRedrive" "Delivers dead letters again in the background, at a rate or as fast as it goes; it goes on after a restart."
        query [] body Some("Redrive"); answers 201 Some("RedriveJob"); by redrives::start;
    get "/v1/queues/{queue}/dead/redrives" "listRedrives" "Lists a queue's last redrives in the background, the newest first."
        query [] body None; answers 200 Some("RedriveJobs"); by redrives::list;
    get "/v1/queues/{queue}/dead/redrives/{redrive}" "showRedrive" "Tells how far a redrive in the background is."
        query [] body None; answers 200 Some("RedriveJob"); by redrives::show;
    delete "/v1/queues/{queue}/dead/redrives/{redrive}" "cancelRedrive" "Ends a redrive: what it has not moved stays a dead letter."
        query [] body None; answers 200 Some("RedriveJob"); by redrives::cancel;
    post "/v1/queues/{queue}/dead/discard" "discardDeadLetters" "Gives dead letters up for good."
        query [] body Some("Which"); answers 200 Some("DeadDone"); by dead::discard;
}

/// The router of the table.
pub(crate) fn router(context: &Context) -> Router<Context> {
    let router = Router::new();
    ROUTES.iter().fold(router, |router, route| {
        let counted = middleware::from_fn_with_state((context.clone(), route.id), counted);
        router.route(route.path, (route.handler)().route_layer(counted))
    })
}

/// Counts an operation's answers.
async fn counted(
    State((context, operation)): State<(Context, &'static str)>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let answer = next.run(request).await;
    let listeners = context.broker.metrics().listeners();
    listeners.http_answered(operation, answer.status().as_u16(), began.elapsed());
    answer
}
