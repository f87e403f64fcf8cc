//! Wrong usage: what the command line or the settings file got wrong.

/// What is wrong with a flag or a setting, and how to put it right.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);
