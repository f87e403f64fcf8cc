"""The last batch of a segment and the last commit of the journal are cut off, or zeroed, at any byte.

Whatever was acknowledged before that record is there. Where the other of the two has the record, it is there as well; where
neither has, the broker says that it cut something off. A new record comes behind, and is there at the next start.
The storage crates' tests do this at every byte; here it is the whole broker, at a sample of them.
"""

import struct
from dataclasses import replace

from .. import damage, remains
from ..disk_image import TOOLS

ROUNDS, ROUNDS_QUICK = 120, 8
NEEDS = TOOLS

PLACE = ("ledger", 0)
# What is torn, and how the broker that left it had ended. After a power cut only the journal has it.
CASES = (("segment", "killed"), ("journal", "killed"), ("both", "killed"), ("journal", "power cut"))
BLOCK = 4096
# Of the last record with what is around it, about.
RECORD_BYTES = 500
# Of a batch: base offset, and how many bytes follow.
HEADER = struct.Struct(">qi")


def run(stage):
    stage.make_disk()
    lefts = {way: without_last(remains.leave(stage, way)) for way in ("killed", "power cut")}
    gone = 0
    for number in range(stage.rounds):
        what, way = CASES[number % len(CASES)]
        is_zeroed = number // len(CASES) % 2 == 1
        gone += tear(stage, lefts[way], what, is_zeroed, goes_on=number % 4 == 0)
        if (number + 1) % 20 == 0:
            stage.say(f"{number + 1} torn tails, {gone} of them without the record that was torn")
    stage.notes.append(f"{gone} of the torn records are gone, and nothing else")


def without_last(left):
    """The last record need not be there; what it was and where is still known."""
    offset = max(left.promised[PLACE])
    last = {PLACE: {offset: left.promised[PLACE][offset]}}
    promised = {**left.promised, PLACE: {at: name for at, name in left.promised[PLACE].items() if at != offset}}
    return replace(left, promised=promised, optional=last)


def tear(stage, left, what, is_zeroed, goes_on):
    """Tears one record; whether it is gone."""
    data = stage.folder / "torn"
    left.copy_to(data)
    ((offset, name),) = left.optional[PLACE].items()
    cuts = []
    if what in ("segment", "both"):
        cuts.append(cut(stage, *last_batch(data), is_zeroed))
    if what in ("journal", "both"):
        cuts.append(cut(stage, *last_commit(data, name), is_zeroed))
    how = f"{left.way}, {'zeroed' if is_zeroed else 'cut off'} from {' and '.join(cuts)}"
    judged = damage.judge(stage, left, data, how)
    is_gone = offset not in judged.records.get(PLACE, {})
    if judged.missing or not judged.has_started:
        judged.violate("lost", f"{how}: {judged.missing or judged.said[-500:]}: more than the last record")
    if is_gone and (what, left.way) in (("segment", "killed"), ("journal", "killed")):
        judged.violate("lost", f"{how}: the record is gone, and only one of its two copies was torn")
    if is_gone and what == "both" and left.way == "killed" and "torn" not in judged.said:
        judged.violate("not-said", f"{how}: nobody said that something was cut off")
    if goes_on and judged.has_started:
        check_going_on(stage, judged, data, how)
    stage.violations.extend(judged.violations)
    return is_gone


def cut(stage, path, start, end, is_zeroed):
    """Cuts a file at a byte from `start` (nothing of the record stays) up to `end`; says where."""
    size = path.stat().st_size
    # The record is near the start; a commit ends far behind it.
    near = min(end, start + RECORD_BYTES)
    at = stage.random.randrange(start, near if stage.random.random() < 0.8 else end)
    with open(path, "r+b") as file:
        file.truncate(at)
        if is_zeroed:
            file.truncate(size)
    return f"{path.parent.name}/{path.name}@{at} ({at - start} of {end - start})"


def last_batch(data):
    """The segment with the last batch, and where that begins and ends."""
    segment = max((data / f"{PLACE[0]}-{PLACE[1]}").glob("*.log"))
    content = segment.read_bytes()
    start = end = 0
    while end + HEADER.size <= len(content):
        start = end
        end += HEADER.size + HEADER.unpack_from(content, start)[1]
    return segment, start, end


def last_commit(data, name):
    """The journal's file with that record, and the block that it is in."""
    needle = f"{name}|".encode()
    for path in sorted((data / "journal").iterdir()):
        at = path.read_bytes().rfind(needle)
        if at >= 0:
            return path, at // BLOCK * BLOCK, at // BLOCK * BLOCK + BLOCK
    raise RuntimeError(f"{name} is in no file of the journal in {data}")


def check_going_on(stage, judged, data, how):
    """A record sent behind the torn tail is there after one more kill -9."""
    broker = damage.broker_on(stage, data, stage.folder / "going-on.log")
    sent = {PLACE: {}}
    try:
        broker.start()
        remains.send(broker, sent, [(PLACE, "ledger-0.2:0")])
        broker.kill()
        broker.start()
        found = remains.read(broker, [PLACE]).records[PLACE]
        if sent[PLACE].items() - found.items():
            judged.violate("lost", f"{how}: sent afterwards and acknowledged, {sent[PLACE]} is not there")
    finally:
        broker.kill()
