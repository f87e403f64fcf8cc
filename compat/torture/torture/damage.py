"""Starts a broker on damaged files and judges it: everything reads right, or it says what is damaged and all else serves."""

from dataclasses import dataclass, field

from . import remains
from .broker import Broker, BrokerFailed
from .losses import Violation

INTERNAL = ("__consumer_offsets-", "__fanlog_catalog-")


@dataclass
class Judged:
    """`missing`: partitions of which something cannot be read; `said`: everything that the broker said."""

    records: dict = field(default_factory=dict)
    missing: list = field(default_factory=list)
    said: str = ""
    violations: list = field(default_factory=list)
    has_started: bool = True

    @property
    def is_whole(self):
        return self.has_started and not self.missing and not self.violations

    def violate(self, kind, what):
        self.violations.append(Violation(kind, what))


def broker_on(stage, data, log):
    log.unlink(missing_ok=True)
    return Broker(stage.options.serve, data, stage.options.port, log, stage.options.start_seconds, remains.SETTINGS)


def judge(stage, left, data, what):
    """The verdict on one start; `what` was done to the files is for people. The broker has been killed when it returns."""
    log = stage.folder / "damaged.log"
    broker = broker_on(stage, data, log)
    judged = Judged()
    try:
        broker.start()
        reasons = broker.reasons()
        places = [place for place in left.promised if not any(named(place) in reason for reason in reasons)]
        reading = remains.read(broker, places)
        judged.records = reading.records
        compare(judged, left, what)
        for place, error in reading.errors.items():
            if error == "no answer":
                judged.violate("no-answer", f"{what}: a reader of {named(place)} was told nothing, and it is not offline")
        check_commits(judged, left, remains.committed_offsets(broker, left.committed), what)
        judged.said = "\n".join([*broker.reasons(), log.read_text(errors="replace")])
        judged.missing.extend(place for place in left.promised if place not in places)
        broker.check_alive()
    except BrokerFailed as error:
        judged.has_started = False
        judged.said = f"{error}\n{log.read_text(errors='replace')}"
        if broker.process and broker.process.poll() is None:
            judged.violate("no-start", f"{what}: {error}")
    finally:
        broker.kill()
    if "panicked" in judged.said or "stack backtrace" in judged.said:
        judged.violate("panic", f"{what}: {panic_of(judged.said)}")
    return judged


def named(place):
    return f"{place[0]}-{place[1]}"


def panic_of(text):
    return next((line for line in text.splitlines() if "panicked" in line), "see the log")


def compare(judged, left, what):
    for place, found in judged.records.items():
        allowed = {**left.promised[place], **left.optional.get(place, {})}
        wrong = [offset for offset, value in found.items() if allowed.get(offset) != value]
        if wrong:
            offset = min(wrong)
            text = f"{named(place)}@{offset} reads {found[offset]}, not {allowed.get(offset, 'nothing')}"
            judged.violate("wrong-bytes", f"{what}: {text}")
        if left.promised[place].keys() - found.keys():
            judged.missing.append(place)


def check_commits(judged, left, found, what):
    for place, offset in left.committed.items():
        answer = found.get(place, "no answer")
        if isinstance(answer, str):
            judged.missing.append(("__consumer_offsets", place))
        elif answer != offset:
            judged.violate("commit-lost", f"{what}: the group had committed {named(place)}@{offset}; now {answer}")


def check_said(judged, damaged, what):
    """Where something is missing, the damaged file must be named, by its name and its folder's."""
    if judged.is_whole:
        return
    folder, name = damaged.parts[-2:] if len(damaged.parts) > 1 else ("", damaged.name)
    if name not in judged.said or folder not in judged.said:
        judged.violate("not-said", f"{what}: nobody said that {damaged} is damaged; {judged.missing or 'no start'}")


def check_neighbours(judged, damaged, what):
    """Damage to a partition's file is no reason for others not to serve."""
    folder = damaged.parts[0] if len(damaged.parts) > 1 else None
    if folder is None or folder == "journal" or folder.startswith(INTERNAL):
        return
    others = [place for place in judged.missing if isinstance(place[1], int) and named(place) != folder]
    if others or not judged.has_started:
        judged.violate("neighbours", f"{what}: {', '.join(map(named, others)) or 'everything'} went down with it")
