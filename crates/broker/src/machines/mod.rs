//! What the runtimes of all coordinators' machines do alike: groups, share groups, transactions and queues each have machines over
//! an internal topic, one for each of its partitions.
//!
//! Why it exists: a machine decides and never waits; its log must take what it decides before it counts, its answers must wait until
//! that is durable, and where the log refuses a write the machine must be made anew from it. That is one mechanism, said once.
//! Owns: whether a machine loads, serves or is broken; its timer; who waits for its answers.   Never: what a machine decides.
//! In -> out: a step on a machine -> its result, or that the coordinator loads or is not available.
//! Invariants: replay equals live: a machine that decided what was not logged is dropped.   Read next: `shard.rs`, `shards.rs`.
//!
//! What a new machine supplies:
//! - a `Machine`: all that is forgotten when the log refuses a write, that is ledger, what waits, `Callers`, and the end of what was
//!   decided. It has no lock of its own;
//! - a `Shard` around a [`ShardBase`], and for it [`MachineShard`]: its name in messages (`KIND`), how its log is replayed
//!   (`replayed`), how it begins to serve with what was read (`serve`, which calls [`ShardBase::activate`]), when it is due next
//!   (`next_deadline`) and what happens then (`tick_some`); and `dropped`, where others must know that the machine is gone;
//! - a step for each request: `shard.with_machine(|shard, machine| …)`, in which it decides, appends with [`ShardBase::append`] and
//!   applies. A step that fails drops the machine and has it loaded again; one that succeeds re-arms the timer. What the step
//!   answers leaves by `once_durable`, or after `durable_to`, of the end that it decided up to;
//! - the topic: a [`Shards`] with its name, told of topics by `follow_topics`, and which shard has a key.

mod callers;
mod cut;
mod errors;
mod memory;
mod shard;
mod shards;

pub(crate) use callers::{Answers, Callers, send};
pub(crate) use cut::cut_log_before;
pub use errors::CoordinatorError;
pub(crate) use errors::LogError;
pub(crate) use memory::{MachineMemory, MemoryShare};
pub(crate) use shard::{MachineShard, ShardBase};
pub(crate) use shards::Shards;
