//! What `fanlog serve` reads: addresses and the settings file.

pub(crate) mod address;
pub(crate) mod settings_file;
