//! The machine of consumer groups: laws under random churn, and the flows that matter one by one.

mod classic_client;
mod flows;
mod laws;
mod world;
