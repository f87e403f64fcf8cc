"""Requests that no well-behaved client sends, and answers that clients are known to trip over.

    probes.py BOOTSTRAP [--fanlog]

Prints `ok<TAB>NAME` or `failed<TAB>NAME<TAB>WHY` for each probe; ends with 1 if any failed. With --fanlog also what Fanlog
promises beyond (or short of) Apache Kafka. Names that start with a number (p2, p14, ...) are explained in compat/README.md.
"""

import sys

# Each module declares its probes when it is imported, in this order.
import probes_connections  # noqa: F401
import probes_produce  # noqa: F401
import probes_fetch  # noqa: F401
import probes_groups  # noqa: F401
from probing import FANLOG_PROBES, PROBES


def main():
    bootstrap = sys.argv[1]
    chosen = PROBES + (FANLOG_PROBES if "--fanlog" in sys.argv else [])
    failed = 0
    for function in chosen:
        name = function.__name__.replace("_", " ")
        try:
            function(bootstrap)
            print(f"ok\t{name}", flush=True)
        except Exception as error:  # a probe that breaks in any way has failed
            failed += 1
            print(f"failed\t{name}\t{type(error).__name__}: {error}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
