"""What is done to the broker. A fault per file: `run(stage)` under load or on what a load left, and what it needs."""

from . import bits, eio, full, kill, pause, power, quiet, torn

FAULTS = {module.__name__.rpartition(".")[2]: module for module in (quiet, kill, pause, power, torn, bits, full, eio)}
