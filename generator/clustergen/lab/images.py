"""Bare images of the distributions: systemd, ssh, Python, and nothing of a cluster. Each is made once."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.diagnostics import ClustergenError
from clustergen.lab.engine import Engine

_BARE = (
    "systemd,systemd-sysv,dbus,python3,python3-apt,iproute2,ca-certificates,procps,udev,kmod,openssh-server,sudo,bash"
)
# Containers come and go, so packages are unpacked without a flush to disk for each file, and without what nobody reads.
_DPKG = ("force-unsafe-io", *(f"path-exclude=/usr/share/{folder}/*" for folder in ("doc", "man", "locale")))
_MIB = 1500  # the unpacked system, its archive, and the same in the engine's store
_BUILDERS: list[subprocess.Popen[str]] = []
_SERVICES = (
    'systemctl --root="$1" mask systemd-networkd-wait-online.service systemd-resolved.service >/dev/null 2>&1 || true'
)


def mirror() -> str | None:
    """The Debian mirror that this machine uses; CLUSTERGEN_MIRROR names another."""
    if given := os.environ.get("CLUSTERGEN_MIRROR"):
        return given
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
    for builder in _BUILDERS:
        builder.terminate()


def name_of(system: OperatingSystem, packages: Sequence[str]) -> str:
    """The image's name; another list of packages is another image."""
    recipe = hashlib.sha256("\n".join((system.id, _BARE, *_DPKG, *sorted(packages))).encode()).hexdigest()[:12]
    return f"localhost/clustergen-lab-{system.id}:{recipe}"


def _room(places: Sequence[Path]) -> None:
    """Raises ClustergenError where a disk is too full to make an image."""
    for place in places:
        free = shutil.disk_usage(place).free >> 20
        if free < _MIB:
            raise ClustergenError(
                f"{place} has {free} MiB free, and making an image takes some {_MIB}",
                "CLUSTERGEN_LAB and TMPDIR name other places",
            )


def _reason(words: Sequence[str], status: int) -> str:
    """What went wrong first, as apt or the disk say it; they say more after that, and less to the point."""
    if status in (124, 137):
        return "it took more than 15 minutes"
    telling = re.compile(r"Could not |Failed to fetch|Temporary failure|No space left|NO_PUBKEY", re.IGNORECASE)
    errors = [line for line in words if line.startswith("E:")]
    found = [line for line in errors if telling.search(line)] or [line for line in words if telling.search(line)]
    return (found or errors or list(words) or [f"mmdebstrap ended with {status}"])[0].strip()


def can_make(system: OperatingSystem) -> bool:
    """Debian alone: its packages of Slurm lie in the same archive, and its keys are in Debian and in Ubuntu."""
    return system.id.startswith("debian-")


def ensure(engine: Engine, system: OperatingSystem, packages: Sequence[str]) -> str:
    """Makes the image where it is not there: bare, with `packages` downloaded and not installed, so that applying needs
    no network. Returns its name. Raises ClustergenError with what is missing.
    """
    name = name_of(system, packages)
    if engine.run("image", "inspect", name, check=False).returncode == 0:
        return name
    program = shutil.which("mmdebstrap")
    if not program:
        raise ClustergenError(
            "mmdebstrap, which makes images, is not on this machine",
            "as root: apt-get install --no-install-recommends mmdebstrap debian-archive-keyring arch-test; or --image",
        )
    _room([engine.store, Path(tempfile.gettempdir())])
    place = engine.store / f"image-{os.getpid()}-{system.id}.tar"
    # A package that the distribution lacks is apply's to tell.
    download = (
        f"for package in {' '.join(packages)}; do "
        '! chroot "$1" apt-cache show "$package" >/dev/null 2>&1 || set -- "$@" "$package"; done; '
        'root=$1; shift; [ $# = 0 ] || chroot "$root" apt-get install -qq --download-only "$@" >/dev/null'
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
            words = builder.communicate(timeout=930)[1].splitlines()
        if builder.returncode:
            raise ClustergenError(
                f"the image of {system.id} could not be made: {_reason(words, builder.returncode)}",
                f"packages come from {mirror() or 'the mirror of mmdebstrap'}; CLUSTERGEN_MIRROR names another",
            )
        engine.run("import", str(place), name, timeout=300)
    finally:
        place.unlink(missing_ok=True)
    return name
