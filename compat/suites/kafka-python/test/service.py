"""Stand-in for the module that starts brokers: the suite runs against one that already runs."""


class ExternalService:
    """A broker that somebody else started, and that is left alone."""

    def __init__(self, host, port):
        self.host = host
        self.port = port

    def open(self):
        pass

    def close(self):
        pass

    def dump_logs(self):
        pass


class SpawnedService:
    """Refused: a test that starts a broker of its own cannot say anything about ours."""

    def __init__(self, *_args, **_kwargs):
        raise NotImplementedError("this suite runs against a running broker only: set KAFKA_URI")
