//! Balance, stickiness, completeness.
