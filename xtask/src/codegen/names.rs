//! Kafka's names as Rust writes them.

const KEYWORDS: [&str; 8] = ["type", "match", "ref", "in", "use", "mod", "where", "move"];

/// `TopicIds` as `topic_ids`, and `type` as `r#type`.
pub(super) fn field(name: &str) -> String {
    let snake = snake(name);
    if KEYWORDS.contains(&snake.as_str()) {
        return format!("r#{snake}");
    }
    snake
}

/// `FetchRequest` as `fetch_request`.
pub(super) fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| chars[before]);
        let after = chars.get(index + 1);
        let begins_word = c.is_ascii_uppercase()
            && before.is_some_and(|before| {
                !before.is_ascii_uppercase() || after.is_some_and(char::is_ascii_lowercase)
            });
        if begins_word {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_snake_case() {
        assert_eq!(field("ThrottleTimeMs"), "throttle_time_ms");
        assert_eq!(field("IsKRPCReady"), "is_krpc_ready");
        assert_eq!(field("Type"), "r#type");
        assert_eq!(
            snake("AddPartitionsToTxnRequest"),
            "add_partitions_to_txn_request"
        );
    }
}
