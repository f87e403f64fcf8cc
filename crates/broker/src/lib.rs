//! Partitions, waiting fetches and the coordinator runtime: the one API that every listener calls.
//!
//! Why it exists: listeners translate protocols and hold no policy; what they all need (an append that is
//! acknowledged when durable, a fetch that waits, topics, groups) is said here once.
//! Owns: the data directory's identity, the topics that are open, who waits for what.
//! Never: sockets, protocol error codes, the layout of a log's files (that is storage's).
//! In -> out: calls of listeners -> appends, reads and records of the internal topics.
//! Invariants: LOG-1, LOG-2, PRD-1, GRP-3, OPS-1.   Read next: `broker.rs`.

mod blocking;
mod broker;
mod config;
mod lookup;
mod topics_view;
mod transactions;

mod aborted;
mod append_types;
mod cleaner;
mod cleaner_pace;
mod cold_reads;
mod commit_latency;
mod committer;
mod dedup;
mod fetch;
mod fetch_budget;
mod fetch_types;
mod log_dirs;
mod offsets;
mod offsets_types;
mod partition;
mod publish;
mod records;
mod retention;
mod sync_threads;
mod waiters;

mod admin;
mod admin_queues;
mod catalog_runtime;
mod documents;
mod group_status;
mod groups;
mod internal_batch;
mod machines;
mod producer_ids;
mod queues;
mod replay;
mod seats;
mod shares;

mod clean_shutdown;
mod folders;
mod garbage;
mod identity;
mod last_seen_time;
mod log_config;
mod opener;
mod read_pace;
mod reconcile;
mod small_files;
mod start;
mod start_counter;
mod steady_clock;
mod two_slots;

mod metrics;
#[cfg(feature = "planted-faults")]
pub mod planted;

pub use admin::AutoCreateError;
pub use admin_queues::QUEUES_TOPIC;
pub use append_types::{AppendError, AppendReceipt, RecordPlace, RefusedBatch};
pub use broker::Broker;
pub use catalog_runtime::CatalogUnavailable;
pub use config::BrokerConfig;
pub use dedup::{Claimed, FindMessageError, Identified, IdsError};
pub use documents::{Documents, DocumentsError};
pub use fanlog_coordinators::catalog::{Document, DocumentError};
pub use fanlog_coordinators::queue::{SettleError, Settled};
pub use fanlog_storage::journal::JournalConfig;
pub use fanlog_storage::{ActiveProducer, FileSlice};
pub use fetch::FetchResult;
pub use fetch_budget::FetchMemory;
pub use fetch_types::{
    AbortedTransaction, DivergingEpoch, FetchError, FetchPartition, FetchRequestPlan,
    FetchedRecords, Isolation,
};
pub use group_status::{GroupPartitionStatus, GroupStatus, MemberStatus, Overtaken};
pub use groups::{CoordinatorError, GroupPosition, GroupRequestError, Groups, OFFSETS_TOPIC};
pub use identity::{IDENTITY_FILE, Identity, IdentityError};
pub use log_dirs::{DescribeProducersError, LogDir};
pub use lookup::{EpochError, LookupError, PartitionUnavailable, TopicRef};
pub use metrics::{ListenerMetrics, Metrics, NotificationMetrics, RequestMetrics};
pub use offsets_types::{
    DeleteRecordsError, EpochEnd, ListOffsetsError, ListedOffset, OffsetSpec, OffsetsError,
};
pub use partition::Partition;
pub use producer_ids::InitProducerIdError;
pub use publish::{Due, NewMessage, PublishError, Published};
pub use queues::{
    AUDIT_TOPIC, BlockedKey, CancelOutcome, ConsumerLoad, DELIVER_AFTER, DELIVER_AT, DeadDone,
    DeadLetter, DeadLetterShown, DeadLetters, DeadSelection, Drain, Headers, Hindrance, Message,
    MessageId, MessageIdError, MoveEnd, MoveMessages, MoveTask, MoveTo, NewQueue, QueueCounts,
    QueueDescription, QueueError, QueuePartitionStatus, QueueStatus, Queues, Receipt, ReceiptError,
    Receive, Received, RecordOvertaken, Redrive, RedriveJob, RedriveState, SettleFailure,
    SettleOutcome, SettledEach, Start,
};
pub use records::{ReadRecords, RecordsWanted, StoredRecord};
pub use shares::{
    PendingAck, SHARE_STATE_TOPIC, SessionKey, SessionPlan, ShareAckError, ShareFetchError,
    ShareFetchPlan, ShareFetched, ShareFetchedRecords, ShareOffset, SharePartitionRef,
    ShareSessionError, Shares,
};
pub use start::StartError;
pub use start_counter::StartCounterError;
pub use topics_view::{Topic, TopicsView};
pub use transactions::{
    AllowError, MarkerError, TRANSACTIONS_TOPIC, TransactionRequestError, TransactionalCommitError,
    Transactions, WrittenMarker,
};
