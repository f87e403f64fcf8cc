//! Endpoints over HTTP: each subscription has a task of its own, which asks whether it is wanted, or sends what was published.
//!
//! Why it exists: an endpoint may be slow or gone for hours; it holds up nobody but itself. What was published waits in the queue of its
//! subscription, as durable as everything, until the endpoint has taken it or its delivery policy gives up.
//! Owns: the tasks.   Never: messages (the broker's queues hold them), attempts (they count them).
//! In -> out: a subscription -> requests to its endpoint.
//! Read next: `sending.rs`, `asking.rs`.

mod asking;
mod sending;

use super::Sns;
use super::index::Subscription;
use super::post::Poster;
use super::subscription::{Protocol, State};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// How many times messages are taken and under way at once, beyond the one that every subscription may have.
const TAKES_MAX: usize = 256;

/// What serves endpoints.
pub(super) struct Outbound {
    poster: OnceLock<Poster>,
    /// By the ids of subscriptions; none any more once it was stopped.
    tasks: Mutex<Option<HashMap<String, AbortHandle>>>,
    more: Arc<Semaphore>,
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.tasks.lock().as_ref().map_or(0, HashMap::len);
        write!(f, "Outbound({count} endpoints)")
    }
}

impl Outbound {
    pub(super) fn new() -> Self {
        Self {
            poster: OnceLock::new(),
            tasks: Mutex::new(Some(HashMap::new())),
            more: Arc::new(Semaphore::new(TAKES_MAX)),
        }
    }

    /// Certificates are read when the first request is sent.
    fn poster(&self) -> &Poster {
        self.poster.get_or_init(Poster::new)
    }

    /// The subscription is served no more.
    pub(super) fn end(&self, id: &str) {
        let task = self
            .tasks
            .lock()
            .as_mut()
            .and_then(|tasks| tasks.remove(id));
        if let Some(task) = task {
            task.abort();
        }
    }

    /// Nothing is sent any more.
    pub(super) fn stop(&self) {
        for task in self.tasks.lock().take().into_iter().flatten() {
            task.1.abort();
        }
    }
}

impl Sns {
    /// Begins to serve all endpoints.
    pub(super) fn serve_endpoints(self: &Arc<Self>) {
        let Ok(index) = self.subscriptions.index(&self.shared) else {
            return;
        };
        for subscription in &index.all {
            if subscription.value.protocol.is_http() {
                self.serve_endpoint(subscription);
            }
        }
    }

    /// Begins to serve an endpoint, as its subscription says now.
    pub(super) fn serve_endpoint(self: &Arc<Self>, subscription: &Subscription) {
        let id = subscription.name().to_owned();
        let mut tasks = self.outbound.tasks.lock();
        let Some(tasks) = tasks.as_mut() else {
            return;
        };
        let sns = self.clone();
        let serving = match subscription.value.state {
            State::Pending { .. } => {
                let subscription = subscription.clone();
                tokio::spawn(async move { sns.ask(&subscription).await })
            }
            State::Confirmed { .. } => {
                let id = id.clone();
                tokio::spawn(async move { sns.send_all(&id).await })
            }
        };
        if let Some(before) = tasks.insert(id, serving.abort_handle()) {
            before.abort();
        }
    }

    /// Counts what became of a message, or of a subscription that can't have any.
    pub(super) fn count(&self, protocol: Protocol, outcome: &'static str) {
        let metrics = self.shared.broker.metrics();
        metrics.notifications().count(protocol.as_str(), outcome);
    }

    /// A subscription is kept that is never delivered to.
    pub(super) fn count_undeliverable(&self, protocol: Protocol) {
        self.count(protocol, "undeliverable");
    }
}
