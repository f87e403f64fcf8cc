"""The runner finds what differs, hides nothing by its rules, and reads back every message that it writes."""

import os
import sys
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "raw")]

import compare
import notation
import rules
import session


class Side:
    run, slug, past, now_ms = "12345678", "case", 1_000_000_000_000, 1_000_000_000_000 + session.DAY_MS


def found(ours, theirs, expected=()):
    tally = compare.Tally()
    answers = [[session.Answer("Fetch", 12, "a note", value)] for value in (ours, theirs)]
    tally.add("a case", *answers, expected)
    return [(each.path, each.ours, each.theirs) for each in tally.unexplained]


class Differences(unittest.TestCase):
    def test_equal_answers_have_none(self):
        answer = {"ErrorCode": 0, "Topics": [{"Name": "t", "Partitions": [{"PartitionIndex": 0}]}]}
        self.assertEqual(found(answer, answer), [])

    def test_each_differing_field_is_named_by_its_path(self):
        ours = {"Topics": [{"Name": "a", "ErrorCode": 0}, {"Name": "b", "ErrorCode": 3}]}
        theirs = {"Topics": [{"Name": "a", "ErrorCode": 1}, {"Name": "b", "ErrorCode": 3}]}
        self.assertEqual(found(ours, theirs), [("Topics[a].ErrorCode", 0, 1)])

    def test_an_element_or_a_field_that_one_lacks_is_found(self):
        self.assertEqual(len(found({"Topics": [{"Name": "a"}]}, {"Topics": []})), 1)
        self.assertEqual(len(found({"ErrorCode": 0}, {})), 1)

    def test_a_closed_connection_is_no_answer(self):
        self.assertEqual(len(found(session.CLOSED, {"ErrorCode": 0})), 1)

    def test_an_explanation_covers_only_its_values(self):
        expected = [compare.Expected("one", "why", path="ErrorCode", ours="0", theirs="3")]
        self.assertEqual(found({"ErrorCode": 0}, {"ErrorCode": 3}, expected), [])
        self.assertEqual(len(found({"ErrorCode": 0}, {"ErrorCode": 4}, expected)), 1)


class Rules(unittest.TestCase):
    def normal(self, **fields):
        return rules.Rules(Side()).normalise("Fetch", fields)

    def test_codes_offsets_and_counts_stay(self):
        fields = {"ErrorCode": 3, "BaseOffset": 7, "Count": 2, "HighWatermark": 9, "GenerationId": 4}
        self.assertEqual(self.normal(**fields), fields)

    def test_versions_count_where_both_answered(self):
        tally = compare.Tally()
        for ours, theirs in (({}, session.CLOSED), ("an answer", "an answer")):
            tally.add("a case", *([session.Answer("Fetch", 12, "", value)] for value in (ours, theirs)), [])
        self.assertEqual(dict(tally.versions), {})

    def test_what_is_nobodys_stays_nobodys(self):
        fields = self.normal(LeaderEpoch=-1, ProducerId=-1, SessionId=0, MemberId="", TopicId=uuid.UUID(int=0))
        self.assertEqual(list(fields.values()), [-1, -1, 0, "", "no id"])

    def test_times_of_records_are_told_from_the_brokers_clock(self):
        self.assertEqual(self.normal(Timestamp=Side.past + 5)["Timestamp"], "past+5")
        self.assertEqual(self.normal(Timestamp=Side.now_ms + 5)["Timestamp"], "now")
        self.assertEqual(self.normal(Timestamp=-1)["Timestamp"], -1)


class Notation(unittest.TestCase):
    def test_every_message_reads_back_in_every_version(self):
        for api in notation.load(os.path.join(HERE, "..", "..", "..", "schemas")).values():
            for message in (api.request, api.response):
                for version in api.versions():
                    blob = message.encode(version, {})
                    again = message.encode(version, message.decode(version, blob))
                    self.assertEqual(again, blob, f"{message.name} v{version}")


if __name__ == "__main__":
    unittest.main()
