"""What is done to the broker. A fault per file: `run(stage)` under load or on what a load left, and what it needs."""

from . import bits, clock, descriptors, eio, full, kill, memory, pause, power, quiet, slow, torn

ALL = (quiet, kill, pause, power, torn, bits, eio, full, descriptors, slow, clock, memory)
FAULTS = {module.__name__.rpartition(".")[2]: module for module in ALL}
