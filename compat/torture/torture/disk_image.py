"""A file system of its own in an image file, whose power can be cut.

The cut is ext4's shutdown without a flush of its journal: what fdatasync and fsync have answered is on the image, and
everything later is gone, as if the machine had lost power. One thing differs: processes live on, and an fdatasync that is
under way at that moment may answer success although its bytes are lost (its transaction was ended by the abort, and the
caller takes that for a commit). Seen once in some hundred cuts with a loop of writes and syncs and no broker at all. So
whoever uses the disk must be frozen before the cut and killed after it: no answer that a real cut would have swallowed
gets out.
"""

import errno
import fcntl
import os
import struct
import subprocess
import time
from pathlib import Path

EXT4_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = 2
IMAGE_BYTES = 2 << 30
BALLAST = "ballast"
# What the machine must have for it.
TOOLS = ("root", "mkfs.ext4", "mount", "umount")


class DiskImage:
    def __init__(self, folder):
        self.image = Path(folder) / "disk.ext4"
        self.mount_point = Path(folder) / "disk"
        self.is_mounted = False

    def make(self):
        self.mount_point.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(IMAGE_BYTES)
        run("mkfs.ext4", "-q", "-F", str(self.image))
        self.mount()

    def mount(self):
        run("mount", "-o", "loop", str(self.image), str(self.mount_point))
        self.is_mounted = True

    def cut_power(self):
        mount_point = os.open(self.mount_point, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(mount_point, EXT4_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(mount_point)

    def fill(self):
        """Takes all the space that is left, down to the last block."""
        with open(self.mount_point / BALLAST, "wb", buffering=0) as ballast:
            for size in (1 << 24, 1 << 16, 1 << 12, 1):
                try:
                    while True:
                        ballast.write(bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def empty(self):
        (self.mount_point / BALLAST).unlink()

    def unmount(self):
        if not self.is_mounted:
            return
        deadline = time.monotonic() + 20
        while True:
            try:
                run("umount", str(self.mount_point))
                break
            except subprocess.CalledProcessError:
                # A killed process lets go of its files a moment after its end.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self.is_mounted = False

    def restore_power(self):
        self.unmount()
        self.mount()


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)
