"""Mount namespaces of jobs on a node of the lab, with this machine's kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clustergen.lab import nodes

pytestmark = pytest.mark.container

FILE = Path(nodes.__file__).parent / "files/namespace_ids.py"
# As slurmstepd does: a child with a mount namespace of its own, which its parent mounts below a private directory.
NODE = """\
import ctypes, os, runpy, sys
libc = ctypes.CDLL(None, use_errno=True)
def check(result):
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
cpus = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, {int(sys.argv[1])})
check(libc.unshare(0x20000))
check(libc.mount(None, b"/", None, 0x44000, None))
check(libc.mount(b"none", b"/mnt", b"tmpfs", 0, None))
runpy.run_path(sys.argv[2])["main"]()
for cpu in cpus:
    is_ready, tell = os.pipe()
    wait, end = os.pipe()
    if not (child := os.fork()):
        os.close(end)
        os.sched_setaffinity(0, {cpu})
        check(libc.unshare(0x20000))
        os.write(tell, b".")
        os.read(wait, 1)
        os._exit(0)
    os.read(is_ready, 1)
    place = f"/mnt/{cpu}"
    open(place, "w").close()
    check(libc.mount(f"/proc/{child}/ns/mnt".encode(), place.encode(), None, 0x1000, None))
    os.write(end, b".")
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_job_that_starts_on_any_processor_gets_its_mount_namespace() -> None:
    """Linux 6.18 refuses those of some processors, to containers that another one started."""
    for cpu in sorted(os.sched_getaffinity(0)):
        done = subprocess.run(
            [sys.executable, "-c", NODE, str(cpu), str(FILE)], capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, f"a container that processor {cpu} started: {done.stderr}"
