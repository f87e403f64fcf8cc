"""What came out: on the screen, and as `compat/DIFFERENTIAL.md`."""

import rules

# Of the steps of one case at which a difference was met.
NOTES_SHOWN = 5


def show(tally, broken, stale, left_out):
    answers, fields = sum(tally.answers.values()), sum(tally.fields.values())
    explained = sum(len(each) for each in tally.explained.values())
    print(
        f"{len(tally.answers)} APIs, {answers} answers, {fields} fields: {explained} differences explained, "
        f"{len(tally.unexplained)} not; {len(broken)} cases broken"
    )
    for each in stale:
        print(f"failed\tthe expected difference {each.name} explains nothing")
    for each in left_out:
        print(f"failed\tno case asks {each}")


def write(path, tally, expectations, commit, date):
    out = [
        "# Fanlog beside Apache Kafka 4.4, field by field",
        "",
        f"`cargo xtask differ`, commit {commit}, {date}. The same script of requests goes to both brokers, started side by side",
        "with the same settings, and every field of every answer is compared. A difference that the list below does not explain",
        "fails the command.",
        "",
        "| API | versions | cases | answers | equal answers | fields | explained differences | unexplained |",
        "|---|---|---|---|---|---|---|---|",
    ]
    per_api = {}
    for differences in tally.explained.values():
        for each in differences:
            per_api[each.api] = per_api.get(each.api, 0) + 1
    for api in sorted(tally.answers):
        versions = f"{min(tally.versions[api])}-{max(tally.versions[api])}"
        open_ones = sum(each.api == api for each in tally.unexplained)
        out.append(
            f"| {api} | {versions} | {len(tally.cases[api])} | {tally.answers[api]} | {tally.equal_answers[api]} | "
            f"{tally.fields[api]} | {per_api.get(api, 0)} | {open_ones} |"
        )
    total = [sum(each.values()) for each in (tally.answers, tally.equal_answers, tally.fields)]
    out.append(f"| all | | | {total[0]} | {total[1]} | {total[2]} | {sum(per_api.values())} | {len(tally.unexplained)} |")
    out += ["", "## Where we differ, and why", "", "| id | fields | why | where | for example |", "|---|---|---|---|---|"]
    for each in expectations:
        differences = tally.explained.get(each.name)
        if differences:
            example = differences[0]
            shown = f"{example.api} v{example.version} `{example.path}`: {short(example.ours)}, Kafka {short(example.theirs)}"
            out.append(f"| {each.name} | {len(differences)} | {each.reason} | {places(differences)} | {shown} |")
    if tally.unexplained:
        out += ["", "## Unexplained", ""] + [f"- {each.line()}" for each in tally.unexplained]
    out += ["", "## What counts as equal", ""] + [f"- **{name}**: {text}." for name, text in rules.NAMES]
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n")


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
