"""A memory limit for one process: a control group, of version 1 or 2, whichever this machine has."""

from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
NEED = "a memory control group below /sys/fs/cgroup"


def parent():
    """The folder to make groups in, and the name of the file that has the limit; none where the machine has neither."""
    if (ROOT / "memory" / "memory.limit_in_bytes").exists():
        return ROOT / "memory", "memory.limit_in_bytes"
    controllers = ROOT / "cgroup.subtree_control"
    if controllers.exists() and "memory" in controllers.read_text().split():
        return ROOT, "memory.max"
    return None


class MemoryGroup:
    def __init__(self, name, limit_bytes):
        folder, limit = parent()
        self.folder = folder / name
        self.folder.mkdir()
        (self.folder / limit).write_text(str(limit_bytes))

    @property
    def wrapper(self):
        """A command before another, which then runs in the group."""
        return ("sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs"))

    def kills(self):
        """How many processes the kernel ended for want of memory; none where it does not say."""
        for name in ("memory.events", "memory.oom_control"):
            path = self.folder / name
            if path.exists():
                counts = dict(line.split() for line in path.read_text().splitlines())
                return int(counts.get("oom_kill", 0))
        return 0

    def remove(self):
        self.folder.rmdir()
