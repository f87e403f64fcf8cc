//! The machine of a queue's partition by example, against a model that knows every record by itself, and at size.

mod delay;
mod keys;
mod leases;
mod model;

mod moving;
mod replay;
mod size;
mod world;
