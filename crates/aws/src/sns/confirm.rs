//! ConfirmSubscription: an endpoint answers with the token that it was sent, in a signed request or by following the address beside it.

use super::index::Subscription;
use super::subscription::State;
use super::{Response, Sns};
use crate::config::Caller;
use crate::shared::to_the_end;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sns::{ConfirmSubscription, ConfirmSubscriptionResponse};
use std::sync::Arc;

/// For how long a token is good, in milliseconds: three days, as AWS's.
pub(super) const TOKEN_MS: i64 = 3 * 24 * 3_600 * 1_000;

impl Sns {
    pub(super) async fn confirm(
        self: &Arc<Self>,
        caller: &Caller,
        asked: ConfirmSubscription,
    ) -> Result<Response, AwsError> {
        let topic = self.topic_anywhere(&asked.topic_arn)?;
        let needs_signature = match asked.authenticate_on_unsubscribe.as_deref() {
            Some(text) => text.eq_ignore_ascii_case("true"),
            None => false,
        };
        if needs_signature && !caller.is_signed {
            return Err(AwsError::authorization_error(
                "AuthenticateOnUnsubscribe needs a signed request.",
            ));
        }
        let sns = self.clone();
        let (region, name) = (topic.value.region.clone(), topic.value.name.clone());
        let confirmed = to_the_end(async move {
            let _changing = sns.shared.changing.lock().await;
            let index = sns.subscriptions.index(&sns.shared)?;
            let now = sns.shared.now().0;
            let mut of_topic = index.of_topic(&region, &name).iter();
            let found = of_topic.find(|one| is_answered_by(one, &asked.token, now));
            let found = found.ok_or_else(|| AwsError::invalid_parameter("Invalid token"))?;
            if !found.value.is_pending() {
                return Ok(found.clone());
            }
            let mut confirmed = found.value.clone();
            confirmed.state = State::Confirmed {
                needs_signature,
                token: Some(asked.token),
            };
            let documents = &sns.subscriptions.documents;
            let confirmed = documents.replace(found, &confirmed).await?;
            sns.serve(&confirmed).await?;
            sns.serve_endpoint(&confirmed);
            Ok(confirmed)
        })
        .await?;
        let arn = confirmed.value.arn(&caller.account, confirmed.name());
        Ok(Response::ConfirmSubscription(ConfirmSubscriptionResponse {
            subscription_arn: arn.to_string(),
        }))
    }
}

fn is_answered_by(subscription: &Subscription, given: &str, now_ms: i64) -> bool {
    match &subscription.value.state {
        State::Pending { token, since_ms } => {
            let is_good = now_ms.saturating_sub(*since_ms) <= TOKEN_MS;
            is_good && subscription.value.protocol.is_http() && is_same(token, given)
        }
        State::Confirmed { token, .. } => token.as_ref().is_some_and(|token| is_same(token, given)),
    }
}

/// In time that tells nothing of how much of it was right.
fn is_same(token: &str, given: &str) -> bool {
    let pairs = token.bytes().zip(given.bytes());
    let difference = pairs.fold(0, |difference, (one, other)| difference | (one ^ other));
    token.len() == given.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_all_of_it() {
        assert!(is_same("abc", "abc"));
        assert!(!is_same("abc", "abd"));
        assert!(!is_same("abc", "ab"));
        assert!(!is_same("abc", ""));
    }
}
