"""The command line: faults one after the other, a verdict for each, exit code 0 only if all hold."""

import argparse
import datetime
import os
import platform
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from . import cgroup, checker, shim
from .broker import BrokerFailed
from .faults import FAULTS
from .load import ClientFailed
from .stage import Stage
from .topics import BY_CLASS

# What a broker without syncs is expected to show; merely not starting again would not be this checker's doing.
LOSSES = {"lost", "unseen", "changed", "two-values", "vanished", "lost-position", "same-epoch"}

HEADER = """\
# Torture

What `cargo xtask torture` found, newest last. Clients: librdkafka (confluent-kafka).
The faults are described in `torture/torture/faults/`, what is checked in `torture/torture/checker.py`.

| date | commit | machine | fault | rounds | sent | acknowledged | polled | verdict |
|---|---|---|---|---|---|---|---|---|
"""


def parse(arguments):
    parser = argparse.ArgumentParser(prog="cargo xtask torture", description=__doc__)
    add = parser.add_argument
    add("--binary", default="target/debug/fanlog", help="the broker's binary")
    add("--serve", help="a whole command instead, with {data} and {port}: to torture another broker")
    add("--only", help=f"faults, by comma: {','.join(FAULTS)}")
    add("--rounds", type=int, help="of each fault; without it, as many as that fault has by itself")
    add("--quick", action="store_true", help="few rounds")
    add("--classes", default=",".join(BY_CLASS), help="durability classes, a topic of each")
    add("--seed", type=int, default=int(time.time()), help="of the pauses between faults")
    # Two runs side by side must not find each other's brokers, and no outgoing connection has a port from so low.
    add("--port", type=int, default=10_000 + 2 * (os.getpid() % 10_000))
    add("--partitions", type=int, default=6)
    add("--rate", type=float, default=250, help="records a second and producer")
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
    serve = f"{options.binary} serve --data {{data}} --kafka 127.0.0.1:{{port}} --http 127.0.0.1:{{http}}"
    options.serve = options.serve or serve
    options.names = (options.only or ("power" if options.planted else ",".join(FAULTS))).split(",")
    options.classes = options.classes.split(",")
    check_names(parser, "fault", options.names, FAULTS)
    check_names(parser, "class", options.classes, BY_CLASS)
    if options.planted and options.names != ["power"]:
        parser.error("--planted skip-sync shows itself only in --only power: elsewhere the page cache survives")
    return options


def check_names(parser, what, names, known):
    unknown = set(names) - set(known)
    if unknown:
        parser.error(f"no {what} {', '.join(sorted(unknown))}; there are {', '.join(known)}")


def missing(options):
    """What this machine lacks for what was asked."""
    needs = {need for name in options.names for need in FAULTS[name].NEEDS}
    if options.planted:
        needs |= set(shim.TOOLS)
    programs = sorted(needs - {"root", cgroup.NEED})
    lacking = [f"the program {program}" for program in programs if not shutil.which(program)]
    if cgroup.NEED in needs and not cgroup.parent():
        lacking.append(cgroup.NEED)
    if "root" in needs and os.geteuid() != 0:
        lacking.append("root")
    return lacking


def say(line):
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def run_fault(name, folder, options):
    """The stage with its violations; a broker or client that failed is one of them."""
    fault = FAULTS[name]
    say(f"--- {name}: {fault.__doc__.splitlines()[0]}")
    folder.mkdir()
    rounds = options.rounds or (fault.ROUNDS_QUICK if options.quick else fault.ROUNDS)
    stage = Stage(folder, options, random.Random(f"{options.seed}/{name}"), say, rounds)
    try:
        fault.run(stage)
        stage.finish()
    except (BrokerFailed, ClientFailed) as error:
        stage.violate("failed", str(error))
        stage.check_what_there_is()
    finally:
        stage.tear_down()
    return stage


def was_found(stage):
    return any(violation.kind in LOSSES for violation in stage.violations)


def report(name, stage, options):
    counts = [stage.count(kind) for kind in ("send", "ack", "poll")]
    for line in checker.summarize(stage.violations):
        say(line)
    verdict = "holds" if not stage.violations else f"{len(stage.violations)} violations"
    if options.planted:
        verdict += ", as they should be" if was_found(stage) else ": the planted fault was NOT found"
    verdict = "; ".join([verdict, *stage.notes])
    say(f"{name}: {stage.rounds} rounds, {counts[0]} sent, {counts[1]} acknowledged, {counts[2]} polled: {verdict}")
    if options.results:
        append(options, [name, stage.rounds, *counts, verdict])


def append(options, cells):
    if not options.results.exists():
        options.results.write_text(HEADER)
    machine = f"{platform.system()} {platform.release().split('-')[0]}, {os.cpu_count()} cores"
    date = datetime.date.today().isoformat()
    fault = f"{cells[0]} ({options.planted} planted)" if options.planted else cells[0]
    row = [date, options.commit, machine, f"{fault}, seed {options.seed}", *cells[1:]]
    with open(options.results, "a", encoding="utf-8") as results:
        results.write("| " + " | ".join(str(cell) for cell in row) + " |\n")


def main(arguments):
    options = parse(arguments)
    lacking = missing(options)
    if lacking:
        print(f"torture: {', '.join(options.names)} cannot run here: missing {', '.join(lacking)}", file=sys.stderr)
        return 1
    # So that a broker, a mount or a control group is not left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("torture: ended by a signal"))
    root = Path(tempfile.mkdtemp(prefix="fanlog-torture-"))
    say(f"seed {options.seed}; histories and logs in {root}")
    bad = []
    for name in options.names:
        stage = run_fault(name, root / name, options)
        report(name, stage, options)
        if stage.violations:
            bad.append(name)
        elif not options.keep:
            shutil.rmtree(stage.folder)
    if options.planted:
        return 0 if was_found(stage) else 1
    if not bad and not options.keep:
        shutil.rmtree(root)
    say(f"violations in {', '.join(bad)}; see {root}" if bad else "all hold")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
