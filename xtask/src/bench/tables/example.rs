//! The tables of the worked example.

use super::super::results::{EXAMPLE, Results};
use super::{Plan, Table};

/// The worked example's columns.
pub(in crate::bench) const RUN_A: &str = "run A";
pub(in crate::bench) const RUN_B: &str = "run B";
/// Its load.
pub(in crate::bench) const BURST: &str = "burst";

pub(super) fn all(results: &Results) -> Vec<Table> {
    let plan = |id, title, unit, rows: &[(&'static str, &str)], text| Plan {
        kind: EXAMPLE,
        id,
        title,
        unit,
        is_log: true,
        text,
        columns: &[RUN_A, RUN_B],
        ratios: &[],
        rows: rows
            .iter()
            .map(|(figure, label)| ((*label).to_owned(), BURST, *figure))
            .collect(),
    };
    let plans = [
        plan(
            "example",
            "The worked example: time until acknowledged",
            "ms",
            &[
                ("p50_ms", "in the burst: p50"),
                ("p99_ms", "in the burst: p99"),
                ("p999_ms", "in the burst: p99.9"),
                ("max_ms", "in the burst: most"),
                ("stall_ms", "the longest stall"),
            ],
            "50,000 `order.placed` of 1 KB a second for 180 s, synced, while four groups read. In run B one group is held to 2,000 a second until \
             the burst is long over.",
        ),
        plan(
            "example-rates",
            "The worked example: records",
            "records/s",
            &[
                ("records_per_second", "acknowledged in the burst"),
                ("read_records_per_second", "read by all groups in the burst"),
                (
                    "capped_records_per_second",
                    "the group that is held back, while it is",
                ),
                (
                    "drain_records_per_second",
                    "the same group, once it is let go",
                ),
            ],
            "What was published and read in a second. The last bar says how fast a backlog of millions is worked off when nothing holds the group.",
        ),
        plan(
            "example-processor",
            "The worked example: processor time in the burst",
            "% of one processor",
            &[
                ("broker_cpu_percent", "broker"),
                ("generator_cpu_percent", "generator: publishers and groups"),
            ],
            "Broker and generator share two processors, 200 % in all. Where the rate was not reached, this says whose limit it was.",
        ),
        plan(
            "example-counts",
            "The worked example: counts",
            "records",
            &[
                ("records", "acknowledged"),
                (
                    "backlog",
                    "backlog of the group that is held back, when it is let go",
                ),
                ("lost", "lost, over all groups"),
                ("duplicated", "duplicated, over all groups"),
                ("out_of_order", "out of order, over all groups"),
                ("incomplete_groups", "groups that did not come to the end"),
                ("unsent", "due in the burst and never sent"),
                (
                    "predicted_drain_minutes",
                    "minutes the backlog would have lasted, predicted",
                ),
                (
                    "drain_seconds",
                    "seconds it lasted once the group was let go",
                ),
            ],
            "Every record has its number in its partition, and every group checks it. A zero has no bar.",
        ),
    ];
    plans.map(|plan| plan.table(results)).into()
}
