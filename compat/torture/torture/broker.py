"""The broker under torture: started, killed, paused, waited for."""

import os
import shlex
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic


# Running, or asleep in a way that a signal would end.
RUNNING = {"R", "S", "I"}


def processes(group):
    """The processes of a process group."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        if stat_fields(stat)[2:3] == [str(group)]:
            yield int(stat.parent.name)


def thread_states(process):
    return {stat_fields(stat)[0] for stat in Path(f"/proc/{process}/task").glob("*/stat")}


def stat_fields(path):
    """What follows the program's name: state, parent, group, ..."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["gone"]


class BrokerFailed(Exception):
    """It did not start, or did not answer."""


class Broker:
    """`command` is a template with {data}, {port} and {http}, so that any broker can stand here for comparison."""

    def __init__(self, command, data, port, log, start_seconds, more=()):
        places = {"data": data, "port": port, "http": port + 1}
        self.command = [part.format(**places) for part in shlex.split(command)] + list(more)
        self.port = port
        self.health = f"http://127.0.0.1:{port + 1}/health/ready"
        self.bootstrap = f"127.0.0.1:{port}"
        self.log = Path(log)
        self.start_seconds = start_seconds
        self.process = None
        self.is_wrapped = False

    def start(self, wrapper=(), environment=None):
        """Starts it and waits until it answers a client; gives the seconds that it took."""
        self._check_port_is_free()
        began = time.monotonic()
        self.is_wrapped = bool(wrapper)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*wrapper, *self.command], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True,
                                            env={**os.environ, **(environment or {})})
        while not self._answers():
            if self.process.poll() is not None:
                raise BrokerFailed(f"the broker ended with {self.process.returncode} at its start:\n{self.last_words()}")
            if time.monotonic() - began > self.start_seconds:
                raise BrokerFailed(f"the broker did not answer within {self.start_seconds} s:\n{self.last_words()}")
            time.sleep(0.05)
        return time.monotonic() - began

    def _check_port_is_free(self):
        """For a moment, a client's own end of a connection may have it."""
        deadline = time.monotonic() + 5
        while True:
            # Reused addresses are allowed: connections of the broker before may linger.
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    return probe.bind(("127.0.0.1", self.port))
                except OSError as error:
                    if time.monotonic() > deadline:
                        what = f"port {self.port} is taken ({error}); give another with --port"
                        raise BrokerFailed(what) from error
            time.sleep(0.1)

    def _answers(self):
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", self.port)) != 0:
                return False
        try:
            self.admin().list_topics(timeout=2)
            return True
        except KafkaException:
            return False

    def reasons(self):
        """Why it is not ready, a line for each reason; none where all is well."""
        try:
            with urllib.request.urlopen(self.health, timeout=10) as answer:
                answer.read()
                return []
        except urllib.error.HTTPError as error:
            return error.read().decode(errors="replace").splitlines()[1:]
        except OSError as error:
            raise BrokerFailed(f"{self.health} does not answer: {error}") from error

    def admin(self):
        return AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0, "socket.timeout.ms": 10_000})

    def create_topic(self, name, partitions, config=None):
        topic = NewTopic(name, partitions, 1, config=config or {})
        admin = self.admin()
        try:
            admin.create_topics([topic], request_timeout=30)[name].result(60)
        except KafkaException as error:
            raise BrokerFailed(f"topic {name} could not be created: {error}") from error

    def topics(self):
        try:
            return set(self.admin().list_topics(timeout=10).topics)
        except KafkaException as error:
            raise BrokerFailed(f"topics could not be listed: {error}") from error

    def last_words(self):
        if not self.log.exists():
            return ""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(f"    {line}" for line in lines[-15:])

    def check_alive(self):
        if self.process.poll() is not None:
            raise BrokerFailed(f"the broker ended by itself with {self.process.returncode}:\n{self.last_words()}")

    def peak_mb(self):
        """The most memory that its processes had in RAM at once."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def freeze(self):
        """Stops every thread of it where it is; those inside the kernel stop before they come out."""
        wrapper = {self.process.pid} if self.is_wrapped else set()
        # A tracer must go on, since it passes the signal to the threads.
        stopped = set(processes(self.process.pid)) - wrapper
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        deadline = time.monotonic() + 5
        while any(thread_states(process) & RUNNING for process in stopped):
            if time.monotonic() > deadline:
                raise BrokerFailed("the broker's threads did not stop")

    def kill(self):
        """kill -9, with everything that it started."""
        if self.process is None:
            return
        try:
            self.signal(signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def stop(self):
        """As an administrator would; kill -9 where that does not help."""
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise BrokerFailed("the broker did not end within 60 s of SIGTERM") from None
