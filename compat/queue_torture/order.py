"""QUE-3, order per key: the messages of a key go in the order of their offsets to one consumer at a time; when one fails, or is given back,
the later ones that are held come back with it, and no attempt is burnt.
"""

from collections import defaultdict

INFINITE = float("inf")
# Between the broker's clock and a consumer's, and for the rounding of both.
SLACK_MS = 20


def by_key(history, queue):
    """The deliveries of each key of a partition, as they were given."""
    keys = defaultdict(list)
    for place, deliveries in queue.by_place.items():
        record = history.records.get(place)
        if record is not None and record.key is not None:
            keys[place[0], record.key].extend(deliveries)
    for deliveries in keys.values():
        deliveries.sort(key=lambda one: (one.given, one.place[1]))
    return keys


def send_backs(history, queue):
    """From when each delivery may have been sent back by an earlier one of its key, by the delivery's identity; and under (identity,
    "surely") whether it surely was."""
    backs = {}
    for deliveries in by_key(history, queue).values():
        if len(deliveries) > 1:
            note_send_backs(deliveries, backs)
        for one in deliveries:
            note_unseen(queue, one, backs)
    return backs


def note_unseen(queue, one, backs):
    """The consumer may have held an earlier one by an answer that it never had: the end of that lock takes this one along."""
    for start, end, lock in queue.lost_asks.get(one.consumer, ()):
        if start <= one.given <= end + lock + SLACK_MS:
            backs[id(one)] = min(backs.get(id(one), INFINITE), max(start + lock, one.given))


def note_send_backs(deliveries, backs):
    for one in deliveries:
        for earlier in deliveries:
            if earlier.consumer != one.consumer or earlier.place[1] >= one.place[1] or earlier.given > one.given:
                continue
            fails = earlier.fails_from()
            if fails + SLACK_MS < one.given or fails == INFINITE:
                continue
            backs[id(one)] = min(backs.get(id(one), INFINITE), fails)
            if is_sure(earlier, one):
                backs[id(one), "surely"] = True


def is_sure(earlier, one):
    """Whether it was still held when the earlier one was surely given back."""
    if any(not say.is_refused for say in one.says):
        return False
    words = (say for say in earlier.ends() if say.what in ("nack", "release") and say.result == "again")
    return any(not say.lost and say.sent > one.got and say.heard + SLACK_MS < one.until for say in words)


def check_order(history, queue, backs):
    for deliveries in by_key(history, queue).values():
        if len(deliveries) > 1:
            yield from check_key(history, queue, deliveries, backs)


def check_key(history, queue, deliveries, backs):
    """`last` is the latest delivery of each message so far; `final` is when each was given for the last time."""
    final, last = {}, {}
    for one in deliveries:
        final[one.place[1]] = one.given
    for one in deliveries:
        for offset in final:
            if offset == one.place[1]:
                continue
            other = last.get(offset)
            # What a cut took of the earlier one's end was decided all the same.
            is_open = offset < one.place[1] and final[offset] > one.given and not history.is_cut_between(one.given, final[offset])
            if is_open and not is_in_hand(queue, other, one):
                yield "order", f"{one}, though {offset} was not settled: {other}"
            if other is not None and other.consumer != one.consumer:
                holds_until = min(other.own_end(), backs.get(id(other), INFINITE))
                if one.given + SLACK_MS < holds_until and not history.is_cut_between(other.given, one.given):
                    yield "two-for-a-key", f"{one}, while {other}"
        last[one.place[1]] = one


def is_in_hand(queue, other, one):
    """Whether the consumer may have held the earlier one as well."""
    since = one.given - queue.rules.lock_ms - SLACK_MS
    if any(start < one.given and end > since for start, end, _ in queue.lost_asks.get(one.consumer, ())):
        # By an answer that it never heard.
        return True
    if other is None or other.consumer != one.consumer:
        return False
    gave_back = any(say.is_taken and say.what != "extend" and say.heard + SLACK_MS < one.given for say in other.says)
    return not gave_back and one.given <= other.locked_at_most() + SLACK_MS
