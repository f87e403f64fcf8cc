"""The library that is preloaded into the broker, and the orders that it follows (shim.c)."""

import mmap
import struct
import subprocess
from pathlib import Path

# What the machine must have for it. Rust's own linker needs a C compiler, too.
TOOLS = ("cc",)
ORDERS = struct.Struct("=qqq")
NANOS = 1_000_000_000


class Shim:
    def __init__(self, folder):
        self.shared_object = folder / "shim.so"
        self.path = folder / "orders"
        source = Path(__file__).with_name("shim.c")
        command = ["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", str(self.shared_object), str(source), "-ldl"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        self.path.write_bytes(bytes(ORDERS.size))
        with open(self.path, "r+b") as file:
            self._page = mmap.mmap(file.fileno(), ORDERS.size)

    @property
    def environment(self):
        return {"LD_PRELOAD": str(self.shared_object), "FANLOG_TORTURE_ORDERS": str(self.path)}

    def order(self, clock_seconds=0.0, sync_seconds=0.0, skip_syncs=False):
        """From now on; also in a process that runs already."""
        self._page[:] = ORDERS.pack(int(clock_seconds * NANOS), int(sync_seconds * NANOS), int(skip_syncs))
