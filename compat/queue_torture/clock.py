"""Time stamps: milliseconds since 1970 by a clock that only goes on.

All processes of a run are given the same distance between the machine's two clocks, so that their stamps can be compared with each other,
and with times that the broker says.
"""

import time


def distance():
    """From the monotonic clock to the wall clock, in milliseconds."""
    return (time.time() - time.monotonic()) * 1_000


class Clock:
    def __init__(self, distance_ms):
        self.distance_ms = distance_ms

    def __call__(self):
        return round(time.monotonic() * 1_000 + self.distance_ms, 1)
