"""A consumer of a queue over HTTP: takes messages in batches, works on them for a while, and says what became of each. It writes down what
it asks before it asks, and what it is told.

usage: consumer.py OPTIONS (JSON: port, queue, name, history, distance, lock, batch, work, long, seed)

It does not behave well: it says things twice and too late, lets locks run out, and answers for messages that it lost with an earlier one
of their key. What the broker makes of that is for the checker. Ends on SIGTERM, with nothing in its hands.

Events: `ask` n, l (the lock); `got` n, m: [partition, offset, attempt, lock_until, number] each; `lost` n;
`say` n, w (what), m: [ask, index] each, r (reasons, one for each, of nacks and rejects), l (an extension's lock), d (a delay that was asked for);
`heard` n, a: [result, time] each, or one for all, x (how often the answer was lost before).
"""

import datetime
import json
import random
import signal
import sys
import time

from api import Api, Lost, kind_of
from clock import Clock
from plan import number_and_fails
from writer import Writer

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
PAUSE_SECONDS = 0.1


def milliseconds(text):
    """Of a time as answers have it."""
    since = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) - EPOCH
    return since // datetime.timedelta(milliseconds=1)


class Held:
    """A message in this consumer's hands."""

    __slots__ = ("ask", "index", "partition", "key", "attempt", "number", "fails", "receipt")

    def __init__(self, ask, index, message):
        self.ask, self.index = ask, index
        self.partition = message["id"].split("/")[1]
        self.key, self.attempt, self.receipt = message["key"], message["attempt"], message["receipt"]
        self.number, self.fails = number_and_fails(message["value"])


class Consumer:
    def __init__(self, options):
        self.options, self.name = options, options["name"]
        self.api, self.clock = Api(options["port"]), Clock(options["distance"])
        self.write, self.random = Writer(options["history"]), random.Random(options["seed"])
        self.path = f"/v1/queues/{options['queue']}/"
        self.asks = self.says = self.batches = 0
        self.is_over = False

    def receive(self):
        self.asks += 1
        lock = self.options["lock"] if self.random.random() < 0.8 else self.options["lock"] // 2
        self.write(k="ask", n=self.asks, t=self.clock(), l=lock)
        batch = self.options["batch"]
        wanted = {"max": self.random.choice((1, batch // 4 + 1, batch, batch, batch, batch)), "wait": "1s", "consumer": self.name, "lock": f"{lock}ms"}
        try:
            status, answer = self.api.post(self.path + "receive", wanted)
        except Lost:
            self.write(k="lost", n=self.asks, t=self.clock())
            return []
        now = self.clock()
        if status != 200:
            assert kind_of(answer) == "unavailable", answer
            self.write(k="got", n=self.asks, t=now, m=[])
            time.sleep(PAUSE_SECONDS)
            return []
        held, shown = [], []
        for index, message in enumerate(answer["messages"]):
            one = Held(self.asks, index, message)
            _, partition, offset = message["id"].split("/")
            held.append(one)
            shown.append([int(partition), int(offset), one.attempt, milliseconds(message["lock_until"]), one.number])
        self.write(k="got", n=self.asks, t=now, m=shown)
        return held

    def say(self, what, held, **more):
        """Says one thing of some messages, again and again until it is answered; gives what was answered for each."""
        if not held:
            return []
        self.says += 1
        places = [[one.ask, one.index] for one in held]
        reasons = {"r": f"{self.name} {what} {self.says}"} if what in ("nack", "reject") else {}
        self.write(k="say", n=self.says, t=self.clock(), w=what, m=places, l=more.get("lock"), d=more.get("delay"), **reasons)
        body = {"receipts": [one.receipt for one in held]}
        body.update({"reason": reasons["r"]} if reasons else {})
        body.update({name: f"{ms}ms" for name, ms in more.items()})
        lost = 0
        while True:
            try:
                answers = self.outcomes(*self.api.post(self.path + what, body), len(held))
                if answers is not None:
                    break
            except Lost:
                pass
            lost += 1
            time.sleep(PAUSE_SECONDS)
        same = answers[0] if all(answer == answers[0] for answer in answers) else None
        self.write(k="heard", n=self.says, t=self.clock(), a=[same] if same else answers, x=lost)
        return answers

    def outcomes(self, status, answer, count):
        """[result, time] of each; none where the broker has no answer yet."""
        results = answer.get("results") or [{"problem": answer}] * (count if status != 200 else 0)
        assert len(results) == count, answer
        if status != 200 and all(kind_of(result["problem"]) == "unavailable" for result in results):
            return None
        return [self.outcome(result) for result in results]

    def outcome(self, result):
        if "problem" in result:
            kind = kind_of(result["problem"])
            assert kind in ("lock-lost", "unavailable"), result
            return [kind, None]
        time_of = result.get("not_before") or result.get("lock_until")
        return [result["result"], time_of and milliseconds(time_of)]

    def work(self, held):
        """One batch, from the hand to its end."""
        self.pause()
        self.batches += 1
        draw = self.random.random()
        # Of a short life too there is something to see.
        if self.batches == 1 and self.random.random() < 0.5:
            draw = 0.02
        if draw < 0.003:
            # As one who crashed: all comes back when the locks run out.
            return
        if 0.02 <= draw < 0.02 + self.options["long"]:
            self.say("extend", held, lock=self.options["lock"])
            # Until well behind the end of the lock that they had before.
            time.sleep(self.options["lock"] / 1_000 * 0.7)
        if draw < 0.01:
            self.say("release", held)
            return
        acks, others = self.decide(held)
        calls = [lambda: self.acks(acks), *(lambda other=other: self.say(*other[:2], **other[2]) for other in others)]
        if self.random.random() < 0.5:
            calls.reverse()
        for call in calls:
            call()
            if self.random.random() < 0.1:
                self.pause()

    def acks(self, held):
        cut = self.random.randrange(len(held) + 1) if held and self.random.random() < 0.3 else len(held)
        for some in (held[:cut], held[cut:]):
            self.say("ack", some)
        if held and (self.batches == 2 or self.random.random() < 0.02):
            # Once more: nobody holds them by these receipts now.
            self.say("ack", held)

    def decide(self, held):
        acks, nacks, rests, rejects, releases = [], [], [], [], []
        is_careful, failed = self.random.random() < 0.5, set()
        for one in held:
            key = (one.partition, one.key)
            if is_careful and one.key is not None and key in failed:
                continue
            draw = self.random.random()
            if one.attempt <= one.fails:
                where = rejects if draw < 0.03 else rests if draw < 0.1 else nacks
            else:
                where = rejects if draw < 0.001 else releases if draw < 0.01 else acks
            where.append(one)
            if where is not acks:
                failed.add(key)
        others = [("nack", nacks, {}), ("nack", rests, {"delay": 150}), ("reject", rejects, {}), ("release", releases, {})]
        return acks, [other for other in others if other[1]]

    def pause(self):
        time.sleep(self.random.random() ** 3 * self.options["work"] / 1_000)

    def run(self):
        signal.signal(signal.SIGTERM, self.end)
        while not self.is_over:
            held = self.receive()
            if held:
                self.work(held)

    def end(self, *_):
        self.is_over = True


def main():
    Consumer(json.loads(sys.argv[1])).run()


if __name__ == "__main__":
    main()
