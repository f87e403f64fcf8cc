//! Answers to requests of many items, of which some may have failed.
//!
//! Where any item succeeded the answer is 200 with one result per item, in their order: a problem would have the others sent again.
//! Where all failed, it is the problem of one of them, with the results beside it if there are several.

use crate::answers;
use crate::problem::Problem;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// The answer.
pub(crate) fn answer(
    list: &str,
    outcomes: Vec<Result<Value, Problem>>,
) -> Result<Response, Problem> {
    let has_any = outcomes.is_empty() || outcomes.iter().any(Result::is_ok);
    let shown = |outcome: &Result<Value, Problem>| match outcome {
        Ok(value) => value.clone(),
        Err(problem) => json!({ "problem": problem.to_json() }),
    };
    let results: Vec<Value> = outcomes.iter().map(shown).collect();
    if has_any {
        let answer = Map::from_iter([(list.to_owned(), Value::Array(results))]);
        return answers::ok(&answer);
    }
    let mut problems = outcomes.into_iter().filter_map(Result::err);
    let first = problems
        .next()
        .expect("no item succeeded, and there are some");
    // What may pass comes first: the request may then be tried again as it is.
    let passing = match first.is_of_request() {
        true => problems.find(|problem| !problem.is_of_request()),
        false => None,
    };
    let problem = passing.unwrap_or(first);
    Ok(match results.len() {
        1 => problem.into_response(),
        _ => problem.with(list, results).into_response(),
    })
}
