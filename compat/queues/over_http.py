"""What the checks of queues say over HTTP, by the standard library alone."""

import json
import urllib.error
import urllib.parse
import urllib.request

PATIENCE_S = 60


class Refused(Exception):
    """The broker says no; `problem` is what it says (RFC 9457)."""

    def __init__(self, status, media_type, problem):
        super().__init__(f"{status}: {problem}")
        self.status, self.media_type, self.problem = status, media_type, problem

    def kind(self):
        return str(self.problem.get("type", "")).rsplit(":", 1)[-1]


class Http:
    """The API below `/v1` of one broker."""

    def __init__(self, address):
        self.base = f"http://{address}"

    def __call__(self, method, path, body=None, headers=None, raw=None):
        """What it answers, as JSON; none if it answers nothing."""
        data = json.dumps(body).encode() if body is not None else raw
        request = urllib.request.Request(self.base + path, data=data, method=method)
        if data is not None:
            request.add_header("content-type", "application/octet-stream" if body is None else "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                said = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                said, media_type = error.read(), error.headers.get("content-type", "")
            try:
                problem = json.loads(said)
            except ValueError:
                problem = {"detail": said.decode(errors="replace")}
            raise Refused(error.code, media_type, problem) from None
        return json.loads(said) if said else None

    def topic(self, name, partitions=1, **settings):
        settings = {name.replace("_", "."): value for name, value in settings.items()}
        self("POST", "/v1/topics", {"name": name, "partitions": partitions, "settings": settings})

    def queue(self, name, topic, **settings):
        """Its messages begin with the topic's first record unless `start` says otherwise."""
        self("POST", "/v1/queues", {"name": name, "topic": topic, "start": "earliest"} | settings)

    def receive(self, queue, count=1, wait="10s", **more):
        return self("POST", f"/v1/queues/{queue}/receive", {"max": count, "wait": wait} | more)["messages"]

    def settle(self, queue, word, messages, **more):
        """Says `word` of messages; what came of each."""
        receipts = [message["receipt"] for message in messages]
        return self("POST", f"/v1/queues/{queue}/{word}", {"receipts": receipts} | more)["results"]

    def status(self, queue):
        return self("GET", f"/v1/queues/{queue}/status")

    def dead(self, queue):
        """All its dead letters."""
        found, after = [], ""
        while True:
            listed = self("GET", f"/v1/queues/{queue}/dead?max=1000{after}")
            found += listed["dead_letters"]
            if not listed.get("next"):
                return found
            after = "&after=" + urllib.parse.quote(listed["next"], safe="")

    def records(self, topic, partition, offset="earliest"):
        """The records of a partition, as a reader of the stream sees them."""
        found = []
        while True:
            read = self("GET", f"/v1/topics/{topic}/partitions/{partition}/records?offset={offset}&max=1000")
            found += read["records"]
            if read["next_offset"] >= read["end_offset"]:
                return found
            offset = read["next_offset"]
