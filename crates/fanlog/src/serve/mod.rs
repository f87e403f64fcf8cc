//! What `fanlog serve` reads: addresses, the settings file, and what follows from both.

pub(crate) mod address;
pub(crate) mod open_files;
pub(crate) mod settings_file;
pub(crate) mod start_up;
