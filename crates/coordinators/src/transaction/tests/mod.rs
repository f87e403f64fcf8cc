//! The machine by itself: what it answers in every state, and its laws under random inputs and crashes.

mod laws;
mod states;
mod world;
