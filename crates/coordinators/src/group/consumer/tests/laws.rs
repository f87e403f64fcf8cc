//! Random churn: members come, go, freeze and change their minds, topics change, the coordinator ends at any moment.

use super::world::{Act, World};
use proptest::prelude::*;

fn act() -> impl Strategy<Value = Act> {
    let client = 0..6usize;
    prop_oneof![
        30 => client.clone().prop_map(Act::Beat),
        4 => client.clone().prop_map(Act::FullBeat),
        3 => (client.clone(), any::<bool>()).prop_map(|(client, while_)| Act::Leave(client, while_)),
        2 => client.clone().prop_map(Act::Freeze),
        2 => client.clone().prop_map(Act::Restart),
        3 => client.clone().prop_map(Act::Switch),
        2 => client.clone().prop_map(Act::Replace),
        3 => (client, 0..16u8).prop_map(|(client, choice)| Act::Subscribe(client, choice)),
        14 => (0..6_000u16).prop_map(Act::Pass),
        2 => (20_000..50_000u16).prop_map(Act::Pass),
        30 => Just(Act::Sync),
        2 => (0..4u8).prop_map(Act::Crash),
        3 => (0..3u8, 0..7u8).prop_map(|(topic, partitions)| Act::Topic(topic, partitions)),
        3 => Just(Act::TellTopics),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_group_under_churn_keeps_its_promises_and_comes_to_rest(
        clients in 1..6usize,
        acts in proptest::collection::vec(act(), 0..250),
    ) {
        let mut world = World::new(clients);
        for act in &acts {
            world.act(act);
        }
        world.settle();
    }
}
