//! What the group machine does, rule by rule, and the laws that hold of it whatever comes.

mod render;
pub(crate) mod transcript;

mod expiry;
mod joining;
mod laws;
mod limits;
mod offsets;
mod promises;
mod queue_names;
mod sessions;
mod static_members;
mod transactional;
mod world;
