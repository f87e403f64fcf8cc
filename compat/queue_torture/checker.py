"""Whether queues kept their promises, by what everybody saw. Pure: histories in, violations out.

An answer that nobody heard may mean either; all that was answered binds. A power cut may take locks and attempts that were given before
it, and nothing else.

| violation | means |
|---|---|
| two-holders | QUE-1: a message was given to one while another held it, by the broker's own deadlines |
| late-ack | QUE-1: the word of somebody counted whose lock had run out |
| refused-early | the word of somebody was refused who held the message |
| time | the broker says to have given a message before it was asked or after it had answered |
| lost | QUE-2: a message has no end: nobody's ack may have counted, and it is no dead letter |
| twice | QUE-2: a message has two ends |
| again | QUE-2: a message was given again after its end |
| unwanted | a message was given, or is a dead letter, that the filter passes over |
| order | QUE-3: a message went before an earlier one of its key was settled |
| two-for-a-key | QUE-3: a message went to one while another held one of its key |
| early | QUE-4: a message went before its time |
| no-rest | a message that had failed went before its backoff was over |
| attempts | the count of attempts is not that of what happened: one burnt by a release, one not counted, one too many |
| dead | a dead letter without its origin, payload, attempts or reason |
| status | what the queue says of itself differs from what happened |
| unwritten | a record that was acknowledged to its producer is not there, stands twice, or is not what was sent |
| untested | the history is too thin to show anything |
"""

from collections import Counter, defaultdict, namedtuple

from history import UNSURE
from order import INFINITE, SLACK_MS, check_order, send_backs

Violation = namedtuple("Violation", "kind what")

EXAMPLES_MAX = 5
LOCK_RAN_OUT = "the lock ran out"


def check(history):
    yield from check_written(history)
    for queue in history.queues:
        for violation in check_queue(history, queue):
            yield violation._replace(what=f"{queue.rules.name}: {violation.what}")
    yield from check_tested(history)


def check_queue(history, queue):
    backs = send_backs(history, queue) if queue.rules.is_keyed else {}
    dead = defaultdict(list)
    for letter in queue.dead:
        dead[place_of(letter)].append(letter)
    for place, deliveries in queue.by_place.items():
        yield from check_message(history, queue, deliveries, backs)
    for place, record in history.records.items():
        yield from check_end(queue, record, queue.by_place.get(place, []), dead.get(place, []))
    for place in (queue.by_place.keys() | dead.keys()) - history.records.keys():
        yield Violation("twice", f"{place} was given or is a dead letter, and is no record of the topic")
    if queue.rules.is_keyed:
        for kind, what in check_order(history, queue, backs):
            yield Violation(kind, what)
    yield from check_status(history, queue)


def place_of(letter):
    try:
        return int(letter.said["partition"]), int(letter.said["offset"])
    except (KeyError, ValueError):
        return None


def check_message(history, queue, deliveries, backs):
    due = due_of(history, deliveries[0])
    for at, one in enumerate(deliveries):
        if not one.asked - SLACK_MS <= one.given <= one.got + SLACK_MS:
            yield Violation("time", f"{one}, asked at {one.asked}, answered at {one.got}")
        if one.given < due:
            yield Violation("early", f"{one}, due at {due}")
        yield from check_words(history, one, backs.get(id(one), INFINITE))
        before = deliveries[at - 1] if at else None
        yield from check_attempt(history, queue, before, one, backs)
        if before is not None:
            yield from check_next(history, queue, before, one, backs.get(id(before), INFINITE))


def due_of(history, delivery):
    """The later of what the record says and what its producer meant."""
    record = history.records.get(delivery.place)
    due = record.due if record and record.due is not None else 0
    return max(due, history.meant.get(delivery.place, 0))


def check_words(history, one, sent_back):
    ended = False
    for say in one.says:
        if say.is_taken and say.sent > one.locked_at_most() + SLACK_MS:
            yield Violation("late-ack", f"{say.what} at {say.sent} of {one}")
        holds_until = min(one.own_end(without=say), sent_back)
        is_early = say.is_refused and not ended and say.heard + SLACK_MS < holds_until
        if is_early and not history.is_cut_between(one.given, say.heard):
            yield Violation("refused-early", f"{say.what} at {say.sent} of {one}")
        ended = ended or (say.what != "extend" and not say.is_refused)


def check_next(history, queue, one, after, sent_back):
    """What was given again."""
    is_cut = history.is_cut_between(one.given, after.given)
    holds_until = min(one.own_end(), sent_back)
    if after.given + SLACK_MS < holds_until and not is_cut:
        yield Violation("two-holders", f"{one}, then {after}")
    for say in one.ends():
        if not say.is_taken:
            continue
        if say.what == "ack" or say.result in ("dead-letter", "given-up"):
            yield Violation("again", f"{one}, then {after}")
        elif say.result == "again" and after.given < say.time:
            yield Violation("no-rest", f"{one}, not before {say.time}, then {after}")
        elif say.what == "nack" and sent_back == INFINITE and after.given + SLACK_MS < say.sent + (say.delay or queue.rules.rest_ms):
            yield Violation("no-rest", f"{one}, whatever was answered, then {after}")
    ran_out = all(say.is_refused for say in one.ends()) and sent_back == INFINITE
    if ran_out and not is_cut and after.given + SLACK_MS < one.locked_until() + queue.rules.rest_ms:
        yield Violation("no-rest", f"{one}, then {after}")


def check_attempt(history, queue, before, one, backs):
    """Attempts that nobody saw count too: those of answers that were lost."""
    record = history.records.get(one.place)
    since = before.given if before else record.timestamp - SLACK_MS if record else 0
    hidden = queue.hidden.touching(since, one.given + SLACK_MS)
    least, most = 1, 1
    if before is not None:
        is_cut = history.is_cut_between(before.given, one.given)
        least, most = bounds(before, backs)
        # What the log said of it before the cut is durable with any later answer of it; what nobody answered may be gone.
        if is_cut and not any(say.is_taken for say in before.ends()):
            least = 1
    if not least <= one.attempt <= min(most + hidden, queue.rules.attempts_max):
        expected = f"{least} to {most} and {hidden} unseen"
        yield Violation("attempts", f"{before}, then {one}: {expected}, {queue.rules.attempts_max} at most")


def bounds(before, backs):
    """The next attempt, at least and at most, if nothing happened that nobody saw."""
    attempt, ends = before.attempt, before.ends()
    sent_back = backs.get(id(before), INFINITE)
    if any(say.what == "release" and say.is_taken for say in ends) or backs.get((id(before), "surely")):
        return attempt, attempt
    may_be_free = sent_back < INFINITE or any(say.what == "release" and not say.is_refused for say in ends)
    return (attempt if may_be_free else attempt + 1), attempt + 1


def check_end(queue, record, deliveries, letters):
    place = f"{record.partition}@{record.offset}"
    if record.kind == queue.rules.unwanted:
        if deliveries or letters:
            yield Violation("unwanted", f"{place}: {[str(one) for one in deliveries]} {letters}")
        return
    acks = sum(say.what == "ack" and say.is_taken for one in deliveries for say in one.says)
    said = [str(one) for one in deliveries]
    if acks + len(letters) > 1:
        yield Violation("twice", f"{place}: {acks} acks, {len(letters)} dead letters: {said}")
    may_be_acked = any(say.what == "ack" and not say.is_refused for say in (deliveries[-1].says if deliveries else ()))
    if not letters and not may_be_acked:
        yield Violation("lost", f"{place}: {said}")
    for letter in letters:
        yield from check_letter(queue, record, deliveries, letter)


def check_letter(queue, record, deliveries, letter):
    said = letter.said
    expected = {"queue": queue.rules.name, "topic": queue.rules.topic, "timestamp": str(record.timestamp)}
    wrong = {name: said.get(name) for name, value in expected.items() if said.get(name) != value}
    if wrong or not letter.is_so or letter.number != record.number:
        yield Violation("dead", f"{letter} is not {record}: {wrong}")
    last = deliveries[-1] if deliveries else None
    words = [say for say in (last.ends() if last else []) if say.what in ("nack", "reject") and not say.is_refused]
    sure = [say for say in words if say.is_taken and say.result == "dead-letter"]
    reasons = {say.reason for say in sure or words} | (set() if sure else {LOCK_RAN_OUT})
    counts = {str(last.attempt) for say in words if say.what == "reject"} | {str(queue.rules.attempts_max)}
    if said.get("reason") not in reasons or said.get("attempts") not in counts:
        yield Violation("dead", f"{letter}: expected one of {reasons}, {counts}: {last}")


def check_status(history, queue):
    status = queue.status
    empty = ("depth", "unread", "in_flight_records", "resting", "moving", "given_up", "lost", "unreadable_delays")
    for name in empty:
        if status[name] != 0:
            yield Violation("status", f"{name} is {status[name]} at the end")
    if status["dead_letters"] != len(queue.dead):
        yield Violation("status", f"{status['dead_letters']} dead letters, and there are {len(queue.dead)}")
    sure, unsure = acknowledged(queue)
    if not sure <= status["acknowledged"] <= sure + unsure:
        yield Violation("status", f"{status['acknowledged']} acknowledged, and {sure} were, or up to {unsure} more")


def acknowledged(queue):
    """How many messages surely were, and how many more may have been."""
    sure = unsure = 0
    for deliveries in queue.by_place.values():
        acks = [say for one in deliveries for say in one.says if say.what == "ack"]
        if any(say.is_taken for say in acks):
            sure += 1
        elif any(not say.is_refused for say in acks):
            unsure += 1
    return sure, unsure


def check_written(history):
    numbers = Counter(record.number for record in history.records.values())
    for number, count in numbers.items():
        if count > 1:
            yield Violation("unwritten", f"number {number} stands {count} times in the log")
    for record in history.records.values():
        if not record.is_so:
            yield Violation("unwritten", f"{record} is not what was sent")
    for number, place, _ in history.published:
        record = history.records.get(place)
        if record is None or record.number != number:
            yield Violation("unwritten", f"number {number} was acknowledged at {place}, where {record} is")


def check_tested(history):
    found = measures(history)
    if len(history.published) != history.sent:
        yield Violation("unwritten", f"{len(history.published)} were acknowledged of {history.sent}")
    needed = ("published", "acks", "dead", "again", "refused", "delayed", "filtered", "released", "extended")
    thin = [name for name in needed if not found[name]]
    if thin:
        yield Violation("untested", f"there is none of {', '.join(thin)}: {found}")
    if history.drift_ms > SLACK_MS / 2:
        yield Violation("untested", f"the machine's clocks came apart by {history.drift_ms:.0f} ms: no time can be judged")


def measures(history):
    found = Counter()
    found["sent"], found["published"] = history.sent, len(history.published)
    found["delayed"] = sum(record.due is not None for record in history.records.values())
    for queue in history.queues:
        found["dead"] += len(queue.dead)
        found["filtered"] += sum(record.kind == queue.rules.unwanted for record in history.records.values())
        found["hidden"] += len(queue.hidden.starts)
        for deliveries in queue.by_place.values():
            found["deliveries"] += len(deliveries)
            found["again"] += len(deliveries) - 1
            for one in deliveries:
                for say in one.says:
                    found["acks"] += say.what == "ack" and say.is_taken
                    found["released"] += say.what == "release" and say.is_taken
                    found["extended"] += say.what == "extend" and say.is_taken
                    found["unheard"] += say.heard is None or say.lost > 0 or say.result == UNSURE
                    found["refused"] += say.is_refused
                    found["late"] += say.is_refused and say.sent > one.locked_at_most()
    return found
