"""A root file system in private namespaces: an overlay over a parser root, with /proc, /dev and commands run inside.

Runs as root inside `unshare --mount --net --uts --pid --fork`, with nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

ENVIRONMENT = ("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", "LANG=C.UTF-8")
DEVICES = {"null": "1 3", "zero": "1 5", "full": "1 7", "random": "1 8", "urandom": "1 9", "ptmx": "5 2"}
GPUS = 8
USERS = {"alice": 1001, "bob": 1002, "mysql": 990}
CONTROLLERS = ("memory", "cpuset", "devices", "freezer", "cpuacct", "cpu")
"""Of cgroup v1."""
NAMES = "passwd: files\ngroup: files\nshadow: files\nhosts: files\n"


class Machine:
    """The root in `work`/root; `layers` are read-only directories, the uppermost first."""

    def __init__(self, work: Path, layers: list[Path], *, cgroups: bool = False) -> None:
        self.work = work
        self.root = work / "root"
        self.spaces: dict[str, int] = {}
        """Node → a process in its network and host name namespaces."""
        self.started: list[subprocess.Popen[bytes]] = []
        self._mount(layers)
        if cgroups:
            self._mount_cgroups()
        self._describe()

    def _mount(self, layers: list[Path]) -> None:
        layer, root = self.work / "layer", self.root
        for directory in (layer, root):
            directory.mkdir(parents=True, exist_ok=True)
        host("mount -t tmpfs -o size=1500m tmpfs", layer)
        (layer / "upper").mkdir()
        (layer / "scratch").mkdir()
        lower = ":".join(map(str, layers))
        host(f"mount -t overlay overlay -o lowerdir={lower},upperdir={layer}/upper,workdir={layer}/scratch", root)
        host("mount -t proc proc /proc")
        for kind, place in (("proc", "proc"), ("tmpfs", "dev"), ("tmpfs", "run")):
            host(f"mount -t {kind} {kind}", root / place)
        host(f"mount --rbind /sys {root}/sys")
        host(f"mkdir -p {root}/dev/shm {root}/dev/pts; chmod 1777 {root}/dev/shm; mount -t devpts pts {root}/dev/pts")
        gpus = {f"nvidia{index}": f"195 {index}" for index in range(GPUS)}
        host("; ".join(f"mknod -m 666 {root}/dev/{name} c {numbers}" for name, numbers in {**DEVICES, **gpus}.items()))

    def _mount_cgroups(self) -> None:
        top = self.root / "sys/fs/cgroup"
        host(f"mount -t tmpfs tmpfs {top}")
        for controller in CONTROLLERS:
            (top / controller).mkdir()
            host(f"mount -t cgroup -o {controller} none {top}/{controller}")

    def _describe(self) -> None:
        etc = self.root / "etc"
        for name, text in (("resolv.conf", ""), ("nsswitch.conf", NAMES)):
            (etc / name).unlink(missing_ok=True)
            (etc / name).write_text(text, encoding="ascii")
        for name, number in USERS.items():
            for base, line in (
                ("passwd", f"{name}:x:{number}:{number}::/tmp:/bin/bash"),
                ("group", f"{name}:x:{number}:"),
            ):
                text = (etc / base).read_text(encoding="utf-8")
                kept = [other for other in text.splitlines() if not other.startswith(f"{name}:")]
                (etc / base).write_text("\n".join([*kept, line]) + "\n", encoding="utf-8")
        host(f"mkdir -p {self.root}/tmp {self.root}/var/tmp; chmod 1777 {self.root}/tmp {self.root}/var/tmp")

    # -- network ----------------------------------------------------------------------------------------------------

    def network(self, name: str, address: str, nodes: dict[str, tuple[str, ...]], names: dict[str, str]) -> None:
        """This machine with `address` (no prefix length), and `nodes`, each in namespaces of its own; `names` are for
        /etc/hosts.
        """
        host(f"hostname {name}; ip link set lo up; ip link add bridge0 type bridge; ip link set bridge0 up")
        host(f"ip addr add {address}/24 dev bridge0; sysctl -q net.ipv6.conf.all.disable_ipv6=0")
        for index, (node, addresses) in enumerate(nodes.items(), 1):
            space = subprocess.Popen(["unshare", "--net", "--uts", "sleep", "infinity"])
            until = time.monotonic() + 5
            while _space(space.pid) == _space(os.getpid()) and time.monotonic() < until:
                time.sleep(0.02)
            self.spaces[node] = space.pid
            host(f"ip link add to{index} type veth peer name eth{index} netns {space.pid}")
            host(f"ip link set to{index} master bridge0 up")
            inside = [f"hostname {node}", "ip link set lo up"]
            inside += [f"ip addr add {each}/24 dev eth{index}" for each in addresses]
            host(f"nsenter -t {space.pid} -n -u sh -c '{'; '.join([*inside, f'ip link set eth{index} up'])}'")
        lines = [f"{number} {hostname}" for hostname, number in {"localhost": "127.0.0.1", **names}.items()]
        (self.root / "etc/hosts").write_text("\n".join(lines) + "\n", encoding="ascii")

    # -- commands ---------------------------------------------------------------------------------------------------

    def _argv(self, command: str, user: str, node: str) -> list[str]:
        enter = ["nsenter", "-t", str(self.spaces[node]), "-n", "-u"] if node else []
        number = USERS.get(user)
        change = [f"--userspec={number}:{number}"] if number else [f"--userspec={user}:{user}"] if user else []
        return [*enter, "chroot", *change, str(self.root), *ENVIRONMENT, "bash", "-c", command]

    def run(self, command: str, *, user: str = "", node: str = "", timeout: int = 20) -> str:
        """Output of the command on both streams, whatever its exit status."""
        argv = ["timeout", "-k", "1", str(timeout), *self._argv(command, user, node)]
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", check=False)
        return done.stdout.decode("utf-8", errors="replace")

    def start(self, command: str, out: Path, *, user: str = "", node: str = "") -> subprocess.Popen[bytes]:
        with out.open("wb") as log:
            started = subprocess.Popen(
                self._argv(command, user, node), stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd="/"
            )
        self.started.append(started)
        return started

    # -- processes --------------------------------------------------------------------------------------------------

    def processes(self, program: str, node: str = "") -> list[int]:
        """Process ids by the name of the program, with or without `-wlm`; of one node, where it is given."""
        space = _space(self.spaces[node]) if node else None
        matches = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    name = (entry / "exe").readlink().name
                    alive = (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
                except OSError:
                    continue
                if name.replace("-wlm", "") == program and alive and (not node or _space(int(entry.name)) == space):
                    matches.append(int(entry.name))
        return matches

    def loads(self, program: str, library: str) -> str:
        """`4/4`: how many processes of the program have loaded a library of that name, and how many there are."""
        processes = self.processes(program)
        having = 0
        for process in processes:
            try:
                having += library in Path(f"/proc/{process}/maps").read_text()
            except OSError:
                continue
        return f"{having}/{len(processes)}"


def stop(processes: list[int], seconds: float) -> None:
    """Asks the processes to end and kills what has not after the time."""
    for process in processes:
        _signal(process, signal.SIGTERM)
    until = time.monotonic() + seconds
    while (left := [process for process in processes if _alive(process)]) and time.monotonic() < until:
        time.sleep(0.05)
    for process in left:
        _signal(process, signal.SIGKILL)


def host(command: str, place: Path | str = "") -> str:
    """Runs a command outside the root; an error ends everything."""
    done = subprocess.run(
        ["bash", "-c", f"{command} {place}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{command} {place}: {done.stdout.strip()}")
    return done.stdout


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _space(process: int) -> str:
    try:
        return str(Path(f"/proc/{process}/ns/net").readlink())
    except OSError:
        return ""
