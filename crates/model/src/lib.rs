//! Nouns, newtypes, limits, settings and invariant names that every crate shares.
