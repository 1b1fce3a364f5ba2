"""A path → findings: the one way in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from clustergen.catalogue.slurm import files, key_tables
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import ClustergenError, Diagnostic, Place, Severity
from clustergen.lint import (
    accounting,
    cgroup,
    daemons,
    grammar,
    gres,
    gres_conf,
    hardware,
    keys,
    nodes,
    partitions,
    plugins,
    plugstack,
    slurmdbd,
    together,
    topology,
    topology_yaml,
)
from clustergen.lint.found import Found
from clustergen.lint.release import guess
from clustergen.lint.site import SECRET, Site
from clustergen.records import record
from clustergen.slurmconf.folder import Folder, open_folder

_OTHERS = ("topology.yaml", "plugstack.conf")
_BESIDE_INCLUDER = SlurmRelease("23.02")  # before it Include was relative to the including file
_SLURM = (daemons, together, plugins, accounting, nodes, hardware, partitions, gres)
_TOPICS = (*_SLURM, gres_conf, cgroup, topology, topology_yaml, slurmdbd, plugstack)


@record
class Report:
    """What lint says of a folder. `guessed`: nobody named the release."""

    path: Path
    release: SlurmRelease
    guessed: bool
    found: tuple[Found, ...]
    read: tuple[str, ...]
    """The files that were looked at."""
    unread: tuple[str, ...]
    """Files of Slurm's in the folder whose content nobody here knows."""
    folder: Folder

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(one.diagnostic for one in self.found)

    @property
    def sources(self) -> Mapping[str, str]:
        """Texts to quote from, by the names of the diagnostics' places."""
        return {self.folder.shown(file): _quotable(text) for file, text in self.folder.texts.items()}


def _quotable(text: str) -> str:
    """A text without passwords; a lone CR is part of its line for Slurm, and stays in it."""
    return SECRET.sub(lambda found: found[1] + "*" * len(found[2]), text.replace("\r\n", "\n").replace("\r", "\u240d"))


def lint(path: Path, release: SlurmRelease | None = None) -> Report:
    """Reads a folder of Slurm's files, or one slurm.conf with its neighbours, and says what is wrong.

    `release`: None lets it be guessed from the files. ClustergenError where there is nothing to read.
    """
    place, main = _located(path)
    folder = _open(place, main, release)
    judged = release or guess(folder)
    if release is None and judged < _BESIDE_INCLUDER:
        folder = _open(place, main, judged)
    found = list(dict.fromkeys(_all(folder, judged)))
    found.sort(key=lambda one: (one.diagnostic.place or Place(""), one.diagnostic.code, one.diagnostic.message))
    read = tuple(main if name == "slurm.conf" else name for name in (*files(), *_OTHERS) if folder.has(name))
    return Report(path, judged, release is None, tuple(found), read, tuple(_unread(folder, read)), folder)


def _located(path: Path) -> tuple[Path, str]:
    """The folder, and what its slurm.conf is called."""
    if path.is_dir():
        below = path / "etc/slurm"
        place = below if not (path / "slurm.conf").is_file() and (below / "slurm.conf").is_file() else path
        if not any((place / name).is_file() for name in (*files(), *_OTHERS)):
            raise ClustergenError(f"{path}: no slurm.conf in this folder, nor another file of Slurm's")
        return place, "slurm.conf"
    if not path.exists():
        raise ClustergenError(f"{path}: there is no such file or folder")
    if not path.is_file():
        raise ClustergenError(f"{path}: this is neither a file nor a folder")
    if path.name in files() or path.name in _OTHERS:
        return path.parent, "slurm.conf"
    return path.parent, path.name


def _open(place: Path, main: str, release: SlurmRelease | None) -> Folder:
    beside = release is not None and release < _BESIDE_INCLUDER
    return open_folder(place, key_tables, main=main, beside_includer=beside)


def _all(folder: Folder, release: SlurmRelease) -> Iterator[Found]:
    unreadable = False
    for name in files():
        try:
            folder.config(name)
        except OSError as err:
            unreadable = True
            place = Place(folder.shown(name))
            yield Found(
                Diagnostic("file-unreadable", Severity.ERROR, place, f"it cannot be read: {err.strerror or err}")
            )
    if unreadable:
        return
    site = Site(folder, release)
    if site.slurm is None:
        yield Found(
            Diagnostic(
                "slurm-key-lacking",
                Severity.INFO,
                Place(str(folder.path)),
                "no slurm.conf here: only the other files are looked at",
            )
        )
    for name in files():
        yield from grammar.problems(site, name)
        yield from keys.keys(site, name)
    for topic in _TOPICS:
        checks: tuple[Callable[[Site], Iterator[Found]], ...] = topic.CHECKS
        for check in checks:
            yield from check(site)


def _unread(folder: Folder, read: tuple[str, ...]) -> Iterator[str]:
    seen = {*read, folder.main, *folder.texts}
    for file in sorted(folder.path.iterdir()):
        if file.suffix in (".conf", ".yaml", ".lua") and file.is_file() and file.name not in seen:
            yield file.name
