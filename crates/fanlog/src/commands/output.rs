//! Tables for people, JSON for programs.

use clap::ValueEnum;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Output {
    /// For people
    Table,
    /// For programs
    Json,
}

impl Output {
    /// Prints the one or the other.
    pub(super) fn print(
        self,
        table: impl FnOnce() -> String,
        json: impl FnOnce() -> Value,
    ) -> io::Result<()> {
        let text = match self {
            Self::Table => table(),
            Self::Json => format!("{:#}\n", json()),
        };
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

/// Rows under headings, each column as wide as it must be.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<const N: usize>(headings: [&str; N]) -> Self {
        let headings = headings.map(str::to_uppercase);
        Self {
            rows: vec![headings.to_vec()],
        }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    pub(super) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                // Writing to a string does not fail.
                let _ = write!(line, "{cell:<width$}  ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// `-` stands for nothing in a table.
pub(super) fn or_dash(cell: Option<impl ToString>) -> String {
    cell.map_or_else(|| "-".to_owned(), |cell| cell.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["topic", "n"]);
        assert!(table.is_empty());
        table.row(["a-long-name".to_owned(), "1".to_owned()]);
        table.row(["ä".to_owned(), or_dash(None::<i32>)]);
        assert_eq!(
            table.render(),
            "TOPIC        N\na-long-name  1\nä            -\n"
        );
    }
}
