"""Stands between moto's tests and the broker: what moto's server has beside SQS and SNS, and the tests take for granted.

usage: proxy.py PORT BROKER_HOST:PORT [--moto]

POST /moto-api/reset    deletes all queues and topics, through SQS and SNS, in every region that was asked for anything
POST /moto-api/...      any other is unknown: 404
sts:GetCallerIdentity   tests ask whose account it is; the broker's is the default one of moto
anything else           goes to the broker as it came, and its answer comes back as it is

With --moto the other side is moto's own server, which answers all of this itself.
"""

import http.client
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

ACCOUNT = "123456789012"
OF_THE_CONNECTION = {"connection", "transfer-encoding", "keep-alive", "expect", "te"}
SCOPE = re.compile(r"Credential=[^,]*/\d{8}/([^/,]+)/([^/,]+)/aws4_request")
TIMEOUT_SECONDS = 120

IDENTITY = f"""<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>\
<Arn>arn:aws:iam::{ACCOUNT}:user/tests</Arn><UserId>tests</UserId><Account>{ACCOUNT}</Account>\
</GetCallerIdentityResult><ResponseMetadata><RequestId>00000000-0000-4000-8000-000000000000</RequestId></ResponseMetadata>\
</GetCallerIdentityResponse>""".encode()


class Other:
    """The broker, or moto's server."""

    def __init__(self, address, is_moto):
        self.address = address
        self.is_moto = is_moto
        self.lock = threading.Lock()
        self.regions = {"us-east-1"}

    def ask(self, method, path, body, headers):
        connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def form(self, service, version, region, action, **fields):
        scope = f"tests/20260101/{region}/{service}/aws4_request"
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature={'0' * 64}",
        }
        body = urlencode({"Action": action, "Version": version, **fields})
        status, _, answer = self.ask("POST", "/", body.encode(), headers)
        text = answer.decode()
        if status != 200:
            raise RuntimeError(f"{action} in {region}: {status} {text}")
        return text

    def delete_all(self, service, version, region, lists, element, deletes, field):
        """Deletes what a list names, and lists again until it names nothing: lists come in pages."""
        while True:
            text = self.form(service, version, region, lists)
            found = re.findall(f"<{element}>([^<]*)</{element}>", text)
            for name in found:
                self.form(service, version, region, deletes, **{field: name.replace("&amp;", "&")})
            if not found:
                return

    def reset(self):
        with self.lock:
            for region in sorted(self.regions):
                self.delete_all("sns", "2010-03-31", region, "ListTopics", "TopicArn", "DeleteTopic", "TopicArn")
                self.delete_all("sqs", "2012-11-05", region, "ListQueues", "QueueUrl", "DeleteQueue", "QueueUrl")
            self.regions = {"us-east-1"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in OF_THE_CONNECTION and name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def pass_on(self):
        other = self.server.other
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        scope = SCOPE.search(self.headers.get("Authorization") or "")
        if not other.is_moto:
            if self.path == "/moto-api/reset":
                other.reset()
                return self.answer(200, [("Content-Type", "application/json")], b'{"status": "ok"}')
            if self.path.startswith("/moto-api/"):
                return self.answer(404, [], b"")
            if scope and scope[2] == "sts" and b"Action=GetCallerIdentity" in body:
                return self.answer(200, [("Content-Type", "text/xml")], IDENTITY)
        if scope:
            with other.lock:
                other.regions.add(scope[1])
        headers = {k: v for k, v in self.headers.items() if k.lower() not in OF_THE_CONNECTION}
        return self.answer(*other.ask(self.command, self.path, body, headers))

    def handle_request(self):
        try:
            self.pass_on()
        except Exception as error:  # the test shall see it, and the next one a proxy
            print(f"{self.command} {self.path}: {error!r}", file=sys.stderr, flush=True)
            self.answer(502, [], f"the proxy of the tests: {error!r}".encode())

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = handle_request


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 100


def main():
    port, address, *rest = sys.argv[1:]
    server = Server(("127.0.0.1", int(port)), Handler)
    server.other = Other(address, "--moto" in rest)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
