"""The directory that is taken over: its files, what they say, and the release of Slurm that reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from errno import EACCES
from pathlib import Path

from clustergen import regular_file
from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import ClustergenError
from clustergen.hostlist.addresses import address_of, is_loopback
from clustergen.importer.comments import Comments, comments_of
from clustergen.importer.draft import Origin
from clustergen.lint.release import guess
from clustergen.records import record
from clustergen.regular_file import reason_of
from clustergen.slurmconf import Problem, ProblemKind, printing
from clustergen.slurmconf.config import Config, Entry, Setting
from clustergen.slurmconf.directory import ConfigDirectory, open_directory
from clustergen.slurmconf.reading import MOST_BYTES, is_there

CONFIGS = ("slurm.conf", "gres.conf", "cgroup.conf", "slurmdbd.conf", "topology.conf", "mpi.conf", "acct_gather.conf")
"""Files whose keys the manifest has places for."""


@record
class Originals:
    """The hand-written files, read for one release."""

    directory: ConfigDirectory
    release: SlurmRelease
    release_why: str
    """Where the release comes from, in words."""
    guessed: bool
    configs: dict[str, Config]
    hosts: dict[str, str]
    """Host name → address, from a hosts file."""

    @property
    def conf(self) -> Config:
        return self.configs["slurm.conf"]

    def comments(self) -> dict[str, Comments]:
        """By file, of all that were read."""
        return {file: comments_of(text) for file, text in self.directory.texts.items()}

    def origin(self, setting: Setting, entry: Entry | None = None) -> Origin:
        at = setting.key_at
        block, name = (entry.block, entry.names) if entry is not None else ("", "")
        line = entry.line.number if entry is not None and setting.pair in entry.line.pairs else at.line
        return Origin(file=setting.file, line=line, block=block, name=name, key=setting.key, text=setting.text)

    def unread(self) -> Iterator[tuple[str, Problem]]:
        """Place and problem of what Slurm could not read."""
        for config in self.configs.values():
            for line in config.lines:
                for problem in line.problems:
                    if problem.kind.fatal:
                        yield f"{line.file}:{problem.at.line}", problem

    def unknown_defaults(self) -> Iterator[tuple[str, str, list[str]]]:
        """Place of each DEFAULT line with keys that Slurm does not know, its first key, and these keys."""
        for config in self.configs.values():
            for line in config.lines:
                places = {problem.at for problem in line.problems if problem.kind is ProblemKind.KEY_UNKNOWN}
                if places and line.pairs and line.pairs[0].value.upper() == "DEFAULT":
                    keys = [pair.key for pair in line.pairs if pair.key_at in places]
                    yield f"{line.file}:{line.pairs[0].key_at.line}", line.pairs[0].key, keys

    def flat(self) -> dict[str, str]:
        """Path on the node → text without Include and without what Slurm could not read, for the comparison."""
        return {f"/etc/slurm/{name}": _flat(config) for name, config in self.configs.items()}


def read_originals(path: Path, version: str | None, hosts_file: Path | None) -> Originals:
    """Reads a directory of Slurm's files, or a slurm.conf and its neighbours. ClustergenError where there is none."""
    if path.is_symlink():  # named by the user, so it may lead anywhere
        path = Path(os.path.realpath(path))
        if path.is_symlink():
            raise ClustergenError(f"{path}: its symbolic links form a loop", exit_code=3)
    directory, main = (path, "slurm.conf") if path.is_dir() else (path.parent, path.name)
    if not path.exists():
        raise ClustergenError(f"{path}: no such file or directory", exit_code=3)
    if not is_there(directory / main):
        names = ", ".join(sorted(item.name for item in directory.glob("*slurm*.conf*"))) if directory.is_dir() else ""
        hint = f"name the file: {names}" if names else "pass the directory that slurmctld reads, usually /etc/slurm"
        raise ClustergenError(f"{path}: no {main} in this directory", hint=hint, exit_code=3)
    try:
        hosts = _hosts(hosts_file) if hosts_file else {}
        opened = open_directory(directory, slurm.key_tables, main=main)
        configs = _configs(opened)
        opened.text("topology.yaml")
        chosen, why, guessed = _release(version, opened)
        if chosen.has("include-beside-includer") and any(
            line.include for config in configs.values() for line in config.lines
        ):
            opened = open_directory(directory, slurm.key_tables, main=main, beside_includer=True)
            configs = _configs(opened)
    except OSError as err:
        advice = "run clustergen as root: only the Slurm user can read slurmdbd.conf" if err.errno == EACCES else None
        raise ClustergenError(f"{err.filename or path}: {reason_of(err)}", hint=advice, exit_code=3) from None
    return Originals(directory=opened, release=chosen, release_why=why, guessed=guessed, configs=configs, hosts=hosts)


def _configs(directory: ConfigDirectory) -> dict[str, Config]:
    configs = ((name, directory.config(name)) for name in CONFIGS)
    return {name: config for name, config in configs if config is not None}


def _hosts(path: Path) -> dict[str, str]:
    """Names and aliases of a hosts file; the first line that has a name counts, as for the resolver."""
    addresses: dict[str, str] = {}
    for line in regular_file.read(path, MOST_BYTES, follow_links=True).decode(errors="replace").splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        parsed = address_of(address)
        for name in names if parsed and not is_loopback(parsed) else ():
            addresses.setdefault(name.lower(), address)
            addresses.setdefault(name.lower().partition(".")[0], address)
    return addresses


def _release(version: str | None, directory: ConfigDirectory) -> tuple[SlurmRelease, str, bool]:
    releases = [release for release in slurm.releases() if release.has("cgroup-v2")]
    if version is not None:
        try:
            stated = SlurmRelease(version)
        except ValueError:
            stated = None
        if stated not in releases:
            names = ", ".join(map(str, releases))
            raise ClustergenError(f"Slurm {version} is not in the catalogue", f"use one of {names}", 2)
        assert stated is not None
        return stated, "given", False
    guessed = guess(directory)
    return guessed.release, "a comment names it" if guessed.named else guessed.why, True


def _flat(config: Config) -> str:
    lines = []
    for line in config.lines:
        unknown = {problem.at for problem in line.problems if problem.kind == "key-unknown"}
        pairs = [(pair.key, pair.value) for pair in line.pairs if pair.key_at not in unknown]
        if pairs and line.pairs[0].key == pairs[0][0]:
            try:
                lines.append(printing.line(pairs))
            except ValueError:  # what the printer cannot write, as a quote inside a value
                lines.append(" ".join(f"{key}={value}" for key, value in pairs))
    return "".join(f"{text}\n" for text in lines)
