"""What message number n is: its key, headers, delay, and how often it is to fail. It follows from the number alone, so that producers,
consumers and the checker need not be told.

The value is text: the number, how many attempts are to fail, and padding.
"""

import zlib
from collections import namedtuple

Message = namedtuple("Message", "number key kind fails delay delay_is_at")

# A message that is to fail always says so with more than any queue's attempts.
ALWAYS = 99
# What the two queues' filters are about: `b` is passed over by one of them, `c` by the other.
KINDS = ("b", "c")
DELAYS_MS = (50, 300, 1_000, 2_500, 5_000)
PADDING = "x" * 40


def mark(text):
    """The same number for a text, everywhere."""
    return zlib.crc32(text.encode())


def message(number, keys):
    draw = mark(f"m{number}")
    key = None if draw % 10 == 0 else f"k{mark(f'key{number}') % keys}"
    # Of all messages; what has no key may fail too.
    by_key = mark(f"fails{key or number}") % 100
    fails = {0: ALWAYS, 1: 1, 2: 2, 3: 4}.get(by_key, 0)
    late = draw // 10 % 100
    delay = DELAYS_MS[late] if late < len(DELAYS_MS) else None
    sort = draw // 1_000 % 100
    kind = KINDS[sort] if sort < len(KINDS) else "a"
    return Message(number, key, kind, fails, delay, bool(draw // 100_000 % 2))


def value(planned):
    return f"{planned.number} {planned.fails} {PADDING}"


def number_and_fails(text):
    """What a consumer has to know of a value."""
    number, fails, _ = text.split(" ", 2)
    return int(number), int(fails)
