"""Which release of Slurm wrote the files, where nobody says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clustergen.catalogue import slurm, slurm_values
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics.words import listed
from clustergen.records import record
from clustergen.slurmconf.directory import ConfigDirectory

_MOST_NAMES = 6  # of one line
_REJECTED = (("FastSchedule", "0"), ("FastSchedule", "2"))  # no release of the catalogue starts with these
_RELEASE = re.compile(r"(?i)slurm[^0-9\n]{0,20}(2[0-9]\.(?:02|05|08|11))\b")


@record
class Unread:
    """A key, plugin or word that some releases do not read."""

    place: str
    """`slurm.conf:12`, where it stands first."""
    name: str
    releases: tuple[SlurmRelease, ...]
    """Releases that do not read it, the oldest first."""


@record
class Guess:
    """The release that the files were probably written for."""

    release: SlurmRelease
    named: bool
    """A comment names it."""
    unread_anywhere: tuple[str, ...]
    """Keys that older releases read, and none of the catalogue."""
    complete: bool
    """Nothing is left unread."""

    @property
    def why(self) -> str:
        if self.named:
            return "which a comment names"
        if self.unread_anywhere:
            return f"the oldest release, as none reads {listed(list(self.unread_anywhere), _MOST_NAMES)}"
        return f"the newest release that accepts {'all' if self.complete else 'most'} keys"


def guess(directory: ConfigDirectory) -> Guess:
    """Of the releases that read the most of their keys, plugins and words: the one that a comment names, the oldest
    where the files are older than all of them, else the newest.
    """
    refused = dict.fromkeys(_releases(), 0)
    unread_anywhere: dict[str, None] = {}
    for one in unread(directory):
        unread_anywhere |= {one.name.partition("=")[0]: None} if len(one.releases) == len(refused) else {}
        for release in one.releases:
            refused[release] += 1
    if directory.has("topology.yaml"):
        refused |= {release: count + 1 for release, count in refused.items() if not release.has("topology-yaml")}
    least = min(refused.values())
    fitting = [release for release in refused if refused[release] == least]
    names = (SlurmRelease(match[1]) for text in directory.texts.values() for match in _RELEASE.finditer(text))
    stated = next((name for name in names if name in fitting), None)  # as comments like `# Slurm 24.11` do
    release = stated or (fitting[0] if unread_anywhere else fitting[-1])
    return Guess(release, stated is not None, tuple(unread_anywhere), least == 0)


def others(directory: ConfigDirectory, release: SlurmRelease) -> str:
    """Lines that other releases do not read, in one line; empty where they read the same as `release`."""
    parts: dict[tuple[SlurmRelease, ...], dict[str, None]] = {}
    for one in unread(directory):
        if release in one.releases:
            continue
        names = parts.setdefault(one.releases, {})
        if f"{one.name.partition('=')[0]} ({one.place})" not in names:  # a key that is not read has no words
            names[f"{one.name} ({one.place})"] = None
    return "; ".join(f"{_span(rest)}: {listed(list(names), _MOST_NAMES)}" for rest, names in sorted(parts.items()))


def _span(some: tuple[SlurmRelease, ...]) -> str:
    """`22.05 to 23.11`, `24.05 and newer`, `23.02, 25.11`."""
    releases = _releases()
    first, last = releases.index(some[0]), releases.index(some[-1])
    if len(some) == 1 and last < len(releases) - 1:
        return str(some[0])
    if last - first + 1 != len(some):
        return ", ".join(map(str, some))
    return f"{some[0]} and newer" if last == len(releases) - 1 else f"{some[0]} to {some[-1]}"


def unread(directory: ConfigDirectory) -> Iterator[Unread]:
    """Keys that at least one release does not read, each once in a block."""
    releases = _releases()
    for file in slurm.files():
        try:
            config = directory.config(file)
        except OSError:  # a finding of its own
            continue
        seen: set[tuple[str, str]] = set()
        for line in config.lines if config is not None else ():
            block = ""
            for index, pair in enumerate(line.pairs):
                cell = (block, pair.key.lower())
                key = slurm.key(file, pair.key, block)
                if index == 0:
                    block = key.key if key else pair.key
                if cell in seen or key is None:
                    continue
                seen.add(cell)
                place = f"{line.file}:{pair.key_at.line}"
                if lacking := tuple(r for r in releases if key.state(r) in ("too-new", "removed", "refused")):
                    yield Unread(place, key.key, lacking)
                elif (key.key, pair.value) in _REJECTED:
                    yield Unread(place, key.key, tuple(releases))
                if file == "slurm.conf" and not cell[0]:
                    yield from _words(place, key.key, pair.value, releases)


def _releases() -> tuple[SlurmRelease, ...]:
    return tuple(sorted(release for release in slurm.read_releases() if release.has("cgroup-v2")))


def newest() -> SlurmRelease:
    return max(slurm.read_releases())


def _words(place: str, key: str, text: str, releases: Sequence[SlurmRelease]) -> Iterator[Unread]:
    for word in text.split(","):
        plugin = slurm_values.plugin(key, word) if word and slurm_values.has_plugins(key) else None
        token = slurm_values.token(key, word) if word.strip() else None
        for entry in (plugin, token):
            lacking = tuple(r for r in releases if entry and entry.state(r) in ("too-new", "removed"))
            if lacking:
                yield Unread(place, f"{key}={word.strip()}", lacking)


def named(text: str) -> SlurmRelease:
    """The release that a user names. ValueError for none that is known here, with those that are."""
    releases = [release for release in slurm.releases() if release.has("cgroup-v2")]
    choices = ", ".join(map(str, releases))
    try:
        release = SlurmRelease(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a Slurm release; use one of {choices}") from None
    if release < releases[0]:
        raise ValueError(f"Slurm {release} is too old; use one of {choices}")
    if release not in releases:
        raise ValueError(f"Slurm {release} is not in the catalogue; use one of {choices}")
    return release
