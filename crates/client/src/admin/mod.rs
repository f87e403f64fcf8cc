//! What administrators ask for: topics, settings, groups, records.
//!
//! In -> out: a wish -> one request, tried again while the error may pass; the broker's answer as a typed value.
//! Read next: `topics.rs`.

mod configs;
mod consumer_groups;
mod groups;
mod records;
mod share_groups;
mod topics;
mod transactions;

pub use configs::{ConfigChange, ConfigEntry, ConfigSource};
pub use groups::{Committed, GroupMember, GroupView, ListedGroup, PartitionLag};
pub use share_groups::{ShareGroupMember, ShareGroupView, ShareOffset};
pub use topics::NewTopic;
pub use transactions::{ListedTransaction, ProducerView, TransactionView};

use crate::cluster::Lane;
use crate::connection::Connection;
use crate::{ClientError, Cluster};
use fanlog_protocol::ErrorCode;
use std::sync::Arc;

/// An administrator of one cluster. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Admin {
    cluster: Cluster,
}

impl Admin {
    /// An administrator who shares the cluster's connections.
    pub const fn new(cluster: Cluster) -> Self {
        Self { cluster }
    }

    /// The cluster.
    pub const fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Asks the controller until it answers, or says something that will not pass.
    async fn at_controller<T, F>(
        &self,
        ask: impl Fn(Arc<Connection>) -> F,
    ) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let ask = &ask;
        let attempt = || async move { ask(self.cluster.controller().await?).await };
        self.cluster.retrying(attempt).await
    }

    /// Asks a group's coordinator until it answers, or says something that will not pass.
    async fn at_coordinator<T, F>(
        &self,
        group: &str,
        ask: impl Fn(Arc<Connection>) -> F,
    ) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let ask = &ask;
        let attempt = || async move {
            let coordinator = self.cluster.coordinator(group, Lane::Calls).await?;
            ask(coordinator).await
        };
        self.cluster.retrying(attempt).await
    }
}

impl Cluster {
    /// Tries again, with fresh metadata where that may help, until the time for retries is over.
    pub(crate) async fn retrying<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let mut backoff = self.backoff();
        loop {
            let error = match attempt().await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            // Whoever names a topic that is not there is told so at once.
            let missing = error.code() == Some(ErrorCode::UnknownTopicOrPartition);
            if missing || !error.is_retriable() {
                return Err(error);
            }
            let is_stale = error.wants_metadata();
            backoff.wait_or(error).await?;
            if is_stale {
                let view = self.view();
                let topics: Vec<_> = view.topics.keys().map(String::as_str).collect();
                // When this fails too, the next attempt says why.
                let _ = self.refresh(&topics, false).await;
            }
        }
    }
}
