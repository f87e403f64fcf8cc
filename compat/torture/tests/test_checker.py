"""The checker must be able to fail: each violation is planted in an otherwise good history and must be found."""

import json
import tempfile
import unittest
from pathlib import Path

from torture import history
from torture.checker import Histories, check, check_no_acks_between, check_tested

COUNT = 6


def producer(values, partition=0, role="producer"):
    events = [{"k": "start", "actor": "producer-1", "role": role, "group": None}]
    for offset, value in enumerate(values):
        events.append({"k": "send", "t": offset, "p": partition, "v": value})
        events.append({"k": "ack", "t": offset + 0.5, "p": partition, "v": value, "o": offset})
    return events


def reader(values, role="tail", group=None, partition=0, first=0, t=100.0):
    events = [{"k": "start", "actor": role, "role": role, "group": group}]
    events.append({"k": "assign", "t": t, "p": [partition]})
    for offset, value in enumerate(values, first):
        events.append({"k": "poll", "t": t + 1 + offset, "p": partition, "o": offset, "v": value})
    return events


def good():
    values = [f"producer-1.0:{n}" for n in range(COUNT)]
    final = reader(values, role="final")
    final.append({"k": "end", "t": 200.0, "p": 0, "low": 0, "high": COUNT})
    member = reader(values, role="group", group="g")
    member.append({"k": "commit", "t0": 150.0, "t": 151.0, "p": 0, "o": 3, "ok": True})
    return {
        "producer": producer(values),
        "tail": reader(values),
        "member": member,
        "next-member": reader(values[3:], role="group", group="g", first=3, t=160.0),
        "final": final,
    }


def find(events, kind, number):
    return [event for event in events if event["k"] == kind][number]


class TheChecker(unittest.TestCase):
    def expect(self, files, *kinds):
        found = {violation.kind for violation in check(files)}
        self.assertEqual(found, set(kinds), check(files))

    def drop(self, files, name, kind, number):
        files[name].remove(find(files[name], kind, number))

    def test_a_good_history_has_no_violation(self):
        self.expect(good())

    def test_an_acknowledged_value_that_nobody_polled_is_lost(self):
        files = good()
        for name in files:
            files[name] = [e for e in files[name] if not (e["k"] == "poll" and e["o"] == 2)]
        found = {violation.kind for violation in check(files, is_sparse=True)}
        self.assertEqual(found, {"lost", "unseen"})

    def test_an_acknowledged_tail_that_is_gone_is_unseen(self):
        files = good()
        for name in files:
            files[name] = [e for e in files[name] if not (e["k"] == "poll" and e["o"] == COUNT - 1)]
        find(files["final"], "end", 0)["high"] = COUNT - 1
        self.expect(files, "unseen")

    def test_an_acknowledgement_without_an_offset_counts_too(self):
        files = good()
        find(files["producer"], "ack", 2)["o"] = -1
        self.expect(files)
        find(files["producer"], "ack", 2)["v"] = "producer-1.0:99"
        find(files["producer"], "send", 2)["v"] = "producer-1.0:99"
        self.expect(files, "lost", "unseen", "phantom")

    def test_another_value_than_acknowledged_is_changed(self):
        files = good()
        acks = find(files["producer"], "ack", 1), find(files["producer"], "ack", 2)
        acks[0]["o"], acks[1]["o"] = acks[1]["o"], acks[0]["o"]
        self.expect(files, "changed")

    def test_other_bytes_than_sent_are_changed(self):
        files = good()
        find(files["tail"], "poll", 1)["bad"] = True
        self.expect(files, "changed")

    def test_two_readers_with_different_values_at_an_offset_are_found(self):
        files = good()
        files["producer"].append({"k": "send", "t": 50, "p": 0, "v": "producer-1.1:0"})
        find(files["tail"], "poll", 2)["v"] = "producer-1.1:0"
        self.expect(files, "two-values", "changed", "vanished")

    def test_two_senders_acknowledged_at_one_offset_are_found(self):
        files = good()
        find(files["producer"], "ack", 3)["o"] = 2
        self.expect(files, "two-values", "changed")

    def test_what_was_read_and_is_no_longer_there_has_vanished(self):
        files = good()
        extra = "producer-1.0:77"
        files["producer"].append({"k": "send", "t": 50, "p": 0, "v": extra})
        files["tail"].append({"k": "poll", "t": 190, "p": 0, "o": COUNT, "v": extra})
        self.expect(files, "vanished")

    def test_one_value_at_two_offsets_is_a_duplicate(self):
        files = good()
        for name in ("tail", "final"):
            files[name].append({"k": "poll", "t": 190, "p": 0, "o": COUNT, "v": "producer-1.0:5"})
        self.expect(files, "duplicate")

    def test_one_value_acknowledged_twice_is_a_duplicate(self):
        files = good()
        files["producer"].append(find(files["producer"], "ack", 5))
        self.expect(files, "duplicate")

    def test_a_gap_is_skipped_and_a_repetition_went_back(self):
        files = good()
        self.drop(files, "tail", "poll", 3)
        self.expect(files, "skipped")
        self.assertEqual(check(files, is_sparse=True), [])
        files = good()
        files["tail"].append(find(files["tail"], "poll", 5))
        self.expect(files, "went-back")

    def test_a_new_assignment_may_begin_anywhere(self):
        files = good()
        files["tail"].append({"k": "assign", "t": 190, "p": [0]})
        files["tail"].append(find(files["tail"], "poll", COUNT - 1))
        self.expect(files)

    def test_values_of_one_producer_out_of_order_are_found(self):
        files = good()
        for name, events in files.items():
            for event in events:
                if event.get("o") in (1, 2) and "v" in event:
                    event["v"] = f"producer-1.0:{3 - event['o']}"
        self.expect(files, "disordered")

    def test_values_never_sent_or_sent_elsewhere_or_failed_for_certain_are_phantoms(self):
        for change in ("unsent", "elsewhere", "failed"):
            files = good()
            self.drop(files, "producer", "ack", 5)
            sent = find(files["producer"], "send", 5)
            if change == "unsent":
                files["producer"].remove(sent)
            elif change == "elsewhere":
                sent["p"] = 1
            else:
                files["producer"].append({"k": "fail", "t": 9, "p": 0, "v": sent["v"], "e": "x", "definite": True})
            self.expect(files, "phantom")

    def test_a_send_that_may_have_failed_may_appear(self):
        files = good()
        self.drop(files, "producer", "ack", 5)
        files["producer"].append({"k": "fail", "t": 9, "p": 0, "v": "producer-1.0:5", "e": "x", "definite": False})
        self.expect(files)

    def test_a_position_that_the_broker_forgot_is_found(self):
        files = good()
        files["tail"].append({"k": "lost-position", "t": 190, "p": 0, "e": "out of range"})
        self.expect(files, "lost-position")

    def test_a_producer_that_gave_up_is_found(self):
        files = good()
        files["producer"].append({"k": "fatal", "t": 50, "e": "out of order"})
        self.expect(files, "fatal")

    def test_a_reader_that_never_reaches_the_end_has_stalled(self):
        files = good()
        self.drop(files, "tail", "poll", COUNT - 1)
        self.expect(files, "stalled")
        files = good()
        self.drop(files, "member", "poll", COUNT - 1)
        self.expect(files)
        self.drop(files, "next-member", "poll", COUNT - 4)
        self.expect(files, "stalled")

    def test_a_group_that_goes_on_before_its_commit_lost_it(self):
        files = good()
        files["next-member"] = reader([f"producer-1.0:{n}" for n in range(COUNT)], "group", "g", t=160.0)
        self.expect(files, "commit-lost")

    def test_a_group_that_goes_on_where_nobody_committed_is_found(self):
        files = good()
        self.drop(files, "next-member", "poll", 0)
        self.expect(files, "commit-invented")

    def test_a_commit_that_was_not_answered_may_count_or_not(self):
        for first in (0, 3):
            files = good()
            find(files["member"], "commit", 0)["ok"] = False
            values = [f"producer-1.0:{n}" for n in range(first, COUNT)]
            files["next-member"] = reader(values, "group", "g", first=first, t=160.0)
            self.expect(files)

    def test_a_history_in_which_nothing_happened_is_no_success(self):
        self.assertEqual({violation.kind for violation in check({})}, {"untested"})
        files = good()
        files["final"] = [event for event in files["final"] if event["k"] != "poll"]
        self.assertTrue(list(check_tested(Histories(files))))

    def test_acknowledgements_after_a_failed_sync_are_found(self):
        files = good()
        self.assertTrue(list(check_no_acks_between(files, 0, since=2.0, until=10.0)))
        self.assertFalse(list(check_no_acks_between(files, 0, since=5.6, until=10.0)))
        self.assertFalse(list(check_no_acks_between(files, 1, since=2.0, until=10.0)))


class AHistoryFile(unittest.TestCase):
    def test_what_is_written_is_read_and_a_line_cut_off_is_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.jsonl"
            written = history.History(path, "a", "tail")
            written.write("poll", p=0, o=1, v="x")
            written.close()
            progress = history.Progress(folder, "poll")
            self.assertEqual(progress.update(), 1)
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps({"k": "poll"})[:-1])
            self.assertEqual(progress.update(), 1)
            events = history.read_all(folder)["a.jsonl"]
            self.assertEqual([event["k"] for event in events], ["start", "poll"])


if __name__ == "__main__":
    unittest.main()
