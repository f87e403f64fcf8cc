//! What every handler has at hand.

use crate::HttpConfig;
use crate::cross_site::Hosts;
use crate::problem::{Kind, Problem};
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use fanlog_broker::Broker;
use fanlog_model::{GroupId, TopicName};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// The unit in which bytes of requests are counted, so that they fit the semaphore's numbers.
pub(crate) const MEMORY_UNIT: usize = 1024;

/// What every handler has at hand. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) broker: Arc<Broker>,
    pub(crate) hosts: Arc<Hosts>,
    /// The bytes of requests that may be held at once, in units.
    pub(crate) memory: Arc<Semaphore>,
    /// How long a body may take to arrive.
    pub(crate) patience: Duration,
    stopping: watch::Receiver<bool>,
}

impl Context {
    pub(crate) fn new(
        broker: Arc<Broker>,
        config: &HttpConfig,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let units = (config.request_memory_bytes / MEMORY_UNIT).clamp(1, u32::MAX as usize);
        Self {
            broker,
            hosts: Arc::new(Hosts::new(config.hosts.clone())),
            patience: config.patience,
            memory: Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))),
            stopping,
        }
    }

    /// What the future gives; nothing if the broker stops first. Who waits for messages does not hold up the stop.
    pub(crate) async fn until_stop<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut stopping = self.stopping.clone();
        tokio::select! {
            done = future => Some(done),
            () = crate::connections::told(&mut stopping) => None,
        }
    }
}

/// The names in a path.
pub(crate) struct InPath<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Context> for InPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(head: &mut Parts, context: &Context) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(head, context).await;
        path.map(|Path(names)| Self(names)).map_err(|error| {
            let path = head.uri.path();
            Problem::new(
                Kind::UnknownPath,
                format!("path '{path}': {}", error.body_text()),
            )
        })
    }
}

/// A topic's name out of a path.
pub(crate) fn topic_name(name: &str) -> Result<TopicName, Problem> {
    TopicName::new(name)
        .map_err(|error| Problem::new(Kind::InvalidName, error.to_string()).with("topic", name))
}

/// A queue's or a group's name out of a path: any text, of which some have no queue.
pub(crate) fn group_id(name: &str) -> GroupId {
    GroupId(name.into())
}
