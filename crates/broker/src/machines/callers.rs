//! Who waits for a machine's answers, which may come with the decision on a later input.
//!
//! Owns: the callers. They go with the machine: its log may have refused what was decided for them.

use fanlog_coordinators::CallId;
use std::collections::HashMap;
use tokio::sync::oneshot;

/// Callers that were not answered yet.
#[derive(Debug)]
pub(crate) struct Callers<A> {
    waiting: HashMap<CallId, oneshot::Sender<A>>,
    calls: u64,
}

/// Answers on their way to their callers.
pub(crate) type Answers<A> = Vec<(oneshot::Sender<A>, A)>;

impl<A> Default for Callers<A> {
    fn default() -> Self {
        Self {
            waiting: HashMap::new(),
            calls: 0,
        }
    }
}

impl<A> Callers<A> {
    /// One more caller: the number of its call, and where its answer comes.
    pub(crate) fn add(&mut self) -> (CallId, oneshot::Receiver<A>) {
        let (sender, receiver) = oneshot::channel();
        let call = CallId(self.calls);
        self.calls += 1;
        self.waiting.insert(call, sender);
        (call, receiver)
    }

    /// Takes those out who are answered now. What nobody waits for is dropped.
    pub(crate) fn take(&mut self, answers: impl Iterator<Item = (CallId, A)>) -> Answers<A> {
        let take = |(call, answer)| Some((self.waiting.remove(&call)?, answer));
        answers.filter_map(take).collect()
    }
}

/// Hands out answers.
pub(crate) fn send<A>(answers: Answers<A>) {
    for (sender, answer) in answers {
        // A caller that went away needs no answer.
        let _ = sender.send(answer);
    }
}
