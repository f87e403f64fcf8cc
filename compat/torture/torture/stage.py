"""One fault's broker, clients and findings. Each begins with an empty data directory."""

from dataclasses import dataclass, field
from pathlib import Path

from . import checker, history, topics
from .broker import Broker
from .disk_image import DiskImage
from .load import Load


@dataclass
class Stage:
    folder: Path
    options: object
    random: object
    say: object
    rounds: int = 1
    disk: DiskImage = None
    # A command before the broker's, and what is added to its environment.
    wrapper: tuple = ()
    environment: dict = field(default_factory=dict)
    serve_more: tuple = ()
    broker: Broker = None
    loads: list = field(default_factory=list)
    runner: history.History = None
    made_topics: list = field(default_factory=list)
    violations: list = field(default_factory=list)
    is_finished: bool = False
    # What the fault counts beside the clients' sends, for the results.
    notes: list = field(default_factory=list)

    @property
    def data(self):
        return (self.disk.mount_point if self.disk else self.folder) / "data"

    def make_disk(self):
        self.disk = DiskImage(self.folder)
        self.disk.make()

    def start_broker(self):
        if self.broker is None:
            self.broker = Broker(self.options.serve, self.data, self.options.port, self.folder / "broker.log",
                                 self.options.start_seconds, self.serve_more)
        return self.broker.start(self.wrapper, self.environment)

    def set_up(self, topic_config=None, classes=None):
        """A broker, a topic of each durability class, and clients that have come into their stride."""
        self.start_broker()
        config = {**(topic_config or {}), **self.options.topic_config}
        histories = self.folder / "history"
        histories.mkdir()
        self.runner = history.History(histories / "runner.jsonl", "runner", "runner")
        for name in classes or self.options.classes:
            topic = topics.BY_CLASS[name]
            self.broker.create_topic(topic.name, self.options.partitions, topics.config_of(topic, config))
            load = Load(histories / topic.name, self.broker, topic, self.options)
            load.start()
            self.loads.append(load)
        self.wait_for_acks()

    @property
    def load(self):
        """The clients of the first topic: that of class sync, unless others were asked for."""
        return self.loads[0]

    def wait_for_acks(self, times=1):
        """Until every topic has had as many acknowledgements as there are to be between faults, so many times."""
        for load in self.loads:
            share = 1 if load is self.load else 4
            load.wait_for_acks(self.options.acks_between * times // share, self.options.patience_seconds * times)

    def acked(self):
        return sum(load.acks.update() for load in self.loads)

    def note(self, kind, **fields):
        """A fault, in the history: the checker has to know of power cuts."""
        self.runner.write(kind, **fields)
        self.runner.flush(is_now=True)

    def make_topic(self):
        """One more topic just before a fault: its creation was answered, so it must be there afterwards."""
        name = f"made-{len(self.made_topics)}"
        self.broker.create_topic(name, 1)
        self.made_topics.append(name)

    def check_topics(self):
        for name in sorted(set(self.made_topics) - self.broker.topics()):
            self.violate("topic-lost", f"{name} had been created; it is gone")
            self.made_topics.remove(name)

    def violate(self, kind, what):
        self.violations.append(checker.Violation(kind, what))

    def histories(self, load):
        """What the clients of one topic saw, and what was done to the broker meanwhile."""
        return {**history.read_all(load.folder), "runner": history.read(self.folder / "history" / "runner.jsonl")}

    def finish(self):
        """Lets all come to rest, then checks it; nothing to do where the fault had no clients, or has done it."""
        if self.is_finished:
            return
        self.is_finished = True
        for load in self.loads:
            load.finish()
        if self.broker:
            self.broker.stop()
        for load in self.loads:
            self._check(load)

    def _check(self, load, without=()):
        found = checker.check(self.histories(load), is_weak=load.topic.is_weak)
        self.violations.extend(v._replace(what=f"{load.topic.name}: {v.what}") for v in found if v.kind not in without)

    def check_what_there_is(self):
        """After a failure: the histories end in mid-air, some later than others, and may show why."""
        for load in self.loads:
            load.kill()
            self._check(load, without=("untested", "phantom"))

    def count(self, kind):
        return sum(history.Progress(load.folder, kind).update() for load in self.loads)

    def tear_down(self):
        for load in self.loads:
            load.kill()
        if self.broker:
            self.broker.kill()
        if self.disk:
            self.disk.unmount()
