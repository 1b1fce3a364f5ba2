"""Makes slurmd's mount namespace older, by its number, than those of its jobs: job_container/tmpfs requires that.

Linux refuses to mount a mount namespace in one with a higher number. Linux 6.18 reserves numbers in blocks for each
CPU, so a job that starts on another CPU than the container did can have a lower number than the container: slurmstepd
reports "ns base mount failed: Invalid argument", and slurmctld holds the job. Namespaces of any kind use these numbers
up. slurmd on a machine of its own is not affected: its namespace is the first one.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct

_NS_GET_ID = 0x8008B70D
_NEW_UTS = 0x04000000
_BLOCK = 4096  # numbers that a CPU reserves at once, COOKIE_LOCAL_BATCH of the kernel


def number(kind: str) -> int:
    """The number of a namespace of this process. Raises OSError with ENOTTY before Linux 6.18."""
    file = os.open(f"/proc/self/ns/{kind}", os.O_RDONLY)
    try:
        return int(struct.unpack("Q", fcntl.ioctl(file, _NS_GET_ID, bytes(8)))[0])
    finally:
        os.close(file)


def main() -> None:
    """Uses up each CPU's numbers below that of this process's mount namespace."""
    unshare = ctypes.CDLL(None, use_errno=True).unshare
    try:
        least = number("mnt")
    except OSError as error:
        if error.errno == errno.ENOTTY:
            return
        raise
    for cpu in range(os.sysconf("SC_NPROCESSORS_CONF")):
        try:
            os.sched_setaffinity(0, {cpu})
        except OSError:  # it is offline, or no process of this node may run on it
            continue
        for _ in range(_BLOCK + 1):
            if unshare(_NEW_UTS):
                raise OSError(ctypes.get_errno(), "unshare")
            if number("uts") > least:
                break


if __name__ == "__main__":
    main()
