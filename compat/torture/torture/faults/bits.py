"""One flipped bit in any file: no panic, no silent loss, nothing deleted, and the neighbours serve.

Once the bit is put back, everything must be there again: that shows that nothing was thrown away meanwhile.
"""

from pathlib import Path

from .. import damage, remains
from ..disk_image import TOOLS

ROUNDS, ROUNDS_QUICK = 200, 12
NEEDS = TOOLS
REFUSED = "refused at the start, and said"


def run(stage):
    stage.make_disk()
    lefts = [remains.leave(stage, way) for way in remains.WAYS]
    kinds = [kinds_of(left) for left in lefts]
    tally, refused = {}, set()
    for number in range(stage.rounds):
        left, files = lefts[number % len(lefts)], kinds[number % len(lefts)]
        kind = sorted(files)[number // len(lefts) % len(files)]
        outcome = flip_one(stage, left, stage.random.choice(files[kind]))
        tally[outcome] = tally.get(outcome, 0) + 1
        if outcome == REFUSED:
            refused.add(kind)
        if (number + 1) % 20 == 0:
            stage.say(f"{number + 1} flipped bits: {words(tally)}")
    stage.notes.append(f"{len(set().union(*kinds))} kinds of files; {words(tally)} ({', '.join(sorted(refused))})")


def words(tally):
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.items()))


def kinds_of(left):
    """The files with something in them, by what they are: `user .log`, `internal .index`, `journal file`, a name."""
    kinds = {}
    for path in sorted(left.folder.rglob("*")):
        if path.is_file() and path.stat().st_size:
            kinds.setdefault(kind_of(path.relative_to(left.folder)), []).append(path.relative_to(left.folder))
    return kinds


def kind_of(path):
    if len(path.parts) == 1:
        return path.name
    if path.parts[0] == "journal":
        return "journal checkpoint" if path.name == "checkpoint" else "journal file"
    owner = "internal" if path.parts[0].startswith("__") else "user"
    return f"{owner} {path.suffix or path.name}"


def flip_one(stage, left, path):
    data = stage.folder / "damaged"
    left.copy_to(data)
    position, bit = place_in(stage.random, data / path), stage.random.randrange(8)
    what = f"{left.way}: bit {bit} of byte {position} of {path}"
    flip(data / path, position, bit)
    before = contents(data)
    judged = damage.judge(stage, left, data, what)
    damage.check_said(judged, path, what)
    damage.check_neighbours(judged, path, what)
    if not judged.is_whole:
        check_kept(judged, before, contents(data), what)
        check_mended(stage, judged, left, data, path, (position, bit), what)
    stage.violations.extend(judged.violations)
    if judged.violations:
        keep(stage, judged, what)
        return "bad"
    return "harmless" if judged.is_whole else "said" if judged.has_started else REFUSED


def place_in(random, path):
    """Mostly where there is something other than zeros: files of the journal have many of those."""
    content = path.read_bytes()
    used = len(content.rstrip(b"\0")) or len(content)
    return random.randrange(used if random.random() < 0.9 else len(content))


def flip(path, position, bit):
    with open(path, "r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ (1 << bit)]))


def contents(folder):
    """What records are in. Everything else is made anew from that."""
    paths = [path for path in folder.rglob("*") if path.suffix == ".log"]
    return {path.relative_to(folder): path.read_bytes() for path in paths}


def check_kept(judged, before, after, what):
    for path, content in before.items():
        if not after.get(path, b"").startswith(content):
            judged.violate("deleted", f"{what}: {path} had {len(content)} bytes and has {len(after.get(path, b''))}")


def check_mended(stage, judged, left, data, path, place, what):
    """The bit put back: as if a copy of the file had been restored."""
    mended: Path = data / path
    if not mended.exists() or mended.stat().st_size <= place[0]:
        judged.violate("deleted", f"{what}: the file is gone or cut off")
        return
    flip(mended, *place)
    again = damage.judge(stage, left, data, f"{what}, put back")
    if not again.is_whole:
        judged.violate("not-mended", f"{what}: put back, {again.missing or again.said[-300:]} is still missing")
    judged.violations.extend(again.violations)


def keep(stage, judged, what):
    with open(stage.folder / "bad.txt", "a", encoding="utf-8") as bad:
        bad.write(f"{what}\n{judged.violations}\n{judged.said}\n\n")
