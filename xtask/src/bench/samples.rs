//! What was measured, round by round.

use std::collections::BTreeMap;

/// Every value of a figure, by load, system and name.
#[derive(Debug, Default)]
pub(super) struct Samples(BTreeMap<(String, String, String), Vec<f64>>);

/// A figure over all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Samples {
    pub(super) fn add(&mut self, load: &str, system: &str, name: &str, value: f64) {
        let key = (load.to_owned(), system.to_owned(), name.to_owned());
        self.0.entry(key).or_default().push(value);
    }

    pub(super) fn spread(&self, load: &str, system: &str, name: &str) -> Option<Spread> {
        let key = (load.to_owned(), system.to_owned(), name.to_owned());
        let mut values = self.0.get(&key)?.clone();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[middle],
            _ => f64::midpoint(values[middle - 1], values[middle]),
        };
        Some(Spread {
            median,
            least: *values.first()?,
            most: *values.last()?,
        })
    }

    /// All of it, a JSON object a line. The names are the code's own: nothing in them needs an escape.
    pub(super) fn lines(&self) -> String {
        let line = |((load, system, name), values): (&(String, String, String), &Vec<f64>)| {
            let values: Vec<String> = values.iter().map(|value| format!("{value:.4}")).collect();
            let values = values.join(", ");
            format!(
                "{{\"load\": \"{load}\", \"system\": \"{system}\", \"figure\": \"{name}\", \"rounds\": [{values}]}}\n"
            )
        };
        self.0.iter().map(line).collect()
    }

    /// The names of a system's figures under a load.
    pub(super) fn names(&self, load: &str, system: &str) -> Vec<String> {
        let of = |(l, s, _): &&(String, String, String)| l == load && s == system;
        self.0
            .keys()
            .filter(of)
            .map(|(_, _, name)| name.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Samples, Spread};

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        let mut samples = Samples::default();
        for value in [4.0, 1.0, 2.0, 8.0] {
            samples.add("load", "system", "figure", value);
        }
        let expected = Spread {
            median: 3.0,
            least: 1.0,
            most: 8.0,
        };
        assert_eq!(samples.spread("load", "system", "figure"), Some(expected));
        assert_eq!(samples.spread("load", "system", "other"), None);
        let line: serde_json::Value = serde_json::from_str(samples.lines().trim()).unwrap();
        assert_eq!(line["rounds"][2], 2.0);
    }
}
