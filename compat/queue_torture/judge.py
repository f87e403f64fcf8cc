"""Reads what a run has left in its folder, has it judged, and says what came out."""

from collections import Counter

from checker import EXAMPLES_MAX, check, measures
from history import Dead, History, Queue, Record
from plan import message
from two_queues import RULES
from writer import read

def history_of(folder):
    runner = read(folder / "runner.jsonl")
    begun, ended = (next(event for event in runner if event["k"] == kind) for kind in ("run", "end"))
    killed = {event["n"]: event["t"] for event in runner if event["k"] == "killed"}
    queues = []
    for one in RULES:
        dead = [Dead(*row) for row in read(folder / f"dead-{one.name}.jsonl")]
        queue = Queue(one, dead, ended["status"][one.name])
        for path in sorted(folder.glob(f"of-{one.name}-*.jsonl")):
            consumer = path.stem.removeprefix("of-")
            queue.add(consumer, read(path), killed.get(consumer, ended["t"]))
        queues.append(queue)
    records = {}
    for partition, offset, timestamp, number, due, is_so in read(folder / "topic.jsonl"):
        planned = message(number, begun["keys"])
        records[partition, offset] = Record(partition, offset, timestamp, number, due, is_so, planned.key, planned.kind)
    cuts = [(event["t0"], event["t"]) for event in runner if event["k"] == "cut"]
    return History(queues, records, list(published(folder, begun["keys"])), cuts, begun["messages"], ended["drift"]), runner


def published(folder, keys):
    for path in sorted(folder.glob("by-*.jsonl")):
        sent, last = [], 0
        for event in read(path):
            if event["k"] == "send":
                sent.append((*event["m"], event["t"]))
            elif event["k"] == "ack":
                for number, partition, offset in event["m"]:
                    last = sent_with(sent, number, last)
                    delay = message(number, keys).delay
                    # A time that was named is to the millisecond, rounded down.
                    due = 0 if delay is None else int(sent[last][2]) + delay
                    yield number, (partition, offset), due


def sent_with(sent, number, near):
    """Which send had the number: most often the one before, or the next."""
    for at in (near, near + 1):
        if at < len(sent) and sent[at][0] <= number <= sent[at][1]:
            return at
    return next(at for at in range(len(sent) - 1, -1, -1) if sent[at][0] <= number <= sent[at][1])


def judge(folder):
    history, runner = history_of(folder)
    counts = Counter()
    for violation in check(history):
        counts[violation.kind] += 1
        if counts[violation.kind] <= EXAMPLES_MAX:
            print(f"    {violation.kind}: {violation.what}", flush=True)
    return counts, measures(history), Counter(event["k"] for event in runner)


def say(violations, found, done):
    """The row of the results: rounds, sent, acknowledged, polled, verdict."""
    verdict = ", ".join(f"{count} {kind}" for kind, count in sorted(violations.items())) or "holds"
    broker = [f"{words} {done[kind]} times" for kind, words in (("kill", "killed"), ("pause", "frozen"), ("cut", "without power")) if done[kind]]
    words = (
        f"{verdict}: by two queues on one topic; the broker was {', '.join(broker)}, consumers were killed {done['killed']} times and frozen "
        f"{done['freeze']} times; {found['acks']} acks, {found['dead']} dead letters, {found['filtered']} passed over, {found['delayed']} delayed, "
        f"{found['released']} released; {found['again']} deliveries were not the first; {found['refused']} words were refused, {found['late']} of them "
        f"too late; {found['unheard']} answers and {found['hidden']} deliveries were lost on the way"
    )
    mishaps = sum(done[kind] for kind in ("kill", "pause", "cut", "killed", "freeze"))
    return f"outcome|{mishaps}|{found['sent']}|{found['published']}|{found['deliveries']}|{words}"
