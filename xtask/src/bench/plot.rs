//! Pictures: bars with whiskers from the least to the most of the rounds, as SVG.

use std::fmt::Write as _;

use super::tables::{Row, Table};

const WIDTH: f64 = 960.0;
/// Where bars begin and end.
const LEFT: f64 = 130.0;
const RIGHT: f64 = 860.0;
const TOP: f64 = 56.0;
const LABEL: f64 = 20.0;
const BAR: f64 = 15.0;
const GAP: f64 = 10.0;
/// A colour for each system, alike in all pictures.
const COLOURS: &[(&str, &str)] = &[
    ("Fanlog", "#17627f"),
    ("Fanlog, os", "#6fb1c6"),
    ("Kafka", "#c2512f"),
    ("Kafka, synced", "#e5a184"),
    ("nothing stored", "#8a8a8a"),
    ("run B", "#6fb1c6"),
];
const OTHER_COLOUR: &str = "#17627f";

/// From values to places.
#[derive(Clone, Copy, Debug)]
struct Axis {
    least: f64,
    most: f64,
    is_log: bool,
}

impl Axis {
    fn of(table: &Table) -> Axis {
        let spreads = table.rows.iter().flat_map(|row| &row.cells);
        let spreads: Vec<_> = spreads.filter_map(|cell| cell.spread).collect();
        let most = spreads.iter().map(|one| one.most).fold(0.0, f64::max);
        let positive = spreads.iter().map(|one| one.least).filter(|one| *one > 0.0);
        let least = positive.fold(most, f64::min);
        if table.is_log && most > 0.0 {
            // A bar of the least value still has a length.
            let least = 10f64.powf((least / 1.5).log10().floor());
            let most = 10f64.powf(most.log10().ceil()).max(least * 10.0);
            return Axis {
                least,
                most,
                is_log: true,
            };
        }
        let step = step(most);
        Axis {
            least: 0.0,
            most: ((most / step).ceil() * step).max(step),
            is_log: false,
        }
    }

    fn place(self, value: f64) -> f64 {
        let share = if self.is_log {
            (value.max(self.least) / self.least).log10() / (self.most / self.least).log10()
        } else {
            value / self.most
        };
        LEFT + share.clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    fn ticks(self) -> Vec<f64> {
        if self.is_log {
            let decades = (self.most / self.least).log10().round() as i32;
            return (0..=decades)
                .map(|decade| self.least * 10f64.powi(decade))
                .collect();
        }
        let step = step(self.most);
        let count = (self.most / step).round() as i32;
        (0..=count).map(|tick| f64::from(tick) * step).collect()
    }
}

/// A round distance of four to ten ticks.
fn step(most: f64) -> f64 {
    if most <= 0.0 {
        return 1.0;
    }
    let decade = 10f64.powf(most.log10().floor());
    let fits = |part: &f64| most / (decade * part) >= 4.0;
    decade * [1.0, 0.5, 0.2].into_iter().find(fits).unwrap_or(0.1)
}

/// The picture of a table.
pub(super) fn svg(table: &Table) -> String {
    let axis = Axis::of(table);
    let of_rows: f64 = table.rows.iter().map(height).sum();
    let bottom = TOP + of_rows;
    let tall = bottom + 50.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {tall:.0}\" width=\"{WIDTH:.0}\" height=\"{tall:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let scale = if axis.is_log { ", logarithmic" } else { "" };
    text(
        &mut svg,
        (16.0, 26.0),
        "font-size=\"17\" font-weight=\"bold\"",
        table.title,
    );
    let unit = format!("{}{scale}; bar: median, whisker: least to most", table.unit);
    text(&mut svg, (16.0, 45.0), "fill=\"#666\"", &unit);
    for tick in axis.ticks() {
        let x = axis.place(tick);
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {TOP:.1}V{bottom:.1}\" stroke=\"#ddd\"/>"
        );
        let style = "text-anchor=\"middle\" fill=\"#666\"";
        text(&mut svg, (x, bottom + 16.0), style, &number(tick));
    }
    let middle = (LEFT + RIGHT) / 2.0;
    let style = "text-anchor=\"middle\" fill=\"#666\"";
    text(
        &mut svg,
        (middle, bottom + 36.0),
        style,
        &format!("{}{scale}", table.unit),
    );
    let mut y = TOP;
    for row in &table.rows {
        bars(&mut svg, table, row, axis, y);
        y += height(row);
    }
    svg.push_str("</svg>\n");
    svg
}

fn is_shown(cell: &super::tables::Cell) -> bool {
    cell.spread.is_some() || cell.failure.is_some()
}

fn height(row: &Row) -> f64 {
    let bars = row.cells.iter().filter(|cell| is_shown(cell)).count();
    LABEL + bars as f64 * (BAR + 2.0) + GAP
}

/// A row: its label, and a bar for each system.
fn bars(svg: &mut String, table: &Table, row: &Row, axis: Axis, top: f64) {
    text(svg, (16.0, top + 14.0), "font-weight=\"bold\"", &row.label);
    let cells = table.columns.iter().zip(&row.cells);
    let mut y = top + LABEL;
    for (system, cell) in cells.filter(|(_, cell)| is_shown(cell)) {
        let base = y + BAR - 3.5;
        text(svg, (LEFT - 8.0, base), "text-anchor=\"end\"", system);
        if let Some(spread) = cell.spread {
            let (x, least, most) = (
                axis.place(spread.median),
                axis.place(spread.least),
                axis.place(spread.most),
            );
            let colour = COLOURS.iter().find(|(name, _)| name == system);
            let colour = colour.map_or(OTHER_COLOUR, |(_, colour)| colour);
            let (width, middle) = (x - LEFT, y + BAR / 2.0);
            let _ = writeln!(
                svg,
                "<rect x=\"{LEFT:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR:.1}\" fill=\"{colour}\"/>\n\
                 <path d=\"M{least:.1} {middle:.1}H{most:.1}M{least:.1} {low:.1}v6M{most:.1} {low:.1}v6\" stroke=\"#222\" fill=\"none\"/>",
                low = middle - 3.0,
            );
            text(svg, (x.max(most) + 6.0, base), "", &number(spread.median));
        } else {
            text(svg, (LEFT + 6.0, base), "fill=\"#b00\"", "failed");
        }
        y += BAR + 2.0;
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), style: &str, what: &str) {
    let what = what
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let space = if style.is_empty() { "" } else { " " };
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\"{space}{style}>{what}</text>"
    );
}

/// A number as people read it.
pub(super) fn number(value: f64) -> String {
    let rounded = value.round();
    match value.abs() {
        // Whole numbers, but for those that only look so because they are small.
        _ if value == 0.0 => "0".to_owned(),
        ..0.1 => format!("{value:.4}").trim_end_matches('0').to_owned(),
        ..10.0 if (value - rounded).abs() < 1e-9 => format!("{rounded:.0}"),
        ..10.0 => format!("{value:.2}"),
        ..10_000.0 => format!("{rounded:.0}"),
        _ => grouped(&format!("{rounded:.0}")),
    }
}

/// A comma between thousands.
fn grouped(digits: &str) -> String {
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && !grouped.ends_with('-') {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::{BESIDE, Spread};
    use crate::bench::tables::Cell;

    fn table(is_log: bool, values: &[[f64; 3]]) -> Table {
        let cell = |[least, median, most]: &[f64; 3]| Cell {
            spread: Some(Spread {
                median: *median,
                least: *least,
                most: *most,
            }),
            failure: None,
        };
        Table {
            kind: BESIDE,
            id: "id",
            title: "A <title>",
            unit: "MB/s",
            is_log,
            text: "",
            columns: vec!["Fanlog", "Kafka"],
            rows: vec![Row {
                label: "a & b".to_owned(),
                cells: values.iter().map(cell).collect(),
            }],
            ratios: &[],
        }
    }

    #[test]
    fn bars_are_as_long_as_their_values_and_whiskers_reach_to_the_ends() {
        let picture = svg(&table(false, &[[50.0, 100.0, 200.0], [20.0, 40.0, 40.0]]));
        // 730 points for 200.
        assert!(picture.contains("width=\"365.0\""), "{picture}");
        assert!(picture.contains("width=\"146.0\""), "{picture}");
        assert!(picture.contains("d=\"M312.5 83.5H860.0"), "{picture}");
        assert!(picture.contains("A &lt;title&gt;") && picture.contains("a &amp; b"));
        assert!(picture.contains(">MB/s</text>"));
    }

    #[test]
    fn on_a_logarithmic_axis_a_decade_is_always_as_long() {
        let axis = Axis::of(&table(
            true,
            &[[2.0, 10.0, 100.0], [1000.0, 1000.0, 1000.0]],
        ));
        assert_eq!(axis.ticks(), [1.0, 10.0, 100.0, 1000.0]);
        let decade = axis.place(10.0) - axis.place(1.0);
        assert!((axis.place(1000.0) - axis.place(100.0) - decade).abs() < 1e-6);
        assert_eq!(axis.place(0.0), LEFT);
    }

    #[test]
    fn a_system_that_failed_has_a_word_instead_of_a_bar() {
        let mut table = table(false, &[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]);
        table.rows[0].cells[1] = Cell {
            spread: None,
            failure: Some("it broke".to_owned()),
        };
        assert!(svg(&table).contains(">failed</text>"));
    }

    #[test]
    fn ticks_are_round_and_numbers_have_commas() {
        for (most, step) in [
            (1182.0, 200.0),
            (90.0, 10.0),
            (4.0, 1.0),
            (0.0, 1.0),
            (3.0, 0.5),
        ] {
            assert!((super::step(most) - step).abs() < 1e-9, "{most}");
        }
        let numbers = [0.0, 0.0032, 1.256, 2.0, 14.4, 1182.0, 14_335.0, 3_666_498.0].map(number);
        let expected = [
            "0",
            "0.0032",
            "1.26",
            "2",
            "14",
            "1182",
            "14,335",
            "3,666,498",
        ];
        assert_eq!(numbers, expected);
    }
}
