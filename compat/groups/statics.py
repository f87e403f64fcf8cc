"""Static members with the new protocol: restarts that nobody notices, second instances, sessions that run out."""

import time

import ledger
from members import Cast, until
from stage import RUN, Stream

PARTITIONS = 6


def noticed(cast, member, since):
    """What a member was told of its partitions since then."""
    words = ("assigned", "revoked", "lost")
    return [line for line in cast.heard() if line.member == member.name and line.word in words and line.at >= since and line.fields[0]]


def scenario(client):
    """The scenario with two static members of this client."""
    def run(stage, check):
        name = f"{RUN}-static-{client}"
        stage.create(name, PARTITIONS)
        with Cast(stage.bootstrap, name) as cast, Stream(stage.bootstrap, name, PARTITIONS) as stream:
            start = lambda label, instance: cast.start(client, label, "consumer", topics=name, instance=instance)  # noqa: E731
            one, two = start("one", "i1"), start("two", "i2")
            cast.wait_for_owners([one, two], PARTITIONS)
            until(lambda: len(cast.owned(one)) == len(cast.owned(two)), "the two members own as much as each other")
            owned, since = cast.owned(two), time.time_ns()

            two.stop()
            two = start("two again", "i2")
            cast.wait_for_owners([one, two], PARTITIONS)
            check(cast.owned(two) == owned, "restarted within its session time-out it gets its partitions back")
            check(not noticed(cast, one, since), "the other member is not told anything")

            second = start("second", "i2")
            until(second.error, "a second instance with the same id is refused")
            check(not cast.owned(second), f"a second instance with the same id is refused: {second.error()}")
            reads_on(cast, two)
            check(not noticed(cast, one, since), "nobody else notices")
            second.wait()

            owned = cast.owned(two)
            two.kill()
            late = start("late", "i2")
            until(late.error, "an instance is refused while the one that was killed is not missed")
            check(not cast.owned(late), f"killed and started at once it is refused: {late.error()}")
            late.wait()
            until(lambda: cast.owned(one) >= owned, "the other member takes over when the session is over")
            two = start("two at last", "i2")
            cast.wait_for_owners([one, two], PARTITIONS)
            check(True, "after its session it is missed, and joins as anybody does")

            owned = cast.owned(two)
            two.stop()
            until(lambda: cast.owned(one) >= owned, "the other member takes over what a stopped member does not come back for")
            check(True, "stopped and not started again, its partitions go to the other member")
            stream.stop()
            cast.wait_for_values(stream.sent)
            one.stop()
            ledger.judge(cast, stream.sent)
            check(True, "no record lost, none read by two owners, none again after a commit")
            check(stage.committed(name) == stage.ends(name, PARTITIONS), "committed to the end")
        stage.delete(name)

    return run


def reads_on(cast, member):
    since = time.time_ns()
    reads = lambda: any(line.member == member.name and line.word == "got" and line.at > since for line in cast.heard())  # noqa: E731
    until(reads, f"{member.name} reads no more")


# franz-go stops a static member of the new protocol without naming its instance, which is refused by Apache Kafka too: it cannot come
# back within its session.
CASES = {"static, java": scenario("java"), "static, confluent": scenario("confluent")}
