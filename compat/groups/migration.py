"""A live group goes from the classic protocol to the new one and back, member by member, while records come in."""

import ledger
from members import Cast
from stage import RUN, Stream

PARTITIONS = 6
MEMBERS = 3
PASSING = {"ILLEGAL_GENERATION", "STALE_MEMBER_EPOCH", "REBALANCE_IN_PROGRESS", "RebalanceInProgressException", "CommitFailedException"}
"""Why a commit may be refused that a rebalance overtakes: the client goes on and commits again. Apache Kafka does that too."""


def scenario(classic, new, assignor=None):
    """The scenario with these clients as the members of each protocol."""
    def run(stage, check):
        name = f"{RUN}-migration-{classic}-{new}-{assignor}"
        stage.create(name, PARTITIONS)
        of_classic = {"topics": name} | ({"assignor": assignor} if assignor else {})
        with Cast(stage.bootstrap, name) as cast, Stream(stage.bootstrap, name, PARTITIONS) as stream:
            members = [cast.start(classic, f"classic-{n}", "classic", **of_classic) for n in range(MEMBERS)]
            cast.wait_for_owners(members, PARTITIONS)
            stage.wait_for_type(name, "CLASSIC")
            for n in range(MEMBERS):
                members.append(cast.start(new, f"new-{n}", "consumer", topics=name))
                cast.wait_for_owners(members, PARTITIONS)
                stage.wait_for_type(name, "CONSUMER")
                members.pop(0).stop()
                cast.wait_for_owners(members, PARTITIONS)
            stage.wait_for_type(name, "CONSUMER")
            check(True, "three classic members replaced by new ones, one by one; the group is of the new protocol")
            for n in range(MEMBERS):
                members.append(cast.start(classic, f"classic-{MEMBERS + n}", "classic", **of_classic))
                cast.wait_for_owners(members, PARTITIONS)
                stage.wait_for_type(name, "CONSUMER")
                members.pop(0).stop()
                cast.wait_for_owners(members, PARTITIONS)
            stage.wait_for_type(name, "CLASSIC")
            check(True, "and back; the group is classic again")
            stream.stop()
            cast.wait_for_values(stream.sent)
            for member in members:
                member.stop()
            repeats = ledger.judge(cast, stream.sent)
            check(True, "no record lost, none read by two owners, none again after a commit")
            refused = {line.fields[0] for line in cast.heard() if line.word == "refused"}
            check(refused <= PASSING, f"no commit refused but in the middle of a rebalance ({', '.join(sorted(refused)) or 'none'})")
            check(repeats == 0 or refused, f"members hand over without a repeat ({repeats or 'none'})")
            found, ends = stage.committed(name), stage.ends(name, PARTITIONS)
            check(found == ends, f"the commits are kept: at the end of every partition ({'yes' if found == ends else (found, ends)})")
        stage.delete(name)

    return run


CASES = {
    "migration, java": scenario("java", "java"),
    "migration, confluent": scenario("confluent", "confluent", "cooperative-sticky"),
    "migration, confluent classic (range) and java": scenario("confluent", "java", "range"),
    "migration, java classic and confluent": scenario("java", "confluent"),
}
