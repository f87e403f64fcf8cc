"""The command line: scenarios one after the other, a verdict for each, exit code 0 only if all hold."""

import argparse
import datetime
import os
import platform
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from . import checker
from .broker import BrokerFailed
from .history import Progress
from .load import ClientFailed
from .scenarios import NEEDS, SCENARIOS, Stage

# What a broker without syncs is expected to show; merely not starting again would not be this checker's doing.
LOSSES = {"lost", "unseen", "changed", "two-values", "vanished", "lost-position"}

HEADER = """\
# Torture

What `cargo xtask torture` found, newest last. Clients: librdkafka (confluent-kafka), idempotent producers with acks=all.
The faults are described in `torture/torture/scenarios.py`, what is checked in `torture/torture/checker.py`.

| date | commit | machine | scenario | rounds | sent | acknowledged | polled | verdict |
|---|---|---|---|---|---|---|---|---|
"""


def parse(arguments):
    parser = argparse.ArgumentParser(prog="cargo xtask torture", description=__doc__)
    add = parser.add_argument
    add("--binary", default="target/debug/fanlog", help="the broker's binary")
    add("--serve", help="a whole command instead, with {data} and {port}: to torture another broker")
    add("--only", help=f"scenarios, by comma: {','.join(SCENARIOS)}")
    add("--seed", type=int, default=int(time.time()), help="of the pauses between faults")
    add("--port", type=int, default=19_392)
    add("--kill-rounds", type=int, default=20)
    add("--pause-rounds", type=int, default=5)
    add("--power-rounds", type=int, default=10)
    add("--full-rounds", type=int, default=4)
    add("--eio-rounds", type=int, default=3)
    add("--partitions", type=int, default=6)
    add("--producers", type=int, default=3)
    add("--tails", type=int, default=2, help="readers that stay")
    add("--members", type=int, default=2, help="members of the consumer group")
    add("--rate", type=float, default=400, help="records a second and producer")
    add("--acks-between", type=int, default=1_000, help="acknowledgements before each fault")
    add("--start-seconds", type=float, default=30, help="how long a start may take")
    add("--patience-seconds", type=float, default=60, help="how long those acknowledgements may take")
    add("--topic-config", action="append", default=[], metavar="NAME=VALUE")
    add("--planted", choices=["skip-sync"], help="plant a fault; the run must then find violations")
    add("--commit", default="unknown", help="for the results")
    add("--results", type=Path, help="append the verdicts to this file")
    add("--keep", action="store_true", help="keep histories and logs also where all holds")
    options = parser.parse_args(arguments)
    options.topic_config = dict(setting.split("=", 1) for setting in options.topic_config)
    options.serve = options.serve or f"{options.binary} serve --data {{data}} --kafka 127.0.0.1:{{port}} --http off"
    options.names = (options.only or ("power" if options.planted else ",".join(SCENARIOS))).split(",")
    unknown = set(options.names) - set(SCENARIOS)
    if unknown:
        parser.error(f"no scenario {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    if options.planted and options.names != ["power"]:
        parser.error("--planted skip-sync shows itself only in --only power: elsewhere the page cache survives")
    return options


def missing(options):
    """What this machine lacks for what was asked."""
    needs = {need for name in options.names for need in NEEDS.get(name, ())}
    if options.planted:
        needs.add("strace")
    lacking = [f"the program {need}" for need in sorted(needs) if not shutil.which(need)]
    if needs and os.geteuid() != 0:
        lacking.append("root (for mount and strace)")
    return lacking


def say(line):
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def run_scenario(name, folder, options):
    """The stage with its violations; a broker or client that failed is one of them."""
    say(f"--- {name}: {SCENARIOS[name].__doc__.splitlines()[0]}")
    folder.mkdir()
    stage = Stage(folder, options, random.Random(f"{options.seed}/{name}"), say)
    try:
        SCENARIOS[name](stage)
        stage.finish()
    except (BrokerFailed, ClientFailed) as error:
        stage.violations.append(checker.Violation("failed", str(error)))
        stage.check_what_there_is()
    finally:
        stage.tear_down()
    return stage


def was_found(stage):
    return any(violation.kind in LOSSES for violation in stage.violations)


def count(folder, kind):
    return Progress(folder / "history", kind).update()


def report(name, stage, options):
    rounds = getattr(options, f"{name}_rounds", 1)
    counts = [count(stage.folder, kind) for kind in ("send", "ack", "poll")]
    for line in checker.summarize(stage.violations):
        say(line)
    verdict = "holds" if not stage.violations else f"{len(stage.violations)} violations"
    if options.planted:
        verdict += ", as they should be" if was_found(stage) else ": the planted fault was NOT found"
    say(f"{name}: {rounds} rounds, {counts[0]} sent, {counts[1]} acknowledged, {counts[2]} polled: {verdict}")
    if options.results:
        append(options, [name, rounds, *counts, verdict])


def append(options, cells):
    if not options.results.exists():
        options.results.write_text(HEADER)
    machine = f"{platform.system()} {platform.release().split('-')[0]}, {os.cpu_count()} cores"
    date = datetime.date.today().isoformat()
    scenario = f"{cells[0]} ({options.planted} planted)" if options.planted else cells[0]
    row = [date, options.commit, machine, f"{scenario}, seed {options.seed}", *cells[1:]]
    with open(options.results, "a", encoding="utf-8") as results:
        results.write("| " + " | ".join(str(cell) for cell in row) + " |\n")


def main(arguments):
    options = parse(arguments)
    lacking = missing(options)
    if lacking:
        print(f"torture: {', '.join(options.names)} cannot run here: missing {', '.join(lacking)}", file=sys.stderr)
        return 1
    root = Path(tempfile.mkdtemp(prefix="fanlog-torture-"))
    say(f"seed {options.seed}; histories and logs in {root}")
    bad = []
    for name in options.names:
        stage = run_scenario(name, root / name, options)
        report(name, stage, options)
        if stage.violations:
            bad.append(name)
        elif not options.keep:
            shutil.rmtree(stage.folder)
    if options.planted:
        return 0 if was_found(stage) else 1
    if not bad and not options.keep:
        shutil.rmtree(root)
    say(f"violations in {', '.join(bad)}; see {root}" if bad else "all scenarios hold")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
