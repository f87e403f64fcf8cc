//! What the group machine does, rule by rule, and the laws that hold of it whatever comes.

mod render;
pub(crate) mod transcript;

mod joining;
mod limits;
mod offsets;
mod sessions;
mod static_members;
