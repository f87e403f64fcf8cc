use super::*;
use proptest::prelude::*;

fn filter(policy: &str, scope: FilterScope) -> Filter {
    Filter::parse(policy, scope).unwrap_or_else(|error| panic!("{policy}: {error}"))
}

/// Headers as `name=value`; a value of `-` is none.
fn headers(given: &str) -> Vec<(&str, Option<&[u8]>)> {
    let pairs = given.split_whitespace().map(|pair| {
        let (name, value) = pair.split_once('=').unwrap();
        (name, Some(value.as_bytes()).filter(|v| *v != b"-"))
    });
    pairs.collect()
}

#[track_caller]
fn check_headers(policy: &str, wanted: &[&str], unwanted: &[&str]) {
    let filter = filter(policy, FilterScope::Headers);
    for given in wanted {
        assert!(
            filter.matches_headers(headers(given).into_iter()),
            "{given} is wanted by {policy}"
        );
    }
    for given in unwanted {
        assert!(
            !filter.matches_headers(headers(given).into_iter()),
            "{given} is not wanted by {policy}"
        );
    }
}

#[track_caller]
fn check_body(policy: &str, wanted: &[&str], unwanted: &[&str]) {
    let filter = filter(policy, FilterScope::Body);
    for body in wanted {
        assert!(
            filter.matches_body(body.as_bytes()),
            "{body} is wanted by {policy}"
        );
    }
    for body in unwanted {
        assert!(
            !filter.matches_body(body.as_bytes()),
            "{body} is not wanted by {policy}"
        );
    }
}

#[test]
fn every_name_must_hold_and_of_each_one_condition() {
    let policy = r#"{"shop": ["north"], "event": ["ordered", "returned"]}"#;
    check_headers(
        policy,
        &[
            "shop=north event=ordered",
            "event=returned shop=north other=x",
        ],
        &[
            "shop=north",
            "shop=south event=ordered",
            "shop=north event=paid",
            "",
        ],
    );
    // A header that stands several times: one of its values is enough.
    check_headers(policy, &["shop=south event=ordered shop=north"], &[]);
    check_headers("{}", &["", "a=b"], &[]);
}

#[test]
fn texts_are_compared_exactly_and_by_their_ends() {
    check_headers(
        r#"{"a": ["Rugby"]}"#,
        &["a=Rugby"],
        &["a=rugby", "a=Rugby7", "b=Rugby", "a=-"],
    );
    check_headers(
        r#"{"a": [{"prefix": "bas"}]}"#,
        &["a=baseball", "a=bas"],
        &["a=rebase", "a=ba"],
    );
    check_headers(
        r#"{"a": [{"suffix": "ball"}]}"#,
        &["a=football", "a=ball"],
        &["a=balls"],
    );
    check_headers(
        r#"{"a": [{"equals-ignore-case": "Tennis"}]}"#,
        &["a=tENNIS", "a=tennis"],
        &["a=tennis2"],
    );
    check_headers(
        r#"{"a": [{"equals-ignore-case": "ÄRGER"}]}"#,
        &["a=ärger"],
        &["a=arger"],
    );
    check_headers(r#"{"a": [null]}"#, &["a=-"], &["a=null", ""]);
    check_headers(r#"{"a": [true]}"#, &["a=true"], &["a=True", "a=1"]);
}

#[test]
fn a_star_stands_for_anything() {
    check_headers(
        r#"{"a": [{"wildcard": "*ball"}]}"#,
        &["a=ball", "a=football"],
        &["a=balls"],
    );
    check_headers(
        r#"{"a": [{"wildcard": "a*b*c"}]}"#,
        &["a=abc", "a=axbxbxc", "a=a-b-c"],
        &["a=ab", "a=acb", "a=xabc"],
    );
    // The ends may not share what stands between them.
    check_headers(
        r#"{"a": [{"wildcard": "aba*aba"}]}"#,
        &["a=abaaba", "a=aba-aba"],
        &["a=aba", "a=ababa"],
    );
    check_headers(r#"{"a": [{"wildcard": "*"}]}"#, &["a=x", "a="], &["b=x"]);
    check_headers(r#"{"a": [{"wildcard": "1\\*2"}]}"#, &["a=1*2"], &["a=132"]);
    check_headers(
        r#"{"a": [{"wildcard": "plain"}]}"#,
        &["a=plain"],
        &["a=plainer"],
    );
}

#[test]
fn anything_but_wants_a_value_that_is_something_else() {
    check_headers(
        r#"{"a": [{"anything-but": "x"}]}"#,
        &["a=y", "a=-"],
        &["a=x", ""],
    );
    check_headers(
        r#"{"a": [{"anything-but": ["rugby", "tennis"]}]}"#,
        &["a=baseball", "a=rugby a=baseball"],
        &["a=rugby", "a=tennis a=rugby"],
    );
    check_headers(
        r#"{"a": [{"anything-but": [100, 500]}]}"#,
        &["a=101", "a=x"],
        &["a=100.0", "a=5e2"],
    );
    check_headers(
        r#"{"a": [{"anything-but": {"prefix": "order-"}}]}"#,
        &["a=data-order-1"],
        &["a=order-1"],
    );
    check_headers(
        r#"{"a": [{"anything-but": {"suffix": ["ball", "bat"]}}]}"#,
        &["a=rugby"],
        &["a=bat", "a=ball"],
    );
    check_headers(
        r#"{"a": [{"anything-but": {"wildcard": "*b*"}}]}"#,
        &["a=golf"],
        &["a=rugby"],
    );
    check_headers(
        r#"{"a": [{"anything-but": {"equals-ignore-case": "X"}}]}"#,
        &["a=y"],
        &["a=x"],
    );
    // Together with `exists`: also where there is none.
    check_headers(
        r#"{"a": [{"anything-but": "x"}, {"exists": false}]}"#,
        &["a=y", ""],
        &["a=x"],
    );
}

#[test]
fn numbers_are_compared_as_numbers() {
    check_headers(
        r#"{"p": [301.5]}"#,
        &["p=301.5", "p=301.50", "p=3.015e2"],
        &["p=301", "p=301.5x"],
    );
    check_headers(
        r#"{"p": [{"numeric": ["=", 301.5]}]}"#,
        &["p=301.50"],
        &["p=300"],
    );
    check_headers(
        r#"{"p": [{"numeric": [">", 0, "<=", 150]}]}"#,
        &["p=0.1", "p=150"],
        &["p=0", "p=150.1", "p=-1"],
    );
    check_headers(r#"{"p": [{"numeric": ["<", -5]}]}"#, &["p=-6"], &["p=-5"]);
    check_headers(r#"{"p": [{"numeric": [">=", 1]}]}"#, &["p=1"], &["p=0.9"]);
    // What only looks like a number is none.
    check_headers(
        r#"{"p": [{"numeric": [">", -9]}]}"#,
        &["p=1"],
        &[
            "p=inf", "p=NaN", "p=+1", "p=.5", "p=1_0", "p=0x1", "p=1e999", "p=-",
        ],
    );
    check_body(
        r#"{"p": [100]}"#,
        &[r#"{"p": 100}"#, r#"{"p": 100.0}"#],
        &[r#"{"p": "100"}"#],
    );
    check_body(
        r#"{"p": ["100"]}"#,
        &[r#"{"p": "100"}"#],
        &[r#"{"p": 100}"#],
    );
}

#[test]
fn a_name_may_have_to_be_there_or_not() {
    check_headers(
        r#"{"a": [{"exists": true}]}"#,
        &["a=", "a=-", "a=x"],
        &["b=x"],
    );
    check_headers(
        r#"{"a": [{"exists": false}]}"#,
        &["b=x", ""],
        &["a=", "a=-"],
    );
    let wants = filter(r#"{"a": [{"exists": true}]}"#, FilterScope::Headers);
    let bytes: [(&str, Option<&[u8]>); 1] = [("a", Some(b"\xff"))];
    assert!(
        wants.matches_headers(bytes.into_iter()),
        "bytes that are no text are there"
    );
    // Of a body, only what has a value is there.
    check_body(
        r#"{"a": [{"exists": true}]}"#,
        &[r#"{"a": null}"#, r#"{"a": [1]}"#],
        &["{}", r#"{"a": {"b": 1}}"#, r#"{"a": []}"#],
    );
    check_body(
        r#"{"a": {"b": [{"exists": false}]}}"#,
        &["{}", r#"{"a": 1}"#, r#"{"a": {"c": 1}}"#],
        &[r#"{"a": {"b": 1}}"#],
    );
}

#[test]
fn addresses_lie_in_ranges() {
    check_headers(
        r#"{"ip": [{"cidr": "10.0.0.0/24"}]}"#,
        &["ip=10.0.0.255"],
        &["ip=10.0.1.0", "ip=x", "ip=::a00:1"],
    );
    check_headers(
        r#"{"ip": [{"cidr": "10.1.2.3/32"}]}"#,
        &["ip=10.1.2.3"],
        &["ip=10.1.2.4"],
    );
    check_headers(
        r#"{"ip": [{"cidr": "0.0.0.0/0"}]}"#,
        &["ip=9.9.9.9"],
        &["ip=::1"],
    );
    check_headers(
        r#"{"ip": [{"cidr": "2001:db8::/32"}]}"#,
        &["ip=2001:db8:1::1"],
        &["ip=2001:db9::"],
    );
    check_headers(
        r#"{"ip": [{"cidr": "::/0"}]}"#,
        &["ip=ff::"],
        &["ip=1.2.3.4"],
    );
}

#[test]
fn one_of_several_policies_is_enough_under_or() {
    let policy = r#"{"source": ["cw"], "$or": [{"metric": ["cpu", "disk"]}, {"kind": ["k"], "$or": [{"id": [12]}, {"space": ["s"]}]}]}"#;
    check_headers(
        policy,
        &[
            "source=cw metric=cpu",
            "source=cw kind=k id=12",
            "source=cw kind=k space=s",
        ],
        &[
            "source=cw",
            "metric=cpu",
            "source=cw kind=k",
            "source=cw id=12",
            "source=cw kind=k id=13",
        ],
    );
    check_body(
        policy,
        &[r#"{"source": "cw", "metric": "disk"}"#],
        &[r#"{"source": "cw"}"#],
    );
    // One object is no choice, and an object of keywords is a condition.
    check_headers(
        r#"{"$or": [{"prefix": "a"}, {"suffix": "z"}]}"#,
        &["$or=ab", "$or=yz"],
        &["a=ab", "$or=b"],
    );
}

#[test]
fn a_body_is_looked_into() {
    let policy = r#"{"shop": ["north"], "client": {"type": ["gold"], "place": {"city": [{"prefix": "B"}]}}}"#;
    check_body(
        policy,
        &[
            r#"{"shop": "north", "client": {"type": "gold", "place": {"city": "Bonn"}}, "more": [1, {}]}"#,
        ],
        &[
            r#"{"shop": "north", "client": {"type": "gold", "place": {"city": "Ulm"}}}"#,
            r#"{"shop": "north", "client": "gold"}"#,
            r#"{"shop": "north"}"#,
            r#"["north"]"#,
            "north",
            "",
            r#"{"shop": "north""#,
            "\u{0}",
        ],
    );
    check_body(
        r#"{"tags": ["a", 1]}"#,
        &[r#"{"tags": ["x", "a"]}"#, r#"{"tags": [[1]]}"#],
        &[r#"{"tags": ["x", {"a": "a"}]}"#, r#"{"tags": []}"#],
    );
    // What is asked of an object must hold of one and the same.
    let items = r#"{"items": {"kind": ["book"], "count": [{"numeric": [">", 1]}]}}"#;
    check_body(
        items,
        &[r#"{"items": [{"kind": "pen"}, {"kind": "book", "count": 2}]}"#],
        &[r#"{"items": [{"kind": "pen", "count": 2}, {"kind": "book", "count": 1}]}"#],
    );
    check_body(
        r#"{"a": [null, true]}"#,
        &[r#"{"a": null}"#, r#"{"a": true}"#],
        &[r#"{"a": "true"}"#, r#"{"a": false}"#, "{}"],
    );
}

#[test]
fn a_body_too_long_to_be_looked_at_is_not_wanted() {
    let filter = filter("{}", FilterScope::Body);
    let long = |length: usize| format!("{{{}}}", " ".repeat(length - 2));
    assert!(filter.matches_body(long(BODY_BYTES_MAX).as_bytes()));
    assert!(!filter.matches_body(long(BODY_BYTES_MAX + 1).as_bytes()));
    // Nor one that is nested deeper than JSON is read; and reading it takes no stack.
    let deep = format!(r#"{{"a": {}}}"#, "[".repeat(1_000_000));
    assert!(!filter.matches_body(deep.as_bytes()));
}

#[test]
fn attributes_are_compared_by_their_types() {
    let check = |policy: &str, attribute: Attribute<'_>, expected: bool| {
        let filter = filter(policy, FilterScope::Headers);
        let found = filter.matches_attributes([("a", attribute)].into_iter());
        assert_eq!(found, expected, "{policy} {attribute:?}");
    };
    use Attribute::{Binary, Number, String, StringArray};
    check(r#"{"a": ["x"]}"#, String("x"), true);
    check(r#"{"a": [1]}"#, String("1"), false);
    check(r#"{"a": [1]}"#, Number("1.0"), true);
    check(r#"{"a": ["1"]}"#, Number("1"), false);
    check(r#"{"a": [{"numeric": [">", 0]}]}"#, Number("12"), true);
    check(r#"{"a": ["x"]}"#, StringArray(r#"["y", "x"]"#), true);
    check(r#"{"a": [true]}"#, StringArray("[true]"), true);
    check(r#"{"a": [null]}"#, StringArray("[null]"), true);
    check(r#"{"a": [3]}"#, StringArray("[1, 3]"), true);
    check(
        r#"{"a": [{"anything-but": ["x"]}]}"#,
        StringArray(r#"["x", "y"]"#),
        true,
    );
    check(
        r#"{"a": [{"anything-but": ["x"]}]}"#,
        StringArray(r#"["x"]"#),
        false,
    );
    check(r#"{"a": ["x"]}"#, StringArray("not json"), false);
    check(r#"{"a": [100]}"#, StringArray("100"), true);
    check(r#"{"a": [100]}"#, StringArray(r#"{"a": 100}"#), false);
    check(r#"{"a": [{"exists": true}]}"#, Binary, false);
    check(r#"{"a": [{"exists": false}]}"#, Binary, true);
}

#[test]
fn headers_with_types_are_attributes() {
    let check = |policy: &str, given: &str, expected: bool| {
        let filter = filter(policy, FilterScope::Headers);
        let found = filter.matches(headers(given).into_iter(), None);
        assert_eq!(found, expected, "{policy} {given}");
    };
    let price = r#"{"price": [123]}"#;
    check(price, "price=123", true);
    check(price, r#"price=123 aws.types={"price":"String"}"#, false);
    check(price, r#"price=123 aws.types={"price":"Number"}"#, true);
    check(price, r#"aws.types={"price":"Number.int"} price=123"#, true);
    check(price, "price=123 aws.types={}", false);
    check(
        price,
        r#"price=[1,123] aws.types={"price":"String.Array"}"#,
        true,
    );
    check(
        price,
        r#"price=[1,123] aws.types={"price":"String"}"#,
        false,
    );
    let exists = r#"{"price": [{"exists": true}]}"#;
    check(exists, r#"price=1 aws.types={"price":"Binary"}"#, false);
    // Under its own name, whatever the header's; and what the broker itself wrote is none.
    let id = r#"{"message-id": ["a"]}"#;
    check(id, "aws.attribute.message-id=a aws.types={}", true);
    check(id, "message-id=a aws.types={}", false);
    let subject = r#"{"aws.subject": [{"exists": true}]}"#;
    check(subject, "aws.subject=a aws.types={}", false);
}

#[test]
fn numbers_agree_to_six_digits_behind_the_point() {
    check_headers(
        r#"{"p": [100.123456789]}"#,
        &["p=100.1234567", "p=100.123456"],
        &["p=100.123457", "p=100.12345"],
    );
    check_headers(
        r#"{"p": [{"numeric": [">", 0.000001]}]}"#,
        &["p=0.000002"],
        &["p=0.0000015"],
    );
}

#[test]
fn a_policy_that_means_nothing_is_refused_with_the_name_and_the_way_out() {
    let check = |policy: &str, expected: &str| {
        let error = Filter::parse(policy, FilterScope::Headers).expect_err(policy);
        assert!(error.to_string().contains(expected), "{policy}: {error}");
    };
    check("", "the filter is not JSON");
    check("[]", "the filter must be an object of names");
    check(
        r#"{"a": "x"}"#,
        "'a' of the filter must have a list of conditions",
    );
    check(r#"{"a": []}"#, "'a' of the filter has no condition");
    check(r#"{"a": {"b": ["x"]}}"#, "headers are flat");
    check(r#"{"a": [["x"]]}"#, "not a list");
    check(
        r#"{"a": [{"starts": "x"}]}"#,
        "unknown keyword 'starts'; there are prefix",
    );
    check(
        r#"{"a": [{"prefix": "x", "suffix": "y"}]}"#,
        "has one keyword",
    );
    check(r#"{"a": [{}]}"#, "has one keyword");
    check(r#"{"a": [{"prefix": 1}]}"#, "take a text");
    check(
        r#"{"a": [{"exists": "true"}]}"#,
        "exists takes true or false",
    );
    check(r#"{"a": [{"cidr": "10.0.0.0"}]}"#, "a range of addresses");
    check(
        r#"{"a": [{"cidr": "10.0.0.0/33"}]}"#,
        "a range of addresses",
    );
    check(r#"{"a": [{"numeric": []}]}"#, "a comparison and a number");
    check(
        r#"{"a": [{"numeric": ["~", 1]}]}"#,
        "a comparison and a number",
    );
    check(r#"{"a": [{"numeric": [">", "1"]}]}"#, "a number from");
    check(
        r#"{"a": [{"numeric": ["<", 1, ">", 0]}]}"#,
        "a comparison and a number",
    );
    check(r#"{"a": [{"numeric": [">", 2, "<", 1]}]}"#, "must be below");
    check(r#"{"a": [1000000001]}"#, "a number from -1000000000");
    check(r#"{"a": [{"anything-but": []}]}"#, "anything-but takes");
    check(r#"{"a": [{"anything-but": [true]}]}"#, "anything-but takes");
    check(
        r#"{"a": [{"anything-but": {"cidr": "::/0"}}]}"#,
        "anything-but takes",
    );
    check(r#"{"a": [{"wildcard": "*a*b*c*"}]}"#, "at most three stars");
    check(r#"{"a": [{"wildcard": "a\\b"}]}"#, "stands before * or");
    check(r#"{"$or": [{"a": ["x"]}]}"#, "unknown keyword 'a'");
}

#[test]
fn a_policy_is_no_larger_than_its_limits() {
    let list = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    let of = |policy: String| Filter::parse(&policy, FilterScope::Body);
    let six = r#"{"a":[1],"b":[1],"c":[1],"d":[1],"e":[1],"f":[1]}"#.to_owned();
    assert_eq!(of(six), Err(FilterError::TooManyKeys { count: 6 }));
    assert!(of(format!(r#"{{"a": {}}}"#, list(150))).is_ok());
    assert_eq!(
        of(format!(r#"{{"a": {}}}"#, list(151))),
        Err(FilterError::TooComplex { combinations: 151 })
    );
    let nested = format!(
        r#"{{"a": {{"b": {{"c": {}}}}}, "d": {{"e": {}}}, "f": {}}}"#,
        list(4),
        list(3),
        list(3)
    );
    assert_eq!(
        of(nested),
        Err(FilterError::TooComplex { combinations: 216 })
    );
    let or = format!(
        r#"{{"a": {}, "$or": [{{"b": {}}}, {{"c": {}}}]}}"#,
        list(2),
        list(70),
        list(5)
    );
    assert!(of(or).is_ok(), "a choice adds");
    let stars = |count: usize| {
        format!(
            r#"{{"a": [{}]}}"#,
            vec![r#"{"wildcard": "*a*"}"#; count].join(",")
        )
    };
    assert!(of(stars(33)).is_ok());
    assert_eq!(
        of(stars(34)),
        Err(FilterError::TooManyWildcards { points: 102 })
    );
    let deep = format!("{}[1]{}", r#"{"a":"#.repeat(21), "}".repeat(21));
    assert_eq!(
        of(deep),
        Err(FilterError::TooDeep {
            key: "a".to_owned()
        })
    );
    assert!(matches!(
        of("[".repeat(100_000)),
        Err(FilterError::NotJson { .. })
    ));
    assert!(matches!(
        of(" ".repeat(POLICY_BYTES_MAX + 1)),
        Err(FilterError::TooLong { .. })
    ));
}

/// Policies that mean something more often than not, over few names and values.
fn policy_text() -> impl Strategy<Value = String> {
    let condition = prop_oneof![
        Just(r#""x""#.to_owned()),
        Just("1".to_owned()),
        Just("null".to_owned()),
        Just(r#"{"prefix":"x"}"#.to_owned()),
        Just(r#"{"anything-but":["x",1]}"#.to_owned()),
        Just(r#"{"numeric":[">",0,"<",5]}"#.to_owned()),
        Just(r#"{"exists":false}"#.to_owned()),
        "[*a\\\\]{0,5}".prop_map(|p| format!(r#"{{"wildcard":{p:?}}}"#)),
        ".{0,8}".prop_map(|p| format!("{p:?}")),
    ];
    let list =
        proptest::collection::vec(condition, 0..4).prop_map(|c| format!("[{}]", c.join(",")));
    list.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(("[abc]", inner.clone()), 0..4).prop_map(|fields| {
                let fields: Vec<_> = fields.iter().map(|(k, v)| format!("{k:?}:{v}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
            proptest::collection::vec(inner, 2..4)
                .prop_map(|branches| format!(r#"{{"$or":[{}]}}"#, branches.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn no_policy_and_no_record_makes_it_panic(
        policy in prop_oneof![policy_text(), ".{0,60}"],
        body in prop_oneof![policy_text(), ".{0,60}"],
        values in proptest::collection::vec(("[abc]", proptest::option::of(proptest::collection::vec(any::<u8>(), 0..6))), 0..4),
    ) {
        for scope in [FilterScope::Headers, FilterScope::Body] {
            if let Ok(filter) = Filter::parse(&policy, scope) {
                filter.matches_body(body.as_bytes());
                filter.matches_headers(values.iter().map(|(name, value)| (name.as_str(), value.as_deref())));
                filter.matches_attributes(values.iter().map(|(name, _)| (name.as_str(), Attribute::StringArray(&body))));
            }
        }
    }

    /// What a wildcard says, said the slow way.
    #[test]
    fn a_wildcard_is_what_trying_everything_says(pattern in "[ab*]{0,6}", text in "[ab]{0,8}") {
        fn slowly(pattern: &[u8], text: &[u8]) -> bool {
            match pattern {
                [] => text.is_empty(),
                [b'*', rest @ ..] => (0..=text.len()).any(|at| slowly(rest, &text[at..])),
                [first, rest @ ..] => text.first() == Some(first) && slowly(rest, &text[1..]),
            }
        }
        let wildcard = wildcard::Wildcard::of(&pattern).expect("without a backslash all is legal");
        prop_assert_eq!(wildcard.matches(&text), slowly(pattern.as_bytes(), text.as_bytes()));
    }
}
