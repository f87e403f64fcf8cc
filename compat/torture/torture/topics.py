"""The topics under torture: one for each durability class, each with its own clients, history and promise."""

from dataclasses import dataclass

# Small, so that segments are closed every few seconds and faults come upon that too. The smallest that Kafka allows.
SMALL_SEGMENTS = {"segment.bytes": "1048576"}


@dataclass(frozen=True)
class Topic:
    name: str
    durability: str
    # One producer for each, with these acks.
    producers: tuple
    tails: int
    members: int

    @property
    def is_weak(self):
        """Acknowledged and visible before it is durable: a power cut may take the end of it."""
        return self.durability != "sync"


SYNC = Topic("torture", "sync", producers=("all", "all", "1", "0"), tails=2, members=2)
INTERVAL = Topic("torture-interval", "interval:200", producers=("all", "1"), tails=1, members=0)
OS = Topic("torture-os", "os", producers=("all", "1"), tails=1, members=0)
BY_CLASS = {"sync": SYNC, "interval": INTERVAL, "os": OS}


def config_of(topic, more):
    """Its settings. A sync topic names no class, so that other brokers take it too."""
    durability = {"durability": topic.durability} if topic.is_weak else {}
    return {**durability, **more}
