"""podman or docker, and what this machine needs so that they can run nodes with systemd."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from clustergen import log
from clustergen.catalogue import system_paths
from clustergen.diagnostics import ClustergenError
from clustergen.lab.namespace import anchor, hybrid, run_directory
from clustergen.records import record

_PODMAN_NEEDS = {"conmon": "conmon", "iptables": "iptables", "nft": "nftables", "runc": "runc"}
_NETAVARK = ("/usr/lib/podman/netavark", "/usr/libexec/podman/netavark")
_PODMAN_OLDEST = 4  # netavark, which gives a node its address, came with it


@record
class Engine:
    """How containers are run. `store` holds podman's own images and layers, apart from the user's."""

    name: str  # podman or docker
    program: str
    store: Path
    hybrid: bool
    sets_mac: bool = True  # older dockers make a container's hardware address of its address, and take no other

    def run(
        self, *arguments: str, stdin: bytes | None = None, timeout: float = 120, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """One command. Raises ClustergenError with the engine's words where it fails and `check` is set."""
        command = [*self._before(), self.program, *self._options(), *arguments]
        limited = ["timeout", "-k", "5", str(int(timeout)), *command]
        log.debug(__name__, "%s %s", self.name, " ".join(arguments))
        pipe = subprocess.PIPE
        source = subprocess.DEVNULL if stdin is None else pipe
        with subprocess.Popen(limited, stdin=source, stdout=pipe, stderr=pipe, env=self._environment()) as started:
            try:
                out, err = started.communicate(stdin, timeout + 30)
            except KeyboardInterrupt:  # What is half made could not be found and removed: it ends first.
                started.communicate()
                raise
        answer = subprocess.CompletedProcess(
            command, started.returncode, out.decode(errors="replace"), err.decode(errors="replace")
        )
        if check and answer.returncode:
            raise ClustergenError(f"{self.name} {arguments[0]} failed: {_reason(answer, timeout)}")
        return answer

    def command(self, *arguments: str) -> list[str]:
        """The same as an argument list, for a terminal; the settings are in its environment."""
        settings = [f"{key}={value}" for key, value in self._settings().items()]
        return [*self._before(), "env", *settings, self.program, *self._options(), *arguments]

    def _before(self) -> list[str]:
        if not self.hybrid or self.name == "docker":
            return []
        return ["nsenter", "-m", "-t", str(anchor(self.store)), "--wdns=/"]

    def _options(self) -> list[str]:
        if self.name == "docker":
            return []
        run = run_directory(self.store)
        return ["--root", str(self.store / "root"), "--runroot", str(run / "storage"), "--tmpdir", str(run / "libpod")]

    def _settings(self) -> dict[str, str]:
        return {"CONTAINERS_CONF": str(self.store / "containers.conf")} if self.name == "podman" else {}

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": system_paths.PATH, **self._settings()}


def _reason(answer: subprocess.CompletedProcess[str], seconds: float) -> str:
    """The end of what a failed command printed, without what it advises."""
    if answer.returncode in (124, 137):
        return f"no answer in {seconds:.0f} s"
    noise = re.compile(r"\s*$|.*level=warning|(Run|See) '.* --help'|WARNING: ")
    lines = [line.strip() for line in (answer.stderr or answer.stdout).splitlines() if not noise.match(line)]
    return " ".join(lines[-2:]) or f"exit status {answer.returncode}"


def find(choice: str | None, store: Path) -> Engine:
    """The engine to use: podman where it can be used, else docker. Raises ClustergenError with what to install."""
    if os.geteuid() != 0:
        raise ClustergenError(
            "a lab requires root to create addresses and device files for its nodes",
            'run sudo env "PATH=$PATH" clustergen lab …',
        )
    if not shutil.which("ssh"):
        raise ClustergenError("ssh is not installed", "run apt-get install openssh-client as root")
    answers: list[tuple[bool, str, str]] = []
    for name in [choice] if choice else ["podman", "docker"]:
        program = shutil.which(name, path=system_paths.PATH)
        lacks = _podman_lacks(program) if name == "podman" else _docker_lacks(program)
        if lacks:
            answers.append((program is None, *lacks))
        elif program:
            store.mkdir(parents=True, exist_ok=True, mode=0o700)
            if name == "podman":
                _settings(store)
            return Engine(name, program, store, hybrid(), name == "podman" or _docker_api(program) >= (1, 44))
    if len(answers) > 1 and all(absent for absent, *_ in answers):
        raise ClustergenError("neither podman nor docker is installed", "run clustergen setup lab to install podman")
    raise ClustergenError(*min(answers)[1:])  # what is there, and cannot be used, before what is not there


def _podman_lacks(program: str | None) -> tuple[str, str] | None:
    """Why podman cannot be used here, and what to do."""
    if program:
        version = _answer(program, "--version").stdout.strip().rpartition(" ")[2]
        if version.partition(".")[0].isdigit() and int(version.partition(".")[0]) < _PODMAN_OLDEST:
            return (
                f"podman {version} is too old: the lab requires {_PODMAN_OLDEST}.0 or newer",
                "run clustergen setup lab, which installs docker instead",
            )
    want = [] if program else ["podman"]
    want += [package for needed, package in _PODMAN_NEEDS.items() if not shutil.which(needed, path=system_paths.PATH)]
    if not any(Path(path).exists() for path in _NETAVARK):
        want += ["netavark"]
    if not want:
        return None
    what = f"podman lacks {', '.join(want)}" if program else "podman is not installed"
    return what, f"run clustergen setup lab, or as root: apt-get install --no-install-recommends {' '.join(want)}"


def _docker_lacks(program: str | None) -> tuple[str, str] | None:
    """Why docker cannot be used here, and what to do."""
    if not program:
        return "docker is not installed", "run apt-get install --no-install-recommends docker.io as root"
    done = _answer(program, "version", "--format", "{{.Server.APIVersion}}")
    if done.returncode:
        return (
            f"cannot use the docker daemon: {_reason(done, 20)}",
            "run systemctl start docker as root, or clustergen setup lab to install podman",
        )
    return None


def _docker_api(program: str) -> tuple[int, ...]:
    done = _answer(program, "version", "--format", "{{.Server.APIVersion}}")
    return tuple(int(number) for number in re.findall(r"\d+", done.stdout))


def _answer(*command: str) -> subprocess.CompletedProcess[str]:
    limited = ["timeout", "-k", "5", "20", *command]
    return subprocess.run(limited, capture_output=True, text=True, timeout=30, check=False)


def _settings(store: Path) -> None:
    """Limits that containers may have here, which are those of this process at most."""
    import resource

    files, processes = (resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC))
    limits = [f'"nofile={_limit(files)}:{_limit(files)}"', f'"nproc={_limit(processes)}:{_limit(processes)}"']
    text = (
        f"[containers]\ndefault_ulimits = [{', '.join(limits)}]\npids_limit = 0\n"
        '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
    )
    place = store / "containers.conf"
    if not place.exists() or place.read_text(encoding="utf-8") != text:  # another lab may be reading it
        place.write_text(text, encoding="utf-8")


def _limit(value: int) -> int:
    return 32768 if value < 0 else min(value, 32768)


def networks(engine: Engine) -> Sequence[str]:
    return engine.run("network", "ls", "--format", "{{.Name}}").stdout.split()
