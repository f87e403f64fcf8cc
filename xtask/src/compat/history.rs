//! What one client's processes sent and were given, and whether that is allowed.
//!
//! Why it exists: one judge for every client, so that "no loss, repeats only as at-least-once allows" means the same for all of them.
//! Owns: sends, deliveries, commits, in the order in which the runner read them.
//! In -> out: the lines of `compat/python/conversation.py` -> violations, and counts for RESULTS.md.

use std::collections::{BTreeMap, BTreeSet};

/// Records with the same key share a partition, in the order of their ids.
const KEYS: u64 = 40;

/// What was asked to be sent.
#[derive(Debug)]
struct Sent {
    batch: String,
    is_idempotent: bool,
    acked: Option<(i32, i64)>,
}

/// What lies at one offset of one partition.
#[derive(Debug)]
struct Found {
    id: u64,
    times: u64,
}

/// One consumer process.
#[derive(Debug, Default)]
struct Consumer {
    delivered: u64,
    since_commit: u64,
    ids: BTreeSet<u64>,
}

/// Everything that happened to one topic.
#[derive(Debug, Default)]
pub(crate) struct History {
    sent: BTreeMap<u64, Sent>,
    found: BTreeMap<(i32, i64), Found>,
    places: BTreeMap<u64, BTreeSet<(i32, i64)>>,
    committed: BTreeMap<i32, i64>,
    consumers: Vec<Consumer>,
    headers_have_ids: bool,
    pub(crate) commits: u64,
    pub(crate) refusals: Vec<String>,
    pub(crate) repeats: u64,
    violations: Vec<String>,
}

/// The key of a record.
fn key_of(id: u64) -> String {
    format!("key-{}", id % KEYS)
}

/// The value of a record.
fn value_of(id: u64) -> String {
    let padding = "abcdefghij".repeat(20);
    let length = 50 + usize::try_from(id % 150).expect("below 150");
    format!("{id}:{}", &padding[..length])
}

impl History {
    /// A history; `headers_have_ids` unless the client can set only the same headers for a whole run.
    pub(crate) fn new(headers_have_ids: bool) -> History {
        History {
            headers_have_ids,
            ..History::default()
        }
    }

    /// Notes that `count` records from `first` on are about to be sent.
    pub(crate) fn plan(&mut self, first: u64, count: u64, codec: &str, acks: &str) {
        for id in first..first + count {
            let sent = Sent {
                batch: format!("{codec}/{acks}"),
                is_idempotent: acks == "idempotent",
                acked: None,
            };
            self.sent.insert(id, sent);
        }
    }

    /// A new consumer process; the number names it from now on.
    pub(crate) fn add_consumer(&mut self) -> usize {
        self.consumers.push(Consumer::default());
        self.consumers.len() - 1
    }

    /// A producer's line.
    pub(crate) fn producer_line(&mut self, line: &str) {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields.as_slice() {
            ["acked", id, partition, offset] => {
                let parsed = (id.parse(), partition.parse(), offset.parse());
                let (Ok(id), Ok(partition), Ok(offset)) = parsed else {
                    return self.violate(format!("unreadable line {line:?}"));
                };
                match self.sent.get_mut(&id) {
                    Some(sent) => sent.acked = Some((partition, offset)),
                    None => self.violate(format!("acknowledged but never sent: {id}")),
                }
            }
            _ => self.violate(format!("unexpected line of a producer: {line:?}")),
        }
    }

    /// A consumer's line.
    pub(crate) fn consumer_line(&mut self, consumer: usize, line: &str) {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields.as_slice() {
            ["got", partition, offset, key, value, headers] => {
                let (Ok(partition), Ok(offset)) = (partition.parse(), offset.parse()) else {
                    return self.violate(format!("unreadable line {line:?}"));
                };
                self.got(consumer, (partition, offset), key, value, headers);
            }
            ["committed", offsets] => self.commit(consumer, offsets),
            ["refused", why] => self.refusals.push((*why).to_owned()),
            _ => self.violate(format!("unexpected line of a consumer: {line:?}")),
        }
    }

    fn got(&mut self, consumer: usize, place: (i32, i64), key: &str, value: &str, headers: &str) {
        let (partition, offset) = place;
        let id = value.split(':').next().and_then(|id| id.parse().ok());
        let Some((id, sent)) = id.and_then(|id| self.sent.get(&id).map(|sent| (id, sent))) else {
            return self.violate(format!(
                "at {partition}/{offset}: a value nobody sent: {value:?}"
            ));
        };
        let mut wanted = vec![format!("batch={}", sent.batch)];
        if self.headers_have_ids {
            wanted.insert(0, format!("id={id}"));
        }
        if key != key_of(id) || value != value_of(id) || headers != wanted.join(",") {
            return self.violate(format!(
                "at {partition}/{offset}: record {id} came back changed: {key:?} {value:?} {headers:?}"
            ));
        }
        if self
            .committed
            .get(&partition)
            .is_some_and(|next| *next > offset)
        {
            self.violate(format!(
                "GRP-3: {partition}/{offset} was delivered again after offset {} was committed",
                self.committed[&partition]
            ));
        }
        self.places.entry(id).or_default().insert(place);
        let found = self.found.entry(place).or_insert(Found { id, times: 0 });
        found.times += 1;
        let is_first = found.times == 1;
        let other = found.id;
        if other != id {
            self.violate(format!(
                "LOG-3: {partition}/{offset} held {other} and then {id}"
            ));
        }
        let state = &mut self.consumers[consumer];
        state.delivered += 1;
        state.since_commit += 1;
        state.ids.insert(id);
        self.repeats += u64::from(!is_first);
    }

    fn commit(&mut self, consumer: usize, offsets: &str) {
        self.commits += 1;
        self.consumers[consumer].since_commit = 0;
        for part in offsets.split(',') {
            let parsed = part.split_once('=').and_then(|(partition, offset)| {
                Some((partition.parse().ok()?, offset.parse().ok()?))
            });
            let Some((partition, offset)) = parsed else {
                return self.violate(format!("unreadable commit {offsets:?}"));
            };
            self.committed.insert(partition, offset);
        }
    }

    fn violate(&mut self, what: String) {
        // One broken thing repeats for every record; the first few say it all.
        if self.violations.len() < 10 {
            self.violations.push(what);
        }
    }

    /// How many records were planned in all.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.len() as u64
    }

    /// How many records this consumer was given.
    pub(crate) fn delivered(&self, consumer: usize) -> u64 {
        self.consumers[consumer].delivered
    }

    /// How many deliveries this consumer has not committed yet.
    pub(crate) fn since_commit(&self, consumer: usize) -> u64 {
        self.consumers[consumer].since_commit
    }

    /// The ids that nobody was given.
    pub(crate) fn missing(&self) -> Vec<u64> {
        let is_missing = |id: &&u64| !self.places.contains_key(*id);
        self.sent.keys().filter(is_missing).copied().collect()
    }

    /// True if one of these consumers was given a record with an id below `bound`.
    pub(crate) fn has_old(&self, bound: u64, consumers: &[usize]) -> bool {
        let is_old = |consumer: &usize| {
            self.consumers[*consumer]
                .ids
                .range(..bound)
                .next()
                .is_some()
        };
        consumers.iter().any(is_old)
    }

    /// Judges everything at the end.
    pub(crate) fn verdict(&mut self) -> anyhow::Result<()> {
        self.judge_losses();
        self.judge_places();
        self.judge_order();
        anyhow::ensure!(
            self.violations.is_empty(),
            "{}",
            self.violations.join("\n  ")
        );
        Ok(())
    }

    fn judge_losses(&mut self) {
        let missing = self.missing();
        if !missing.is_empty() {
            let first = &missing[..missing.len().min(5)];
            self.violate(format!("{} records lost, such as {first:?}", missing.len()));
        }
        let unacked = self.sent.iter().find(|(_, sent)| sent.acked.is_none());
        if let Some((id, _)) = unacked {
            let what = format!("record {id} was sent without error and never acknowledged");
            self.violate(what);
        }
    }

    fn judge_places(&mut self) {
        let mut wrong = Vec::new();
        for (id, places) in &self.places {
            let sent = &self.sent[id];
            if sent.is_idempotent && places.len() > 1 {
                wrong.push(format!("PRD-1: idempotent record {id} lies at {places:?}"));
            }
            if let Some((partition, offset)) = sent.acked.filter(|(_, offset)| *offset >= 0)
                && !places.contains(&(partition, offset))
            {
                wrong.push(format!(
                    "record {id} was acknowledged at {partition}/{offset} and read at {places:?}"
                ));
            }
        }
        wrong.into_iter().for_each(|what| self.violate(what));
    }

    fn judge_order(&mut self) {
        // Per leg: a producer with acks=0 is gone before the broker has read what it sent, so the next one may overtake it.
        let mut last: BTreeMap<(i32, u64, &str), u64> = BTreeMap::new();
        let mut home: BTreeMap<u64, i32> = BTreeMap::new();
        let mut wrong = Vec::new();
        for ((partition, offset), found) in &self.found {
            let key = found.id % KEYS;
            let leg = self.sent[&found.id].batch.as_str();
            let previous = last.insert((*partition, key, leg), found.id);
            if previous.is_some_and(|previous| previous > found.id) {
                wrong.push(format!("order of key {key} broken at {partition}/{offset}"));
            }
            if *home.entry(key).or_insert(*partition) != *partition {
                wrong.push(format!("key {key} lies in two partitions"));
            }
        }
        wrong.into_iter().for_each(|what| self.violate(what));
    }
}

#[cfg(test)]
mod tests {
    use super::{History, key_of, value_of};

    fn got(id: u64, partition: i32, offset: i64) -> String {
        let (key, value) = (key_of(id), value_of(id));
        format!("got\t{partition}\t{offset}\t{key}\t{value}\tid={id},batch=lz4/all")
    }

    fn history(records: u64) -> History {
        let mut history = History::new(true);
        history.plan(0, records, "lz4", "all");
        for id in 0..records {
            history.producer_line(&format!("acked\t{id}\t0\t{id}"));
        }
        history.add_consumer();
        history
    }

    fn complaint(mut history: History) -> String {
        history.verdict().expect_err("must complain").to_string()
    }

    #[test]
    fn a_clean_run_with_a_repeat_before_the_commit_is_accepted() {
        let mut history = history(2);
        for line in [got(0, 0, 0), got(1, 0, 1), got(1, 0, 1)] {
            history.consumer_line(0, &line);
        }
        history.consumer_line(0, "committed\t0=2");
        history.verdict().expect("nothing is wrong");
        assert_eq!((history.repeats, history.commits), (1, 1));
    }

    #[test]
    fn a_record_that_nobody_was_given_is_a_loss() {
        let mut history = history(2);
        history.consumer_line(0, &got(0, 0, 0));
        assert!(complaint(history).contains("1 records lost"));
    }

    #[test]
    fn a_delivery_below_a_committed_offset_breaks_grp_3() {
        let mut history = history(1);
        history.consumer_line(0, &got(0, 0, 0));
        history.consumer_line(0, "committed\t0=1");
        history.consumer_line(0, &got(0, 0, 0));
        assert!(complaint(history).contains("GRP-3"));
    }

    #[test]
    fn two_values_at_one_offset_break_log_3() {
        let mut history = history(2);
        history.consumer_line(0, &got(0, 0, 0));
        history.consumer_line(0, &got(1, 0, 0));
        assert!(complaint(history).contains("LOG-3"));
    }

    #[test]
    fn a_changed_value_and_a_changed_header_are_found() {
        let mut history = history(1);
        history.consumer_line(0, &got(0, 0, 0).replace("abc", "abd"));
        assert!(complaint(history).contains("came back changed"));
        let mut history = super::tests::history(1);
        history.consumer_line(0, &got(0, 0, 0).replace("lz4/all", "lz4/1"));
        assert!(complaint(history).contains("came back changed"));
    }

    #[test]
    fn a_key_out_of_order_is_found() {
        let mut history = history(41);
        for id in (0..41).rev() {
            let offset = 40 - i64::try_from(id).expect("small");
            history.consumer_line(0, &got(id, 0, offset));
        }
        history.violations.clear();
        history.judge_order();
        assert!(history.violations[0].contains("order of key 0 broken"));
    }

    #[test]
    fn an_acknowledged_offset_that_holds_something_else_is_found() {
        let mut history = history(1);
        history.consumer_line(0, &got(0, 0, 5));
        assert!(complaint(history).contains("was acknowledged at 0/0"));
    }
}
