"""Topics and queues over HTTP, by Python's urllib and by plain curl: what each operation does, and what each refusal looks like.

    api.py BOOTSTRAP --fanlog --http ADDRESS [CASE...]

One line for each check: `ok` or `failed`, and what.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid

from confluent_kafka import Consumer, Producer

from over_http import Http, Refused

RUN = uuid.uuid4().hex[:8]
PROBLEM = "application/problem+json"
DELAY_S = 1.0
LATE_S = 0.5
"""How late a message may come on a machine that others use too."""


def check(holds, what):
    print(("ok" if holds else "failed") + f"\t{what}", flush=True)


def place(http, name, partitions=1, **settings):
    """A topic and a queue on it."""
    topic, queue = f"{RUN}.{name}", f"{RUN}-{name}"
    http.topic(topic, partitions)
    http.queue(queue, topic, **({"backoff": "none"} | settings))
    return topic, queue


def publish(http, topic, *values, **more):
    return http("POST", f"/v1/topics/{topic}/records", {"records": [{"value": value} | more for value in values]})["records"]


def refusal(ask, kind, status):
    """Whether it is refused as it should be, with all that RFC 9457 wants."""
    try:
        return False, f"it answers {ask()}"
    except Refused as refused:
        problem = refused.problem
        is_whole = problem.get("title") and problem.get("detail") and problem.get("status") == refused.status
        is_right = refused.media_type == PROBLEM and refused.kind() == kind and refused.status == status
        return bool(is_whole and is_right), str(refused)


def refuses(ask, kind, status):
    holds, said = refusal(ask, kind, status)
    check(holds, f"refused: {kind}" if holds else f"refused: {kind}, {status}: {said}")


def topics(bootstrap, http):
    topic = f"{RUN}.topics"
    http.topic(topic, 2, retention_ms=86_400_000)
    told = http("GET", f"/v1/topics/{topic}")
    check(len(told["partitions"]) == 2 and told["settings"]["retention.ms"] == "86400000", "topics: partitions and settings are told")
    listed = [each["name"] for each in http("GET", "/v1/topics")["topics"]]
    check(topic in listed and "__fanlog_catalog" not in listed, "topics: listed, without the broker's own")
    before = int(time.time() * 1000)
    raw = http("POST", f"/v1/topics/{topic}/records?key=anna&partition=1", raw=b"\x00raw")["records"][0]
    check(raw["partition"] == 1 and raw["offset"] == 0 and raw["id"] == f"{topic}/1/0", "publish: a body that is not JSON is one record")
    several = [
        {"key": "anna", "value": "text", "headers": {"a": "b", "several": ["1", "2"], "none": None}, "partition": 1},
        {"key_base64": "/wA=", "value_base64": "/w==", "partition": 1},
        {"value": {"total": 5}, "partition": 1},
        {"key": "gone", "value": None, "partition": 1},
    ]
    answers = http("POST", f"/v1/topics/{topic}/records", {"records": several})["records"]
    check([each["offset"] for each in answers] == [1, 2, 3, 4], "publish: an answer for each record of a batch")
    read = http.records(topic, 1)
    check(read[0]["value"] == "\x00raw" and read[0]["key"] == "anna", "read: the value and the parameter's key come back")
    check(read[1]["headers"] == {"a": "b", "several": ["1", "2"], "none": None} and read[1]["key"] == "anna", "read: key and headers come back")
    check(read[2]["key_base64"] == "/wA=" and read[2]["value_base64"] == "/w==", "read: what is no text comes in base64")
    check(json.loads(read[3]["value"]) == {"total": 5} and read[4]["value"] is None, "read: JSON as it was sent, and a record without a value")
    page = http("GET", f"/v1/topics/{topic}/partitions/1/records?time={before}&max=2")
    check([each["offset"] for each in page["records"]] == [0, 1] and page["next_offset"] == 2, "read: by time, and so many")
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": f"{RUN}-reader", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    seen, until = [], time.monotonic() + 30
    while len(seen) < 5 and time.monotonic() < until:
        seen += [message for message in consumer.consume(5, 1.0) if message.error() is None]
    consumer.commit(asynchronous=False)
    consumer.close()
    check([message.value() for message in seen][:2] == [b"\x00raw", b"text"], "publish: a Kafka client reads what was published over HTTP")
    lag = http("GET", f"/v1/groups/{RUN}-reader/status")
    check(lag["group"] == f"{RUN}-reader" and lag["lag"] == 0, "groups: status")
    http("DELETE", f"/v1/topics/{topic}")
    refuses(lambda: http("GET", f"/v1/topics/{topic}"), "unknown-topic", 404)


def receive_and_ack(bootstrap, http):
    topic, queue = place(http, "ack")
    published = publish(http, topic, "one")[0]
    first = http.receive(queue)[0]
    check(first["id"] == published["id"] and first["value"] == "one" and first["attempt"] == 1, "receive: the record, its id and its attempt")
    check(not http.receive(queue, wait="0s"), "receive: what is held is given to nobody else")
    check(http.settle(queue, "ack", [first]) == [{"result": "done"}], "ack: done")
    refuses(lambda: http.settle(queue, "ack", [first]), "lock-lost", 409)
    timer = threading.Timer(DELAY_S, lambda: publish(http, topic, "later"))
    started = time.monotonic()
    timer.start()
    second = http.receive(queue, wait="20s")
    waited = time.monotonic() - started
    check(len(second) == 1 and DELAY_S <= waited < DELAY_S + LATE_S, f"receive: waits for what comes ({waited:.2f} s)")
    http.settle(queue, "ack", second)
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, "by kafka", key="k", headers=[("a", b"b")])
    producer.flush(20)
    third = http.receive(queue)
    check([(each["key"], each["value"], each["headers"]) for each in third] == [("k", "by kafka", {"a": "b"})], "receive: what a Kafka client produced")
    http.settle(queue, "ack", third)


def batches(_, http):
    topic, queue = place(http, "batches", 3)
    values = [f"v{number}" for number in range(2_000)]
    publish(http, topic, *values)
    seen = []
    while len(seen) < len(values):
        messages = http.receive(queue, 300)
        if not messages:
            break
        results = http.settle(queue, "ack", messages)
        seen += [message["value"] for message, result in zip(messages, results) if result == {"result": "done"}]
    check(sorted(seen) == sorted(values), f"batches: 2,000 messages, each done once ({len(seen)})")
    last = publish(http, topic, "last")
    held = http.receive(queue)
    mixed = [{"receipt": held[0]["receipt"]}, {"receipt": "nonsense"}]
    try:
        results = http("POST", f"/v1/queues/{queue}/ack", {"items": mixed})["results"]
    except Refused as refused:
        results = [refused.problem, {}]
    check(results[0] == {"result": "done"} and "problem" in results[1] and bool(last), f"batches: one bad receipt spoils no other ({results})")


def come_back(_, http):
    topic, queue = place(http, "again", lock="2s")
    publish(http, topic, "again")
    message = http.receive(queue)
    started = time.monotonic()
    again = http.settle(queue, "nack", message, delay=f"{int(DELAY_S * 1000)}ms", reason="not now")[0]
    check(again["result"] == "again" and "not_before" in again, "nack: comes again, and says when")
    message = http.receive(queue, wait="20s")
    waited = time.monotonic() - started
    check(DELAY_S <= waited < DELAY_S + LATE_S and message[0]["attempt"] == 2, f"nack: rests its delay, and counts ({waited:.2f} s)")
    http.settle(queue, "release", message)
    message = http.receive(queue)
    check(message[0]["attempt"] == 2, "release: burns no attempt")
    started = time.monotonic()
    http.settle(queue, "release", message, delay=int(DELAY_S * 1000))
    message = http.receive(queue, wait="20s")
    waited = time.monotonic() - started
    check(DELAY_S <= waited < DELAY_S + LATE_S and message[0]["attempt"] == 2, f"release: rests its delay ({waited:.2f} s)")
    held = http.settle(queue, "extend", message, lock="30s")[0]
    check(held["result"] == "held" and held["lock_until"] > message[0]["lock_until"], "extend: the lock lasts longer")
    time.sleep(2.2)
    check(not http.receive(queue, wait="0s"), "extend: nobody else is given it when the first lock would have ended")
    check(http.settle(queue, "ack", message) == [{"result": "done"}], "extend: and its receipt counts")
    publish(http, topic, "slow")
    slow = http.receive(queue)
    other = http.receive(queue, wait="20s")
    check(other[0]["attempt"] == 2 and other[0]["id"] == slow[0]["id"], "lock: one that runs out is a failed attempt")
    refuses(lambda: http.settle(queue, "ack", slow), "lock-lost", 409)
    check(http.settle(queue, "ack", other) == [{"result": "done"}], "lock: the next receipt counts")


def later_or_never(_, http):
    topic, queue = place(http, "later")
    started = time.monotonic()
    publish(http, topic, "soon", deliver_after=f"{int(DELAY_S * 1000)}ms")
    message = http.receive(queue, wait="20s")
    waited = time.monotonic() - started
    check(DELAY_S <= waited < DELAY_S + LATE_S and message[0]["value"] == "soon", f"delay: never early ({waited:.2f} s)")
    check([each["value"] for each in http.records(topic, 0)] == ["soon"], "delay: readers of the stream see it at its offset")
    http.settle(queue, "ack", message)
    here, everywhere = publish(http, topic, "here", "everywhere", deliver_after="1h")
    cancelled = http("POST", f"/v1/queues/{queue}/cancel", {"messages": [here["id"]]})["results"][0]
    check(cancelled["queues"] == [{"queue": queue, "cancelled": True}], "cancel: in a queue")
    cancelled = http("POST", f"/v1/topics/{topic}/cancel", {"messages": [{"partition": 0, "offset": everywhere["offset"]}]})["results"][0]
    check(cancelled["queues"] == [{"queue": queue, "cancelled": True}], "cancel: in all queues on a topic, by partition and offset")
    cancelled = http("POST", f"/v1/queues/{queue}/cancel", {"messages": [here["id"]]})["results"][0]
    check(cancelled["queues"] == [{"queue": queue, "cancelled": False}], "cancel: says that it was not to come any more")
    check(http.status(queue)["depth"] == 0, "cancel: nothing is left")
    check(http("POST", f"/v1/queues/{queue}/pause")["paused"] is True, "pause: told")
    publish(http, topic, "paused")
    check(not http.receive(queue, wait="300ms"), "pause: nothing is given")
    http("POST", f"/v1/queues/{queue}/resume")
    message = http.receive(queue)
    check([each["value"] for each in message] == ["paused"], "resume: it is given")
    http.settle(queue, "ack", message)
    changed = http("PATCH", f"/v1/queues/{queue}", {"lock": "5m"})["settings"]["lock"]
    back = http("PATCH", f"/v1/queues/{queue}", {"lock": None})["settings"]["lock"]
    check(changed == "5m" and back == "30s", f"alter: set, and back to the default ({changed}, {back})")
    http("DELETE", f"/v1/queues/{queue}")
    refuses(lambda: http.receive(queue), "unknown-queue", 404)


def wait_for_dead(http, queue, count):
    until = time.monotonic() + 20
    while len(http.dead(queue)) != count and time.monotonic() < until:
        time.sleep(0.05)
    return http.dead(queue)


def dead_letters(_, http):
    topic, queue = place(http, "dead", **{"max-attempts": 2})
    publish(http, topic, "broken", key="anna", headers={"kind": "bad"})
    results = [http.settle(queue, "nack", http.receive(queue), reason=f"failure {number}")[0]["result"] for number in (1, 2)]
    check(results == ["again", "dead-letter"], "dead letters: after the last attempt")
    publish(http, topic, "worse")
    check(http.settle(queue, "reject", http.receive(queue), reason="no way")[0]["result"] == "dead-letter", "reject: at once")
    dead = wait_for_dead(http, queue, 2)
    told = [(each["origin"], each["attempts"], each["reason"]) for each in dead]
    check(told == [(f"{topic}/0/0", 2, "failure 2"), (f"{topic}/0/1", 1, "no way")], f"dead letters: origin, attempts, reason ({told})")
    shown = http("GET", f"/v1/queues/{queue}/dead/{dead[0]['id']}")
    check(shown["value"] == "broken" and shown["key"] == "anna" and [each["reason"] for each in json.loads(shown["headers"]["fanlog.dead.history"])] == ["failure 1", "failure 2"],
          "dead letters: shown with all that they hold")
    redrive = f"/v1/queues/{queue}/dead/redrive"
    dry = http("POST", redrive, {"all": True, "dry_run": True})
    check(dry["chosen"] == 2 and dry["done"] == 0 and len(http.dead(queue)) == 2, f"redrive: a dry run moves nothing ({dry})")
    done = http("POST", redrive, {"filter": {"kind": ["bad"]}})
    check(done["done"] == 1, f"redrive: by filter ({done})")
    again = http.receive(queue, wait="20s")
    check([(each["value"], each["attempt"]) for each in again] == [("broken", 1)], "redrive: delivered again, from its first attempt on")
    http.settle(queue, "ack", again)
    publish(http, topic, *[f"slow {number}" for number in range(3)])
    http.settle(queue, "reject", http.receive(queue, 3))
    wait_for_dead(http, queue, 4)
    slowly = http("POST", f"/v1/queues/{queue}/dead/redrives", {"all": True, "rate": 1})
    check(slowly["state"] == "running" and slowly["to_move"] == 4, f"redrive in the background: started ({slowly})")
    refuses(lambda: http("POST", f"/v1/queues/{queue}/dead/redrives", {"all": True}), "redrive-under-way", 409)
    job = f"/v1/queues/{queue}/dead/redrives/{slowly['redrive']}"
    http("DELETE", job)
    until = time.monotonic() + 20
    while http("GET", job)["state"] == "cancelling" and time.monotonic() < until:
        time.sleep(0.05)
    over, left = http("GET", job), len(http.dead(queue))
    check(over["state"] == "cancelled" and over["moved"] + left == 4 and left > 0, f"redrive in the background: cancelled, and the rest stays ({over})")
    refuses(lambda: http("DELETE", job), "redrive-over", 409)
    http("POST", f"/v1/queues/{queue}/dead/redrives", {"all": True})
    back = []
    while len(back) < 4 and (messages := http.receive(queue, 4, wait="20s")):
        http.settle(queue, "ack", messages)
        back += [message["value"] for message in messages]
    check(sorted(back) == ["slow 0", "slow 1", "slow 2", "worse"], f"redrive in the background: each comes once ({back})")
    publish(http, topic, "given up")
    http.settle(queue, "reject", http.receive(queue))
    wait_for_dead(http, queue, 1)
    discarded = http("POST", f"/v1/queues/{queue}/dead/discard", {"all": True})
    check(discarded["done"] == 1 and not http.dead(queue), "discard: given up")
    status = http.status(queue)
    check(status["depth"] == 0 and status["dead_letters"] == 0 and status["acknowledged"] >= 1, "status: all is done")


def problems(bootstrap, http):
    topic, queue = place(http, "problems")
    group = f"{RUN}-group"
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    publish(http, topic, "something")
    until = time.monotonic() + 30
    while not consumer.consume(1, 1.0) and time.monotonic() < until:
        pass
    receive = f"/v1/queues/{queue}/receive"
    records = f"/v1/topics/{topic}/records"
    new = {"name": f"{RUN}-new", "topic": topic}
    for kind, status, ask in [
        ("unknown-path", 404, lambda: http("GET", "/v1/nothing")),
        ("method-not-allowed", 405, lambda: http("PUT", f"/v1/queues/{queue}")),
        ("cross-site", 403, lambda: http("POST", receive, headers={"origin": "http://elsewhere.example"})),
        ("unknown-host", 421, lambda: http("POST", receive, headers={"host": "elsewhere.example"})),
        ("invalid-json", 400, lambda: http("POST", "/v1/queues", raw=b"{", headers={"content-type": "application/json"})),
        ("invalid-field", 400, lambda: http("POST", receive, {"max": 0})),
        ("invalid-field", 400, lambda: http("POST", receive, {"nonsense": 1})),
        ("invalid-name", 400, lambda: http("POST", "/v1/topics", {"name": "no/name"})),
        ("invalid-setting", 400, lambda: http("POST", "/v1/queues", new | {"lock": "a while"})),
        ("topic-exists", 409, lambda: http("POST", "/v1/topics", {"name": topic})),
        ("unknown-topic", 404, lambda: http("POST", "/v1/queues", {"name": f"{RUN}-new", "topic": "none"})),
        ("queue-exists", 409, lambda: http("POST", "/v1/queues", {"name": queue, "topic": topic})),
        ("name-is-group", 409, lambda: http("POST", "/v1/queues", {"name": group, "topic": topic})),
        ("unknown-partition", 404, lambda: http("GET", f"/v1/topics/{topic}/partitions/9/records")),
        ("offset-out-of-range", 400, lambda: http("GET", f"/v1/topics/{topic}/partitions/0/records?offset=99")),
        ("invalid-receipt", 400, lambda: http("POST", f"/v1/queues/{queue}/ack", {"receipt": "nonsense"})),
        ("unknown-message", 404, lambda: http("POST", f"/v1/queues/{queue}/cancel", {"messages": [f"{topic}/0/77"]})),
        ("unknown-group", 404, lambda: http("GET", "/v1/groups/nobody/status")),
        ("dedup-off", 409, lambda: publish(http, topic, "x", message_id="1")),
        ("message-too-large", 413, lambda: http("POST", records, raw=b"x" * 2_000_000)),
        ("unsupported-media-type", 415, lambda: http("POST", "/v1/queues", raw=b"{}")),
    ]:
        refuses(ask, kind, status)
    consumer.close()
    # urllib goes on sending and never sees the answer.
    with tempfile.NamedTemporaryFile() as large:
        large.write(b" " * 2_000_000)
        large.flush()
        body, status, media_type = curl("-X", "POST", http.base + receive, "-H", "content-type: application/json", "--data-binary", f"@{large.name}")
    is_told = status == 413 and media_type == PROBLEM and json.loads(body)["type"].endswith(":body-too-large")
    check(is_told, "refused: body-too-large" if is_told else f"refused: body-too-large, 413: {status} {body}")


def curl(*words):
    """What curl prints: the body, the status and the media type."""
    said = subprocess.run([os.environ.get("CURL", "curl"), "-sS", "-w", "\n%{http_code} %{content_type}", *words], capture_output=True, text=True, timeout=60)
    body, _, rest = said.stdout.rpartition("\n")
    status, _, media_type = rest.partition(" ")
    return body, int(status), media_type


def by_curl(_, http):
    base, topic, queue = http.base, f"{RUN}.curl", f"{RUN}-curl"
    _, status, _ = curl(f"{base}/v1/topics", "-d", json.dumps({"name": topic, "partitions": 1}))
    check(status == 201, "curl: create a topic")
    body, status, media_type = curl(f"{base}/v1/queues", "-d", json.dumps({"name": queue, "topic": topic, "backoff": "none", "max-attempts": 2}))
    check(status == 201 and media_type.startswith("application/json") and json.loads(body)["name"] == queue, "curl: create a queue")
    body, status, _ = curl(f"{base}/v1/topics/{topic}/records?key=anna", "--data-binary", "socks & shoes")
    check(status == 200 and json.loads(body)["records"][0]["id"] == f"{topic}/0/0", "curl: publish")

    def receive(wait="20s"):
        body, _, _ = curl("-X", "POST", f"{base}/v1/queues/{queue}/receive?wait={wait}")
        messages = json.loads(body)["messages"]
        return messages[0] if messages else None

    def say(word, message, more=""):
        body, status, _ = curl("-X", "POST", f"{base}/v1/queues/{queue}/{word}?receipt={message['receipt']}{more}")
        return status, json.loads(body)["results"][0] if status == 200 else body

    first = receive()
    check(first["value"] == "socks & shoes" and first["key"] == "anna", "curl: receive")
    check(say("nack", first, "&delay=200ms&reason=no+ink")[1]["result"] == "again", "curl: nack with delay")
    second = receive()
    check(second["attempt"] == 2, "curl: it comes again")
    check(say("release", second)[1]["result"] == "again", "curl: release")
    third = receive()
    check(third["attempt"] == 2 and say("extend", third, "&lock=2m")[1]["result"] == "held", "curl: no attempt is burnt, and extend")
    check(say("ack", third) == (200, {"result": "done"}), "curl: ack")
    body, status, media_type = curl("-X", "POST", f"{base}/v1/queues/{queue}/ack?receipt={third['receipt']}")
    check(status == 409 and media_type == PROBLEM and json.loads(body)["type"].endswith(":lock-lost"), "curl: a problem, as problem+json")
    curl(f"{base}/v1/topics/{topic}/records", "--data-binary", "@/dev/null")
    check(say("reject", receive(), "&reason=empty")[1]["result"] == "dead-letter", "curl: reject")
    check(len(wait_for_dead(http, queue, 1)) == 1, "curl: a dead letter")
    body, status, _ = curl(f"{base}/v1/queues/{queue}/dead/redrive", "-d", '{"all": true}')
    check(status == 200 and json.loads(body)["done"] == 1, "curl: redrive")
    check(say("ack", receive())[0] == 200, "curl: and it is worked off")
    _, status, _ = curl("-X", "POST", f"{base}/v1/queues/{queue}/pause")
    check(status == 200 and receive("0s") is None, "curl: pause")
    _, status, _ = curl("-X", "DELETE", f"{base}/v1/queues/{queue}")
    check(status == 204, "curl: delete")
    # A body in pieces, of a length that is not said before.
    pieces = subprocess.Popen([os.environ.get("CURL", "curl"), "-sS", "-T", "-", "-X", "POST", f"{base}/v1/topics/{topic}/records"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    said, _ = pieces.communicate("in pieces", timeout=30)
    check("problem" not in said and json.loads(said)["records"][0]["offset"] == 2, "curl: a body in pieces")


CASES = (topics, receive_and_ack, batches, come_back, later_or_never, dead_letters, problems, by_curl)


def main():
    arguments = sys.argv[1:]
    at = arguments.index("--http")
    bootstrap, http = arguments[0], Http(arguments[at + 1])
    chosen = arguments[at + 2:]
    for case in CASES:
        if chosen and case.__name__ not in chosen:
            continue
        try:
            case(bootstrap, http)
        except Exception as error:  # whatever it is, the case proves nothing
            check(False, f"{case.__name__}: {type(error).__name__}: {error}")


main()
