"""What a power cut may take, and each way in which more than that is gone, planted in histories made by hand."""

import unittest

from tests.test_checker import find, producer, reader
from torture.checker import check

COUNT = 6
# After everything was acknowledged and read by the tail.
CUT = {"k": "cut", "t0": 120.0, "t": 121.0}


def values(session, numbers):
    return [f"producer-1.{session}:{n}" for n in numbers]


def with_epoch(events, epoch, first=0):
    for event in events:
        if event["k"] == "poll" and event["o"] >= first:
            event["e"] = epoch
    return events


def runner(*cuts):
    return [{"k": "start", "actor": "runner", "role": "runner", "group": None}, *cuts]


def lost_end(kept, cuts=(CUT,), epoch=2):
    """Six records were acknowledged and read; a cut left the first of them, and others came behind those."""
    old, new = values(0, range(COUNT)), values(1, range(COUNT - kept))
    log = old[:kept] + new
    sends = producer(old)
    for offset, value in enumerate(new, kept):
        sends.append({"k": "send", "t": 130.0 + offset, "p": 0, "v": value})
        sends.append({"k": "ack", "t": 131.0 + offset, "p": 0, "v": value, "o": offset})
    tail = with_epoch(reader(old), 1)
    tail.append({"k": "lost-position", "t": 125.0, "p": 0, "e": "truncated"})
    tail.append({"k": "assign", "t": 125.0, "p": [0]})
    tail.extend(with_epoch(reader(new, first=kept, t=140.0), epoch)[2:])
    final = with_epoch(reader(log, role="final", t=200.0), 1)
    with_epoch(final, epoch, first=kept)
    final.append({"k": "end", "t": 300.0, "p": 0, "low": 0, "high": len(log)})
    return {"producer": sends, "tail": tail, "final": final, "runner": runner(*cuts)}


class WhatAPowerCutMayTake(unittest.TestCase):
    def expect(self, files, *kinds, is_weak=True):
        found = check(files, is_weak=is_weak)
        self.assertEqual({violation.kind for violation in found}, set(kinds), found)

    def test_a_weak_topic_may_lose_its_end_in_a_power_cut(self):
        for kept in range(COUNT):
            self.expect(lost_end(kept))

    def test_the_same_on_a_sync_topic_is_a_loss(self):
        self.expect(lost_end(3), "changed", "two-values", "vanished", "lost-position", is_weak=False)

    def test_a_weak_topic_may_lose_nothing_without_a_power_cut(self):
        self.expect(lost_end(3, cuts=()), "lost-without-cut", "two-values", "lost-position")

    def test_what_was_acknowledged_well_after_the_last_cut_must_be_there(self):
        early = {"k": "cut", "t0": 50.0, "t": 51.0}
        self.expect(lost_end(3, cuts=(early,)), "lost-without-cut")

    def test_a_hole_is_found(self):
        files = lost_end(3)
        # The last of the six survives, though two before it are gone.
        files["producer"] = [event for event in files["producer"] if event.get("v") != "producer-1.1:2"]
        for name in ("final", "tail"):
            find(files[name], "poll", -1).update(v="producer-1.0:5", e=1)
        self.expect(files, "hole", "epoch-fell")

    def test_offsets_that_come_back_under_the_same_epoch_are_found(self):
        self.expect(lost_end(3, epoch=1), "same-epoch", "two-values")
        # Nobody read the lost records; but the tail had seen this epoch before they were sent.
        files = lost_end(3, epoch=1)
        files["tail"] = [event for event in files["tail"] if event.get("t", 200) > 139 or event.get("o", 9) < 3]
        for event in files["tail"]:
            if event.get("o", 9) < 3:
                event["t"] = 0.5 + event["o"]
        self.expect(files, "same-epoch")

    def test_an_epoch_that_falls_is_found(self):
        files = lost_end(3)
        find(files["final"], "poll", 0)["e"] = 7
        self.expect(files, "epoch-fell")

    def test_a_value_that_stands_twice_is_a_duplicate_in_spite_of_the_cut(self):
        files = lost_end(3)
        for name in ("final", "tail"):
            find([event for event in files[name] if event.get("v") == "producer-1.1:2"], "poll", 0)["v"] = "producer-1.0:2"
        found = {violation.kind for violation in check(files, is_weak=True)}
        self.assertIn("duplicate", found)

    def test_a_reorder_is_found_in_spite_of_the_cut(self):
        files = lost_end(3)
        for name in ("final", "tail", "producer"):
            for event in files[name]:
                if event["k"] != "send" and event.get("v") in ("producer-1.1:1", "producer-1.1:2"):
                    event["v"] = "producer-1.1:1" if event["v"].endswith("2") else "producer-1.1:2"
        self.expect(files, "disordered")


def acks_one(seen):
    """On a sync topic: six records with acks=1, of which readers saw so many; the cut left those."""
    files = lost_end(3)
    files["producer"][0]["acks"] = "1"
    files["tail"] = [event for event in files["tail"] if event.get("t", 0) > 139 or event.get("o", 0) < seen]
    files["tail"] = [event for event in files["tail"] if event["k"] != "lost-position"]
    return files


class WhatAcksOnePromises(unittest.TestCase):
    expect = WhatAPowerCutMayTake.expect

    def test_what_nobody_saw_may_go_with_the_power(self):
        self.expect(acks_one(seen=3), is_weak=False)

    def test_what_somebody_saw_may_not(self):
        self.expect(acks_one(seen=4), "vanished", "two-values", is_weak=False)

    def test_without_a_cut_it_holds(self):
        files = acks_one(seen=3)
        files["runner"] = runner()
        self.expect(files, "lost-without-cut", is_weak=False)

    def test_acks_none_promises_nothing_and_may_still_not_be_invented_or_repeated(self):
        files = acks_one(seen=3)
        files["runner"] = runner()
        files["producer"] = [event for event in files["producer"] if event["k"] != "ack"]
        found = {violation.kind for violation in check(files)}
        self.assertEqual(found, {"untested"})
        for name in ("final", "tail"):
            find(files[name], "poll", -1)["v"] = "producer-1.0:0"
        found = {violation.kind for violation in check(files)}
        self.assertLessEqual({"duplicate"}, found)


if __name__ == "__main__":
    unittest.main()
