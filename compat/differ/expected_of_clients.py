"""The differences that programs of real clients see, each with its reason. Anything else that differs fails the run.

The raw script finds the same ones where it looks at the same API: `expected.py` says more about them."""

from compare import Expected
from expected import NOT_YET

RAFT_OF_ONE = "each was started with its own"

ALL = [
    # What is not there yet.
    Expected("clients-no-features", f"features: {NOT_YET}", note="describe features", ours="absent"),
    Expected("clients-no-client-metrics", f"subscriptions of client metrics: {NOT_YET}", note="describe configs: client metrics", ours="absent"),
    Expected(
        "clients-no-eligible-leader-replicas",
        "Kafka, formatted anew, makes min.insync.replicas a setting of the cluster",
        path="*min.insync.replicas*",
    ),
    Expected("clients-share-version", "dead-letter topics of share groups are not there", note="describe features", path="*share.version*"),
    # What each of us is.
    Expected("clients-quorums-log", "the offsets of each broker's own metadata log", note="describe quorum", path="*log_end_offset"),
    Expected("clients-quorums-log-hw", "the same", note="describe quorum", path="*high_watermark"),
    Expected("clients-one-listener", "Fanlog has no listener of its own for controllers", note="describe quorum", path="*listeners*name"),
    Expected("clients-own-topic-setting", "the same for topics: how long acknowledgements wait", path="*.durability", theirs="absent"),
    Expected("clients-own-topic-setting-of-ids", "the same: how long message ids are remembered", path="*.dedup.window.ms", theirs="absent"),
    Expected("clients-own-topic-setting-of-queues", "the same: how much queues hold back", path="*.retention.hold.bytes", theirs="absent"),
    Expected("clients-own-settings", "settings that only Fanlog has", note="describe configs: broker", path="*.fanlog.*", theirs="absent"),
    Expected("clients-own-settings-of-aws", "the same", note="describe configs: broker", path="*.aws.*", theirs="absent"),
    *[
        Expected(f"clients-place-{name}", f"addresses, folders and the controller's part: {RAFT_OF_ONE}", note="describe configs: broker", path=path)
        for name, path in (("listeners", "*listener*"), ("controller", "*.controller.*"), ("roles", "*.process.roles*"))
    ],
    # Where we say more.
    Expected("clients-say-why", "Fanlog says in words what is wrong where Kafka leaves the code alone", path="*error_message", ours="a text", theirs="None"),
]
