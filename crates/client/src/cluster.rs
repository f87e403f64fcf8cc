//! What we know of a cluster, and the connections to its brokers.
//!
//! Owns: the metadata last heard, one connection per broker and lane.   Never: what is asked over them.
//! In -> out: "the leader of this partition", "the coordinator of this group" -> a connection.

use crate::connection::{Connection, ConnectionSettings, check_code};
use crate::{Backoff, ClientError};
use fanlog_protocol::messages::find_coordinator_request::FindCoordinatorRequest;
use fanlog_protocol::messages::metadata_request::{MetadataRequest, MetadataRequestTopic};
use fanlog_protocol::messages::metadata_response::MetadataResponse;
use fanlog_protocol::{ApiKey, ErrorCode};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use uuid::Uuid;

/// How to reach a cluster.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// `host:port` of brokers to ask first.
    pub bootstrap: Vec<String>,
    /// What brokers call us in their logs and metrics.
    pub client_id: String,
    /// How long a connection may take to open.
    pub connect_timeout: Duration,
    /// How long an answer may take.
    pub request_timeout: Duration,
    /// How long a call is tried again after errors that may pass.
    pub retry_for: Duration,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            bootstrap: vec!["127.0.0.1:9092".to_owned()],
            client_id: "fanlog".to_owned(),
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            retry_for: Duration::from_secs(30),
        }
    }
}

/// A cluster as last heard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterView {
    /// The cluster's id.
    pub cluster_id: Option<String>,
    /// The broker that answers administrators.
    pub controller: i32,
    /// `host:port` by broker number.
    pub brokers: BTreeMap<i32, String>,
    /// The topics asked for, by name.
    pub topics: BTreeMap<String, TopicView>,
}

/// A topic as last heard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicView {
    /// The topic's id.
    pub id: Uuid,
    /// Whether brokers keep their own state in it.
    pub is_internal: bool,
    /// Its partitions, in order.
    pub partitions: Vec<PartitionView>,
}

/// A partition as last heard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionView {
    /// Its number.
    pub index: i32,
    /// The broker that serves it; -1 for none.
    pub leader: i32,
    /// The leader's term; -1 when not told.
    pub leader_epoch: i32,
    /// The brokers that hold it.
    pub replicas: Vec<i32>,
    /// Those that are in sync.
    pub in_sync: Vec<i32>,
}

/// Calls that may take long have connections of their own: a broker answers one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    /// Short calls.
    Calls,
    /// Produce.
    Produce,
    /// Fetch, which waits for records.
    Fetch,
    /// Groups, whose joins wait for other members.
    Group,
}

/// A client of one cluster. Cheap to clone; clones share connections.
#[derive(Clone, Debug)]
pub struct Cluster {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: ClientConfig,
    settings: ConnectionSettings,
    view: Mutex<Arc<ClusterView>>,
    connections: tokio::sync::Mutex<HashMap<(String, Lane), Arc<Connection>>>,
}

/// What a metadata answer says of one topic.
type TopicAnswer = (String, Result<TopicView, ClientError>);

impl Cluster {
    /// Connects to the first bootstrap address that answers.
    ///
    /// # Errors
    /// The last address's, when none answers.
    pub async fn connect(config: ClientConfig) -> Result<Self, ClientError> {
        let cluster = Self::unconnected(config);
        cluster.refresh(&[], false).await?;
        Ok(cluster)
    }

    fn unconnected(config: ClientConfig) -> Self {
        let settings = ConnectionSettings {
            client_id: config.client_id.as_str().into(),
            connect_timeout: config.connect_timeout,
            request_timeout: config.request_timeout,
        };
        let shared = Shared {
            config,
            settings,
            view: Mutex::default(),
            connections: tokio::sync::Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The same cluster over connections of its own: for consumers, whose calls wait.
    pub(crate) fn with_own_connections(&self) -> Self {
        let other = Self::unconnected(self.shared.config.clone());
        *other.lock_view() = self.view();
        other
    }

    /// How the cluster is reached.
    pub fn config(&self) -> &ClientConfig {
        &self.shared.config
    }

    fn lock_view(&self) -> MutexGuard<'_, Arc<ClusterView>> {
        self.shared
            .view
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// What was last heard of the cluster.
    pub fn view(&self) -> Arc<ClusterView> {
        Arc::clone(&self.lock_view())
    }

    /// A fresh schedule of retries.
    pub(crate) fn backoff(&self) -> Backoff {
        Backoff::new(self.shared.config.retry_for)
    }

    /// All topics, internal ones included.
    ///
    /// # Errors
    /// When no broker answers.
    pub async fn all_topics(&self) -> Result<Arc<ClusterView>, ClientError> {
        self.ask_metadata(None, false).await?;
        Ok(self.view())
    }

    /// One topic, as it is now; retried while its leaders are being chosen.
    ///
    /// # Errors
    /// When it does not exist or no broker answers.
    pub async fn topic(&self, name: &str) -> Result<TopicView, ClientError> {
        self.topic_or_create(name, false).await
    }

    /// One topic, created first where the broker does that.
    pub(crate) async fn topic_or_create(
        &self,
        name: &str,
        create: bool,
    ) -> Result<TopicView, ClientError> {
        let mut backoff = self.backoff();
        loop {
            let error = match self.refresh(&[name], create).await {
                Ok(mut topics) => match topics.pop() {
                    Some((_, Ok(topic))) => return Ok(topic),
                    Some((_, Err(error))) => error,
                    None => return Err(self.incomplete(ApiKey::Metadata, name)),
                },
                Err(error) => error,
            };
            // A topic that does not exist will not come into being, unless a broker is just creating it.
            let missing = error.code() == Some(ErrorCode::UnknownTopicOrPartition);
            if !error.is_retriable() || (missing && !create) {
                return Err(error);
            }
            backoff.wait_or(error).await?;
        }
    }

    /// The topic from what was last heard, asking when it was not.
    pub(crate) async fn known_topic(&self, name: &str) -> Result<TopicView, ClientError> {
        match self.view().topics.get(name) {
            Some(topic) => Ok(topic.clone()),
            None => self.topic(name).await,
        }
    }

    fn incomplete(&self, api: ApiKey, about: &str) -> ClientError {
        ClientError::Incomplete {
            broker: self.shared.config.bootstrap.join(","),
            api,
            about: format!("topic '{about}'"),
        }
    }

    /// Asks about the cluster and these topics, and remembers the answer.
    pub(crate) async fn refresh(
        &self,
        topics: &[&str],
        create: bool,
    ) -> Result<Vec<TopicAnswer>, ClientError> {
        self.ask_metadata(Some(topics), create).await
    }

    async fn ask_metadata(
        &self,
        topics: Option<&[&str]>,
        create: bool,
    ) -> Result<Vec<TopicAnswer>, ClientError> {
        let wanted = topics.map(|topics| {
            let topics = topics.iter().map(|name| MetadataRequestTopic {
                name: Some(Cow::Borrowed(*name)),
                ..MetadataRequestTopic::default()
            });
            topics.collect()
        });
        let request = MetadataRequest {
            topics: wanted,
            allow_auto_topic_creation: create,
            ..MetadataRequest::default()
        };
        let connection = self.any(Lane::Calls).await?;
        let reply = connection.call(&request).await?;
        let answer = reply.read()?;
        connection.check(ApiKey::Metadata, "the cluster", answer.error_code, None)?;
        let answers = self.remember(connection.broker(), &answer, topics.is_none());
        Ok(answers)
    }

    fn remember(
        &self,
        broker: &str,
        answer: &MetadataResponse<'_>,
        is_all: bool,
    ) -> Vec<TopicAnswer> {
        let mut slot = self.lock_view();
        let mut view = ClusterView::clone(&slot);
        view.cluster_id = answer.cluster_id.as_deref().map(str::to_owned);
        view.controller = answer.controller_id;
        let address = |host: &str, port: i32| format!("{host}:{port}");
        let brokers = answer.brokers.iter();
        view.brokers = brokers
            .map(|one| (one.node_id, address(&one.host, one.port)))
            .collect();
        if is_all {
            view.topics.clear();
        }
        let mut answers = Vec::with_capacity(answer.topics.len());
        for topic in &answer.topics {
            let name = topic.name.as_deref().unwrap_or_default().to_owned();
            let about = format!("topic '{name}'");
            let checked = check_code(broker, ApiKey::Metadata, &about, topic.error_code, None);
            let seen = checked.map(|()| topic_view(topic));
            match &seen {
                Ok(seen) => view.topics.insert(name.clone(), seen.clone()),
                Err(_) => view.topics.remove(&name),
            };
            answers.push((name, seen));
        }
        *slot = Arc::new(view);
        answers
    }

    /// A connection to whichever broker answers: one that we know first, else a bootstrap address.
    pub(crate) async fn any(&self, lane: Lane) -> Result<Arc<Connection>, ClientError> {
        let known = self.view();
        let addresses = known.brokers.values().chain(&self.shared.config.bootstrap);
        let mut last = ClientError::Invalid("no bootstrap address is given".to_owned());
        for address in addresses {
            match self.connection(address, lane).await {
                Ok(connection) => return Ok(connection),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// A connection to this broker.
    pub(crate) async fn broker(&self, id: i32, lane: Lane) -> Result<Arc<Connection>, ClientError> {
        match self.view().brokers.get(&id) {
            Some(address) => self.connection(address, lane).await,
            // A broker that is gone has no address: any other knows where its work went.
            None => self.any(lane).await,
        }
    }

    /// A connection to the broker that creates and deletes.
    pub(crate) async fn controller(&self) -> Result<Arc<Connection>, ClientError> {
        self.broker(self.view().controller, Lane::Calls).await
    }

    async fn connection(&self, address: &str, lane: Lane) -> Result<Arc<Connection>, ClientError> {
        let mut connections = self.shared.connections.lock().await;
        let key = (address.to_owned(), lane);
        if let Some(open) = connections.get(&key)
            && !open.is_closed()
        {
            return Ok(Arc::clone(open));
        }
        let opened = Arc::new(Connection::open(address, &self.shared.settings).await?);
        connections.insert(key, Arc::clone(&opened));
        Ok(opened)
    }

    /// A connection to the coordinator of a group.
    pub(crate) async fn coordinator(
        &self,
        group: &str,
        lane: Lane,
    ) -> Result<Arc<Connection>, ClientError> {
        let mut backoff = self.backoff();
        loop {
            let error = match self.find_coordinator(group).await {
                Ok(address) => match self.connection(&address, lane).await {
                    Ok(connection) => return Ok(connection),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            if !error.is_retriable() {
                return Err(error);
            }
            backoff.wait_or(error).await?;
        }
    }

    async fn find_coordinator(&self, group: &str) -> Result<String, ClientError> {
        let connection = self.any(Lane::Calls).await?;
        let has_batches = connection.version(ApiKey::FindCoordinator)? >= 4;
        let request = if has_batches {
            FindCoordinatorRequest {
                coordinator_keys: vec![Cow::Borrowed(group)],
                ..FindCoordinatorRequest::default()
            }
        } else {
            FindCoordinatorRequest {
                key: Cow::Borrowed(group),
                ..FindCoordinatorRequest::default()
            }
        };
        let reply = connection.call(&request).await?;
        let answer = reply.read()?;
        let (code, message, host, port) = match answer.coordinators.first() {
            Some(one) => (one.error_code, &one.error_message, &one.host, one.port),
            None => (
                answer.error_code,
                &answer.error_message,
                &answer.host,
                answer.port,
            ),
        };
        let about = format!("group '{group}'");
        connection.check(ApiKey::FindCoordinator, &about, code, message.as_deref())?;
        Ok(format!("{host}:{port}"))
    }
}

fn topic_view(
    topic: &fanlog_protocol::messages::metadata_response::MetadataResponseTopic<'_>,
) -> TopicView {
    let partitions = topic.partitions.iter().map(|one| PartitionView {
        index: one.partition_index,
        leader: one.leader_id,
        leader_epoch: one.leader_epoch,
        replicas: one.replica_nodes.clone(),
        in_sync: one.isr_nodes.clone(),
    });
    let mut partitions: Vec<_> = partitions.collect();
    partitions.sort_by_key(|one| one.index);
    TopicView {
        id: topic.topic_id,
        is_internal: topic.is_internal,
        partitions,
    }
}
