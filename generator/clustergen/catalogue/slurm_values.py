"""What Slurm's keys may hold, by release: words of lists, plugins, defaults, bounds."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from clustergen.catalogue.slurm import KeyState, release_or_none, state_in
from clustergen.catalogue.tables import cells, rows
from clustergen.catalogue.versions import SlurmRelease


class SlurmToken(NamedTuple):
    """One word of a list-valued key, such as `enable_configless` of SlurmctldParameters."""

    key: str
    token: str
    takes_value: bool
    """Whether it is written `token=value`."""
    documented: bool
    unknown: str
    """What daemons do with a word of this key that they do not know: fatal, logged or ignored."""
    since: SlurmRelease | None
    defunct: SlurmRelease | None
    removed: SlurmRelease | None
    instead: str
    """What to write in its place, as Key=token; it may still be read."""

    def state(self, release: SlurmRelease) -> KeyState:
        """What that release makes of the word; it never is `refused`."""
        return state_in(release, self.since, self.defunct, None, self.removed)


class SlurmPlugin(NamedTuple):
    """One plugin, as its key names it: `select/cons_tres`, or `nvml` for AutoDetect, `pmix` for MpiDefault."""

    key: str
    value: str
    since: SlurmRelease | None
    removed: SlurmRelease | None
    packages: dict[str, tuple[str, ...] | None]
    """Operating system → packages of its own build with it; None where that build lacks it; absent: not known."""
    note: str

    def state(self, release: SlurmRelease) -> KeyState:
        """Whether Slurm's source of that release has it; a distribution may still leave it out."""
        return state_in(release, self.since, None, None, self.removed)


@cache
def _tokens() -> tuple[list[str], dict[str, dict[str, list[str]]]]:
    """The header, and key → word → its row, both in lower case."""
    header, lines = cells("slurm_tokens.tsv")
    index: dict[str, dict[str, list[str]]] = {}
    for row in lines:
        index.setdefault(row[0].lower(), {})[row[1].lower()] = row
    return header, index


@cache
def _token(key: str, word: str) -> SlurmToken | None:
    header, index = _tokens()
    row = index.get(key, {}).get(word)
    if row is None:
        return None
    r = dict(zip(header, row, strict=True))
    return SlurmToken(
        key=r["key"],
        token=r["token"],
        takes_value=r["value"] == "yes",
        documented=r["documented"] == "yes",
        unknown=r["unknown"],
        since=release_or_none(r["since"]),
        defunct=release_or_none(r["defunct"]),
        removed=release_or_none(r["removed"]),
        instead=r["instead"],
    )


def has_tokens(key: str) -> bool:
    """Whether the words of that key of slurm.conf are known here."""
    return key.lower() in _tokens()[1]


def token(key: str, word: str) -> SlurmToken | None:
    """The word of that key, in any case, with or without `=value`."""
    return _token(key.lower(), word.partition("=")[0].strip().lower())


@cache
def tokens(key: str) -> tuple[SlurmToken, ...]:
    """All words of that key."""
    words = _tokens()[1].get(key.lower(), {})
    return tuple(row for word in words if (row := _token(key.lower(), word)) is not None)


def keys_with_token(word: str) -> tuple[str, ...]:
    """The keys that have a word of that name."""
    index = _tokens()[1]
    return tuple(next(iter(words.values()))[0] for words in index.values() if word.lower() in words)


def unknown_token(key: str) -> str:
    """What daemons do with a word that they do not know: `stops`, `logs` or `silent`."""
    does = next((row.unknown for row in tokens(key)), "ignored")
    return {"fatal": "stops", "logged": "logs"}.get(does, "silent")


def unknown_token_is_fatal(key: str) -> bool:
    """Whether daemons stop on a word they do not know."""
    return unknown_token(key) == "stops"


@cache
def _unknown_plugins() -> dict[str, tuple[SlurmRelease | None, str]]:
    return {r["key"].lower(): (release_or_none(r["until"]), r["does"]) for r in rows("slurm_unknown_plugins.tsv")}


def unknown_plugin(key: str, release: SlurmRelease) -> str:
    """What daemons do with a plugin that is not there: `stops`, or `logs`."""
    until, does = _unknown_plugins().get(key.lower(), (None, "stops"))
    return does if until is None or release < until else "stops"


@cache
def _plugins() -> dict[str, dict[str, SlurmPlugin]]:
    plugins: dict[str, dict[str, SlurmPlugin]] = {}
    for r in rows("slurm_plugins.tsv"):
        packages: dict[str, tuple[str, ...] | None] = {}
        for system in ("debian-12", "debian-13"):
            if r[system]:
                packages[system] = None if r[system] == "-" else tuple(r[system].split())
        plugins.setdefault(r["key"].lower(), {})[r["value"].lower()] = SlurmPlugin(
            key=r["key"],
            value=r["value"],
            since=release_or_none(r["since"]),
            removed=release_or_none(r["removed"]),
            packages=packages,
            note=r["note"],
        )
    return plugins


def has_plugins(key: str) -> bool:
    """Whether that key names plugins that are known here."""
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


def plugins(key: str) -> tuple[SlurmPlugin, ...]:
    """All plugins that the key may name."""
    return tuple(_plugins().get(key.lower(), {}).values())


@cache
def _families() -> dict[str, dict[str, str]]:
    return {r["key"].lower(): r for r in rows("slurm_families.tsv")}


def family(key: str) -> str:
    """What the names of a key's plugins begin with: `cred` of `cred/munge`; empty where it is not known."""
    row = _families().get(key.lower())
    return row["family"] if row is not None else ""


def has_token(key: str, word: str, release: SlurmRelease) -> bool:
    """Whether the release has the word of that key."""
    row = token(key, word)
    return row is not None and row.state(release) == "known"


def has_plugin(key: str, name: str, release: SlurmRelease) -> bool:
    """Whether the release has the plugin."""
    row = plugin(key, name)
    return row is not None and row.state(release) == "known"


def needs_family(key: str, value: str, release: SlurmRelease) -> str | None:
    """The whole name that a release wants in place of a plugin without its family; None where it takes it as it is."""
    row = _families().get(key.lower())
    if row is None or "/" in value:
        return None
    since = release_or_none(row["since"])
    if value.lower() in row["bare"].split() and since is not None and release >= since:
        return None
    return f"{row['family']}/{value}"


def takes_any_none(key: str, release: SlurmRelease) -> bool:
    """Whether the release takes any plugin that is called none, in any case and of any family, for none at all."""
    row = _families().get(key.lower())
    # auth/none and cred/none are plugins like any other
    since = release_or_none(row["since"]) if row and row["bare"] == "none" else None
    return since is not None and release >= since


@cache
def _defaults() -> dict[str, list[tuple[SlurmRelease | None, str]]]:
    defaults: dict[str, list[tuple[SlurmRelease | None, str]]] = {}
    for r in rows("slurm_defaults.tsv"):
        defaults.setdefault(r["key"].lower(), []).append((release_or_none(r["since"]), r["value"]))
    return defaults


def default(key: str, release: SlurmRelease) -> str | None:
    """What the release takes when slurm.conf leaves the key out; None when not known, or the key is not."""
    value = None
    for since, text in _defaults().get(key.lower(), ()):
        if since is None or release >= since:
            value = text
    return value


class SlurmBounds(NamedTuple):
    """The numbers that a key, or a word of its list, takes; `low` and `high` are part of them."""

    low: int
    high: int
    beyond: str
    """What a daemon does with others: `stops`, `logs`, `silent`."""
    since: SlurmRelease | None
    """Older releases take them in silence."""


@cache
def _bounds() -> dict[tuple[str, str], SlurmBounds]:
    return {
        (r["key"].lower(), r["word"].lower()): SlurmBounds(
            int(r["low"]), int(r["high"]), r["beyond"], release_or_none(r["since"])
        )
        for r in rows("slurm_bounds.tsv")
    }


def bounds(key: str, word: str = "") -> SlurmBounds | None:
    """The bounds of a key's number, or of the number behind a word of its list; None where the type is the only one."""
    return _bounds().get((key.lower(), word.lower()))


def keys_with_bounds() -> tuple[str, ...]:
    """The keys, in lower case, that have bounds of their own."""
    return tuple(key for key, word in _bounds() if not word)
