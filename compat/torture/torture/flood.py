"""Clients that behave badly: frames by hand, over plain sockets."""

import socket
import struct

FETCH, PRODUCE = 1, 0


class Flood:
    """Connections held open; those that the broker refused are counted."""

    def __init__(self, port):
        self.port = port
        self.sockets = []
        self.refused = 0

    def connect(self):
        try:
            self.sockets.append(socket.create_connection(("127.0.0.1", self.port), timeout=5))
            return self.sockets[-1]
        except OSError:
            self.refused += 1
            return None

    def send(self, data):
        """On a connection of its own. Never waits: what the broker does not take stays with the kernel, or here."""
        connection = self.connect()
        if connection is None:
            return
        connection.setblocking(False)
        try:
            connection.send(data)
        except OSError:
            self.refused += 1

    def closed(self):
        """How many of the connections the broker has closed."""
        return sum(is_closed(connection) for connection in self.sockets)

    def close(self):
        for connection in self.sockets:
            connection.close()
        self.sockets.clear()


def is_closed(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def head(api, version):
    return struct.pack(">hhi", api, version, 7) + text("flood")


def fetch(topic, partitions, max_bytes):
    """A request for everything from offset 0 on; version 4 is the oldest that is served."""
    one = b"".join(struct.pack(">iqi", partition, 0, max_bytes) for partition in range(partitions))
    body = struct.pack(">iiiib", -1, 0, 1, max_bytes * partitions, 0) + struct.pack(">i", 1) + text(topic)
    frame = head(FETCH, 4) + body + struct.pack(">i", partitions) + one
    return struct.pack(">i", len(frame)) + frame


def half_a_frame(promised, sent):
    """The beginning of a Produce request that says it is long, and no more of it."""
    return struct.pack(">i", promised) + (head(PRODUCE, 9) + bytes(sent))[:sent]
