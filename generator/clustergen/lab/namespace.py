"""A mount namespace in which cgroup2 is alone: podman runs in it where version 1 has this machine's control groups."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from clustergen.diagnostics import ClustergenError

# A process that does nothing but hold the namespace. What podman and runc know of running containers is lost with the
# namespace, as after a reboot: containers of an earlier one count as stopped, and can be started or removed.
_HOLDER = (
    "umount -R -l /sys/fs/cgroup && mount -t cgroup2 -o nsdelegate none /sys/fs/cgroup && "
    'pid=$1 && shift && for place; do mkdir -p "$place" && mount -t tmpfs -o mode=700 tmpfs "$place" || exit; done && '
    'echo $$ >"$pid" && exec sleep infinity'
)
_SHARED_STATE = ("/run/containers", "/run/netns", "/run/runc")


def hybrid() -> bool:
    """True if control groups of version 1 are in the way of cgroup2."""
    done = subprocess.run(
        ["stat", "-fc", "%T", "/sys/fs/cgroup"], capture_output=True, text=True, timeout=5, check=False
    )
    return done.stdout.strip() != "cgroup2fs"


def run_directory(store: Path) -> Path:
    """Where podman keeps what ends with a boot. Below /run: a reboot empties it, unlike the store."""
    return Path("/run/clustergen-lab") / hashlib.sha256(bytes(store)).hexdigest()[:12]


def anchor(store: Path) -> int:
    """The process that holds the lab's mount namespace, started where it is not there."""
    place = store / "namespace.pid"
    if process := _anchor_of(place):
        return process
    with (store / "namespace.lock").open("w") as lock:  # the containers of two namespaces would not see each other
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _anchor_of(place) or _hold(place, [str(run_directory(store)), *_SHARED_STATE])


def _hold(place: Path, emptied: Sequence[str]) -> int:
    place.unlink(missing_ok=True)
    # Forked off, so that it is nobody's child: it outlives this process.
    hold = [
        "setsid",
        "--fork",
        "unshare",
        "-m",
        "--propagation",
        "private",
        "sh",
        "-c",
        _HOLDER,
        "clustergen-lab",
        str(place),
    ]
    devnull = subprocess.DEVNULL
    subprocess.run([*hold, *emptied], stdin=devnull, stdout=devnull, stderr=devnull, cwd="/", timeout=10, check=False)
    for _ in range(100):
        if process := _anchor_of(place):
            return process
        time.sleep(0.05)
    raise ClustergenError("cannot create a mount namespace with cgroup2", "run the lab with CAP_SYS_ADMIN")


def _anchor_of(place: Path) -> int | None:
    try:
        pid = int(place.read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if words[:2] == [b"sleep", b"infinity"] else None


@contextmanager
def in_use(store: Path) -> Iterator[None]:
    """Keeps `release` away while containers are made: another lab may end before they are listed."""
    with (store / "namespace.use").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def release(store: Path, is_idle: Callable[[], bool]) -> None:
    """Ends the process that holds the namespace, if no lab starts and `is_idle`, asked after that, is true."""
    with (store / "namespace.use").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if not is_idle():
            return
        place = store / "namespace.pid"
        if pid := _anchor_of(place):
            os.kill(pid, signal.SIGKILL)
        place.unlink(missing_ok=True)
        shutil.rmtree(run_directory(store), ignore_errors=True)  # the empty mount point


def cgroup_view(store: Path) -> Path:
    """The library that slurmd needs on a machine with cgroup v1, compiled if it does not exist yet."""
    place = store / "cgroup2-view.so"
    if not place.exists():
        compiler_ = shutil.which("cc") or shutil.which("gcc")
        if not compiler_:
            raise ClustergenError(
                "this machine uses cgroup v1, for which the lab requires a C compiler",
                "run apt-get install gcc libc6-dev as root",
            )
        source = Path(__file__).parent / "files/cgroup2-view.c"
        command = [compiler_, "-shared", "-fPIC", "-O2", "-o", str(place), str(source), "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise ClustergenError(f"{source.name} does not compile: {done.stderr.strip()[-300:]}")
    return place
