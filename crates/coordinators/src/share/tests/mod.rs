//! The machine of a share-partition against a model that knows every record by itself, and by example.

mod examples;
mod model;
mod world;
