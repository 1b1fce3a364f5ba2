"""Values that Slurm's keys accept, by release: words of lists, plugins, bounds."""

from __future__ import annotations

from functools import cache
from typing import Literal

from clustergen.catalogue.operating_systems import OperatingSystem, operating_systems
from clustergen.catalogue.slurm import KeyState, state_in
from clustergen.catalogue.tables import Indexed, cells, keyed, row_reader
from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record

Outcome = Literal["stops", "logs", "silent"]
"""How a daemon reacts to a value that it cannot use."""


@record
class SlurmToken:
    """One word of a list-valued key, such as `enable_configless` of SlurmctldParameters."""

    key: str
    token: str
    takes_value: bool
    """True: it is written `token=value`."""
    documented: bool
    unknown: Literal["fatal", "logged", "ignored"]
    """How daemons react to a word of this key that they do not know."""
    since: SlurmRelease | None
    defunct: SlurmRelease | None
    removed: SlurmRelease | None
    instead: str
    """The replacement, as Key=token; the old one may still be read."""

    def state(self, release: SlurmRelease) -> KeyState:
        """How the release treats the word; never `refused`."""
        return state_in(release, self.since, self.defunct, None, self.removed)


@record
class SlurmPlugin:
    """One plugin, as its key names it: `select/cons_tres`, or `nvml` for AutoDetect, `pmix` for MpiDefault."""

    key: str
    value: str
    since: SlurmRelease | None
    removed: SlurmRelease | None
    packages: dict[str, tuple[str, ...] | None]
    """Operating system → packages of its own build with it; None where that build lacks it; absent: not known."""
    note: str

    @property
    def purpose(self) -> str:
        """Of its packages, as `slurm_plugin_auth_jwt`."""
        return f"slurm_plugin_{self.value.replace('/', '_')}"

    def state(self, release: SlurmRelease) -> KeyState:
        """True if Slurm's source of that release has it; a distribution may still leave it out."""
        return state_in(release, self.since, None, None, self.removed)

    def packages_beside(self, os: OperatingSystem) -> tuple[str, ...]:
        """Packages of the distribution with it, but for those that come with slurmd and slurmctld."""
        with_daemons = ("slurm-wlm-basic-plugins", *os.packages("slurmd"))
        return tuple(name for name in self.packages.get(os.id) or () if name not in with_daemons)


_tokens = Indexed("slurm_tokens.tsv", SlurmToken, lambda row: [(row[0].lower(), row[1].lower())])
"""By key and word, both in lower case."""


def has_tokens(key: str) -> bool:
    """True if the words of that key of slurm.conf are known here."""
    return key.lower() in _tokens.cells


def token(key: str, word: str) -> SlurmToken | None:
    """The word of that key, in any case, with or without `=value`."""
    return _tokens.row(key.lower(), word.partition("=")[0].strip().lower())


@cache
def tokens(key: str) -> tuple[SlurmToken, ...]:
    """All words of that key."""
    return _tokens.rows(key.lower())


def keys_with_token(word: str) -> tuple[str, ...]:
    """The keys that have a word of that name."""
    return tuple(next(iter(words.values()))[0] for words in _tokens.cells.values() if word.lower() in words)


def unknown_token(key: str) -> Outcome:
    """How daemons react to a word that they do not know."""
    does = next((row.unknown for row in tokens(key)), "ignored")
    outcomes: dict[str, Outcome] = {"fatal": "stops", "logged": "logs", "ignored": "silent"}
    return outcomes[does]


def unknown_token_is_fatal(key: str) -> bool:
    """True if daemons stop on a word they do not know."""
    return unknown_token(key) == "stops"


@record
class _UnknownPlugin:
    """A key whose unknown plugins stop no daemon, in releases before `until` or in all."""

    key: str
    until: SlurmRelease | None
    does: Outcome


_unknown_plugins = keyed("slurm_unknown_plugins.tsv", _UnknownPlugin, lambda row: row.key.lower())


def unknown_plugin(key: str, release: SlurmRelease) -> Outcome:
    """How daemons react to a missing plugin: `stops`, or `logs`."""
    row = _unknown_plugins().get(key.lower())
    return row.does if row is not None and (row.until is None or release < row.until) else "stops"


@cache
def _plugins() -> dict[str, dict[str, SlurmPlugin]]:
    header, lines = cells("slurm_plugins.tsv")
    read = row_reader("slurm_plugins.tsv", header, SlurmPlugin)
    systems = [(name, at) for at, name in enumerate(header) if name in operating_systems()]
    plugins: dict[str, dict[str, SlurmPlugin]] = {}
    for row in lines:
        packages = {name: None if row[at] == "-" else tuple(row[at].split()) for name, at in systems if row[at]}
        plugin = read(row, packages=packages)
        plugins.setdefault(plugin.key.lower(), {})[plugin.value.lower()] = plugin
    return plugins


def has_plugins(key: str) -> bool:
    """True if that key names plugins that are known here."""
    return key.lower() in _plugins()


def plugin(key: str, value: str) -> SlurmPlugin | None:
    """The plugin that the key names; the part before the slash may be left out or given, as Slurm allows."""
    plugins = _plugins().get(key.lower(), {})
    searched = value.strip().lower()
    if searched in plugins:
        return plugins[searched]
    bare = searched.rpartition("/")[2]
    if bare in plugins:
        return plugins[bare]
    return next((p for text, p in plugins.items() if text.rpartition("/")[2] == searched), None)


@cache
def plugins_by_purpose() -> dict[str, SlurmPlugin]:
    return {plugin.purpose: plugin for plugins in _plugins().values() for plugin in plugins.values()}


def plugins(key: str) -> tuple[SlurmPlugin, ...]:
    """All plugins that the key may name."""
    return tuple(_plugins().get(key.lower(), {}).values())


@record
class _Family:
    """A key whose plugins are named with their family; from `since` on those in `bare` go without it."""

    key: str
    family: str
    bare: tuple[str, ...]
    since: SlurmRelease | None


_families = keyed("slurm_families.tsv", _Family, lambda row: row.key.lower())


def family(key: str) -> str:
    """The prefix of a key's plugins: `cred` of `cred/munge`; empty where it is not known."""
    row = _families().get(key.lower())
    return row.family if row is not None else ""


def has_token(key: str, word: str, release: SlurmRelease) -> bool:
    """True if the release has the word of that key."""
    row = token(key, word)
    return row is not None and row.state(release) == "known"


def has_plugin(key: str, name: str, release: SlurmRelease) -> bool:
    """True if the release has the plugin."""
    row = plugin(key, name)
    return row is not None and row.state(release) == "known"


def needs_family(key: str, value: str, release: SlurmRelease) -> str | None:
    """The whole name that a release wants in place of a plugin without its family; None where it takes it as it is."""
    row = _families().get(key.lower())
    if row is None or "/" in value:
        return None
    if value.lower() in row.bare and row.since is not None and release >= row.since:
        return None
    return f"{row.family}/{value}"


def takes_any_none(key: str, release: SlurmRelease) -> bool:
    """True if the release takes any plugin that is called none, in any case and of any family, for none at all."""
    row = _families().get(key.lower())
    if row is None or row.bare != ("none",):  # auth/none and cred/none are plugins like any other
        return False
    return row.since is not None and release >= row.since


@record
class SlurmBounds:
    """The numbers that a key, or a word of its list, takes; `low` and `high` are part of them."""

    key: str
    word: str
    low: int
    high: int
    beyond: Outcome
    since: SlurmRelease | None
    """Older releases take them in silence."""


_bounds = keyed("slurm_bounds.tsv", SlurmBounds, lambda row: (row.key.lower(), row.word.lower()))


def bounds(key: str, word: str = "") -> SlurmBounds | None:
    """The bounds of a key's number, or of the number behind a word of its list; None where the type is the only one."""
    return _bounds().get((key.lower(), word.lower()))
