//! Flows one by one.
