"""The differential runner: the same script against Fanlog and against Apache Kafka, answers compared field by field.

    run.py --fanlog HOST:PORT --kafka HOST:PORT [--only CASE,...] [--report FILE --commit ID --date DATE]

Every API of `schemas/` in every version, and then what programs of real clients see (`--only real_clients`). A difference that `expected.py` does not explain fails the run, and so does an
explanation that explains nothing any more. `cargo xtask differ` starts the brokers and calls this.
Read next: `cases/`, `rules.py`, `real_clients.py`.
"""

import argparse
import concurrent.futures
import os
import sys
import time
import traceback
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "raw"))  # `wire.py`, shared with the raw probes

import cases
import compare
import expected
import expected_of_clients
import notation
import real_clients
import report
import session


def main():
    options = parse()
    apis = notation.load(os.path.join(HERE, "..", "..", "schemas"))
    run, now_ms = uuid.uuid4().hex[:8], int(time.time() * 1000)
    sides = [
        session.Side("Fanlog", options.fanlog, apis, run, now_ms),
        session.Side("Kafka", options.kafka, apis, run, now_ms),
    ]
    only = options.only.split(",") if options.only else []
    tally, of_clients, broken = compare.Tally(), compare.Tally(), []
    for case in cases.ALL:
        if not only or case.__name__ in only:
            broken += run_case(case, sides, tally, expected.ALL)
    if not only or "real_clients" in only:
        broken += real_clients.run(sides, of_clients)
    everything = expected.ALL + expected_of_clients.ALL
    stale = [] if only else [each for each in everything if each.count == 0 and not each.sometimes]
    left_out = [] if only else missing(apis, tally) + real_clients.missing(of_clients)
    report.show(tally, of_clients, broken, stale, left_out)
    if options.report:
        report.write(options.report, tally, of_clients, options.commit, options.date)
    sys.exit(1 if tally.unexplained or of_clients.unexplained or broken or stale or left_out else 0)


def parse():
    parser = argparse.ArgumentParser()
    for name in ("--fanlog", "--kafka"):
        parser.add_argument(name, required=True)
    for name in ("--only", "--report", "--commit", "--date"):
        parser.add_argument(name, default="")
    return parser.parse_args()


def run_case(case, sides, tally, explanations):
    """Both sides at once; returns what broke."""
    name, started = case.__name__, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        broken = [each for each in pool.map(lambda side: run_side(case, side), sides) if each]
    ours, theirs = (side.transcript[name] for side in sides)
    before = len(tally.unexplained)
    tally.add(name, ours, theirs, explanations)
    if not broken and [each.api for each in ours] != [each.api for each in theirs]:
        broken.append(f"{name}: the two transcripts took different ways")
    found = tally.unexplained[before:]
    word = "ok" if not found and not broken else "DIFFERS" if found else "BROKEN"
    print(f"{word}\t{name}\t{min(len(ours), len(theirs))} answers, {time.monotonic() - started:.1f} s", flush=True)
    for line in [each.line() for each in found] + broken:
        print("    " + line, flush=True)
    return broken


def run_side(case, side):
    side.begin(case.__name__)
    try:
        case(side)
        return None
    except Exception:  # whatever it is, the case proves nothing
        return f"{case.__name__} on {side.name}: {traceback.format_exc(limit=-3)}"
    finally:
        side.end()


def missing(apis, tally):
    """Versions that no case asked."""
    asked = tally.versions
    return [f"{name} v{version}" for name, api in apis.items() for version in api.versions() if version not in asked[name]]


if __name__ == "__main__":
    main()
