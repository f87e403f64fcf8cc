//! DescribeLogDirs, versions 1-5: what lies in the data directory, the only one there is.
//!
//! Behaviour: all partitions where no topics are named (null), else those of the named ones that exist.
//! Versions: 2 flexible; 3 error on top; 4 total and usable bytes; 5 cordoned directories, of which there are none.

use crate::context::ConnectionContext;
use fanlog_broker::LogDir;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use fanlog_protocol::messages::describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use fanlog_protocol::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse, RequestHeader};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;

/// The disk does not say.
const UNKNOWN_BYTES: i64 = -1;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DescribeLogDirsRequest<'_>,
    _version: i16,
) -> DescribeLogDirsResponse<'static> {
    let dir = context.broker().describe_log_dir();
    let wanted = request.topics.as_deref().map(Wanted::new);
    DescribeLogDirsResponse {
        results: vec![DescribeLogDirsResult {
            error_code: ErrorCode::None.code(),
            topics: topics(&dir, wanted.as_ref()),
            total_bytes: bytes(&dir.total_bytes),
            usable_bytes: bytes(&dir.usable_bytes),
            log_dir: Cow::Owned(dir.path),
            is_cordoned: false,
        }],
        ..Default::default()
    }
}

/// The partitions that a request names.
struct Wanted<'a>(HashMap<&'a str, HashSet<i32>>);

impl<'a> Wanted<'a> {
    fn new(topics: &'a [DescribableLogDirTopic<'_>]) -> Self {
        let mut wanted: HashMap<&str, HashSet<i32>> = HashMap::new();
        for topic in topics {
            wanted
                .entry(&topic.topic)
                .or_default()
                .extend(&topic.partitions);
        }
        Self(wanted)
    }

    fn has(&self, topic: &str, partition: i32) -> bool {
        self.0
            .get(topic)
            .is_some_and(|partitions| partitions.contains(&partition))
    }
}

/// A directory lists its partitions topic by topic.
fn topics(dir: &LogDir, wanted: Option<&Wanted<'_>>) -> Vec<DescribeLogDirsTopic<'static>> {
    let mut topics: Vec<DescribeLogDirsTopic<'static>> = Vec::new();
    for (place, size) in &dir.partitions {
        let (topic, index) = (place.topic.as_str(), place.partition.0);
        if wanted.is_some_and(|wanted| !wanted.has(topic, index)) {
            continue;
        }
        if topics.last().is_none_or(|last| last.name != topic) {
            let name = Cow::Owned(topic.to_owned());
            topics.push(DescribeLogDirsTopic {
                name,
                partitions: Vec::new(),
            });
        }
        let topic = topics.last_mut().expect("pushed above");
        topic.partitions.push(DescribeLogDirsPartition {
            partition_index: index,
            partition_size: i64::try_from(*size).unwrap_or(i64::MAX),
            offset_lag: 0,
            is_future_key: false,
        });
    }
    topics
}

fn bytes(told: &io::Result<u64>) -> i64 {
    told.as_ref().map_or(UNKNOWN_BYTES, |bytes| {
        i64::try_from(*bytes).unwrap_or(i64::MAX)
    })
}
