//! Access policies of queues and topics: documents of IAM, of which only the list of statements is looked into.
//!
//! Nothing is judged by them: they are kept and answered.

use fanlog_aws_protocol::AwsError;
use serde_json::{Value, json};

const STATEMENT: &str = "Statement";

/// The statements of a policy. One that stands alone, as IAM allows, becomes a list; so does none.
pub(crate) fn statements(policy: &mut Value) -> Result<&mut Vec<Value>, AwsError> {
    let broken = || {
        let reason = "Invalid parameter: Policy Reason: Statement is neither an object nor a list";
        AwsError::invalid_parameter(reason)
    };
    let policy = policy.as_object_mut().ok_or_else(broken)?;
    let statements = policy.entry(STATEMENT).or_insert(Value::Null);
    match statements {
        Value::Null => *statements = json!([]),
        Value::Object(_) => *statements = json!([statements.take()]),
        _ => {}
    }
    statements.as_array_mut().ok_or_else(broken)
}

/// A single one stands alone, as AWS writes it.
pub(crate) fn one_or_all(texts: impl Iterator<Item = String>) -> Value {
    let mut texts: Vec<_> = texts.collect();
    match texts.len() {
        1 => texts.remove(0).into(),
        _ => texts.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{one_or_all, statements};
    use serde_json::{Value, json};

    fn of(mut policy: Value) -> Option<usize> {
        statements(&mut policy).ok().map(|all| all.len())
    }

    #[test]
    fn statements_stand_alone_in_a_list_or_are_none() {
        assert_eq!(of(json!({})), Some(0));
        assert_eq!(of(json!({ "Statement": { "Sid": "a" } })), Some(1));
        assert_eq!(of(json!({ "Statement": [{ "Sid": "a" }, {}] })), Some(2));
        assert_eq!(of(json!({ "Statement": "all" })), None);
        assert_eq!(of(json!("all")), None);
    }

    #[test]
    fn one_text_stands_alone() {
        let texts = |all: &[&str]| one_or_all(all.iter().map(|text| (*text).to_owned()));
        assert_eq!(texts(&["a"]), json!("a"));
        assert_eq!(texts(&["a", "b"]), json!(["a", "b"]));
    }
}
