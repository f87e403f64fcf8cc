"""The programs with which Kafka's system tests produce, consume and copy, unmodified; one of them is killed in each round.

    verifiable.py BOOTSTRAP [--fanlog]

Prints a line for each check: `ok` or `failed`, a tab, and what. A round of a protocol runs once the broker advertises it.
"""

import json
import sys
import uuid

from jvm import Running, Wrong, run

RUN = uuid.uuid4().hex[:8]
RECORDS = 6000
A_SECOND = 2000


def events(lines, name):
    for line in lines:
        if line.startswith("{") and f'"{name}"' in line:
            yield json.loads(line)


def is_event(name):
    return lambda line: f'"{name}"' in line


class Verifiable:
    def __init__(self, bootstrap):
        self.to = ("--bootstrap-server", bootstrap)
        self.bootstrap = bootstrap
        text = run("BrokerApiVersionsCommand", *self.to).lines(r"^\t(\w+)\(\d+\): .*\[usable: \d+\]")
        self.served = {name for (name,) in text}

    def topic(self, name, partitions):
        full = f"verifiable-{name}-{RUN}"
        run("TopicCommand", *self.to, "--create", "--topic", full, "--partitions", str(partitions))
        return full

    def produce(self, topic, count=RECORDS):
        return Running("VerifiableProducer", *self.to, "--topic", topic, "--max-messages", str(count), "--throughput", str(A_SECOND), "--acks", "-1")

    def acked(self, producer, count=RECORDS):
        """(partition, offset) -> value of all that was acknowledged; each offset once, each value."""
        producer.until("all is sent", is_event("shutdown_complete"))
        producer.finish()
        sent = list(events(producer.seen, "producer_send_success"))
        if list(events(producer.seen, "producer_send_error")):
            raise Wrong("a record was not acknowledged")
        found = {(each["partition"], each["offset"]): each["value"] for each in sent}
        if len(found) != len(sent) or sorted(map(int, found.values())) != list(range(count)):
            raise Wrong(f"{len(sent)} acknowledgements of {count} records, {len(found)} places")
        return found

    def consumer_group(self, protocol):
        topic = self.topic(protocol, 6)
        group = f"{topic}-group"
        def member():
            extra = ("--session-timeout", "6000") if protocol == "classic" else ()
            return Running("VerifiableConsumer", *self.to, "--topic", topic, "--group-id", group, "--group-protocol", protocol, "--verbose", *extra)

        members = [member() for _ in range(2)]
        for each in members:
            each.until("it has partitions", lambda line: is_event("partitions_assigned")(line) and json.loads(line)["partitions"])
        producer = self.produce(topic)
        members[0].until("it commits", is_event("offsets_committed"))
        members[0].kill()
        acked = self.acked(producer)
        got = {self.place(each) for each in events(members[0].seen, "record_data")}

        def is_all(line):
            if '"record_data"' in line:
                got.add(self.place(json.loads(line)))
            return len(got) == len(acked)

        got.update(self.place(each) for each in events(members[1].seen, "record_data"))
        if not is_all(""):
            members[1].until(f"all {len(acked)} are read", is_all)
        members[1].stop()
        if got != set(acked):
            raise Wrong(f"{len(got - set(acked))} records were read that nobody was told of")
        ends = {}
        for partition, offset in acked:
            ends[partition] = max(ends.get(partition, 0), offset + 1)
        described = run("consumer.group.ConsumerGroupCommand", *self.to, "--describe", "--group", group)
        at = {int(partition): int(offset) for partition, offset in described.lines(rf"^{group} +{topic} +(\d+) +(\d+) ")}
        if at != ends:
            raise Wrong(f"the group is at {at}, not at {ends}: {described.tail()}")

    @staticmethod
    def place(record):
        return record["partition"], record["offset"]

    def classic(self):
        """VerifiableProducer and two VerifiableConsumers, classic protocol, one killed: all is read, and committed"""
        self.consumer_group("classic")

    def kip_848(self):
        """the same with group.protocol=consumer"""
        self.consumer_group("consumer")

    def shares(self):
        """two VerifiableShareConsumers, one killed: every record is acknowledged"""
        topic = self.topic("share", 3)
        group = f"{topic}-group"
        member = lambda: Running(
            "VerifiableShareConsumer", *self.to, "--topic", topic, "--group-id", group, "--acknowledgement-mode", "sync", "--verbose",
            "--offset-reset-strategy", "earliest",
        )
        members = [member() for _ in range(2)]
        for each in members:
            each.until("it starts", is_event("startup_complete"))
        producer = self.produce(topic)
        members[0].until("it acknowledges", is_event("offsets_acknowledged"))
        members[0].kill()
        acked = self.acked(producer)
        done = self.acknowledged(members[0].seen)

        def is_all(line):
            done.update(self.acknowledged([line]))
            return len(done) == len(acked)

        done.update(self.acknowledged(members[1].seen))
        if not is_all(""):
            members[1].until(f"all {len(acked)} are acknowledged", is_all, 120)
        members[1].stop()
        if done != set(acked):
            raise Wrong(f"{len(done ^ set(acked))} records too many or too few")

    @staticmethod
    def acknowledged(lines):
        return {
            (part["partition"], offset)
            for each in events(lines, "offsets_acknowledged") if each.get("success", True)
            for part in each["partitions"] for offset in part["offsets"]
        }

    def transactions(self):
        """TransactionalMessageCopier, killed and started again, with aborts at random: the copy, read_committed, is the original"""
        source, target = self.topic("source", 1), self.topic("target", 1)
        values = [str(n) for n in range(RECORDS)]
        self.acked(self.produce(source))

        def copier():
            return Running(
                "TransactionalMessageCopier", "--broker-list", self.bootstrap, "--input-topic", source, "--input-partition", "0",
                "--output-topic", target, "--transactional-id", f"{source}-id", "--consumer-group", f"{source}-group",
                "--transaction-size", "100", "--transaction-timeout", "10000", "--enable-random-aborts", "--use-group-metadata",
                "--max-messages", str(RECORDS),
            )

        first = copier()
        first.until("it has copied a tenth", lambda line: copied(line) >= RECORDS // 10)
        first.kill()
        second = copier()
        second.until("it is done", is_event("ShutdownComplete"), 120)
        second.finish()
        seen = run(
            "consumer.ConsoleConsumer", *self.to, "--topic", target, "--from-beginning", "--timeout-ms", "8000", "--isolation-level", "read_committed",
        ).text.split()
        found = [word for word in seen if word.isdigit()]
        if found[: len(values)] != values:
            raise Wrong(f"{len(found)} values in the copy, {len(set(found))} different; {len(values)} in the original")

    ALL = ((classic, "JoinGroup"), (kip_848, "ConsumerGroupHeartbeat"), (shares, "ShareFetch"), (transactions, "EndTxn"))


def copied(line):
    if not line.startswith("{"):
        return 0
    return int(json.loads(line).get("consumed", 0) or json.loads(line).get("totalProcessed", 0) or 0)


def main():
    verifiable, failed = Verifiable(sys.argv[1]), 0
    for check, api in Verifiable.ALL:
        what = check.__doc__.strip()
        if api not in verifiable.served:
            continue
        try:
            check(verifiable)
            print(f"ok\t{what}", flush=True)
        except (Wrong, ValueError, LookupError) as error:
            failed += 1
            print(f"failed\t{what}: {str(error).replace(chr(10), ' | ')}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
