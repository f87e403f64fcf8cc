"""The checker must be able to fail: each violation is planted in an otherwise good history and must be found, and nothing else."""

import copy
import unittest

from checker import History, check

PARTITION = 3


def assign(t, epoch, member):
    return {"k": "assign", "t": t, "p": [PARTITION], "m": member, "e": epoch}


def revoke(t, epoch, member, kind="revoke"):
    return {"k": kind, "t": t, "p": [PARTITION], "m": member, "e": epoch}


def reads(first, last, start):
    return [{"k": "read", "t": start + offset - first, "p": PARTITION, "o": offset, "v": offset} for offset in range(first, last)]


def commit(t, offset, verdict="ok", took=0.1):
    return [
        {"k": "commit", "t": t, "o": [[PARTITION, offset]], "m": "", "e": -1},
        {"k": "committed", "t": t + took, "t0": t, "p": PARTITION, "o": offset, "v": verdict, "c": {"ok": 0, "refused": 25, "open": -185}[verdict]},
    ]


def good():
    """One record a second is written. `stays` has the partition till 10, then `dies` (killed at 20), then `freezes` (frozen from 35 to 50,
    out meanwhile), then `stays` again."""
    members = {
        "stays": [
            assign(0, 2, "S"), *reads(0, 10, 0.5), *commit(9.8, 10), revoke(10, 2, "S"),
            assign(43, 7, "S"), *reads(30, 43, 43.1), *reads(43, 60, 56.1), *commit(73.5, 60), {"k": "left", "t": 80},
        ],
        "dies": [assign(10.5, 3, "D"), *reads(10, 20, 10.6), *commit(19.8, 20)],
        "freezes": [
            assign(27, 5, "F"), *reads(20, 28, 27.1), *reads(28, 30, 34.2), *commit(34.5, 30), revoke(50.5, -1, "F", "lost"),
            *commit(50.2, 31, "refused"),
        ],
    }
    group = lambda t, *of: {"k": "group", "t": t, "state": "Stable", "epoch": 1, "members": [[member, 1, held, held] for member, held in of]}
    runner = [
        {"k": "spawn", "t": -1, "n": "stays", "stable": True}, {"k": "spawn", "t": -1, "n": "dies", "stable": False},
        {"k": "spawn", "t": -1, "n": "freezes", "stable": False}, {"k": "begin", "t": 0},
        {"k": "leave", "t": 15, "n": "somebody"}, {"k": "kill", "t": 20, "n": "dies"}, {"k": "freeze", "t": 35, "n": "freezes"},
        group(22, ("D", [PARTITION]), ("S", [])), group(40, ("F", [PARTITION]), ("S", [])), group(45, ("S", [PARTITION])),
        {"k": "ghost", "t": 30, "who": "dies", "c": 25}, {"k": "thaw", "t": 50, "n": "freezes"}, {"k": "end", "t": 75},
    ]
    acks = [{"k": "ack", "t": offset * 1.0 + 0.4, "p": PARTITION, "o": offset, "v": offset} for offset in range(60)]
    return members, runner, acks


class TheChecker(unittest.TestCase):
    def setUp(self):
        self.members, self.runner, self.acks = copy.deepcopy(good())

    def expect(self, *kinds):
        violations = check(History(self.members, self.runner, self.acks))
        self.assertEqual({violation.kind for violation in violations}, set(kinds), violations)

    def find(self, process, kind, number=0):
        return [event for event in self.members[process] if event["k"] == kind][number]

    def test_a_good_history_has_no_violation(self):
        self.expect()

    def test_a_partition_given_before_it_was_given_up(self):
        self.find("dies", "assign")["t"] = 9.9
        self.expect("two-owners")

    def test_a_partition_given_before_the_session_of_who_was_killed_is_over(self):
        self.find("freezes", "assign")["t"] = 22
        self.expect("two-owners", "late-read")

    def test_a_partition_given_before_the_session_of_who_is_frozen_is_over(self):
        self.find("stays", "assign", 1)["t"] = 37
        # What waited for its owner waits from then on.
        self.expect("two-owners", "late-read")

    def test_a_member_that_thaws_as_owner_must_not_have_been_replaced(self):
        self.find("freezes", "lost")["k"] = "revoke"
        self.expect_some("two-owners")

    def expect_some(self, kind):
        violations = check(History(self.members, self.runner, self.acks))
        self.assertIn(kind, {violation.kind for violation in violations}, violations)

    def test_a_commit_of_who_was_put_out_that_is_taken(self):
        asked, answered = self.members["freezes"][-2:]
        answered.update(v="ok", c=0)
        self.expect("late-commit")

    def test_a_commit_of_who_never_had_the_partition(self):
        self.members["dies"] += commit(5, 3)
        self.expect_some("late-commit")

    def test_a_commit_in_the_name_of_the_dead(self):
        next(event for event in self.runner if event["k"] == "ghost")["c"] = 0
        self.expect("ghost")

    def test_an_owner_that_begins_before_the_last_commit(self):
        self.members["dies"][1:1] = [{"k": "read", "t": 10.55, "p": PARTITION, "o": 9, "v": 9}]
        self.expect("commit-lost")

    def test_an_owner_that_begins_behind_the_last_commit(self):
        del self.members["dies"][1]
        self.expect("commit-lost", "unread")

    def test_a_commit_that_was_never_answered_may_count_or_not(self):
        self.members["dies"].append({"k": "commit", "t": 19.9, "o": [[PARTITION, 19]], "m": "", "e": -1})
        self.expect()

    def test_a_refused_commit_does_not_count(self):
        answered = self.members["dies"][-1]
        answered.update(v="refused", c=25)
        self.expect("commit-lost")

    def test_records_that_are_left_out(self):
        self.members["stays"].remove(self.find("stays", "read", 5))
        self.expect("skipped", "unread")

    def test_another_record_than_was_written(self):
        self.find("stays", "read", 5)["v"] = 17
        self.expect("skipped")

    def test_somebody_reads_what_it_does_not_hold(self):
        self.members["stays"].insert(-1, {"k": "read", "t": 74, "p": 5, "o": 0, "v": 0})
        self.expect("read-unowned")

    def test_nobody_holds_a_partition_for_too_long(self):
        self.members["freezes"][:0] = [assign(24, 5, "F"), revoke(24.5, 5, "F")]
        self.expect()
        del self.members["freezes"][:2]
        for event in self.members["freezes"]:
            if event["t"] < 30:
                event["t"] += 2.5
        self.expect("unowned")

    def test_after_who_goes_in_order_it_is_soon_held_again(self):
        for event in self.members["dies"]:
            event["t"] += 3 if event["t"] < 12 else 0
        self.expect("unowned")

    def test_who_was_to_have_it_falls_silent_too(self):
        # `other` is to have it when `dies` is out, and is frozen just then.
        self.runner += [
            {"k": "spawn", "t": -1, "n": "other", "stable": False}, {"k": "freeze", "t": 25.5, "n": "other"}, {"k": "thaw", "t": 40, "n": "other"},
            {"k": "group", "t": 27, "state": "", "epoch": 1, "members": [["O", 1, [], [PARTITION]]]},
        ]
        self.runner.sort(key=lambda event: event["t"])
        self.members["other"] = [{"k": "assign", "t": 0, "p": [], "m": "O", "e": 1}]
        for event in self.members["freezes"]:
            if event["t"] < 30:
                event["t"] += 2.5
        self.expect()

    def test_a_record_that_waits_too_long(self):
        for event in self.members["stays"]:
            event["t"] += 4 if 3 < event["t"] < 9 else 0
        self.expect_some("late-read")

    def test_a_member_that_is_put_out_for_nothing(self):
        self.find("stays", "revoke")["k"] = "lost"
        self.expect("lost")

    def test_a_member_that_stays_gets_back_what_was_taken(self):
        self.members["stays"][1:1] = [revoke(0.2, 2, "S"), assign(0.3, 3, "S")]
        self.expect("interrupted")
        self.members["stays"][2]["e"] = 4
        self.expect()

    def test_a_commit_of_a_member_that_stays_is_refused(self):
        self.members["stays"] += commit(70, 50, "refused")
        self.expect("refused")

    def test_a_member_that_is_silent_and_stays_in_the_group(self):
        self.runner.append({"k": "group", "t": 42.5, "state": "", "epoch": 1, "members": [["F", 1, [], []]]})
        self.expect("in-the-group")

    def test_a_group_that_does_not_come_to_the_end(self):
        self.runner.append({"k": "undrained", "t": 75, "lag": {"3": 4}})
        self.expect("undrained")

    def test_a_thin_history(self):
        self.runner = [event for event in self.runner if event["k"] != "ghost"]
        self.expect("untested")


if __name__ == "__main__":
    unittest.main()
