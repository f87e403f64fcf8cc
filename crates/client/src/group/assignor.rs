//! Kafka's range assignor: of every topic, each member gets a run of neighbouring partitions.

use std::collections::BTreeMap;

/// A member and what it subscribes to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Subscriber {
    /// Static members come first, by their own id; the others follow, by the id that they were given.
    pub(super) order: (bool, String),
    pub(super) member_id: String,
    pub(super) topics: Vec<String>,
}

impl Subscriber {
    pub(super) fn new(member_id: &str, instance_id: Option<&str>, topics: Vec<String>) -> Self {
        let order = match instance_id {
            Some(id) => (false, id.to_owned()),
            None => (true, member_id.to_owned()),
        };
        Self {
            order,
            member_id: member_id.to_owned(),
            topics,
        }
    }
}

/// Partitions by topic.
pub(super) type Assignment = BTreeMap<String, Vec<i32>>;

/// What each member gets, by member id. `counts` gives the number of partitions by topic.
pub(super) fn range(
    mut subscribers: Vec<Subscriber>,
    counts: &BTreeMap<String, i32>,
) -> BTreeMap<String, Assignment> {
    subscribers.sort();
    let mut assigned: BTreeMap<String, Assignment> = BTreeMap::new();
    for subscriber in &subscribers {
        assigned.insert(subscriber.member_id.clone(), Assignment::new());
    }
    for (topic, count) in counts {
        let members: Vec<_> = subscribers
            .iter()
            .filter(|one| one.topics.contains(topic))
            .collect();
        let Ok(member_count) = i32::try_from(members.len()) else {
            continue;
        };
        let mut next = 0;
        for (number, member) in (0..member_count).zip(members) {
            let share = count / member_count + i32::from(number < count % member_count);
            if share > 0 {
                let of_member = assigned.entry(member.member_id.clone()).or_default();
                of_member.insert(topic.clone(), (next..next + share).collect());
            }
            next += share;
        }
    }
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn subscribers(members: &[(&str, &str)]) -> Vec<Subscriber> {
        let topics = |text: &str| text.split(' ').map(str::to_owned).collect();
        members
            .iter()
            .map(|(id, text)| Subscriber::new(id, None, topics(text)))
            .collect()
    }

    fn counts(topics: &[(&str, i32)]) -> BTreeMap<String, i32> {
        topics
            .iter()
            .map(|(topic, count)| ((*topic).to_owned(), *count))
            .collect()
    }

    fn shown(assigned: &BTreeMap<String, Assignment>) -> String {
        let members = assigned
            .iter()
            .map(|(id, topics)| format!("{id}:{topics:?}"));
        members.collect::<Vec<_>>().join(" ").replace('"', "")
    }

    #[test]
    fn the_first_members_get_one_more_where_it_does_not_divide() {
        let check = |members: &[_], topics: &[_], expected: &str| {
            let assigned = range(subscribers(members), &counts(topics));
            assert_eq!(shown(&assigned), expected);
        };
        check(
            &[("b", "t"), ("a", "t")],
            &[("t", 3)],
            "a:{t: [0, 1]} b:{t: [2]}",
        );
        check(
            &[("a", "t"), ("b", "u")],
            &[("t", 2), ("u", 1)],
            "a:{t: [0, 1]} b:{u: [0]}",
        );
        check(
            &[("a", "t"), ("b", "t"), ("c", "t")],
            &[("t", 2)],
            "a:{t: [0]} b:{t: [1]} c:{}",
        );
        check(
            &[("a", "t u"), ("b", "t u")],
            &[("t", 3), ("u", 3)],
            "a:{t: [0, 1], u: [0, 1]} b:{t: [2], u: [2]}",
        );
        check(&[("a", "t")], &[("u", 3)], "a:{}");
    }

    #[test]
    fn static_members_come_first_by_their_own_id() {
        let topics = || vec!["t".to_owned()];
        let members = vec![
            Subscriber::new("a-member", None, topics()),
            Subscriber::new("z-member", Some("1"), topics()),
        ];
        let assigned = range(members, &counts(&[("t", 1)]));
        assert_eq!(shown(&assigned), "a-member:{} z-member:{t: [0]}");
    }

    proptest! {
        #[test]
        fn every_partition_has_one_owner(members in 1_usize..8, count in 0_i32..40) {
            let members = (0..members)
                .map(|number| Subscriber::new(&format!("m{number}"), None, vec!["t".to_owned()]));
            let assigned = range(members.collect(), &counts(&[("t", count)]));
            let mut owned: Vec<_> = assigned.values().flat_map(|one| one.values().flatten().copied()).collect();
            owned.sort_unstable();
            prop_assert_eq!(owned, (0..count).collect::<Vec<_>>());
        }
    }
}
