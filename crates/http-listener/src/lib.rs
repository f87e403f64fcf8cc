//! HTTP: metrics and health.
