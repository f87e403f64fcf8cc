//! The tables, drawn from the results: each is a table of `bench/RESULTS.md` and a picture in `docs/bench/`.

mod example;
mod plans;

pub(in crate::bench) use example::{BURST, RUN_A, RUN_B};

use super::LIMITS;
use super::results::{BESIDE, Kind, Results, Spread};
use super::system::{FANLOG, FANLOG_OS, MACHINE, NOTHING_STORED};

/// One table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) kind: Kind,
    /// The name of its picture.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    /// Whether the picture's axis is logarithmic.
    pub(super) is_log: bool,
    /// Two sentences about it.
    pub(super) text: &'static str,
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Row>,
    /// Pairs of columns whose medians are divided in the table.
    pub(super) ratios: &'static [(&'static str, &'static str)],
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) label: String,
    /// One for each column.
    pub(super) cells: Vec<Cell>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) spread: Option<Spread>,
    pub(super) failure: Option<String>,
}

impl Table {
    /// The median of a row in a column.
    pub(super) fn median(&self, row: &Row, column: &str) -> Option<f64> {
        let at = self.columns.iter().position(|name| *name == column)?;
        Some(row.cells[at].spread?.median)
    }
}

const MB_PER_SECOND: &str = "megabytes_per_second";

/// What a table shows, before the results are looked at.
struct Plan<'a> {
    kind: Kind,
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    is_log: bool,
    text: &'static str,
    columns: &'a [&'static str],
    ratios: &'static [(&'static str, &'static str)],
    /// Label, load, figure.
    rows: Vec<(String, &'static str, &'static str)>,
}

impl Plan<'_> {
    /// The table, without rows and columns of which nothing was measured.
    fn table(self, results: &Results) -> Table {
        let cell = |load: &str, figure: &str, system: &str| Cell {
            spread: results.spread(self.kind, load, system, figure),
            failure: results.failure(self.kind, load, system).map(str::to_owned),
        };
        let is_known = |cell: &Cell| cell.spread.is_some() || cell.failure.is_some();
        let columns: Vec<&'static str> = self
            .columns
            .iter()
            .copied()
            .filter(|system| {
                let mut rows = self.rows.iter();
                rows.any(|(_, load, figure)| is_known(&cell(load, figure, system)))
            })
            .collect();
        let rows = self.rows.iter().map(|(label, load, figure)| Row {
            label: label.clone(),
            cells: columns.iter().map(|one| cell(load, figure, one)).collect(),
        });
        let rows = rows.filter(|row| row.cells.iter().any(is_known)).collect();
        Table {
            kind: self.kind,
            id: self.id,
            title: self.title,
            unit: self.unit,
            is_log: self.is_log,
            text: self.text,
            columns,
            rows,
            ratios: self.ratios,
        }
    }
}

/// Every table of which something was measured.
pub(super) fn all(results: &Results) -> Vec<Table> {
    let plans = plans::all().into_iter();
    let mut tables: Vec<Table> = plans.map(|plan| plan.table(results)).collect();
    tables.insert(0, near(results));
    tables.extend(example::all(results));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// A share of a limit: what, ours as (load, system), the limit as (load, system, figure).
type Share = (
    &'static str,
    (&'static str, &'static str),
    (&'static str, &'static str, &'static str),
);

const SHARES: &[Share] = &[
    (
        "64 KiB batches, synced, of the bare loop on a recycled file",
        ("produce-64k-p1", FANLOG),
        (LIMITS, MACHINE, "bare_64k_recycled_megabytes_per_second"),
    ),
    (
        "1 MB batches, synced, of the bare loop on a growing file",
        ("produce-1m-p1", FANLOG),
        (LIMITS, MACHINE, "bare_1m_growing_megabytes_per_second"),
    ),
    (
        "librdkafka, 1 KiB, os, of the same with nothing stored",
        ("librdkafka-1k-linger5", FANLOG_OS),
        ("librdkafka-1k-linger5", NOTHING_STORED, MB_PER_SECOND),
    ),
    (
        "fetch by one group, of bare read and send",
        ("fetch-1", FANLOG),
        (LIMITS, MACHINE, "bare_read_and_send_megabytes_per_second"),
    ),
    (
        "fetch by one group, of bare sendfile",
        ("fetch-1", FANLOG),
        (LIMITS, MACHINE, "bare_sendfile_megabytes_per_second"),
    ),
    (
        "64 KiB batches, synced: 16 partitions, of one",
        ("produce-64k-p16", FANLOG),
        ("produce-64k-p1", FANLOG, MB_PER_SECOND),
    ),
    (
        "64 KiB batches, synced: 100 partitions, of one",
        ("produce-64k-p100", FANLOG),
        ("produce-64k-p1", FANLOG, MB_PER_SECOND),
    ),
    (
        "64 KiB batches, synced: 1,000 partitions, of one",
        ("produce-64k-p1000", FANLOG),
        ("produce-64k-p1", FANLOG, MB_PER_SECOND),
    ),
];

/// How near Fanlog comes to the limits, round by round.
fn near(results: &Results) -> Table {
    let row = |(label, ours, limit): &Share| {
        let ours = results.rounds(BESIDE, ours.0, ours.1, MB_PER_SECOND);
        let limits = results.rounds(BESIDE, limit.0, limit.1, limit.2);
        // A round that failed on one side leaves nobody to tell which belong together.
        let shares = if ours.len() == limits.len() {
            let pairs = ours.iter().zip(limits);
            pairs.map(|(ours, limit)| 100.0 * ours / limit).collect()
        } else {
            Vec::new()
        };
        let cell = Cell {
            spread: Spread::of(&shares),
            failure: None,
        };
        Row {
            label: (*label).to_owned(),
            cells: vec![cell],
        }
    };
    let rows = SHARES.iter().map(row);
    Table {
        kind: BESIDE,
        id: "near",
        title: "How near to the limits",
        unit: "%",
        is_log: false,
        text: "Fanlog's speed as a share of what the machine, the client or one partition gives in the same round. A hundred is the limit; the bare \
               loop has one connection and Fanlog four, so that more is possible.",
        columns: vec![FANLOG],
        rows: rows.filter(|row| row.cells[0].spread.is_some()).collect(),
        ratios: &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::system::KAFKA;
    use std::collections::BTreeSet;

    #[test]
    fn shares_are_taken_round_by_round() {
        let mut results = Results::default();
        for (ours, limit) in [(80.0, 100.0), (90.0, 300.0), (50.0, 50.0)] {
            results.add(BESIDE, "produce-64k-p1", FANLOG, MB_PER_SECOND, ours);
            let figure = "bare_64k_recycled_megabytes_per_second";
            results.add(BESIDE, LIMITS, MACHINE, figure, limit);
        }
        let near = near(&results);
        assert_eq!(near.rows.len(), 1);
        let expected = Spread {
            median: 80.0,
            least: 30.0,
            most: 100.0,
        };
        assert_eq!(near.rows[0].cells[0].spread, Some(expected));
    }

    #[test]
    fn a_failed_load_has_its_row_and_a_system_that_never_ran_no_column() {
        let mut results = Results::default();
        results.add(BESIDE, "fetch-1", FANLOG, MB_PER_SECOND, 10.0);
        results.fail(BESIDE, "fetch-4", KAFKA, "it broke");
        let tables = all(&results);
        let fetch = tables.iter().find(|table| table.id == "fetch").unwrap();
        assert_eq!(fetch.columns, [FANLOG, KAFKA]);
        assert_eq!(fetch.rows.len(), 2);
        assert_eq!(fetch.median(&fetch.rows[0], FANLOG), Some(10.0));
        assert_eq!(fetch.rows[1].cells[1].failure.as_deref(), Some("it broke"));
    }

    #[test]
    fn every_table_has_a_picture_of_its_own_and_two_sentences() {
        let plans = plans::all();
        let ids: BTreeSet<_> = plans.iter().map(|plan| plan.id).collect();
        assert_eq!(ids.len(), plans.len());
        for plan in plans {
            assert!(
                plan.text.ends_with('.') && !plan.rows.is_empty(),
                "{}",
                plan.id
            );
        }
    }
}
