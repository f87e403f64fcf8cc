"""The two queues: as they are made, and what that means for the checker."""

from history import Rules

TOPIC, PARTITIONS = "events", 4
LOCKS_MS = {"keyed": 3_000, "free": 1_500}
QUEUES = {
    "keyed": {"order": "key", "lock": "3s", "max-attempts": 5, "backoff": "exponential:50ms:500ms:20", "filter": {"kind": [{"anything-but": ["b"]}]}},
    "free": {"order": "none", "lock": "1500ms", "max-attempts": 3, "backoff": "fixed:200ms", "filter": {"kind": [{"anything-but": ["c"]}]}},
}
RULES = [
    # The jitter takes up to a fifth off the first rest.
    Rules("keyed", TOPIC, is_keyed=True, attempts_max=5, lock_ms=LOCKS_MS["keyed"], rest_ms=40, unwanted="b"),
    Rules("free", TOPIC, is_keyed=False, attempts_max=3, lock_ms=LOCKS_MS["free"], rest_ms=200, unwanted="c"),
]
