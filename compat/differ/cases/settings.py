"""Settings of topics and brokers: read, changed, refused."""

from session import SILENCE_SECONDS

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
NODE = "1"


def describe_topic_configs(side):
    topic = side.topic("t", 1, retention_ms=604800000, cleanup_policy="compact,delete", max_message_bytes=1000012)
    plain = side.topic("plain")
    for version in side.apis["DescribeConfigs"].versions():
        def ask(note, *resources, **fields):
            wanted = [
                {"ResourceType": kind, "ResourceName": name, "ConfigurationKeys": keys} for kind, name, keys in resources
            ]
            return side.ask("DescribeConfigs", version, note, Resources=wanted, **fields)

        ask("everything", (TOPIC, topic, None))
        ask("everything of a plain one", (TOPIC, plain, None), IncludeSynonyms=True)
        ask("with synonyms", (TOPIC, topic, None), IncludeSynonyms=True)
        answer = side.quietly(
            "DescribeConfigs",
            version,
            Resources=[{"ResourceType": TOPIC, "ResourceName": topic, "ConfigurationKeys": None}],
            IncludeDocumentation=True,
        )
        if version >= 3:
            configs = answer["Results"][0]["Configs"]
            side.note("DescribeConfigs", version, "all documented", all(each["Documentation"] for each in configs))
        ask("one", (TOPIC, topic, ["retention.ms"]))
        ask("one twice", (TOPIC, topic, ["retention.ms", "retention.ms"]))
        ask("unknown setting", (TOPIC, topic, ["no.such", "retention.ms"]))
        ask("no settings", (TOPIC, topic, []))
        ask("unknown topic", (TOPIC, side.topic_name("never"), None))
        ask("bad name", (TOPIC, "a b", None))
        ask("empty name", (TOPIC, "", None))
        ask("two topics", (TOPIC, topic, ["retention.ms"]), (TOPIC, plain, ["retention.ms"]))
        ask("a topic twice", (TOPIC, topic, ["retention.ms"]), (TOPIC, topic, ["segment.ms"]))
        for kind in (0, 1, 3, 7, 64, -1):
            ask(f"type {kind}", (kind, "x", None))
        ask("logger", (LOGGER, NODE, ["root"]))
        ask("logger of another", (LOGGER, "9", ["root"]))
        ask("logger without a broker", (LOGGER, "", ["root"]))
        ask("client metrics", (CLIENT_METRICS, "x", None))
        ask("client metrics without a name", (CLIENT_METRICS, "", None))
        ask("group without a name", (GROUP, "", None))
        ask("nothing")


def list_config_resources(side):
    side.topic("t")
    version = side.apis["ListConfigResources"].versions()[0]
    side.ask("ListConfigResources", version, "client metrics only")
    version = side.apis["ListConfigResources"].versions()[-1]
    for types in ([BROKER], [LOGGER], [CLIENT_METRICS], [GROUP], [BROKER, BROKER], [LOGGER, BROKER]):
        side.ask("ListConfigResources", version, f"types {types}", ResourceTypes=types)
    for kind in (0, 1, 3, 7, 64, -1):
        side.ask("ListConfigResources", version, f"type {kind}", ResourceTypes=[kind])
        side.ask("ListConfigResources", version, f"broker and type {kind}", ResourceTypes=[BROKER, kind])


def describe_group_configs(side):
    for version in side.apis["DescribeConfigs"].versions():
        wanted = [{"ResourceType": GROUP, "ResourceName": "g", "ConfigurationKeys": None}]
        side.ask("DescribeConfigs", version, Resources=wanted, IncludeSynonyms=True)


def describe_broker_configs(side):
    for version in side.apis["DescribeConfigs"].versions():
        for name in (NODE, "", "9", "x"):
            for synonyms in (False, True):
                wanted = [{"ResourceType": BROKER, "ResourceName": name, "ConfigurationKeys": None}]
                note = f"broker {name!r}{' with synonyms' if synonyms else ''}"
                side.ask("DescribeConfigs", version, note, Resources=wanted, IncludeSynonyms=synonyms)
        wanted = [{"ResourceType": BROKER, "ResourceName": NODE, "ConfigurationKeys": ["log.retention.ms", "no.such"]}]
        side.ask("DescribeConfigs", version, "two settings", Resources=wanted, IncludeSynonyms=True)


def entry(name, value="1000000", operation=SET):
    return {"Name": name, "Value": value, "ConfigOperation": operation}


def shown(side, api, version, note, topic):
    """What the topic's settings are afterwards."""
    wanted = [{"ResourceType": TOPIC, "ResourceName": topic, "ConfigurationKeys": None}]

    def own():
        answer = side.quietly("DescribeConfigs", 4, Resources=wanted, IncludeSynonyms=True)
        return {each["Name"]: each["Value"] for each in answer["Results"][0]["Configs"] if each["ConfigSource"] == 1}

    # Kafka applies a change a moment after it has answered.
    before, after = None, own()
    while before != after:
        side.until_settled()
        before, after = after, own()
    side.note(api, version, f"afterwards: {note}", sorted(after.items()))


def incremental_alter_configs(side):
    for version in side.apis["IncrementalAlterConfigs"].versions():
        topic = side.topic(f"t-{version}", 1, retention_ms=5000)

        def ask(note, *entries, kind=TOPIC, name=topic, validate=False):
            wanted = [{"ResourceType": kind, "ResourceName": name, "Configs": list(entries)}]
            side.ask("IncrementalAlterConfigs", version, note, Resources=wanted, ValidateOnly=validate)
            if kind == TOPIC and name == topic:
                shown(side, "IncrementalAlterConfigs", version, note, topic)

        ask("validate only", entry("segment.bytes", "1048576"), validate=True)
        ask("set", entry("segment.bytes", "1048576"))
        ask("set to the same", entry("segment.bytes", "1048576"))
        ask("delete", entry("segment.bytes", None, DELETE))
        ask("delete what is not set", entry("segment.bytes", None, DELETE))
        ask("delete with a value", entry("retention.ms", "7", DELETE))
        ask("append", entry("cleanup.policy", "compact", APPEND))
        ask("append again", entry("cleanup.policy", "compact", APPEND))
        ask("subtract", entry("cleanup.policy", "delete", SUBTRACT))
        ask("subtract what is not there", entry("cleanup.policy", "delete", SUBTRACT))
        ask("subtract the last", entry("cleanup.policy", "compact", SUBTRACT))
        ask("append nothing", entry("cleanup.policy", "", APPEND))
        ask("append null", entry("cleanup.policy", None, APPEND))
        ask("append to a number", entry("retention.ms", "1", APPEND))
        ask("append a bad one", entry("cleanup.policy", "shred", APPEND))
        ask("append two", entry("cleanup.policy", "compact,delete", APPEND))
        ask("set null", entry("retention.ms", None))
        ask("set empty", entry("retention.ms", ""))
        ask("no number", entry("retention.ms", "soon"))
        ask("unknown", entry("no.such", "1"))
        ask("delete unknown", entry("no.such", None, DELETE))
        ask("twice", entry("retention.ms", "6000"), entry("retention.ms", "7000"))
        ask("good and bad", entry("retention.ms", "6000"), entry("segment.bytes", "-7"))
        ask("operation 4", entry("retention.ms", "6000", 4))
        ask("operation -1", entry("retention.ms", "6000", -1))
        ask("nothing to set")
        ask("spaces", entry("retention.ms", " 8000 "))
        ask("min above max", entry("min.compaction.lag.ms", "100"), entry("max.compaction.lag.ms", "10"))
        ask("unknown topic", entry("retention.ms"), name=side.topic_name("never"))
        ask("bad topic", entry("retention.ms"), name="a b")
        ask("empty topic", entry("retention.ms"), name="")
        for kind in (0, 1, 3, 7, 64):
            ask(f"type {kind}", entry("retention.ms"), kind=kind, name="x")
        broker_changes(ask)
        one = {"ResourceType": TOPIC, "ResourceName": topic, "Configs": [entry("retention.ms", "6000")]}
        side.ask("IncrementalAlterConfigs", version, "resource twice", Resources=[one, one])
        side.ask("IncrementalAlterConfigs", version, "nothing at all", Resources=[])


def broker_changes(ask):
    ask("another broker", entry("log.retention.ms"), kind=BROKER, name="9", validate=True)
    ask("no broker id", entry("log.retention.ms"), kind=BROKER, name="x", validate=True)
    ask("broker, read-only setting", entry("log.dirs", "/x"), kind=BROKER, name=NODE, validate=True)
    ask("broker, unknown setting", entry("no.such", "/x"), kind=BROKER, name=NODE, validate=True)
    ask("broker, no number", entry("log.retention.ms", "soon"), kind=BROKER, name=NODE, validate=True)
    ask("broker, validate", entry("log.retention.ms", "700000"), kind=BROKER, name=NODE, validate=True)
    ask("cluster, validate", entry("log.retention.ms", "700000"), kind=BROKER, name="", validate=True)
    ask("cluster, per-broker setting", entry("listeners", "x"), kind=BROKER, name="", validate=True)
    ask("broker, append to a number", entry("log.retention.ms", "1", APPEND), kind=BROKER, name=NODE, validate=True)


def alter_configs(side):
    for version in side.apis["AlterConfigs"].versions():
        topic = side.topic(f"t-{version}", 1, retention_ms=5000)

        def ask(note, *entries, kind=TOPIC, name=topic, validate=False):
            plain = [{"Name": each["Name"], "Value": each["Value"]} for each in entries]
            wanted = [{"ResourceType": kind, "ResourceName": name, "Configs": plain}]
            side.ask("AlterConfigs", version, note, Resources=wanted, ValidateOnly=validate)
            if kind == TOPIC and name == topic:
                shown(side, "AlterConfigs", version, note, topic)

        ask("validate only", entry("segment.bytes", "1048576"), validate=True)
        ask("set, and unset the rest", entry("segment.bytes", "1048576"))
        ask("null", entry("retention.ms", None))
        ask("empty", entry("retention.ms", ""))
        ask("no number", entry("retention.ms", "soon"))
        ask("unknown", entry("no.such", "1"))
        ask("twice", entry("retention.ms", "6000"), entry("retention.ms", "7000"))
        ask("nothing: all unset")
        ask("unknown topic", entry("retention.ms"), name=side.topic_name("never"))
        ask("bad topic", entry("retention.ms"), name="a b")
        for kind in (0, 1, 3, 7, 64):
            ask(f"type {kind}", entry("retention.ms"), kind=kind, name="x")
        ask("another broker", entry("log.retention.ms"), kind=BROKER, name="9", validate=True)
        ask("broker, read-only setting", entry("log.dirs", "/x"), kind=BROKER, name=NODE, validate=True)
        ask("broker, validate", entry("log.retention.ms", "700000"), kind=BROKER, name=NODE, validate=True)
        ask("cluster, validate", entry("log.retention.ms", "700000"), kind=BROKER, name="", validate=True)
        one = {"ResourceType": TOPIC, "ResourceName": topic, "Configs": [{"Name": "retention.ms", "Value": "6000"}]}
        side.ask("AlterConfigs", version, "resource twice", seconds=SILENCE_SECONDS, Resources=[one, one])
        side.ask("AlterConfigs", version, "nothing at all", Resources=[])


def dynamic_broker_configs(side):
    """A change of the cluster's default shows as a synonym everywhere, and goes again."""
    topic = side.topic("t")

    def ask(name, value, operation=SET):
        wanted = [{"ResourceType": BROKER, "ResourceName": name, "Configs": [entry("log.retention.ms", value, operation)]}]
        side.ask("IncrementalAlterConfigs", 1, f"{name or 'cluster'}: {value}", Resources=wanted)

    def look(note, value):
        wanted = [{"ResourceType": TOPIC, "ResourceName": topic, "ConfigurationKeys": ["retention.ms"]}]

        def is_there():
            answer = side.quietly("DescribeConfigs", 4, Resources=wanted, IncludeSynonyms=True)
            return answer["Results"][0]["Configs"][0]["Value"] == value

        side.until(f"retention.ms is {value}", is_there)
        side.ask("DescribeConfigs", 4, f"topic: {note}", Resources=wanted, IncludeSynonyms=True)
        for name in (NODE, ""):
            wanted_broker = [{"ResourceType": BROKER, "ResourceName": name, "ConfigurationKeys": ["log.retention.ms"]}]
            side.ask("DescribeConfigs", 4, f"broker {name!r}: {note}", Resources=wanted_broker, IncludeSynonyms=True)

    look("before", "604800000")
    ask("", "700000")
    look("cluster", "700000")
    ask(NODE, "800000")
    look("broker too", "800000")
    ask(NODE, None, DELETE)
    look("cluster again", "700000")
    ask("", None, DELETE)
    look("after", "604800000")


CASES = [
    describe_topic_configs, list_config_resources, describe_group_configs, describe_broker_configs,
    incremental_alter_configs, alter_configs,
    dynamic_broker_configs,
]
