"""Subscriptions by regular expression with the new protocol: what is there, what comes later, what goes."""

import ledger
from members import Cast, until
from stage import RUN

PARTITIONS = 2


def scenario(client, option="pattern"):
    """The scenario with two members of this client."""
    def run(stage, check):
        name = f"{RUN}-pattern-{client}-{option}"
        first, other, later, last = f"{name}.a1", f"{name}.b1", f"{name}.a2", f"{name}.a3"
        for topic in (first, other):
            stage.create(topic, PARTITIONS)
            stage.produce(topic, PARTITIONS, [f"{topic}/{n}" for n in range(20)])
        sent = [f"{first}/{n}" for n in range(20)]
        with Cast(stage.bootstrap, name) as cast:
            # Anchored: Java's and librdkafka's match whole names, franz-go's anything that contains the pattern.
            pattern = {option: f"^{name}\\.a[0-9]+$"}
            one = cast.start(client, "one", "consumer", **pattern)
            cast.wait_for_owners([one], PARTITIONS)
            cast.wait_for_values(sent)
            check(True, "the topic that matches is read from its start")
            stage.create(later, PARTITIONS)
            stage.produce(later, PARTITIONS, [f"{later}/{n}" for n in range(20)])
            sent += [f"{later}/{n}" for n in range(20)]
            cast.wait_for_values(sent)
            check(True, "a topic that is created later is picked up")
            two = cast.start(client, "two", "consumer", **pattern)
            cast.wait_for_owners([one, two], 2 * PARTITIONS)
            check(True, "a second member with the same pattern shares the topics")
            stage.create(last, PARTITIONS)
            stage.produce(last, PARTITIONS, [f"{last}/{n}" for n in range(20)])
            sent += [f"{last}/{n}" for n in range(20)]
            cast.wait_for_owners([one, two], 3 * PARTITIONS)
            cast.wait_for_values(sent)
            check(True, "one more that is created later is shared by both")
            stage.delete(first)
            gone = {f"{first}:{p}" for p in range(PARTITIONS)}
            until(lambda: not gone & (cast.owned(one) | cast.owned(two)), lambda: f"{first} is still owned")
            check(True, "a topic that is deleted is given back")
            for member in (one, two):
                member.stop()
            repeats = ledger.judge(cast, sent)
            check(repeats == 0, f"each record came once ({repeats or 'no'} repeats)")
            strays = [value for value in cast.values() if value.startswith(other)]
            check(not strays, f"nothing of a topic that does not match ({strays[:3] or 'none'})")
        for topic in (other, later, last):
            stage.delete(topic)

    return run


def invalid(client):
    """A pattern that is no regular expression. librdkafka and franz-go refuse it themselves; Java leaves that to the broker."""
    def run(stage, check):
        with Cast(stage.bootstrap, f"{RUN}-invalid-{client}") as cast:
            member = cast.start(client, "one", "consumer", pattern="^(unclosed")
            until(lambda: member.error() or member.process.poll() is not None, "a member with an invalid pattern goes on")
            reason = member.error() or member.last_words().strip().splitlines()[0]
            check(True, f"an invalid pattern ends the member: {reason}")

    return run


CASES = {
    "pattern, java (the broker's)": scenario("java"),
    "pattern, java (its own)": scenario("java", "client-pattern"),
    "pattern, confluent": scenario("confluent"),
    "pattern, franz-go": scenario("franz-go"),
    "invalid pattern, java": invalid("java"),
}
