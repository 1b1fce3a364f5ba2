"""Bare images of the distributions: systemd, ssh, Python, and nothing of a cluster. Each is made once.

An image that differs from an earlier one in a few packages starts from that one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.diagnostics import ClustergenError
from clustergen.lab import related_images
from clustergen.lab.engine import Engine
from clustergen.lab.related_images import Content

_BARE = (
    "systemd,systemd-sysv,dbus,python3,python3-apt,iproute2,ca-certificates,procps,udev,kmod,openssh-server,sudo,bash"
)
# Purposes that every image has packages for, so that most labs share one, and a changed manifest seldom needs another.
COMMON = (
    "alertmanager", "boot_loader", "chrony", "irqbalance", "mariadb", "munge", "node_exporter", "pam_slurm_adopt",
    "pci", "prometheus", "rsyslog", "slurm_client", "slurmctld", "slurmd", "slurmdbd",
)  # fmt: skip
# Containers come and go, so packages are unpacked without a flush to disk for each file, and without what nobody reads.
_DPKG = ("force-unsafe-io", *(f"path-exclude=/usr/share/{directory}/*" for directory in ("doc", "man", "locale")))
_FILES = Path(__file__).parent / "files"
_DOWNLOAD, _INSTALL = "download.sh", "install.sh"
_MIB = 1500  # the unpacked system, its archive, and the same in the engine's store
_BUILDERS: list[subprocess.Popen[str]] = []
_ABANDONED = threading.Event()
_SERVICES = (
    'systemctl --root="$1" mask systemd-networkd-wait-online.service systemd-resolved.service >/dev/null 2>&1 || true'
)


def mirror() -> str | None:
    """The Debian mirror that this machine uses; CLUSTERGEN_MIRROR names another."""
    if url := os.environ.get("CLUSTERGEN_MIRROR"):
        return url
    if not re.search(r"(?m)^ID=debian$", _text(Path("/etc/os-release"))):
        return None
    places = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for place in places:
        for line in _text(place).splitlines():
            match = re.match(r"(?:URIs:\s*|deb\s+(?:\[[^\]]*\]\s+)?)(\S+/debian/?)(?:\s|$)", line)
            if match:
                return match.group(1)
    return None


def _text(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def abandon() -> None:
    """Ends what is being made."""
    _ABANDONED.set()
    for builder in _BUILDERS:
        builder.terminate()


def name_of(system: OperatingSystem, packages: Sequence[str], *, installed: bool = False) -> str:
    """The image's name; another list of packages, or another way to install them, is another image."""
    recipe = ["\n".join((system.id, _BARE, *_DPKG, *sorted(packages)))]
    if installed:
        recipe.append(_install_script())
    return f"{_repository(system, installed)}:{_digest(*recipe)}"


def _content(system: OperatingSystem, packages: Sequence[str], *, installed: bool = False) -> Content:
    recipe = [_BARE, *_DPKG, _install_script() if installed else ""]
    return Content(_repository(system, installed), _digest(*recipe), frozenset(packages))


def _repository(system: OperatingSystem, installed: bool) -> str:
    return f"localhost/clustergen-lab-{system.id}{'-installed' if installed else ''}"


def _digest(*recipe: str) -> str:
    return hashlib.sha256("\n".join(recipe).encode()).hexdigest()[:12]


def _install_script() -> str:
    return (_FILES / _INSTALL).read_text(encoding="utf-8")


def _room(places: Sequence[Path]) -> None:
    """Raises ClustergenError where a disk is too full to make an image."""
    for place in places:
        free = shutil.disk_usage(place).free >> 20
        if free < _MIB:
            raise ClustergenError(
                f"{place} has {free} MiB free, but building an image requires about {_MIB}",
                "set CLUSTERGEN_LAB or TMPDIR to a directory on another file system",
            )


def _reason(words: Sequence[str], status: int) -> str:
    """The first error of apt or of the disk; later lines are less to the point."""
    if status in (124, 137):
        return "it took more than 15 minutes"
    telling = re.compile(r"Could not |Failed to fetch|Temporary failure|No space left|NO_PUBKEY", re.IGNORECASE)
    errors = [line for line in words if line.startswith("E:")]
    matches = [line for line in errors if telling.search(line)] or [line for line in words if telling.search(line)]
    return (matches or errors or words[-1:] or [f"mmdebstrap ended with {status}"])[0].strip()


def can_make(system: OperatingSystem) -> bool:
    """Debian alone: its packages of Slurm lie in the same archive, and its keys are in Debian and in Ubuntu."""
    return system.id.startswith("debian-")


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Holds the lock of a file: two labs that start together make an image once. `abandon` ends the wait."""
    with place.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if _ABANDONED.wait(0.5):
                    raise ClustergenError("the wait for another lab's image was interrupted") from None
        yield


def exists(engine: Engine, name: str) -> bool:
    """True if the engine has an image of this name."""
    return engine.run("image", "inspect", name, check=False).returncode == 0


def ensure(
    engine: Engine,
    system: OperatingSystem,
    packages: Sequence[str],
    common: Sequence[str],
    report: Callable[[str], None],
    *,
    installed: bool = False,
) -> str:
    """Makes the image where it is not there: bare, with `packages` downloaded, so that applying needs no network;
    `installed`: and installed, without their services, those that are `common` to most labs first. Returns its name;
    `report` gets each step. Raises ClustergenError with what is missing.
    """
    name = name_of(system, packages, installed=installed)

    def step(words: str) -> None:
        report(f"image of {system.id}: {words}")

    if not exists(engine, name):
        with _alone(engine.store / f"image-{system.id}.lock"):
            if installed and not exists(engine, name):
                _install(engine, system, packages, common, step)
            elif not installed:
                _bare(engine, system, packages, step)
    return name


def _bare(engine: Engine, system: OperatingSystem, packages: Sequence[str], report: Callable[[str], None]) -> str:
    """The name of the image with these packages downloaded, which is made where it does not exist."""
    name, content = name_of(system, packages), _content(system, packages)
    if exists(engine, name):
        return name
    if base := related_images.larger(engine, content):  # what is downloaded and not needed changes nothing on a node
        engine.run("tag", base, name)
        return name
    _room([engine.store])
    if not related_images.grow(engine, name, content, [_DOWNLOAD], report):
        _make(engine, system, packages, name, report)
    return name


def _install(
    engine: Engine,
    system: OperatingSystem,
    packages: Sequence[str],
    common: Sequence[str],
    report: Callable[[str], None],
) -> None:
    _room([engine.store])
    name, content = name_of(system, packages, installed=True), _content(system, packages, installed=True)
    if related_images.grow(engine, name, content, [_DOWNLOAD, _INSTALL], report):
        return
    base = _bare(engine, system, packages, report)
    if set(common) < set(packages):  # the next lab with other packages starts from here
        report("installing packages of most clusters")
        shared = name_of(system, common, installed=True)
        related_images.derive(engine, base, shared, _content(system, common, installed=True), [_INSTALL])
        base = shared
    report("installing packages of the cluster")
    related_images.derive(engine, base, name, content, [_INSTALL])


def _make(
    engine: Engine, system: OperatingSystem, packages: Sequence[str], name: str, report: Callable[[str], None]
) -> None:
    program = shutil.which("mmdebstrap")
    if not program:
        raise ClustergenError(
            "mmdebstrap, which builds images, is not installed",
            "run apt-get install --no-install-recommends mmdebstrap debian-archive-keyring arch-test as root, or pass"
            " --image",
        )
    _room([engine.store, Path(tempfile.gettempdir())])
    place = engine.store / f"image-{os.getpid()}-{system.id}.tar"
    download = (
        "echo 'I: downloading packages of the cluster' >&2; "
        f'chroot "$1" sh -s {" ".join(packages)} <{shlex.quote(str(_FILES / _DOWNLOAD))}'
    )
    command = [
        program, "--variant=minbase", f"--include={_BARE}", "--skip=cleanup/apt",
        '--aptopt=Acquire::Check-Valid-Until "false"', '--aptopt=Acquire::Check-Date "false"',
        *(f"--dpkgopt={option}" for option in _DPKG),
        f"--customize-hook={download}", f"--customize-hook={_SERVICES}",
        system.fact("codename"), str(place), *filter(None, [mirror()]),
    ]  # fmt: skip
    try:
        limited = ["timeout", "-k", "5", "900", *command]
        with subprocess.Popen(limited, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as builder:
            _BUILDERS.append(builder)
            words = []
            for line in builder.stderr or ():  # ends at the latest when `timeout` kills the process group
                words.append(line.rstrip("\n"))
                if line.startswith("I: ") and not line.startswith("I: running --"):  # a hook, with all of its script
                    report(line.removeprefix("I: ").strip())
        if builder.returncode:
            raise ClustergenError(
                f"cannot build the image of {system.id}: {_reason(words, builder.returncode)}",
                f"set CLUSTERGEN_MIRROR to another mirror than {mirror() or 'that of mmdebstrap'}",
            )
        report(f"{engine.name} import")
        engine.run("import", *_content(system, packages).options, str(place), name, timeout=300)
    finally:
        place.unlink(missing_ok=True)
