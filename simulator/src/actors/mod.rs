//! Clients: what they do next, and what they make of the answers.
//!
//! Why it exists: promises are made to clients; only clients that retry, stumble, come late and vanish put them to the test.
//! In -> out: chance -> calls of the broker -> promises.

pub(crate) mod administrator;
mod churn;
pub(crate) mod consumer;
mod consumer_commit;
mod member;
mod producer;
mod queue_dead;
mod queue_end;
mod queue_keeper;
mod queue_producer;
mod queue_worker;
mod reader;
mod stream;

pub(crate) use consumer::Consumer;
pub(crate) use member::Member;
pub(crate) use producer::{Attempt, Producer};
pub(crate) use queue_worker::QueueClients;
pub(crate) use reader::Reader;
