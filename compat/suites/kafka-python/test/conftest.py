"""Stand-in for what the sdist lacks, and the outcomes for the command that runs the suite.

Each test gets one line: outcome, name, what was said. All names are written first, as failed, so that a test which
takes the whole run down with it does not go missing; the last line about a test counts.
"""

import os

OUTCOMES = {}


def pytest_collection_finish(session):
    for item in session.items:
        OUTCOMES[item.nodeid] = ("failed", "has no outcome: the run ended before it")
    write()


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        said = report.longrepr
        if report.skipped and isinstance(said, tuple):
            said = said[2]
        elif report.failed:
            said = getattr(getattr(said, "reprcrash", None), "message", None) or str(said)
        OUTCOMES[report.nodeid] = (report.outcome, " ".join(str(said or "").split()))
        write()


def write():
    with open(os.environ["FANLOG_OUTCOMES"], "w", encoding="utf-8") as file:
        for name, (outcome, said) in OUTCOMES.items():
            file.write(f"{outcome}\t{name.removeprefix('test/integration/')}\t{said}\n")
