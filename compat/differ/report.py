"""What came out: on the screen, and as `compat/DIFFERENTIAL.md`."""

import collections

import expected
import expected_of_clients
import real_clients
import rules

# Of the steps of one case at which a difference was met.
NOTES_SHOWN = 5

NOT_COMPARED = [
    "What comes after a restart: neither broker is restarted, so that a partition has one leader epoch in its whole history. Answers about "
    "several are held to Kafka's rules by our own tests alone: `an_epoch_ends_where_the_next_begins_also_after_a_restart`, "
    "`a_fetch_with_an_older_leader_epoch_is_answered_in_every_version`, `a_fetcher_whose_log_ran_apart_is_told_where`",
]


def show(tally, of_clients, broken, stale, left_out):
    for what, each in ((f"{len(tally.answers)} APIs", tally), (f"{len(of_clients.answers)} real clients", of_clients)):
        answers, fields = sum(each.answers.values()), sum(each.fields.values())
        explained = sum(len(found) for found in each.explained.values())
        print(f"{what}, {answers} answers, {fields} fields: {explained} differences explained, {len(each.unexplained)} not")
    print(f"{len(broken)} cases broken")
    for each in stale:
        print(f"failed\tthe expected difference {each.name} explains nothing")
    for each in left_out:
        print(f"failed\tno case asks {each}")


def write(path, tally, of_clients, commit, date):
    out = [
        "# Fanlog beside Apache Kafka 4.4, field by field",
        "",
        f"`cargo xtask differ`, commit {commit}, {date}. The same script of requests goes to both brokers, started side by side",
        "with the same settings, and every field of every answer is compared. A difference that the list below does not explain",
        "fails the command. So it is with what programs of real clients see: [real clients](#real-clients).",
        "",
        "| API | versions | cases | answers | equal answers | fields | explained differences | unexplained |",
        "|---|---|---|---|---|---|---|---|",
    ]
    per_api = explained_per(tally)
    for api in sorted(tally.answers):
        versions = f"{min(tally.versions[api])}-{max(tally.versions[api])}"
        out.append(f"| {api} | {versions} | {len(tally.cases[api])} | {counts(tally, api, per_api)} |")
    out.append(f"| all | | | {totals(tally, per_api)} |")
    out += ["", "## Where we differ, and why", ""] + explanations(tally, expected.ALL)
    out += unexplained(tally)
    out += ["", "## What counts as equal", ""] + [f"- **{name}**: {text}." for name, text in rules.NAMES]
    out += ["", "## What is not compared", ""] + [f"- {each}." for each in NOT_COMPARED]
    out += clients(of_clients)
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n")


def clients(tally):
    out = [
        "",
        "## Real clients",
        "",
        "Scripts of calls (`compat/differ/clients/`) to a client's admin, producer and consumer. Whatever the client gives back or raises",
        "is taken apart by its public fields and compared between the brokers in the same way.",
        "",
        "| client | version | calls | equal answers | fields | explained differences | unexplained |",
        "|---|---|---|---|---|---|---|",
    ]
    per_client = explained_per(tally)
    for client in sorted(tally.answers):
        version = "; ".join(sorted(tally.versions[client]))
        out.append(f"| {client} | {version} | {counts(tally, client, per_client)} |")
    out.append(f"| all | | {totals(tally, per_client)} |")
    out += ["", "Where programs see a difference, and why:", ""] + explanations(tally, expected_of_clients.ALL)
    out += unexplained(tally)
    return out + ["", "What counts as equal is as above; and besides:", ""] + [f"- **{name}**: {text}." for name, text in real_clients.NAMES]


def explained_per(tally):
    """How many explained differences each API has."""
    return collections.Counter(each.api for differences in tally.explained.values() for each in differences)


def counts(tally, api, explained):
    still_open = sum(each.api == api for each in tally.unexplained)
    return f"{tally.answers[api]} | {tally.equal_answers[api]} | {tally.fields[api]} | {explained[api]} | {still_open}"


def totals(tally, explained):
    sums = [sum(each.values()) for each in (tally.answers, tally.equal_answers, tally.fields, explained)]
    return " | ".join(str(each) for each in sums + [len(tally.unexplained)])


def explanations(tally, expectations):
    out = ["| id | fields | why | where | for example |", "|---|---|---|---|---|"]
    for each in expectations:
        differences = tally.explained.get(each.name)
        if differences:
            example = differences[0]
            shown = f"{example.api} v{example.version} `{example.path}`: {short(example.ours)}, Kafka {short(example.theirs)}"
            out.append(f"| {each.name} | {len(differences)} | {each.reason} | {places(differences)} | {shown} |")
    return out


def unexplained(tally):
    return ["", "Unexplained:", ""] + [f"- {each.line()}" for each in tally.unexplained] if tally.unexplained else []


def places(differences):
    """The steps of the script at which it was met."""
    notes = {}
    for each in differences:
        notes.setdefault(each.case, {})[each.note or "its only step"] = True
    shown = []
    for case, found in notes.items():
        listed = list(found)[:NOTES_SHOWN] + (["..."] if len(found) > NOTES_SHOWN else [])
        shown.append(f"{case} ({', '.join(listed)})")
    return "; ".join(shown).replace("|", "\\|")


def short(value):
    text = repr(value).replace("|", "\\|").replace("`", "'")
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"
