"""HTTP as a plain client speaks it: one connection, kept, and made anew where it is gone."""

import http.client
import json
import time

RETRY_SECONDS = 0.05


class Lost(Exception):
    """The request was sent, and nobody knows what became of it."""


class Api:
    def __init__(self, port, seconds=60):
        self.port, self.seconds, self.connection = port, seconds, None

    def connect(self):
        """Until the broker is there, however long that takes: whoever runs it has the patience to end this."""
        while self.connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.seconds)
            try:
                connection.connect()
                self.connection = connection
            except OSError:
                time.sleep(RETRY_SECONDS)

    def call(self, method, path, body=None):
        """Status and answer. What was never sent is sent again; of what was, `Lost`."""
        self.connect()
        headers = {"content-type": "application/json"} if body is not None else {}
        try:
            self.connection.request(method, path, None if body is None else json.dumps(body, separators=(",", ":")), headers)
            answer = self.connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Lost(str(error)) from error
        if answer.will_close:
            self.close()
        return answer.status, json.loads(text) if text else None

    def post(self, path, body):
        return self.call("POST", path, body)

    def get(self, path):
        """To read something, as often as need be."""
        while True:
            try:
                return self.call("GET", path)
            except Lost:
                time.sleep(RETRY_SECONDS)

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def kind_of(problem):
    """The last word of a problem's type."""
    return problem["type"].rpartition(":")[2]
