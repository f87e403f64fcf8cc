//! The limits of the wire: Amazon's where there is one, ours where bytes from the network would otherwise decide about memory.

/// The largest message, and the largest batch of messages, in bytes: bodies and attributes together.
pub const MESSAGE_BYTES_MAX: usize = 1_048_576;

/// The largest notification, and the largest batch of them, in bytes.
pub const NOTIFICATION_BYTES_MAX: usize = 262_144;

/// The least that a queue's `MaximumMessageSize` may be.
pub const MESSAGE_BYTES_LIMIT_MIN: usize = 1024;

/// How many entries a batch has at most.
pub const BATCH_ENTRIES_MAX: usize = 10;

/// How many attributes a message has at most.
pub const MESSAGE_ATTRIBUTES_MAX: usize = 10;

/// How long the name of a message attribute is at most, in characters.
pub const ATTRIBUTE_NAME_LENGTH_MAX: usize = 256;

/// How long the data type of a message attribute is at most, in characters.
pub const DATA_TYPE_LENGTH_MAX: usize = 256;

/// How long the id of a batch's entry is at most.
pub const BATCH_ID_LENGTH_MAX: usize = 80;

/// How long a queue's name is at most, `.fifo` included.
pub const QUEUE_NAME_LENGTH_MAX: usize = 80;

/// How long a topic's name is at most, `.fifo` included.
pub const TOPIC_NAME_LENGTH_MAX: usize = 256;

/// How long a group id, a deduplication id and a receive request's attempt id are at most.
pub const GROUP_ID_LENGTH_MAX: usize = 128;

/// How long a label of a permission is at most.
pub const LABEL_LENGTH_MAX: usize = 80;

/// How many actions a permission of a queue names at most.
pub const PERMISSION_ACTIONS_MAX: usize = 7;

/// How many tags a queue or topic has at most.
pub const TAGS_MAX: usize = 50;

/// How long a tag's key is at most, in characters.
pub const TAG_KEY_LENGTH_MAX: usize = 128;

/// How long a tag's value is at most, in characters.
pub const TAG_VALUE_LENGTH_MAX: usize = 256;

/// How long the subject of a notification is at most, in characters.
pub const SUBJECT_LENGTH_MAX: usize = 100;

/// The longest delay of a message, in seconds.
pub const DELAY_SECONDS_MAX: i64 = 900;

/// The longest time that a message is invisible, in seconds.
pub const VISIBILITY_SECONDS_MAX: i64 = 43_200;

/// The longest wait of a receive, in seconds.
pub const WAIT_SECONDS_MAX: i64 = 20;

/// How many messages one receive returns at most.
pub const RECEIVE_MESSAGES_MAX: i64 = 10;

/// How many results a page of a list of queues has at most.
pub const LIST_RESULTS_MAX: i64 = 1000;

/// How many move tasks are listed at most.
pub const MOVE_TASKS_RESULTS_MAX: i64 = 10;

/// How many messages a second a move task may be asked for at most.
pub const MOVE_TASK_RATE_MAX: i64 = 500;

/// How large a request's body may be: a full batch with every byte escaped, and room for its names.
pub const REQUEST_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How long the query part of an address may be.
pub const QUERY_BYTES_MAX: usize = 256 * 1024;

/// How many fields a form may have.
pub const FORM_FIELDS_MAX: usize = 4096;

/// How deep JSON may nest: the deepest request has five levels.
pub const JSON_DEPTH_MAX: usize = 16;

/// How many values JSON may have.
pub const JSON_VALUES_MAX: usize = 8192;

/// How many elements one list or map of a request may have: more than any action takes, so that the action says what is wrong.
pub const LIST_LENGTH_MAX: usize = 1000;

/// How long the `Authorization` header may be.
pub const AUTHORIZATION_BYTES_MAX: usize = 8192;

/// How many headers a signature may cover.
pub const SIGNED_HEADERS_MAX: usize = 100;

/// How far a signature's time may be from ours, in seconds.
pub const CLOCK_SKEW_SECONDS_MAX: i64 = 15 * 60;

/// How long a presigned address may be valid, in seconds.
pub const PRESIGNED_SECONDS_MAX: i64 = 7 * 24 * 3600;
