//! Filter policies as SNS refuses them: the same rules as `fanlog_coordinators::filter`, in AWS's words.
//!
//! Why it exists: SDKs' users look for the words that they know; what a policy means, and the last word on whether it means anything,
//! is the compiled filter's.
//! In -> out: a policy as text, and its scope -> nothing, or why it is refused.

use fanlog_coordinators::filter::{COMBINATIONS_MAX, Filter, KEYS_MAX};
use fanlog_model::settings::FilterScope;
use serde_json::{Map, Value};

/// How a refused policy is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PolicyFault {
    /// The sender's fault.
    Invalid(String),
    /// Numbers that are out of range are answered as if something had broken: AWS does so.
    Unknown,
}

type Checked = Result<(), PolicyFault>;

/// Which attribute of a subscription says what its policy looks at.
pub(crate) fn scope_of(text: &str) -> Option<FilterScope> {
    match text {
        "MessageAttributes" => Some(FilterScope::Headers),
        "MessageBody" => Some(FilterScope::Body),
        _ => None,
    }
}

/// Whether a policy is one.
pub(crate) fn check(policy: &str, scope: FilterScope) -> Checked {
    let Ok(parsed) = serde_json::from_str::<Value>(policy) else {
        return Err(attributes("failed to parse JSON."));
    };
    let Value::Object(root) = &parsed else {
        return Err(policy_fault("Filter policy must be a JSON object"));
    };
    if root.len() > KEYS_MAX {
        let message = format!("Filter policy can not have more than {KEYS_MAX} keys");
        return Err(policy_fault(&message));
    }
    let mut rules = Vec::new();
    let mut combinations = 1_usize;
    collect(root, scope, 1, &mut rules, &mut combinations)?;
    if combinations > COMBINATIONS_MAX {
        return Err(policy_fault("Filter policy is too complex"));
    }
    rules.into_iter().try_for_each(check_rule)?;
    Filter::parse(policy, scope).map_err(|error| policy_fault(&error.to_string()))?;
    Ok(())
}

/// All conditions of a policy, and how many combinations of them there are at most: what the filter itself counts is what holds.
fn collect<'a>(
    object: &'a Map<String, Value>,
    scope: FilterScope,
    depth: usize,
    rules: &mut Vec<&'a Value>,
    combinations: &mut usize,
) -> Checked {
    for (key, value) in object {
        match value {
            Value::Object(_) if scope == FilterScope::Headers => {
                return Err(PolicyFault::Invalid(
                    "Invalid parameter: Filter policy scope MessageAttributes does not support nested filter policy".into(),
                ));
            }
            // Deeper than the filter takes: it says so.
            Value::Object(nested) if depth < 32 => {
                collect(nested, scope, depth + 1, rules, combinations)?;
            }
            Value::Object(_) => {}
            Value::Array(items) if key == "$or" && items.iter().all(Value::is_object) => {
                // What may be chosen from adds, and what it adds the filter counts.
                let branches = items.iter().filter_map(Value::as_object);
                for branch in branches {
                    let mut of_branch = 1;
                    collect(branch, scope, depth, rules, &mut of_branch)?;
                }
            }
            Value::Array(items) => {
                *combinations = combinations.saturating_mul(items.len().saturating_mul(depth));
                rules.extend(items);
            }
            _ => {
                let message = format!("\"{key}\" must be an object or an array");
                return Err(policy_fault(&message));
            }
        }
    }
    Ok(())
}

fn check_rule(rule: &Value) -> Checked {
    const NUMBER_MAX: f64 = 1e9;
    match rule {
        Value::Null | Value::String(_) | Value::Bool(_) => Ok(()),
        Value::Number(number) => {
            let is_in_range = number
                .as_f64()
                .is_some_and(|number| number.abs() < NUMBER_MAX);
            is_in_range.then_some(()).ok_or(PolicyFault::Unknown)
        }
        Value::Array(_) => Err(policy_fault(
            "Match value must be String, number, true, false, or null",
        )),
        Value::Object(object) => {
            let Some((keyword, operand)) = object.iter().next() else {
                return Err(policy_fault(
                    "Match value must be String, number, true, false, or null",
                ));
            };
            match keyword.as_str() {
                "exists" if !operand.is_boolean() => Err(policy_fault(
                    "exists match pattern must be either true or false.",
                )),
                "numeric" => check_numeric(operand.as_array().map_or(&[][..], Vec::as_slice)),
                "exists" | "prefix" | "suffix" | "equals-ignore-case" | "anything-but"
                | "wildcard" | "cidr" => Ok(()),
                other => {
                    let shown: String = other.chars().take(50).collect();
                    Err(policy_fault(&format!("Unrecognized match type {shown}")))
                }
            }
        }
    }
}

/// A comparison and its number, or a lower and an upper one.
fn check_numeric(members: &[Value]) -> Checked {
    let mut members = members.iter();
    let lower = match members.next() {
        None => return Err(numeric("Invalid member in numeric match: ]")),
        Some(Value::String(operator)) => operator.as_str(),
        Some(other) => {
            let message = format!("Invalid member in numeric match: {other}");
            return Err(numeric(&message));
        }
    };
    if !["<", "<=", "=", ">", ">="].contains(&lower) {
        let message = format!("Unrecognized numeric range operator: {}", shown(lower));
        return Err(numeric(&message));
    }
    let bound = |operator: &str, value: Option<&Value>| {
        let number = value.and_then(Value::as_f64);
        number.ok_or_else(|| numeric(&format!("Value of {operator} must be numeric")))
    };
    let least = bound(lower, members.next())?;
    let Some(upper) = members.next() else {
        return Ok(());
    };
    if !lower.starts_with('>') {
        return Err(numeric("Too many elements in numeric expression"));
    }
    let upper = match upper.as_str() {
        Some(upper @ ("<" | "<=")) => upper,
        _ => {
            let upper = upper.as_str().map_or_else(|| upper.to_string(), shown);
            return Err(numeric(&format!("Bad numeric range operator: {upper}")));
        }
    };
    let most = bound(upper, members.next())?;
    if most <= least {
        return Err(numeric("Bottom must be less than top"));
    }
    if members.next().is_some() {
        return Err(numeric("Too many elements in numeric expression"));
    }
    Ok(())
}

fn shown(text: &str) -> String {
    text.chars().take(50).collect()
}

fn policy_fault(message: &str) -> PolicyFault {
    PolicyFault::Invalid(format!("Invalid parameter: FilterPolicy: {message}"))
}

fn attributes(message: &str) -> PolicyFault {
    PolicyFault::Invalid(format!(
        "Invalid parameter: Attributes Reason: FilterPolicy: {message}"
    ))
}

/// AWS says behind this where in the policy it is.
fn numeric(message: &str) -> PolicyFault {
    attributes(&format!("{message}\n at ..."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_refused_in_the_words_of_sns() {
        let check_in = |scope: FilterScope, policy: &str, expected: &str| {
            let fault = check(policy, scope);
            let expected = Err(PolicyFault::Invalid(format!(
                "Invalid parameter: {expected}"
            )));
            assert_eq!(fault, expected, "{policy}");
        };
        let check = |policy: &str, expected: &str| check_in(FilterScope::Headers, policy, expected);
        let many = format!(r#"{{"store": [{}]}}"#, vec!["\"1\""; 151].join(","));
        check(&many, "FilterPolicy: Filter policy is too complex");
        check(
            r#"{"store": [["x"]]}"#,
            "FilterPolicy: Match value must be String, number, true, false, or null",
        );
        check(
            r#"{"store": [{"exists": null}]}"#,
            "FilterPolicy: exists match pattern must be either true or false.",
        );
        check(
            r#"{"store": [{"error": true}]}"#,
            "FilterPolicy: Unrecognized match type error",
        );
        check(
            r#"{"store": "x"}"#,
            "FilterPolicy: \"store\" must be an object or an array",
        );
        check(
            r#"{"a": {"b": ["x"]}}"#,
            "Filter policy scope MessageAttributes does not support nested filter policy",
        );
        check(
            r#"{"a":[1],"b":[1],"c":[1],"d":[1],"e":[1],"f":[1]}"#,
            "FilterPolicy: Filter policy can not have more than 5 keys",
        );
        check_in(
            FilterScope::Body,
            r#"{"a": {"b": {"c": [1,2,3,4]}}, "d": {"e": [1,2,3]}, "f": [1,2,3]}"#,
            "FilterPolicy: Filter policy is too complex",
        );
    }

    #[test]
    fn numeric_conditions_are_refused_for_what_is_wrong_with_them() {
        let check = |members: &str, expected: &str| {
            let policy = format!(r#"{{"price": [{{"numeric": {members}}}]}}"#);
            let expected =
                format!("Invalid parameter: Attributes Reason: FilterPolicy: {expected}\n at ...");
            let found = super::check(&policy, FilterScope::Headers);
            assert_eq!(found, Err(PolicyFault::Invalid(expected)), "{members}");
        };
        check("[]", "Invalid member in numeric match: ]");
        check(
            r#"[50, "<=", "100"]"#,
            "Invalid member in numeric match: 50",
        );
        check(r#"["0"]"#, "Unrecognized numeric range operator: 0");
        check(r#"["<"]"#, "Value of < must be numeric");
        check(r#"["<", "100"]"#, "Value of < must be numeric");
        check(
            r#"["<", 20, ">", 1]"#,
            "Too many elements in numeric expression",
        );
        check(r#"[">", 20, ">", 1]"#, "Bad numeric range operator: >");
        check(r#"[">", 50, "<=", "100"]"#, "Value of <= must be numeric");
        check(r#"[">", 20, "<"]"#, "Value of < must be numeric");
        check(r#"[">", 20, "<", 1]"#, "Bottom must be less than top");
    }

    #[test]
    fn what_means_something_is_taken() {
        let takes = |scope: FilterScope, policy: &str| {
            assert_eq!(check(policy, scope), Ok(()), "{policy}");
        };
        takes(FilterScope::Headers, "{}");
        takes(
            FilterScope::Headers,
            r#"{"a": ["x", 1, true, null, {"prefix": "y"}, {"numeric": [">", 1, "<", 2]}], "$or": [{"b": [1]}, {"c": [2]}]}"#,
        );
        takes(FilterScope::Body, r#"{"a": {"b": [{"exists": false}]}}"#);
        assert_eq!(
            check(r#"{"a": [1000000001]}"#, FilterScope::Headers),
            Err(PolicyFault::Unknown)
        );
        assert!(matches!(
            check(r#"{"a": [{"cidr": "x"}]}"#, FilterScope::Headers),
            Err(PolicyFault::Invalid(message)) if message.contains("a range of addresses")
        ));
    }
}
