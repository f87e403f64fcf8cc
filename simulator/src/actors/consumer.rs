//! Members of the new protocol (KIP-848): they join, change their minds, freeze, die, come back, and give up what they are told to.

use crate::chance::Chance;
use crate::promises::consumers::Owned;
use crate::promises::{Verdict, broken};
use crate::world::World;
use fanlog_broker::GroupRequestError;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::consumer::{
    ConsumerHeartbeat, JOIN_EPOCH, LEAVE_EPOCH, MemberHeartbeat, STATIC_LEAVE_EPOCH,
    SubscribedRegex,
};
use fanlog_coordinators::group::{GroupError, GroupState, InstanceId, MemberId};
use fanlog_model::invariants::GRP_1;
use fanlog_model::{GroupId, TopicId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub(super) const GROUP: &str = "consumers";
const MEMBERS: usize = 4;
/// As the simulated broker's settings say.
pub(crate) const SESSION: Duration = Duration::from_secs(8);
const REBALANCE: Duration = Duration::from_secs(6);
/// How often members are heard of while the group comes to rest.
const REST_BEAT: Duration = Duration::from_secs(2);
/// Everybody who was lost is noticed, gives up in time, and what it had is given on, with a beat for each step and one to spare.
const REST_BEATS: u32 = 14;

/// A client process.
#[derive(Clone, Debug)]
pub(crate) struct Consumer {
    number: usize,
    instance: Option<String>,
    process: u64,
    pub(super) id: String,
    pub(super) epoch: i32,
    pub(super) owned: BTreeSet<Owned>,
    /// In which epoch it was first told of what it owns, or is about to give up.
    pub(super) since: BTreeMap<Owned, i32>,
    pub(super) subscription: Subscription,
    must_say_all: bool,
    is_waiting: bool,
    pub(super) is_frozen: bool,
    /// When it sent the first of the heartbeats whose answers it has missed.
    unheard: Option<Duration>,
    /// Told that nobody knows it, and not joining yet.
    pub(super) is_out: bool,
    pub(super) past: Vec<(String, i32)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Subscription {
    pub(super) topics: Vec<Arc<str>>,
    regex: Option<Arc<str>>,
}

impl Consumer {
    pub(crate) fn cast(chance: &mut Chance) -> Vec<Self> {
        (0..MEMBERS)
            .map(|number| Self::new(number, chance.percent(30)))
            .collect()
    }

    pub(super) fn new(number: usize, is_static: bool) -> Self {
        let mut member = Self {
            number,
            instance: is_static.then(|| format!("instance-{number}")),
            process: 0,
            id: String::new(),
            epoch: JOIN_EPOCH,
            owned: BTreeSet::new(),
            since: BTreeMap::new(),
            subscription: Subscription::default(),
            must_say_all: true,
            is_waiting: false,
            is_frozen: false,
            unheard: None,
            is_out: false,
            past: Vec::new(),
        };
        member.begin_process();
        member
    }

    pub(super) fn begin_process(&mut self) {
        self.process += 1;
        self.id = format!("consumer-{}-{}", self.number, self.process);
        self.is_waiting = false;
        self.is_frozen = false;
        self.unheard = None;
        self.join_anew();
    }

    fn join_anew(&mut self) {
        self.epoch = JOIN_EPOCH;
        self.owned.clear();
        self.since.clear();
        self.must_say_all = true;
        self.is_out = false;
    }

    /// What it owns from now on; what it gives up it may still commit, until it has said so.
    fn is_assigned(&mut self, since: i32, partitions: BTreeSet<Owned>) {
        let owned = std::mem::replace(&mut self.owned, partitions);
        self.since
            .retain(|place, _| owned.contains(place) || self.owned.contains(place));
        for place in &self.owned {
            self.since.entry(*place).or_insert(since);
        }
    }
}

impl World {
    /// A member of the new protocol does what comes next, or something else.
    pub(crate) fn consume(&mut self) -> Verdict {
        let member = self.chance.index(self.consumers.len());
        match self
            .chance
            .weighted(&[(80, 0), (3, 1), (4, 2), (4, 3), (3, 4), (6, 5)])
        {
            0 if !self.consumers[member].is_frozen => self.beat(member),
            0 => {}
            1 => {
                self.consumer_dies(member);
            }
            2 => {
                self.consumers[member].is_frozen ^= true;
                self.trace
                    .line(&format!("consumer {member} freezes or thaws"));
            }
            3 => self.subscribe(member),
            4 => self.say_goodbye(member),
            _ => self.commit_as_consumer(member),
        }
        Ok(())
    }

    pub(super) fn consumer_dies(&mut self, member: usize) {
        self.trace.line(&format!("consumer {member} dies"));
        self.consumer_group.lets_go(&self.consumers[member].id);
        self.consumers[member].begin_process();
    }

    fn subscribe(&mut self, member: usize) {
        let live = self.catalog.live();
        let names: Vec<Arc<str>> = live.map(|(_, life)| life.name.as_str().into()).collect();
        let topics = names
            .into_iter()
            .filter(|_| self.chance.percent(80))
            .collect();
        let regex = self.chance.percent(20).then(|| Arc::from("[a-z]+-?[0-9]*"));
        self.trace
            .line(&format!("consumer {member} reads {topics:?} and {regex:?}"));
        let consumer = &mut self.consumers[member];
        consumer.subscription = Subscription { topics, regex };
        consumer.must_say_all = true;
    }

    fn request(&self, member: usize, epoch: i32) -> ConsumerHeartbeat {
        let consumer = &self.consumers[member];
        let mut owned = BTreeMap::<TopicId, Vec<i32>>::new();
        for (topic, partition) in &consumer.owned {
            owned.entry(*topic).or_default().push(*partition);
        }
        let leaves = epoch < JOIN_EPOCH;
        let is_full = !leaves && (epoch == JOIN_EPOCH || consumer.must_say_all);
        let Subscription { topics, regex } = consumer.subscription.clone();
        ConsumerHeartbeat {
            call: CallId(0),
            group: GroupId::from(GROUP),
            member_id: MemberId::from(consumer.id.as_str()),
            member_epoch: epoch,
            instance_id: consumer.instance.as_deref().map(InstanceId::from),
            rack_id: None,
            client_id: "simulated".into(),
            client_host: "/127.0.0.1".into(),
            rebalance_timeout_ms: is_full.then_some(REBALANCE.as_millis() as i32),
            topics: is_full.then_some(topics),
            regex: is_full.then(|| SubscribedRegex {
                pattern: regex.unwrap_or_default(),
                topics: Ok(Arc::from([])),
            }),
            server_assignor: None,
            owned: (!leaves).then(|| owned.into_iter().collect()),
            requires_member_id: true,
            fresh_id: Default::default(),
        }
    }

    pub(super) fn beat(&mut self, member: usize) {
        if self.consumers[member].is_waiting {
            return;
        }
        let request = self.request(member, self.consumers[member].epoch);
        let sent = self.now();
        let consumer = &mut self.consumers[member];
        consumer.must_say_all = false;
        consumer.is_waiting = true;
        consumer.is_out = false;
        let process = consumer.process;
        let what = format!("consumer {member} beats in epoch {}", consumer.epoch);
        let groups = self.broker().groups().clone();
        let beat = async move { groups.consumer_heartbeat(request).await };
        self.call(what, beat, move |world, answer| {
            let consumer = &mut world.consumers[member];
            if consumer.process != process {
                return Ok(());
            }
            consumer.is_waiting = false;
            match answer {
                Some(Ok(answer)) => world.has_beaten(member, sent, &answer),
                Some(Err(GroupRequestError::Refused(refused))) => {
                    world.trace.line(&refused.to_string());
                    world.is_refused(member, &refused)
                }
                // It can't know what became of it, and says everything once more.
                Some(Err(GroupRequestError::Coordinator(_))) | None => {
                    consumer.must_say_all = true;
                    consumer.unheard.get_or_insert(sent);
                    Ok(())
                }
            }
        });
    }

    fn has_beaten(&mut self, member: usize, sent: Duration, answer: &MemberHeartbeat) -> Verdict {
        let now = self.now();
        let consumer = &mut self.consumers[member];
        if consumer.epoch == JOIN_EPOCH && consumer.instance.is_some() {
            // It has the place of whoever had it before.
            for (id, _) in consumer.past.iter().filter(|(id, _)| *id != consumer.id) {
                self.consumer_group.left(id);
            }
        }
        let unheard = consumer.unheard.take();
        // What it hears of late it may have had since an epoch that it knows.
        let since = unheard.map_or(answer.epoch, |_| consumer.epoch);
        consumer.epoch = answer.epoch;
        consumer.past.push((consumer.id.clone(), answer.epoch));
        let partitions = match &answer.assignment {
            Some(assignment) => {
                let all = assignment.iter();
                all.flat_map(|(topic, of)| of.iter().map(|p| (*topic, p.0)))
                    .collect()
            }
            None => consumer.owned.clone(),
        };
        consumer.is_assigned(since, partitions);
        self.trace.line(&format!(
            "epoch {}, owns {:?}",
            answer.epoch, consumer.owned
        ));
        self.reached.consumed += u64::from(!consumer.owned.is_empty());
        // And the time for what it shall give up may run since then.
        let until = unheard.unwrap_or(sent) + SESSION.min(REBALANCE);
        self.consumer_group
            .told(now, until, &consumer.id, &consumer.owned)
    }

    fn is_refused(&mut self, member: usize, refused: &GroupError) -> Verdict {
        let consumer = &mut self.consumers[member];
        match refused {
            GroupError::FencedMemberEpoch { .. }
            | GroupError::UnknownMember { .. }
            | GroupError::GroupNotFound { .. }
            | GroupError::FencedInstance { .. }
            | GroupError::UnreleasedInstance { .. } => {
                self.reached.consumers_fenced += 1;
                self.consumer_group.lets_go(&consumer.id);
                consumer.join_anew();
                match refused {
                    GroupError::UnknownMember { .. } => consumer.is_out = true,
                    // It is still there, and owns since when it may not have heard.
                    _ => consumer.past.clear(),
                }
                Ok(())
            }
            other => Err(broken(
                GRP_1,
                format!("a member that behaves is refused: {other}"),
            )),
        }
    }

    pub(super) fn say_goodbye(&mut self, member: usize) {
        let consumer = &self.consumers[member];
        if consumer.is_frozen || consumer.is_waiting || consumer.epoch == JOIN_EPOCH {
            return;
        }
        let for_a_while = consumer.instance.is_some() && self.chance.percent(60);
        let request = match for_a_while {
            true => self.request(member, STATIC_LEAVE_EPOCH),
            false => self.request(member, LEAVE_EPOCH),
        };
        let id = self.consumers[member].id.clone();
        self.consumer_group.lets_go(&id);
        self.consumers[member].begin_process();
        let groups = self.broker().groups().clone();
        let leave = async move { groups.consumer_heartbeat(request).await };
        let what = format!("consumer {member} leaves, for a while: {for_a_while}");
        self.call(what, leave, move |world, answer| {
            if matches!(answer, Some(Ok(_))) && !for_a_while {
                world.consumer_group.left(&id);
            }
            Ok(())
        });
    }

    /// The faults are over and everybody is heard again: within the time-outs every partition that somebody reads has an owner, and
    /// from then on nobody is interrupted.
    pub(crate) async fn consumers_come_to_rest(&mut self) -> Verdict {
        for consumer in &mut self.consumers {
            consumer.is_frozen = false;
        }
        for _ in 0..REST_BEATS {
            self.beat_all().await?;
        }
        let before: Vec<_> = self
            .consumers
            .iter()
            .map(|consumer| consumer.owned.clone())
            .collect();
        self.check_owned().await?;
        self.beat_all().await?;
        let after: Vec<_> = self
            .consumers
            .iter()
            .map(|consumer| consumer.owned.clone())
            .collect();
        match before == after {
            true => Ok(()),
            false => Err(broken(
                GRP_1,
                format!("interrupted at rest: {before:?}, then {after:?}"),
            )),
        }
    }

    async fn beat_all(&mut self) -> Verdict {
        for member in 0..self.consumers.len() {
            self.beat(member);
        }
        self.finish_calls().await?;
        self.clock.advance(REST_BEAT);
        self.broker().groups().tick();
        self.settle().await
    }

    async fn check_owned(&mut self) -> Verdict {
        let groups = self.broker().groups().clone();
        let describe = async move { groups.describe_consumer(GROUP.into()).await };
        self.call(
            "describe the consumers".to_owned(),
            describe,
            |world, answer| {
                let Some(Ok(group)) = answer else {
                    return Err(broken(GRP_1, format!("the group is not there: {answer:?}")));
                };
                if group.state != GroupState::Stable {
                    return Err(broken(
                        GRP_1,
                        format!("the group does not come to rest: {group:?}"),
                    ));
                }
                let topics = world.broker().topics();
                let mut wanted = BTreeSet::new();
                for consumer in &world.consumers {
                    let read = topics.iter().filter(|topic| {
                        let names = consumer.subscription.topics.iter();
                        names.into_iter().any(|name| **name == *topic.name.as_str())
                    });
                    wanted.extend(read.flat_map(|topic| {
                        (0..topic.partitions.len()).map(|index| (topic.id, index as i32))
                    }));
                }
                let owned: BTreeSet<_> = world
                    .consumers
                    .iter()
                    .flat_map(|consumer| consumer.owned.iter().copied())
                    .collect();
                let missing = wanted.difference(&owned).next();
                match missing {
                    None => Ok(()),
                    Some(missing) => Err(broken(
                        GRP_1,
                        format!("{missing:?} has no owner: {group:?}"),
                    )),
                }
            },
        );
        self.finish_calls().await
    }
}
