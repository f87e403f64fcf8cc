//! What every handler has at hand.

use crate::HttpConfig;
use crate::cross_site::Hosts;
use crate::problem::{Kind, Problem};
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use fanlog_aws::{AwsConfig, Service};
use fanlog_broker::Broker;
use fanlog_model::{GroupId, TopicName};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// The unit in which bytes of requests are counted, so that they fit the semaphore's numbers.
const MEMORY_UNIT: usize = 1024;

/// One part in so many of the memory for requests is for all but batches.
const SMALL_SHARE: usize = 4;

/// Bytes that requests may hold at once.
#[derive(Clone)]
pub(crate) struct Memory {
    free: Arc<Semaphore>,
    units: u32,
}

impl Memory {
    fn new(bytes: usize) -> Self {
        let units = (bytes / MEMORY_UNIT).clamp(1, Semaphore::MAX_PERMITS);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        Self {
            free: Arc::new(Semaphore::new(units as usize)),
            units,
        }
    }

    /// Waits until so many bytes are free and takes them, all at once: whoever held some and waited for more might wait for another who
    /// does the same. What is larger than all there is takes all.
    pub(crate) async fn take(&self, bytes: usize) -> OwnedSemaphorePermit {
        let units = u32::try_from(bytes.div_ceil(MEMORY_UNIT)).unwrap_or(u32::MAX);
        let taken = Arc::clone(&self.free).acquire_many_owned(units.min(self.units));
        taken.await.expect("this semaphore is never closed")
    }
}

/// What every handler has at hand. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) broker: Arc<Broker>,
    /// SQS and SNS.
    pub(crate) aws: Service,
    pub(crate) hosts: Arc<Hosts>,
    /// The bytes of batches that may be held at once.
    pub(crate) batches: Memory,
    /// The bytes of all other requests: they are served while batches wait.
    pub(crate) small: Memory,
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
        let small = config.request_memory_bytes / SMALL_SHARE;
        let aws = AwsConfig::of(&broker.settings().aws);
        Self {
            aws: Service::new(broker.clone(), aws),
            broker,
            hosts: Arc::new(Hosts::new(config.hosts.clone())),
            patience: config.patience,
            batches: Memory::new(config.request_memory_bytes - small),
            small: Memory::new(small),
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
