"""The OpenAPI document, by a validator that nobody here wrote, and what real answers look like beside its schemas.

    openapi.py BOOTSTRAP --fanlog --http ADDRESS [--quick]

One line for each check: `ok` or `failed`, and what.
"""

import sys
import uuid

from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from over_http import Http, Refused

RUN = uuid.uuid4().hex[:8]


def check(holds, what):
    print(("ok" if holds else "failed") + f"\t{what}", flush=True)


class Document:
    """The document, and judgements by its schemas."""

    def __init__(self, document):
        self.document = document

    def errors(self):
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in OpenAPIV31SpecValidator(self.document).iter_errors()]

    def schema_of(self, path, method, status):
        responses = self.document["paths"][path][method]["responses"]
        response = responses.get(str(status), responses["default"])
        (content,) = response["content"].values()
        return content["schema"]

    def judge(self, value, schema):
        whole = {"components": self.document["components"], "allOf": [schema]}
        return [error.message for error in Draft202012Validator(whole).iter_errors(value)]

    def unknown(self, value, schema, where=""):
        """Members that the schemas do not speak of."""
        while "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
        found = []
        if isinstance(value, list):
            for each in value:
                found += self.unknown(each, schema.get("items", {}), where)
        elif isinstance(value, dict) and "properties" in schema and "additionalProperties" not in schema:
            for name, each in value.items():
                if name not in schema["properties"]:
                    found.append(f"{where}{name}")
                else:
                    found += self.unknown(each, schema["properties"][name], f"{where}{name}.")
        return sorted(set(found))


def walk(http):
    """Real answers: path, method, the status that is wanted, what was answered, and whether that was another status."""
    topic, queue = f"{RUN}.openapi", f"{RUN}-openapi"
    path = f"/v1/queues/{queue}"

    def ask(template, method, status, at, body=None):
        try:
            answer, is_problem = http(method.upper(), at, body), False
        except Refused as refused:
            answer, is_problem = refused.problem, refused.status != status
        return template, method, status, answer, is_problem

    yield ask("/v1/topics", "post", 201, "/v1/topics", {"name": topic, "partitions": 1, "settings": {"dedup.window.ms": 60000}})
    yield ask("/v1/topics", "get", 200, "/v1/topics")
    yield ask("/v1/topics/{topic}", "get", 200, f"/v1/topics/{topic}")
    yield ask("/v1/queues", "post", 201, "/v1/queues", {"name": queue, "topic": topic, "backoff": "fixed:1m"})
    yield ask("/v1/queues", "get", 200, "/v1/queues")
    yield ask("/v1/queues/{queue}", "patch", 200, path, {"max-attempts": 3})
    records = [{"key": "k", "value": f"v{number}", "headers": {"a": ["b", None]}, "message_id": f"{number % 3}"} for number in range(4)]
    yield ask("/v1/topics/{topic}/records", "post", 200, f"/v1/topics/{topic}/records", {"records": records})
    yield ask("/v1/topics/{topic}/partitions/{partition}/records", "get", 200, f"/v1/topics/{topic}/partitions/0/records")
    received = ask("/v1/queues/{queue}/receive", "post", 200, f"{path}/receive", {"max": 3, "wait": "10s", "consumer": "c"})
    yield received
    receipts = [message["receipt"] for message in received[3]["messages"]]
    yield ask("/v1/queues/{queue}/extend", "post", 200, f"{path}/extend", {"receipts": receipts, "lock": "1m"})
    yield ask("/v1/queues/{queue}/nack", "post", 200, f"{path}/nack", {"receipts": receipts[:1], "reason": "no"})
    yield ask("/v1/queues/{queue}/reject", "post", 200, f"{path}/reject", {"receipts": receipts[1:3], "reason": "never"})
    yield ask("/v1/queues/{queue}/status", "get", 200, f"{path}/status")
    yield ask("/v1/queues/{queue}/cancel", "post", 200, f"{path}/cancel", {"messages": [f"{topic}/0/0"]})
    dead = ask("/v1/queues/{queue}/dead", "get", 200, f"{path}/dead")
    while len(dead[3]["dead_letters"]) < 2:
        dead = ask("/v1/queues/{queue}/dead", "get", 200, f"{path}/dead")
    yield dead
    letter, other = (letter["id"] for letter in dead[3]["dead_letters"])
    yield ask("/v1/queues/{queue}/dead/{topic}/{partition}/{offset}", "get", 200, f"{path}/dead/{letter}")
    yield ask("/v1/queues/{queue}/dead/redrive", "post", 200, f"{path}/dead/redrive", {"ids": [other]})
    redrives = "/v1/queues/{queue}/dead/redrives"
    started = ask(redrives, "post", 201, f"{path}/dead/redrives", {"ids": [letter], "rate": 1})
    yield started
    yield ask(redrives, "get", 200, f"{path}/dead/redrives")
    job = started[3]["redrive"]
    yield ask(redrives + "/{redrive}", "get", 200, f"{path}/dead/redrives/{job}")
    # It may be over by then, which is as the document says, too.
    over = ask(redrives + "/{redrive}", "delete", 200, f"{path}/dead/redrives/{job}")
    yield (*over[:2], 409, *over[3:4], False) if over[4] else over
    yield ask("/v1/queues/{queue}/dead/discard", "post", 200, f"{path}/dead/discard", {"all": True})
    yield ask("/v1/queues/{queue}/receive", "post", 200, f"{path}/receive", {"max": 3, "wait": "10s"})
    yield ask("/v1/queues/{queue}/ack", "post", 409, f"{path}/ack", {"receipts": receipts})
    yield ask("/v1/queues/{queue}/receive", "post", 400, f"{path}/receive", {"max": 0})


def main():
    arguments = sys.argv[1:]
    http = Http(arguments[arguments.index("--http") + 1])
    document = Document(http("GET", "/v1/openapi.json"))
    errors = document.errors()
    check(not errors, f"openapi-spec-validator finds nothing wrong {errors[:5] or ''}")
    operations = [operation for path in document.document["paths"].values() for operation in path.values()]
    ids = [operation["operationId"] for operation in operations]
    check(len(ids) == len(set(ids)) and all("default" in operation["responses"] for operation in operations), f"each of {len(ids)} operations has a name and problems")
    for template, method, status, answer, is_other in walk(http):
        schema = document.schema_of(template, method, status)
        wrong = [f"it is answered {answer}"] if is_other else []
        wrong += document.judge(answer, schema)
        wrong += [f"'{name}' stands nowhere" for name in document.unknown(answer, schema) if status < 400]
        check(not wrong, f"{method} {template}, {status}: as its schema says {wrong[:4] or ''}")


main()
