//! Lists in pages of a hundred. The token of a page is how many stand before it, as AWS's emulators have it.

use fanlog_aws_protocol::AwsError;

const PAGE: usize = 100;

/// One page of a list, and the token of the next.
pub(super) fn page<T: Clone>(
    all: &[T],
    token: Option<&str>,
) -> Result<(Vec<T>, Option<String>), AwsError> {
    let from = match token {
        None | Some("") => 0,
        Some(token) => token.parse::<usize>().map_err(|_| {
            AwsError::invalid_parameter(
                "Invalid parameter: NextToken Reason: it is not one of ours",
            )
        })?,
    };
    let rest = all.get(from..).unwrap_or_default();
    let page = rest.iter().take(PAGE).cloned().collect();
    let next = (rest.len() > PAGE).then(|| (from + PAGE).to_string());
    Ok((page, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_in_pages_and_the_last_has_no_token() {
        let all: Vec<usize> = (0..150).collect();
        let (first, next) = page(&all, None).unwrap();
        assert_eq!((first.len(), next.as_deref()), (100, Some("100")));
        let (second, next) = page(&all, next.as_deref()).unwrap();
        assert_eq!((second[0], second.len(), next), (100, 50, None));
        assert_eq!(page(&all[..100], None).unwrap().1, None);
        assert!(page(&all, Some("900")).unwrap().0.is_empty());
        assert!(page(&all, Some("x")).is_err());
    }
}
