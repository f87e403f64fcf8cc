"""kcat, as Debian packages it (an old librdkafka). It has no admin commands: topics come into being by auto-creation."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from conversation import arguments, check, key_of, legs_of, tell, value_of  # noqa: E402

KCAT = os.environ.get("KCAT", "kcat")


def version(_):
    text = subprocess.run([KCAT, "-V"], capture_output=True, text=True, check=True).stdout
    line = next(line for line in text.splitlines() if line.startswith("Version"))
    found = re.search(r"Version (\S+) .*librdkafka (\S+)", line)
    tell("client", "kcat", f"{found[1]} (librdkafka {found[2]})")


def create(args):
    """The first metadata request of a producer creates the topic; its partitions come from num.partitions."""
    deadline = time.monotonic() + 20
    wanted = f'topic "{args.topic}" with {args.partitions} partitions'
    while True:
        listing = subprocess.run(
            [KCAT, "-b", args.bootstrap, "-L", "-t", args.topic], capture_output=True, text=True
        )
        if wanted in listing.stdout:
            check(True, "create topic (auto-creation)")
            return
        if time.monotonic() > deadline:
            sys.exit(f"no {wanted!r} in\n{listing.stdout}{listing.stderr}")
        time.sleep(0.2)


def produce(args):
    for leg in legs_of(args):
        produce_leg(args, leg)


def produce_leg(args, leg):
    settings = ["-X", "enable.idempotence=true"] if leg.acks == "idempotent" else ["-X", f"acks={leg.acks}"]
    command = [
        KCAT, "-P", "-b", args.bootstrap, "-t", args.topic, "-K", "\t", "-z", leg.codec,
        "-H", f"batch={leg.batch}", "-X", "linger.ms=5", *settings,
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as kcat:
        for record_id in leg.ids:
            kcat.stdin.write(f"{key_of(record_id)}\t{value_of(record_id)}\n")
            if args.pace_ms:
                kcat.stdin.flush()
                time.sleep(args.pace_ms / 1000)
        _, errors = kcat.communicate()
    if kcat.returncode != 0 or "Delivery failed" in errors:
        sys.exit(f"{leg.batch}: kcat ended with {kcat.returncode}: {errors}")
    for record_id in leg.ids:
        tell("acked", record_id, -1, -1)


def consume(args):
    """Becomes kcat itself, so that a signal reaches it. It commits what it printed every five
    seconds (its -X cannot change that) and at its end."""
    os.execvp(
        KCAT,
        [
            KCAT, "-b", args.bootstrap, "-G", args.group, "-u",
            "-X", "auto.offset.reset=earliest",
            "-X", "session.timeout.ms=6000", "-X", "heartbeat.interval.ms=1000",
            "-f", r"got\t%p\t%o\t%k\t%s\t%h\n", args.topic,
        ],
    )


def admin(args):
    """What kcat can ask: the metadata and the offsets at the ends."""
    command = [KCAT, "-b", args.bootstrap, "-Q"]
    for partition in range(args.partitions):
        command += ["-t", f"{args.topic}:{partition}:-1"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ends = [int(line.rsplit("offset", 1)[1]) for line in answer.splitlines() if "offset" in line]
    check(sum(ends) == args.records, f"list offsets: {args.records} records")
    first = subprocess.run(
        [KCAT, "-b", args.bootstrap, "-C", "-t", args.topic, "-p", "0", "-o", "beginning", "-c", "1", "-e", "-q",
         "-f", "%o"],
        capture_output=True, text=True, check=True,
    ).stdout
    check(first == "0", "consume without a group, from the beginning")
    last = subprocess.run(
        [KCAT, "-b", args.bootstrap, "-C", "-t", args.topic, "-p", "0", "-o", "-1", "-c", "1", "-e", "-q", "-f", "%o"],
        capture_output=True, text=True, check=True,
    ).stdout
    check(int(last) >= 0, "consume the last record")


if __name__ == "__main__":
    args = arguments()
    globals()[args.command](args)
