//! GetQueueAttributes: what was set, and what is observed. The counts are right at the moment at which they are asked.

use super::attributes::{self, Attributes};
use super::{Queue, Sqs, refused};
use crate::config::Caller;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sqs::{GetQueueAttributes, GetQueueAttributesResponse, Response};
use fanlog_broker::QueueCounts;

/// What the names begin with that need counting.
const COUNTED: &str = "ApproximateNumberOf";

impl Sqs {
    pub(super) async fn get_attributes(
        &self,
        caller: &Caller,
        asked: &GetQueueAttributes,
    ) -> Result<Response, AwsError> {
        let queue = self.queue(caller, &asked.queue_url)?;
        let names = &asked.attribute_names;
        if let Some(unknown) = names.iter().find(|name| !attributes::is_known(name)) {
            return Err(AwsError::invalid_attribute_name(unknown));
        }
        let wants_all = names.iter().any(|name| name == "All");
        let is_wanted = |name: &str| wants_all || names.iter().any(|wanted| wanted == name);
        let mut all = queue.value.in_force();
        self.put_known(caller, &queue, &mut all);
        if wants_all || names.iter().any(|name| name.starts_with(COUNTED)) {
            self.put_counts(&queue, &mut all).await?;
        }
        all.retain(|name, _| is_wanted(name));
        let answer = GetQueueAttributesResponse { attributes: all };
        Ok(Response::GetQueueAttributes(answer))
    }

    fn put_known(&self, caller: &Caller, queue: &Queue, all: &mut Attributes) {
        let queue = &queue.value;
        let seconds = |ms: i64| (ms / 1_000).to_string();
        let known = [
            ("CreatedTimestamp", seconds(queue.created_ms)),
            ("LastModifiedTimestamp", seconds(queue.modified_ms)),
            ("QueueArn", queue.arn(&caller.account).to_string()),
        ];
        all.extend(known.map(|(name, value)| (name.to_owned(), value)));
    }

    async fn put_counts(&self, queue: &Queue, all: &mut Attributes) -> Result<(), AwsError> {
        let mut sum = QueueCounts::default();
        for source in self.sources(&queue.value) {
            let counts = self.shared.broker.queues().counts(&source).await;
            let counts = counts.map_err(refused)?;
            sum.visible += counts.visible;
            sum.in_flight += counts.in_flight;
            sum.delayed += counts.delayed;
        }
        let counted = [
            ("ApproximateNumberOfMessages", sum.visible),
            ("ApproximateNumberOfMessagesNotVisible", sum.in_flight),
            ("ApproximateNumberOfMessagesDelayed", sum.delayed),
        ];
        all.extend(counted.map(|(name, count)| (name.to_owned(), count.to_string())));
        Ok(())
    }
}
