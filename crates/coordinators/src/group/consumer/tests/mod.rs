//! The machine of consumer groups: laws under random churn, and the flows that matter one by one.

mod classic_client;
mod conversions;
mod expressions;
mod flows;
mod laws;
mod lost_and_late;
mod machine;
mod static_names;
mod world;
