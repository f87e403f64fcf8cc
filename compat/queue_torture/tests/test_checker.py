"""The checker must be able to fail: each violation is planted in an otherwise good history and must be found, and nothing else."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from checker import check  # noqa: E402
from history import Dead, History, Queue, Record, Rules  # noqa: E402

LOCK, TOPIC = 1_000, "t"
KEYED = Rules("keyed", TOPIC, is_keyed=True, attempts_max=3, lock_ms=LOCK, rest_ms=100, unwanted="b")
FREE = Rules("free", TOPIC, is_keyed=False, attempts_max=3, lock_ms=LOCK, rest_ms=100, unwanted="b")


class Story:
    """What the consumers of one queue wrote down, made line by line."""

    def __init__(self, rules):
        self.rules, self.events, self.ended = rules, {}, {}
        self.dead, self.acknowledged, self.numbers = [], 0, 0

    def put(self, consumer, **event):
        self.events.setdefault(consumer, []).append(event)

    def number(self):
        self.numbers += 1
        return self.numbers

    def give(self, consumer, t, *messages, lock=LOCK):
        """(offset, attempt) each; the broker gave them at `t`. Gives back what to say something of."""
        ask = self.number()
        self.put(consumer, k="ask", n=ask, t=t - 5, l=lock)
        self.put(consumer, k="got", n=ask, t=t + 5, m=[[0, offset, attempt, t + lock, offset] for offset, attempt in messages])
        return [[ask, index] for index in range(len(messages))]

    def lose(self, consumer, t, until):
        ask = self.number()
        self.put(consumer, k="ask", n=ask, t=t, l=LOCK)
        self.put(consumer, k="lost", n=ask, t=until)

    def say(self, consumer, t, what, places, result="done", time=None, lost=0, heard=True, delay=None):
        number = self.number()
        reasons = {"r": f"{what} {consumer}"} if what in ("nack", "reject") else {}
        self.put(consumer, k="say", n=number, t=t, w=what, m=places, l=LOCK if what == "extend" else None, d=delay, **reasons)
        if heard:
            self.put(consumer, k="heard", n=number, t=t + 5, a=[[result, time]], x=lost)
        self.acknowledged += len(places) * (what == "ack" and result == "done")

    def die(self, offset, attempts, reason, **said):
        said = {"queue": self.rules.name, "topic": TOPIC, "partition": "0", "offset": str(offset), "timestamp": "0", "attempts": str(attempts), "reason": reason, **said}
        self.dead.append(Dead(offset, True, said))

    def queue(self, **status):
        empty = dict.fromkeys(("depth", "unread", "in_flight_records", "resting", "moving", "given_up", "lost", "unreadable_delays"), 0)
        queue = Queue(self.rules, self.dead, {**empty, "dead_letters": len(self.dead), "acknowledged": self.acknowledged, **status})
        for consumer, events in self.events.items():
            queue.add(consumer, events, self.ended.get(consumer, 100_000))
        return queue


def good(rules):
    """Offset 0 (key k) fails, is given back, and is then done with; 1 (key k) comes behind it; 2 is passed over; 3 is due at 3,000; 4 dies;
    5 is held longer by its consumer's word; 6 comes back from somebody who is heard too late."""
    story = Story(rules)
    first = story.give("a", 100, (0, 1), lock=LOCK)
    story.say("a", 200, "nack", first, "again", 400)
    second = story.give("b", 450, (0, 2))
    story.say("b", 500, "release", second, "again", 501)
    third = story.give("b", 520, (0, 2), (1, 1))
    story.say("b", 600, "ack", third)
    story.say("a", 3_100, "ack", story.give("a", 3_001, (3, 1)))
    for attempt in (1, 2):
        story.say("c", 1_000 * attempt, "nack", story.give("c", 1_000 * attempt - 50, (4, attempt)), "again", 1_000 * attempt + 200)
    story.say("c", 3_000, "nack", story.give("c", 2_950, (4, 3)), "dead-letter")
    story.die(4, 3, "nack c")
    long = story.give("d", 1_000, (5, 1))
    story.say("d", 1_900, "extend", long, "held", 2_902)
    story.say("d", 2_500, "ack", long)
    late = story.give("e", 1_000, (6, 1))
    story.say("f", 2_300, "ack", story.give("f", 2_200, (6, 2)))
    story.say("e", 2_400, "ack", late, "lock-lost")
    story.acknowledged -= 0
    return story


def log():
    def record(offset, key=None, kind="a", due=None):
        return (0, offset), Record(0, offset, 0, offset, due, True, key, kind)

    return dict([record(0, "k"), record(1, "k"), record(2, kind="b"), record(3, due=3_000), record(4), record(5), record(6)])


class TheChecker(unittest.TestCase):
    rules = FREE

    def setUp(self):
        self.story, self.records, self.cuts, self.status, self.drift = good(self.rules), log(), [], {}, 0.0
        self.published = [(offset, (0, offset), 0) for offset in range(7)]

    def expect(self, *kinds):
        history = History([self.story.queue(**self.status)], self.records, self.published, self.cuts, len(self.published), self.drift)
        violations = list(check(history))
        self.assertEqual({violation.kind for violation in violations}, set(kinds), violations)

    def events(self, consumer, kind):
        return [event for event in self.story.events[consumer] if event["k"] == kind]

    def give_again(self, consumer, t, offset, attempt, t_ack):
        self.story.say(consumer, t_ack, "ack", self.story.give(consumer, t, (offset, attempt)))

    def test_a_good_history_has_no_violation(self):
        self.expect()

    def test_a_message_is_given_while_its_lock_lasts(self):
        got = self.events("f", "got")[0]
        got["m"][0][3] -= 400
        self.events("f", "ask")[0]["t"] -= 400
        self.expect("two-holders", "no-rest")

    def test_a_message_is_given_while_a_lock_lasts_that_was_made_longer(self):
        self.story.events["d"].pop()
        self.story.events["d"].pop()
        self.give_again("g", 2_500, 5, 2, 2_600)
        self.story.acknowledged -= 1
        self.expect("two-holders", "no-rest")

    def test_a_power_cut_may_take_a_lock_and_its_attempt(self):
        self.events("f", "got")[0]["m"][0][2:4] = [1, 1_800 + LOCK]
        self.events("f", "ask")[0]["t"] = 1_790
        self.expect("two-holders", "no-rest", "attempts")
        self.cuts = [(1_500, 1_700)]
        self.expect()

    def test_a_message_rests_until_its_backoff_is_over(self):
        self.events("f", "got")[0]["m"][0][3] = 2_050 + LOCK
        self.events("f", "ask")[0]["t"] = 2_040
        self.expect("no-rest")

    def test_a_nack_with_a_time_is_kept(self):
        self.events("a", "heard")[0]["a"] = [["again", 460]]
        self.expect("no-rest")

    def test_a_nack_rests_as_the_backoff_says_or_as_it_asks(self):
        self.events("a", "heard")[0]["a"] = [["again", 200]]
        self.expect()
        self.events("a", "say")[0]["d"] = 300
        self.expect("no-rest")

    def test_a_nack_rests_whatever_its_answer_says(self):
        self.events("a", "heard")[0]["a"] = [["again", 200]]
        self.events("b", "got")[0]["m"][0][3] -= 190
        self.events("b", "ask")[0]["t"] -= 190
        self.expect("no-rest")

    def test_a_late_word_counts(self):
        self.events("e", "heard")[0]["a"] = [["done", None]]
        self.expect("late-ack", "again", "twice", "untested")

    def test_a_holder_is_refused(self):
        self.events("d", "heard")[1]["a"] = [["lock-lost", None]]
        self.story.acknowledged -= 1
        self.give_again("g", 3_100, 5, 2, 3_200)
        self.expect("refused-early")

    def test_a_word_whose_answer_was_lost_may_be_refused_later(self):
        self.events("d", "heard")[1].update(a=[["lock-lost", None]], x=1)
        self.expect()
        self.story.acknowledged -= 1
        self.expect()
        self.story.acknowledged -= 1
        self.expect("status")

    def test_a_message_given_before_it_was_asked_for(self):
        self.events("e", "ask")[0]["t"] = 1_050
        self.expect("time")

    def test_a_message_is_lost(self):
        self.story.events["a"] = self.story.events["a"][:-4]
        self.story.acknowledged -= 1
        self.expect("lost")

    def test_a_message_that_was_never_given_is_lost(self):
        self.records[0, 7] = Record(0, 7, 0, 7, None, True, None, "a")
        self.expect("lost")

    def test_an_ack_that_nobody_answered_is_no_loss(self):
        self.story.events["a"].pop()
        self.expect()

    def test_a_message_dies_and_is_acknowledged(self):
        self.story.die(3, 3, "the lock ran out")
        self.expect("twice")

    def test_a_message_dies_twice(self):
        self.story.die(4, 3, "nack c")
        self.expect("twice")

    def test_a_message_comes_again_after_its_ack(self):
        self.give_again("g", 4_000, 3, 2, 4_100)
        self.story.acknowledged -= 1
        self.expect("again", "twice")

    def test_a_message_comes_again_after_its_death(self):
        self.story.events["c"][-1]["m"] = self.story.events["c"][-1].get("m")
        self.story.say("g", 4_100, "nack", self.story.give("g", 4_000, (4, 3)), "dead-letter")
        self.expect("again", "attempts", "dead")

    def test_what_the_filter_passes_over_is_given(self):
        self.give_again("g", 4_000, 2, 1, 4_100)
        self.story.acknowledged -= 1
        self.expect("unwanted", "status")

    def test_a_message_goes_before_its_time(self):
        self.records[0, 3] = self.records[0, 3]._replace(due=3_002)
        self.expect("early")

    def test_a_message_goes_before_the_time_that_its_producer_meant(self):
        self.published[3] = (3, (0, 3), 3_050)
        self.expect("early")

    def test_a_release_burns_an_attempt(self):
        self.events("b", "got")[1]["m"][0][2] = 3
        self.expect("attempts")

    def test_a_failure_is_not_counted(self):
        self.events("b", "got")[0]["m"][0][2] = 1
        self.events("b", "got")[1]["m"][0][2] = 1
        self.expect("attempts")

    def test_an_attempt_that_nobody_saw_counts(self):
        self.events("b", "got")[1]["m"][0][2] = 3
        self.story.lose("h", 505, 515)
        self.expect()

    def test_an_attempt_too_many(self):
        self.events("f", "got")[0]["m"][0][2] = 4
        for _ in range(4):
            self.story.lose("h", 1_500, 1_600)
        self.expect("attempts")

    def test_a_dead_letter_says_the_wrong_thing(self):
        for said in ({"reason": "no"}, {"attempts": "2"}, {"timestamp": "1"}, {"queue": "other"}, {"topic": "other"}):
            with self.subTest(said):
                self.setUp()
                self.story.dead[0].said.update(said)
                self.expect("dead")

    def test_a_dead_letter_has_lost_its_payload(self):
        self.story.dead[0] = self.story.dead[0]._replace(is_so=False)
        self.expect("dead")

    def test_a_dead_letter_of_nothing(self):
        self.story.die(99, 3, "nack c")
        self.expect("twice")

    def test_a_status_that_is_wrong(self):
        for status in ({"depth": 1}, {"acknowledged": 4}, {"acknowledged": 6}, {"dead_letters": 2}, {"lost": 1}, {"moving": 1}):
            with self.subTest(status):
                self.status = status
                self.expect("status")

    def test_a_record_that_is_not_there(self):
        del self.records[0, 3]
        self.expect("unwritten", "twice", "untested")

    def test_a_record_that_stands_twice(self):
        self.records[0, 8] = Record(0, 8, 0, 3, None, True, None, "b")
        self.expect("unwritten")

    def test_a_record_that_was_changed(self):
        self.records[0, 3] = self.records[0, 3]._replace(is_so=False)
        self.expect("unwritten")

    def test_a_thin_history_shows_nothing(self):
        self.records[0, 2] = self.records[0, 2]._replace(kind="a")
        self.give_again("g", 4_000, 2, 1, 4_100)
        self.expect("untested")

    def test_clocks_that_come_apart_show_nothing(self):
        self.drift = 50.0
        self.expect("untested")


class WithOrder(TheChecker):
    """All of it holds for a queue with order per key too, and more."""

    rules = KEYED

    def test_a_key_goes_on_before_an_earlier_message_is_settled(self):
        # The later one is done with while the earlier one rests.
        self.records[0, 3] = self.records[0, 3]._replace(key="k", due=None)
        self.events("a", "got")[1]["m"][0][3] = 300 + LOCK
        self.events("a", "ask")[1]["t"] = 290
        self.events("a", "got")[1]["t"] = 305
        self.events("a", "say")[1]["t"] = 310
        self.events("a", "heard")[1]["t"] = 320
        self.expect("order", "untested")

    def test_a_key_has_two_consumers(self):
        # The first ack of the two is unheard of, so that its hold may last.
        self.story = Story(self.rules)
        held = self.story.give("a", 100, (0, 1), (1, 1))
        self.story.say("b", 300, "ack", self.story.give("b", 250, (3, 1)))
        self.story.say("a", 400, "ack", held)
        self.records = {place: record._replace(key="k", due=None) for place, record in self.records.items() if place[1] in (0, 1, 3)}
        self.published = []
        self.expect("two-for-a-key", "untested")

    def test_one_consumer_may_have_many_of_a_key(self):
        self.story = Story(self.rules)
        held = self.story.give("a", 100, (0, 1), (1, 1))
        more = self.story.give("a", 250, (3, 1))
        self.story.say("a", 400, "ack", held)
        self.story.say("a", 500, "ack", more)
        self.records = {place: record._replace(key="k", due=None) for place, record in self.records.items() if place[1] in (0, 1, 3)}
        self.published = []
        self.expect("untested")

    def sent_back(self, attempt):
        self.story = Story(self.rules)
        held = self.story.give("a", 100, (0, 1), (1, 1))
        self.story.say("a", 200, "nack", held[:1], "again", 400)
        self.story.say("a", 300, "ack", held[1:], "lock-lost")
        self.story.say("b", 600, "ack", self.story.give("b", 500, (0, 2), (1, attempt)))
        self.records = {place: record for place, record in self.records.items() if place[1] in (0, 1)}
        self.published = []

    def unseen(self, given):
        """`a` has had 0 by an answer that it did not hear, and 1 behind it; 0 goes to another at `given`, 1 later."""
        self.story = Story(self.rules)
        self.story.lose("a", 100, 110)
        held = self.story.give("a", 200, (1, 1))
        self.story.say("b", given + 50, "ack", self.story.give("b", given, (0, 2)))
        self.story.say("b", given + 90, "ack", self.story.give("b", given + 80, (1, 1)))
        self.story.say("a", 1_500, "ack", held, "lock-lost")
        self.records = {place: record for place, record in self.records.items() if place[1] in (0, 1)}
        self.published = []

    def test_what_was_held_unseen_takes_the_later_ones_along(self):
        self.unseen(1_150)
        self.expect("untested")
        self.unseen(1_000)
        self.expect("untested", "two-for-a-key")

    def test_what_comes_back_with_an_earlier_one_burns_no_attempt(self):
        self.sent_back(1)
        self.expect("untested")
        self.sent_back(2)
        self.expect("untested", "attempts")


if __name__ == "__main__":
    unittest.main()
