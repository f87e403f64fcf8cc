"""A broker of a check's own, that it may kill and start again on the same data."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

PATIENCE_S = 60


class OwnBroker:
    """Ends with the block, and so does its data."""

    def __init__(self, *settings):
        self.dir = tempfile.mkdtemp(prefix="fanlog-")
        self.bootstrap, self.http = (f"127.0.0.1:{port}" for port in free_ports(2))
        self.command = [
            os.environ["FANLOG"], "serve", "--data", os.path.join(self.dir, "data"), "--kafka", self.bootstrap,
            "--advertise", self.bootstrap, "--http", self.http,
        ]
        for setting in settings:
            self.command += ["--set", setting]
        self.log = open(os.path.join(self.dir, "broker.log"), "ab")
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                urllib.request.urlopen(f"http://{self.http}/health/ready", timeout=5).close()
                return
            except (urllib.error.URLError, OSError):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def restart(self, how):
        """Ends it, by `SIGKILL` or in order, and starts it again."""
        self.process.send_signal(how)
        self.process.wait(PATIENCE_S)
        self.start()

    def kill(self):
        self.restart(signal.SIGKILL)

    def stop(self):
        self.restart(signal.SIGTERM)


def free_ports(count):
    """Below those that the system gives to outgoing connections."""
    found, port = [], 10_000 + os.getpid() * 131 % 20_000
    while len(found) < count:
        port = port + 1 if port < 30_000 else 10_000
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
    return found
