"""A worker of Kafka Connect in distributed mode: its process, its settings, and what it is asked over REST."""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

SECONDS = 90


class Wrong(Exception):
    """Connect said or did something else than it should."""


def until(what, holds, seconds=SECONDS):
    """Asks again until it holds, and returns what it gave."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > deadline:
            raise Wrong(f"{what}: still not so after {seconds} s")
        time.sleep(0.1)
    return found


class Worker:
    def __init__(self, bootstrap, folder, group, extra=None):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.folder, self.group = folder, group
        self.topics = {name: f"{group}-{name}" for name in ("config", "offset", "status")}
        storage = {
            f"{name}.storage.{key}": value for name, topic in self.topics.items()
            for key, value in (("topic", topic), ("replication.factor", 1))
        }
        settings = {
            "bootstrap.servers": bootstrap, "group.id": group, **storage, "offset.storage.partitions": 3, "status.storage.partitions": 2,
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "false",
            "offset.flush.interval.ms": 500, "listeners": f"http://127.0.0.1:{self.port}", "scheduled.rebalance.max.delay.ms": 1000,
            "session.timeout.ms": 6000, "heartbeat.interval.ms": 2000, **(extra or {}),
        }
        self.settings = os.path.join(folder, "worker.properties")
        with open(self.settings, "w") as out:
            out.writelines(f"{name}={value}\n" for name, value in settings.items())
        self.process = None

    def start(self):
        command = [
            "java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp", os.environ["CONNECT_CLASS_PATH"], "org.apache.kafka.connect.cli.ConnectDistributed", self.settings,
        ]
        with open(os.path.join(self.folder, "worker.log"), "a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        until("the worker serves", self.serves)

    def serves(self):
        if self.process.poll() is not None:
            raise Wrong(f"the worker ended with {self.process.returncode}; {self.folder}/worker.log")
        try:
            return self.ask("GET", "/connectors") is not None
        except (OSError, Wrong):
            return False

    def ask(self, method, path, body=None):
        """The decoded answer; Wrong with what it says of an error."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            raise Wrong(f"{method} {path}: {error.code}: {error.read()[:400]!r}") from None

    def is_running(self, connector):
        """The connector and its only task run; one that failed is told at once."""
        try:
            status = self.ask("GET", f"/connectors/{connector}/status")
        except Wrong:
            return False
        for each in [status["connector"], *status["tasks"]]:
            if each["state"] == "FAILED":
                raise Wrong(f"{connector}: {each.get('trace', '')[:600]}")
        return status["connector"]["state"] == "RUNNING" and [task["state"] for task in status["tasks"]] == ["RUNNING"]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Wrong("the worker does not end after SIGTERM") from None
