"""podman or docker, and what this machine needs so that they can run nodes with systemd."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from clustergen.diagnostics import ClustergenError
from clustergen.records import record

_PODMAN_NEEDS = {"podman": "podman", "conmon": "conmon", "iptables": "iptables", "nft": "nftables"}
_NETWORK = ("/usr/lib/podman/netavark", "/usr/libexec/podman/netavark", "/usr/lib/podman/aardvark-dns")


def hybrid() -> bool:
    """Whether control groups of version 1 are in the way of cgroup2."""
    done = subprocess.run(
        ["stat", "-fc", "%T", "/sys/fs/cgroup"], capture_output=True, text=True, timeout=5, check=False
    )
    return done.stdout.strip() != "cgroup2fs"


def missing() -> list[str]:
    """Debian packages that a lab with podman lacks here."""
    want = [package for program, package in _PODMAN_NEEDS.items() if not shutil.which(program, path=_PATH)]
    if not any(Path(path).exists() for path in _NETWORK[:2]):
        want += ["netavark", "aardvark-dns"]
    if not shutil.which("runc", path=_PATH):
        want.append("runc")
    if not shutil.which("ssh"):
        want.append("openssh-client")
    return want


_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@record
class Engine:
    """How containers are run. `store` holds podman's own images and layers, apart from the user's."""

    name: str  # podman or docker
    program: str
    store: Path
    hybrid: bool

    def run(
        self, *arguments: str, stdin: bytes | None = None, timeout: float = 120, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """One command. Raises ClustergenError with the engine's words where it fails and `check` is set."""
        command = [*self._before(), self.program, *self._options(), *arguments]
        limited = ["timeout", "-k", "5", str(int(timeout)), *command]
        done = subprocess.run(
            limited, input=stdin, capture_output=True, timeout=timeout + 30, env=self._environment(), check=False
        )
        answer = subprocess.CompletedProcess(
            command, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        )
        if check and answer.returncode:
            words = [
                line for line in (answer.stderr or answer.stdout).strip().splitlines() if "level=warning" not in line
            ]
            raise ClustergenError(f"{self.name} {arguments[0]} failed: {' '.join(words[-2:])}")
        return answer

    def command(self, *arguments: str) -> list[str]:
        """The same as an argument list, for a terminal; the settings are in its environment."""
        settings = [f"{key}={value}" for key, value in self._own().items()]
        return [*self._before(), "env", *settings, self.program, *self._options(), *arguments]

    def _before(self) -> list[str]:
        if not self.hybrid or self.name == "docker":
            return []
        return ["nsenter", "-m", "-t", str(anchor(self.store)), "--wdns=/"]

    def _options(self) -> list[str]:
        if self.name == "docker":
            return []
        return ["--root", str(self.store / "root"), "--runroot", str(self.store / "run")]

    def _own(self) -> dict[str, str]:
        return {"CONTAINERS_CONF": str(self.store / "containers.conf")} if self.name == "podman" else {}

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": _PATH, **self._own()}


def find(choice: str | None, store: Path) -> Engine:
    """The engine to use. Raises ClustergenError with what to install."""
    for name in [choice] if choice else ["podman", "docker"]:
        program = shutil.which(name, path=_PATH)
        if not program or (name == "podman" and missing()):
            continue
        if (
            name == "docker"
            and subprocess.run([program, "info"], capture_output=True, timeout=30, check=False).returncode
        ):
            continue
        store.mkdir(parents=True, exist_ok=True, mode=0o700)
        engine = Engine(name, program, store, hybrid())
        if name == "podman":
            if os.geteuid() != 0:
                raise ClustergenError(
                    "a lab needs root: its nodes have addresses and device files", "sudo -E clustergen lab …"
                )
            _settings(store)
        return engine
    want = " ".join(missing())
    raise ClustergenError(
        f"no {choice or 'podman or docker'} that can be used is on this machine",
        f"as root: apt-get install --no-install-recommends {want}, or tools/setup-lab" if want else None,
    )


def _settings(store: Path) -> None:
    """Limits that containers may have here, which are those of this process at most."""
    import resource

    files, processes = (resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC))
    limits = [f'"nofile={_limit(files)}:{_limit(files)}"', f'"nproc={_limit(processes)}:{_limit(processes)}"']
    text = (
        f"[containers]\ndefault_ulimits = [{', '.join(limits)}]\npids_limit = 0\n"
        '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
    )
    (store / "containers.conf").write_text(text, encoding="utf-8")


def _limit(value: int) -> int:
    return 32768 if value < 0 else min(value, 32768)


# A process that does nothing but hold a mount namespace in which /sys/fs/cgroup is cgroup2 alone.
_HOLD = (
    "umount -R -l /sys/fs/cgroup && mount -t cgroup2 -o nsdelegate none /sys/fs/cgroup && "
    'echo $$ >"$1" && exec sleep infinity'
)


def anchor(store: Path) -> int:
    """The process that holds the lab's mount namespace, started where it is not there."""
    place = store / "namespace.pid"
    if found := _anchor_of(place):
        return found
    place.unlink(missing_ok=True)
    # Forked off, so that it is nobody's child: it outlives this process.
    hold = ["setsid", "--fork", "unshare", "-m", "--propagation", "private", "sh", "-c", _HOLD, "clustergen-lab"]
    quiet = subprocess.DEVNULL
    subprocess.run([*hold, str(place)], stdin=quiet, stdout=quiet, stderr=quiet, cwd="/", timeout=10, check=False)
    for _ in range(100):
        if found := _anchor_of(place):
            return found
        time.sleep(0.05)
    raise ClustergenError("a mount namespace with cgroup2 could not be made", "the lab needs CAP_SYS_ADMIN")


def _anchor_of(place: Path) -> int | None:
    try:
        pid = int(place.read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if words[:2] == [b"sleep", b"infinity"] else None


def release(store: Path) -> None:
    """Ends the process that held the namespace."""
    place = store / "namespace.pid"
    if pid := _anchor_of(place):
        os.kill(pid, signal.SIGKILL)
    place.unlink(missing_ok=True)


def networks(engine: Engine) -> Sequence[str]:
    return engine.run("network", "ls", "--format", "{{.Name}}").stdout.split()
