"""A path → findings: the one way in."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType

from clustergen.catalogue.slurm import files, key, key_tables
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import ClustergenError, Diagnostic, Place, Severity, quote
from clustergen.diagnostics.redaction import Redactions
from clustergen.lint import (
    accounting,
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
    programs,
    slurmdbd,
    together,
    topology,
    topology_yaml,
)
from clustergen.lint.finding import LintFinding
from clustergen.lint.release import Guess, guess, newest
from clustergen.lint.site import Site
from clustergen.records import record, replace
from clustergen.regular_file import reason_of
from clustergen.slurmconf.directory import ConfigDirectory, open_directory
from clustergen.slurmconf.reading import is_there

_OTHERS = ("topology.yaml", "plugstack.conf", *plugins.FUNCTIONS)
_UNKNOWN = ("namespace.yaml", "resources.yaml")  # files of Slurm's that no check reads
_MOST_ALIKE = 5000
_SLURM = (daemons, together, plugins, accounting, nodes, hardware, partitions, gres)
_TOPICS = (*_SLURM, gres_conf, topology, topology_yaml, slurmdbd, plugstack, programs)


@record
class Report:
    """The result of lint for a directory. `guessed`: how the release follows from the files."""

    path: Path
    release: SlurmRelease
    guessed: Guess | None
    findings: tuple[LintFinding, ...]
    read: tuple[str, ...]
    """The files that were looked at."""
    unread: tuple[str, ...]
    """Files of Slurm's in the directory whose content nobody here knows."""
    directory: ConfigDirectory
    redactions: Redactions
    """Values that messages about these files do not show."""

    @property
    def sources(self) -> Mapping[str, str]:
        """Texts to quote from, by the names of the diagnostics' places."""
        return self.redactions.texts

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(one.diagnostic for one in self.findings)


def lint_text(content: bytes, name: str, release: SlurmRelease | None = None) -> Report:
    """The same as `lint`, for a slurm.conf that is in no file; messages call it `name`."""
    with tempfile.TemporaryDirectory(prefix="clustergen-lint-") as directory:
        path = Path(directory) / "slurm.conf"
        path.write_bytes(content)
        return replace(lint(path, release, name), path=Path(name))


def lint(path: Path, release: SlurmRelease | None = None, name: str | None = None) -> Report:
    """Reads a directory of Slurm's files, or one slurm.conf with its neighbours, and reports what is wrong.

    `release`: None lets it be guessed from the files. `name` is what messages call the slurm.conf, by default its path.
    ClustergenError where there is nothing to read.
    """
    place, main = _located(path)
    directory = _open(place, main, release, name)
    unreadable = _unreadable(directory)
    readable = "slurm.conf" not in unreadable
    if main != "slurm.conf" and readable:
        _refuse_other_kinds(directory, path)
    guessed = guess(directory) if readable and release is None else None
    judged = release or (guessed.release if guessed else newest())
    if release is None and judged.has("include-beside-includer"):
        directory = _open(place, main, judged, name)
        unreadable = _unreadable(directory)
    findings = list(unreadable.values())
    if readable:
        rest = dict.fromkeys(_bounded(_all(directory, judged)))
        findings += [one for one in rest if not any(name in one.diagnostic.message for name in unreadable)]
    texts = {directory.shown(file): _with_visible_cr(text) for file, text in directory.texts.items()}
    redactions = Redactions(texts, (one.diagnostic for one in findings))
    findings = [one._replace(diagnostic=redactions.diagnostic(one.diagnostic)) for one in findings]
    findings.sort(key=lambda one: (one.diagnostic.place or Place(""), one.diagnostic.code, one.diagnostic.message))
    read = tuple(main if name == "slurm.conf" else name for name in (*files(), *_OTHERS) if directory.has(name))
    unread = tuple(_unread(directory, (*read, *unreadable)))
    return Report(
        path=path,
        release=judged,
        guessed=guessed,
        findings=tuple(findings),
        read=read,
        unread=unread,
        directory=directory,
        redactions=redactions,
    )


def _with_visible_cr(text: str) -> str:
    """A lone CR is part of its line for Slurm, and stays in it."""
    return text.replace("\r\n", "\n").replace("\r", "\u240d")


def _located(path: Path) -> tuple[Path, str]:
    """The directory, and what its slurm.conf is called."""
    if path.is_dir():
        below = path / "etc/slurm"
        inside = Path(os.path.realpath(below)).is_relative_to(os.path.realpath(path))
        place = below if inside and not is_there(path / "slurm.conf") and is_there(below / "slurm.conf") else path
        if not any(is_there(place / name) for name in (*files(), *_OTHERS)):
            inner = next(iter(sorted(path.glob("overlays/*/etc/slurm/slurm.conf"))), None)  # of a rendered tree
            hint = (
                f"run clustergen lint {inner.parent}"
                if inner
                else "name the directory that slurmctld reads, usually /etc/slurm"
            )
            raise ClustergenError(f"{path}: this directory contains neither slurm.conf nor another Slurm file", hint)
        return place, "slurm.conf"
    if path.is_symlink():  # named by the user, so it may lead anywhere
        path = Path(os.path.realpath(path))
        if path.is_symlink():
            raise ClustergenError(f"{path}: its symbolic links form a loop")
    if not path.exists():
        hint = "pass the directory that slurmctld reads, usually /etc/slurm, or a file of it"
        raise ClustergenError(f"{path}: no such file or directory", hint)
    if not path.is_file():
        raise ClustergenError(f"{path}: neither a file nor a directory")
    if path.name in files() or path.name in _OTHERS:
        return path.parent, "slurm.conf"
    return path.parent, path.name


def _refuse_other_kinds(directory: ConfigDirectory, path: Path) -> None:
    """ClustergenError for a file under another name than slurm.conf of whose keys Slurm has none there."""
    config = directory.config("slurm.conf")
    names = [line.pairs[0].key for line in config.lines if line.pairs] if config else []
    if not names or any(_has_key("slurm.conf", name) for name in names):
        return
    matches = {file: sum(_has_key(file, name) for name in names) for file in files()}
    best = max(matches, key=lambda file: matches[file])
    hint = f"name it {best} to have it checked as one" if matches[best] else "name a slurm.conf, or its directory"
    raise ClustergenError(f"{path}: not a slurm.conf: Slurm has none of its keys, such as {quote(names[0])}", hint)


def _has_key(file: str, name: str) -> bool:
    return name.lower() in {block.lower() for block in files()[file]} or key(file, name) is not None


def _open(place: Path, main: str, release: SlurmRelease | None, name: str | None) -> ConfigDirectory:
    beside = release is not None and release.has("include-beside-includer")
    directory = open_directory(place, key_tables, main=main, beside_includer=beside)
    if name is not None:
        directory.show_as(main, name)
    return directory


def _unreadable(directory: ConfigDirectory) -> dict[str, LintFinding]:
    """Files that are there and cannot be read, or are too large; the others are judged without them."""
    findings = {}
    for name in (*files(), *_OTHERS):
        try:
            directory.text(name) if name in _OTHERS else directory.config(name)
        except OSError as err:
            directory.leave_out(name)
            message = f"cannot read this file: {reason_of(err)}"
            place = Place(directory.shown(directory.main if name == "slurm.conf" else name))
            findings[name] = LintFinding(Diagnostic("file-unreadable", Severity.ERROR, place, message))
    return findings


def _all(directory: ConfigDirectory, release: SlurmRelease) -> Iterator[LintFinding]:
    site = Site(directory, release)
    if site.slurm is None:
        yield LintFinding(
            Diagnostic(
                "slurm-key-lacking",
                Severity.INFO,
                Place(str(directory.path)),
                "this directory contains no slurm.conf, so only the other files are checked",
            )
        )
    for name in files():
        yield from grammar.problems(site, name)
        yield from keys.keys(site, name)
    if many := nodes.too_many(site):
        yield many
        return
    for topic in _TOPICS:
        for check in checks_of(topic):
            yield from check(site)


def checks_of(topic: ModuleType) -> Iterator[Callable[[Site], Iterator[LintFinding]]]:
    """The checks of a module, in its order: public functions `(site: Site) -> Iterator[LintFinding]`."""
    types = {"site": "Site", "return": "Iterator[LintFinding]"}
    functions = [value for name, value in vars(topic).items() if isinstance(value, FunctionType) and name[0] != "_"]
    return (each for each in functions if each.__module__ == topic.__name__ and each.__annotations__ == types)


def _bounded(findings: Iterator[LintFinding]) -> Iterator[LintFinding]:
    """The first findings of each code, with all that have a fix; how many more there are is a finding too."""
    seen: Counter[tuple[str, Severity]] = Counter()
    for finding in findings:
        kind = finding.diagnostic.code, finding.diagnostic.severity
        seen[kind] += 1
        if seen[kind] <= _MOST_ALIKE or finding.fix is not None:
            yield finding
    for (code, severity), number in seen.items():
        if number > _MOST_ALIKE:
            yield LintFinding(Diagnostic(code, severity, None, f"and {number - _MOST_ALIKE:,} more like these"))


def _unread(directory: ConfigDirectory, read: tuple[str, ...]) -> Iterator[str]:
    seen = {*read, directory.main, *directory.texts}
    for file in sorted(directory.path.iterdir()):
        if (file.suffix in (".conf", ".lua") or file.name in _UNKNOWN) and file.is_file() and file.name not in seen:
            yield file.name
