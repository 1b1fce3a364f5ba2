"""Finds Slurm installations that can be asked: roots of `clustergen setup parsers`, the machine's own, an image.

A root is a directory with a whole Linux file system; it is entered by chroot and never booted. Any such directory in
that of the parsers counts, so a root of another distribution or of one's own Slurm build only has to be put there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from clustergen.catalogue import system_paths
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record
from clustergen.verify import sandbox

Kind = Literal["installed", "root", "image"]

_PLACES = ("usr/sbin", "usr/local/sbin", "usr/bin", "usr/local/bin", "opt/slurm/sbin")
_PLUGINS = (
    "usr/lib/*/slurm*",
    "usr/lib/slurm*",
    "usr/lib64/slurm*",
    "usr/local/lib/slurm",
    "opt/slurm/lib/slurm",
)
_VERSION = re.compile(r"(\d\d\.\d\d)\.\S+")
_FACT = re.compile(r'^(ID|VERSION_ID)="?([^"\n]*)"?$', re.MULTILINE)


@record
class SlurmInstall:
    """One Slurm: `release` "24.11" decides which keys it knows, `version` is "24.11.5", `path` the root to enter."""

    release: str
    version: str
    kind: Kind
    path: Path

    def has_plugin(self, name: str) -> bool:
        """True if it has a plugin of that file name: `mpi_pmix*.so`."""
        return any(next(self.path.glob(f"{directory}/{name}"), None) for directory in _PLUGINS)

    @property
    def has_database(self) -> bool:
        """True if slurmdbd can run with a database."""
        return (self.path / "var/lib/clustergen/mariadb").is_dir()

    def has_program(self, name: str) -> bool:
        return _find(self.path, name) is not None


def parsers_directory() -> Path:
    """Where `clustergen setup parsers` puts its roots: CLUSTERGEN_PARSERS, or a directory in the user's cache."""
    if named := os.environ.get("CLUSTERGEN_PARSERS"):
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "clustergen" / "parsers"


def roots() -> list[Path]:
    """Every complete root, by name."""
    directory = parsers_directory()
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if not path.name.startswith(".") and (path / "usr").is_dir())


def root_with(program: str) -> Path | None:
    """The root of the newest system that has `program`; for parsers that are not Slurm's: promtool, chronyd …"""
    having = [root for root in roots() if _find(root, program)]
    return max(having, key=lambda root: system_of(root)[1], default=None)


@cache
def system_of(root: Path) -> tuple[str, tuple[int, ...]]:
    """A root's system as an inventory's group names it ("debian_12"), and its release: none for testing."""
    try:
        facts = dict(_FACT.findall((root / "etc/os-release").read_text(encoding="utf-8")))
    except OSError:
        return "", ()
    release = facts.get("VERSION_ID", "")
    return f"{facts.get('ID', '')}_{release.replace('.', '_')}", tuple(map(int, re.findall(r"\d+", release)))


def installs() -> list[SlurmInstall]:
    """All Slurm installations here, newest release first, roots before what the machine itself has."""
    roots = list(_installs())
    return sorted(roots, key=lambda one: ([int(part) for part in one.release.split(".")], one.kind), reverse=True)


def for_release(release: str) -> SlurmInstall | None:
    """An installation of exactly this release; another one would judge other keys."""
    return next((one for one in installs() if one.release == release), None)


def next_newer(release: str) -> SlurmInstall | None:
    """The installation of the oldest release above this one; None where there is none, or no such release."""
    try:
        base = SlurmRelease(release)
    except ValueError:
        return None
    newer = [one for one in installs() if SlurmRelease(one.release) > base]
    return min(newer, key=lambda one: (SlurmRelease(one.release), one.kind != "root"), default=None)


def from_image(image: str) -> SlurmInstall:
    """Unpacks a podman or docker image that contains Slurm into the parsers' directory, once per image id.

    Raises SandboxError where there is no engine, no such image, or no slurmctld in it.
    """
    engine = next((name for name in ("podman", "docker") if shutil.which(name)), None)
    if engine is None:
        raise sandbox.SandboxError(f"image {image}: neither podman nor docker is installed")
    try:
        digest = _ask(engine, "image", "inspect", "--format", "{{.Id}}", image).removeprefix("sha256:")
    except sandbox.SandboxError:
        raise sandbox.SandboxError(f"image {image} is not on this machine: run {engine} pull {image}") from None
    place = parsers_directory() / f"image-{digest[:16]}"
    if not place.is_dir():
        new = place.with_name(f".{place.name}.{os.getpid()}")
        new.mkdir(parents=True)
        container = _ask(engine, "create", image, "true")
        try:
            with subprocess.Popen([engine, "export", container], stdout=subprocess.PIPE) as export:
                subprocess.run(["tar", "-x", "-C", str(new)], stdin=export.stdout, check=True, timeout=600)
            new.rename(place)
        except (OSError, subprocess.SubprocessError) as error:
            raise sandbox.SandboxError(f"image {image}: {error}") from error
        finally:
            shutil.rmtree(new, ignore_errors=True)
            _ask(engine, "rm", "-f", container)
    version = _version(place)
    if version is None:
        raise sandbox.SandboxError(f"image {image}: it contains no slurmctld")
    return SlurmInstall(_release(version), version, "image", place)


def expand(install: SlurmInstall, hosts: str) -> list[str]:
    """`scontrol show hostnames`: what Slurm itself makes of a host list. Raises ValueError where that is nothing."""
    box = sandbox.Sandbox(install.path, is_one_user=True)
    script = 'cp /run/clustergen/c /tmp; SLURM_CONF=/tmp/c exec scontrol show hostnames "$1"'
    notes = {"c": "ClusterName=c\nSlurmctldHost=c\n"}
    done = sandbox.run(box, ["/bin/sh", "-c", script, "sh", hosts], timeout=60, notes=notes)
    if done.code != 0:
        raise sandbox.SandboxError(f"scontrol show hostnames: {done.stderr.strip() or 'ran out of time'}")
    names = done.stdout.split()
    if not names:
        raise ValueError(f"Slurm {install.version} expands {hosts!r} to no host")
    return names


def _installs() -> Iterator[SlurmInstall]:
    for root in roots():
        version = _version(root)
        if version is not None:
            yield SlurmInstall(_release(version), version, "image" if root.name.startswith("image-") else "root", root)
    if shutil.which("slurmctld", path=f"{os.environ.get('PATH', '')}:{system_paths.PATH}"):
        version = _version(Path("/"))
        if version is not None:
            yield SlurmInstall(_release(version), version, "installed", Path("/"))


def _version(root: Path) -> str | None:
    noted = root / "var/lib/clustergen/slurm-version"
    if root != Path("/") and noted.is_file():
        return noted.read_text(encoding="utf-8").strip()
    program = _find(root, "slurmctld")
    if program is None or sandbox.unavailable(root, is_one_user=True) is not None:
        return None
    output = sandbox.run(sandbox.Sandbox(root, is_one_user=True), [program, "-V"], timeout=60).stdout
    match = _VERSION.search(output)
    return match.group(0) if match else None


def _release(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _find(root: Path, program: str) -> str | None:
    """The path of a program inside a root; a link may point to a place that exists only inside."""
    for place in _PLACES:
        path = root / place / program
        if path.is_symlink() or path.is_file():
            return f"/{place}/{program}"
    return None


def _ask(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise sandbox.SandboxError(f"{' '.join(command[:3])}: {done.stderr.strip()}")
    return done.stdout.strip()
