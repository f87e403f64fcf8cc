"""The runner finds what differs, hides nothing by its rules, and reads back every message that it writes."""

import os
import sys
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "raw")]

import compare
import notation
import real_clients
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


class RealClients(unittest.TestCase):
    def rules(self):
        side = Side()
        side.bootstrap = "127.0.0.1:1"
        return real_clients.Rules("client", side)

    def test_names_ids_times_and_texts_are_those_of_the_script(self):
        answer = {
            "client-12345678.t": {"topic_id": "x", "timestamp": Side.past, "port": 1, "error_message": "why", "error_code": 3},
            "throttle_time_ms": 5,
        }
        seen = {"topic_id": "id #1", "timestamp": "past+0", "port": "port", "error_message": "a text", "error_code": 3}
        self.assertEqual(self.rules().answer("a call", answer), {"t": seen})

    def test_an_epoch_is_numbered_and_an_offset_is_not(self):
        self.assertEqual(self.rules().answer("a call", {"leader_epoch": 7, "offset": 7}), {"leader_epoch": "epoch #1", "offset": 7})

    def test_lists_are_sorted_by_name_and_records_by_offset(self):
        rules = self.rules()
        self.assertEqual(rules.answer("", [{"name": "b"}, {"name": "a"}]), [{"name": "a"}, {"name": "b"}])
        records = [{"offset": 10, "topic": "a"}, {"offset": 9, "topic": "b"}]
        self.assertEqual([each["offset"] for each in rules.answer("", records)], [9, 10])
        self.assertEqual(rules.answer("", ["b", "a"]), ["b", "a"])

    def test_what_kafka_python_says_of_an_error_counts_by_its_number(self):
        self.assertEqual(self.rules().answer("", "[Error 3] Unknown: no t"), "[Error 3] Unknown".split(" U")[0] + " Unknown")


if __name__ == "__main__":
    unittest.main()
