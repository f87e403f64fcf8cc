"""What became of each test, and what each test asked for; a plugin of pytest.

FANLOG_OUTCOMES   written: a line per test: outcome, name, what was said. All names are written first, as failed, so that
                  a test which takes the whole run down with it does not go missing.
FANLOG_CALLS      written: a line per test: name, and the actions that it called over the wire, as sqs:SendMessage.
FANLOG_LEFT_OUT   read: names of tests that are not to be started, a line each; a * at the end stands for all that begin so.
"""

import os

import botocore.client

OUTCOMES = {}
CALLS = {}
NOW = [""]


def name_of(nodeid):
    return nodeid.removeprefix("tests/")


def is_left_out(name, patterns):
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
    )


def pytest_configure(config):
    make_api_call = botocore.client.BaseClient._make_api_call

    def recorded(client, operation_name, api_params):
        service = client.meta.service_model.service_name
        CALLS.setdefault(NOW[0], set()).add(f"{service}:{operation_name}")
        return make_api_call(client, operation_name, api_params)

    botocore.client.BaseClient._make_api_call = recorded


def pytest_collection_modifyitems(config, items):
    with open(os.environ["FANLOG_LEFT_OUT"], encoding="utf-8") as file:
        patterns = file.read().split("\n")
    kept = []
    for item in items:
        name = name_of(item.nodeid)
        if is_left_out(name, patterns):
            OUTCOMES[name] = ("left-out", "")
        else:
            OUTCOMES[name] = ("failed", "has no outcome: the run ended before it")
            kept.append(item)
    items[:] = kept
    write()


def pytest_runtest_logstart(nodeid, location):
    NOW[0] = name_of(nodeid)
    CALLS.setdefault(NOW[0], set())


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        said = report.longrepr
        if report.skipped and isinstance(said, tuple):
            said = said[2]
        elif report.failed:
            said = getattr(getattr(said, "reprcrash", None), "message", None) or str(said)
        said = " ".join(str(said or "").split())
        OUTCOMES[name_of(report.nodeid)] = (report.outcome, said)
        write()


def write():
    with open(os.environ["FANLOG_OUTCOMES"], "w", encoding="utf-8") as file:
        for name, (outcome, said) in OUTCOMES.items():
            file.write(f"{outcome}\t{name}\t{said}\n")
    with open(os.environ["FANLOG_CALLS"], "w", encoding="utf-8") as file:
        for name, calls in CALLS.items():
            file.write(f"{name}\t{','.join(sorted(calls))}\n")
