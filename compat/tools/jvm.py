"""Kafka's own programs, each in a virtual machine of its own, with what they print and how they end.

The class path is in KAFKA_CLASS_PATH (the runner fills it from `compat/kafka/pom.xml`).
"""

import os
import queue
import re
import subprocess
import threading
import time

SECONDS = 60
# Small, and quick to start: most of them live for a second.
JAVA = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", os.environ["KAFKA_CLASS_PATH"]]
PACKAGE = "org.apache.kafka.tools."


class Wrong(Exception):
    """A tool said or did something else than it should."""


class Output:
    """What a tool left behind."""

    def __init__(self, command, code, text):
        self.command, self.code, self.text = command, code, text

    def has(self, *patterns):
        """Each is a regular expression that some line must match somewhere."""
        for pattern in patterns:
            if not re.search(pattern, self.text, re.MULTILINE):
                raise Wrong(f"{self.command}: nothing like {pattern!r} in: {self.tail()}")
        return self

    def lacks(self, *patterns):
        for pattern in patterns:
            if re.search(pattern, self.text, re.MULTILINE):
                raise Wrong(f"{self.command}: {pattern!r} in: {self.tail()}")
        return self

    def lines(self, pattern):
        """The matches of a regular expression, of each line that has one: its groups."""
        return [match.groups() for match in re.finditer(pattern, self.text, re.MULTILINE)]

    def tail(self):
        return self.text[-900:]


def environment():
    """Nothing of the caller's that would change how a tool behaves."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "JAVA_", "JDK_"))}


def run(tool, *arguments, succeeds=True, given=None, seconds=SECONDS):
    """Runs a tool to its end; `succeeds` is whether it must say so by its exit code, or None for either."""
    command = f"{tool} {' '.join(arguments)}"
    try:
        done = subprocess.run(
            [*JAVA, PACKAGE + tool, *arguments], input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=seconds, env=environment(),
        )
    except subprocess.TimeoutExpired as error:
        raise Wrong(f"{command}: not done after {seconds} s: {(error.output or b'')[-900:]!r}") from None
    output = Output(command, done.returncode, "\n".join(line for line in done.stdout.splitlines() if "SLF4J" not in line))
    if succeeds is not None and (done.returncode == 0) != succeeds:
        raise Wrong(f"{command}: exit code {done.returncode}: {output.tail()}")
    return output


class Running:
    """A tool that goes on until it is ended; its lines as they come."""

    def __init__(self, tool, *arguments):
        self.command = f"{tool} {' '.join(arguments)}"
        self.process = subprocess.Popen(
            [*JAVA, PACKAGE + tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(),
        )
        self.queue = queue.Queue()
        self.seen = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.queue.put(line.rstrip("\n"))
        self.queue.put(None)

    def until(self, what, holds, seconds=SECONDS):
        """Reads lines until `holds(line)`, and returns that line."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self.queue.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Wrong(f"{self.command}: {what}: not within {seconds} s; last: {self.seen[-3:]}") from None
            if line is None:
                raise Wrong(f"{self.command}: ended before {what}; last: {self.seen[-3:]}")
            self.seen.append(line)
            if holds(line):
                return line

    def kill(self):
        """kill -9; what it had written counts."""
        self.process.kill()
        self.finish()

    def stop(self):
        self.process.terminate()
        self.finish()

    def finish(self, seconds=SECONDS):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Wrong(f"{self.command}: does not end") from None
        self.reader.join()
        while not self.queue.empty():
            line = self.queue.get()
            if line is not None:
                self.seen.append(line)
