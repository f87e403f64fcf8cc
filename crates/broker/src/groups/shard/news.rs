//! What groups hear of topics that come, go and grow, where their log can't be written just then.
//!
//! Why it exists: news are told again when a log is replayed; on a full disk that would be refused, replayed, told and refused for as long
//! as the disk is full.
//! In -> out: news -> records, or a time at which they are told again.

use super::{Machine, Shard};
use crate::machines::{Answers, MachineShard};
use fanlog_coordinators::group::{Answer, Input};
use std::sync::Arc;
use std::time::Duration;

/// How long after the log refused news of topics it is asked again: a full disk stays full for a while.
const NEWS_AGAIN: Duration = Duration::from_secs(5);

impl Shard {
    /// Hands in news of topics, which change nothing but records: where the log refuses those, the machine is as it was, and hears of
    /// them later. To start it anew would be to tell it at once again, and so on for as long as the disk is full. Whether it took them.
    pub(in crate::groups) fn tell_news(self: &Arc<Self>, news: Input) -> bool {
        let told = self.step(|shard, machine| {
            let answers = shard.decide_news(machine, news);
            let is_taken = answers.is_some();
            Ok((answers.unwrap_or_default(), is_taken))
        });
        // One that is loading looks at the topics when it is done; one that is broken answers nothing.
        told.unwrap_or(true)
    }

    pub(super) fn decide_news(
        &self,
        machine: &mut Machine,
        news: Input,
    ) -> Option<Answers<Answer>> {
        let decided = self.decide(machine, news);
        if let Err(error) = &decided {
            tracing::warn!(partition = %self.partition().folder(), %error, "groups will see changed topics later");
            let at = self.base.now().monotonic + NEWS_AGAIN;
            machine.news_due.get_or_insert(at);
        }
        decided.ok()
    }

    /// What the log refused is due again.
    pub(super) fn retell_news(self: &Arc<Self>) {
        let now = self.base.now().monotonic;
        let is_due = self.with_active(|machine| machine.news_due.take_if(|due| *due <= now));
        if is_due.is_ok_and(|due| due.is_some())
            && self.tell_news(Input::TopicsChanged)
            && let Some(broker) = self.broker()
        {
            broker.groups().refresh_expressions();
        }
    }
}
