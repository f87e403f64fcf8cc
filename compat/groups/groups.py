"""What a group of real clients goes through: see migration.py, patterns.py and statics.py.

    groups.py BOOTSTRAP [--fanlog] [WORD...]     the cases whose names contain one of the words; all of them without

One line for each check: `ok` or `failed`, and what.
"""

import subprocess
import sys

import migration
import patterns
import statics
from members import Failed
from stage import Stage

CASES = migration.CASES | patterns.CASES | statics.CASES


def main():
    bootstrap, *words = [each for each in sys.argv[1:] if each != "--fanlog"]
    failed = 0
    for name, run in CASES.items():
        if words and not any(word in name for word in words):
            continue

        def check(holds, what, name=name):
            nonlocal failed
            failed += not holds
            print("ok" if holds else "failed", f"{name}: {what}", sep="\t", flush=True)

        try:
            run(Stage(bootstrap), check)
        except (Failed, OSError, subprocess.SubprocessError) as error:
            check(False, f"{type(error).__name__}: {error}")
    sys.exit(1 if failed else 0)


main()
