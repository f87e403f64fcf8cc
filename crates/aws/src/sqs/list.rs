//! ListQueues, GetQueueUrl and ListDeadLetterSourceQueues.

use super::Sqs;
use crate::config::Caller;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::limits::LIST_RESULTS_MAX;
use fanlog_aws_protocol::sqs::{
    GetQueueUrl, GetQueueUrlResponse, ListDeadLetterSourceQueues,
    ListDeadLetterSourceQueuesResponse, ListQueues, ListQueuesResponse, Response,
};

impl Sqs {
    pub(super) fn get_url(
        &self,
        caller: &Caller,
        asked: &GetQueueUrl,
    ) -> Result<Response, AwsError> {
        let owner = asked.owner_account.as_deref();
        if owner.is_some_and(|owner| *owner != *caller.account) {
            return Err(AwsError::queue_does_not_exist());
        }
        let queue = self.shared.queue(&caller.region, &asked.queue_name)?;
        let queue = queue.ok_or_else(AwsError::queue_does_not_exist)?;
        let queue_url = self.url(caller, &queue.value);
        Ok(Response::GetQueueUrl(GetQueueUrlResponse { queue_url }))
    }

    pub(super) fn list_queues(
        &self,
        caller: &Caller,
        asked: &ListQueues,
    ) -> Result<Response, AwsError> {
        let prefix = asked.name_prefix.as_deref().unwrap_or_default();
        let all = self.shared.all_queues()?;
        let mut names: Vec<_> = all
            .iter()
            .map(|queue| &queue.value)
            .filter(|queue| *queue.region == *caller.region && queue.name.starts_with(prefix))
            .collect();
        names.sort_by(|one, other| one.name.cmp(&other.name));
        let names = names.into_iter().map(|queue| queue.name.as_str());
        let (page, next_token) = page(names, asked.next_token.as_deref(), asked.max_results)?;
        Ok(Response::ListQueues(ListQueuesResponse {
            queue_urls: self.urls(caller, &page),
            next_token,
        }))
    }

    pub(super) fn list_sources(
        &self,
        caller: &Caller,
        asked: &ListDeadLetterSourceQueues,
    ) -> Result<Response, AwsError> {
        let target = self.queue(caller, &asked.queue_url)?;
        let arn = target.value.arn(&caller.account);
        let all = self.shared.all_queues()?;
        let sources = all.iter().map(|queue| &queue.value);
        let mut sources: Vec<_> = sources
            .filter(|queue| queue.redrive_target().as_ref() == Some(&arn))
            .map(|queue| queue.name.as_str())
            .collect();
        sources.sort_unstable();
        let sources = sources.into_iter();
        let (page, next_token) = page(sources, asked.next_token.as_deref(), asked.max_results)?;
        let answer = ListDeadLetterSourceQueuesResponse {
            queue_urls: self.urls(caller, &page),
            next_token,
        };
        Ok(Response::ListDeadLetterSourceQueues(answer))
    }

    fn urls(&self, caller: &Caller, names: &[&str]) -> Vec<String> {
        let url = |name: &&str| {
            fanlog_aws_protocol::queue_url::format(&caller.base_url, &caller.account, name)
        };
        names.iter().map(url).collect()
    }
}

/// One page of names in order, and by what the next one is asked for. The token is the last name, so that a page begins where the last
/// one ended whatever was made or deleted between.
fn page<'a>(
    names: impl Iterator<Item = &'a str>,
    token: Option<&str>,
    max: Option<i64>,
) -> Result<(Vec<&'a str>, Option<String>), AwsError> {
    let after = token.map(read_token).transpose()?;
    let wanted = usize::try_from(max.unwrap_or(LIST_RESULTS_MAX)).unwrap_or(usize::MAX);
    let mut rest = names.skip_while(|name| after.as_deref().is_some_and(|after| *name <= after));
    let page: Vec<_> = rest.by_ref().take(wanted).collect();
    // Who does not ask for pages gets the first thousand, and is not told of more: so does Amazon.
    let has_more = max.is_some() && rest.next().is_some();
    let last = page.last().filter(|_| has_more);
    let next = last.map(|last| format!("{TOKEN_PREFIX}{last}"));
    Ok((page, next))
}

const TOKEN_PREFIX: &str = "after:";

fn read_token(token: &str) -> Result<String, AwsError> {
    let after = token.strip_prefix(TOKEN_PREFIX).map(str::to_owned);
    after.ok_or_else(|| AwsError::invalid_parameter_value("Invalid or expired next token."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_whatever_goes_between() {
        let names = ["a", "b", "c", "d", "e"];
        let (first, token) = page(names.into_iter(), None, Some(2)).unwrap();
        assert_eq!(first, ["a", "b"]);
        let without_b = ["a", "c", "d", "e"];
        let (second, token) = page(without_b.into_iter(), token.as_deref(), Some(2)).unwrap();
        assert_eq!(second, ["c", "d"]);
        let (third, token) = page(names.into_iter(), token.as_deref(), Some(2)).unwrap();
        assert_eq!((third, token), (vec!["e"], None));
        let (all, token) = page(names.into_iter(), None, None).unwrap();
        assert_eq!((all.len(), token), (5, None));
        assert!(page(names.into_iter(), Some("x"), Some(2)).is_err());
    }
}
