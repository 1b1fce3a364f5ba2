"""What Slurm's keys may hold, by release: words of lists, plugins, defaults; and what a changed key takes."""

from functools import cache
from typing import NamedTuple

from clustergen.catalogue.slurm import KeyState, state_in
from clustergen.catalogue.tables import rows
from clustergen.catalogue.versions import SlurmRelease


class SlurmToken(NamedTuple):
    """One word of a list-valued key, such as `enable_configless` of SlurmctldParameters."""

    key: str
    token: str
    takes_value: bool
    """Whether it is written `token=value`."""
    documented: bool
    unknown_is_fatal: bool
    """Whether daemons stop on a word of this key that they do not know; else they ignore it without a sound."""
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


def _release(text: str) -> SlurmRelease | None:
    return SlurmRelease(text) if text else None


@cache
def _tokens() -> dict[str, dict[str, SlurmToken]]:
    found: dict[str, dict[str, SlurmToken]] = {}
    for r in rows("slurm_tokens.tsv"):
        found.setdefault(r["key"].lower(), {})[r["token"].lower()] = SlurmToken(
            key=r["key"],
            token=r["token"],
            takes_value=r["value"] == "yes",
            documented=r["documented"] == "yes",
            unknown_is_fatal=r["unknown"] == "fatal",
            since=_release(r["since"]),
            defunct=_release(r["defunct"]),
            removed=_release(r["removed"]),
            instead=r["instead"],
        )
    return found


def has_tokens(key: str) -> bool:
    """Whether the words of that key of slurm.conf are known here."""
    return key.lower() in _tokens()


def token(key: str, word: str) -> SlurmToken | None:
    """The word of that key, in any case, with or without `=value`."""
    return _tokens().get(key.lower(), {}).get(word.partition("=")[0].strip().lower())


def tokens(key: str) -> tuple[SlurmToken, ...]:
    """All words of that key."""
    return tuple(_tokens().get(key.lower(), {}).values())


def unknown_token_is_fatal(key: str) -> bool:
    """Whether daemons stop on a word they do not know; of other keys they ignore it without a sound."""
    return any(known.unknown_is_fatal for known in tokens(key)[:1])


@cache
def _plugins() -> dict[str, dict[str, SlurmPlugin]]:
    found: dict[str, dict[str, SlurmPlugin]] = {}
    for r in rows("slurm_plugins.tsv"):
        packages: dict[str, tuple[str, ...] | None] = {}
        for system in ("debian-12", "debian-13"):
            if r[system]:
                packages[system] = None if r[system] == "-" else tuple(r[system].split())
        found.setdefault(r["key"].lower(), {})[r["value"].lower()] = SlurmPlugin(
            key=r["key"],
            value=r["value"],
            since=_release(r["since"]),
            removed=_release(r["removed"]),
            packages=packages,
            note=r["note"],
        )
    return found


def has_plugins(key: str) -> bool:
    """Whether that key names plugins that are known here."""
    return key.lower() in _plugins()


def plugin(key: str, value: str) -> SlurmPlugin | None:
    """The plugin that the key names; the part before the slash may be left out or given, as Slurm allows."""
    known = _plugins().get(key.lower(), {})
    wanted = value.strip().lower()
    if wanted in known:
        return known[wanted]
    bare = wanted.rpartition("/")[2]
    if bare in known:
        return known[bare]
    return next((p for text, p in known.items() if text.rpartition("/")[2] == wanted), None)


def plugins(key: str) -> tuple[SlurmPlugin, ...]:
    """All plugins that the key may name."""
    return tuple(_plugins().get(key.lower(), {}).values())


@cache
def _defaults() -> dict[str, list[tuple[SlurmRelease | None, str]]]:
    found: dict[str, list[tuple[SlurmRelease | None, str]]] = {}
    for r in rows("slurm_defaults.tsv"):
        found.setdefault(r["key"].lower(), []).append((_release(r["since"]), r["value"]))
    return found


def default(key: str, release: SlurmRelease) -> str | None:
    """What the release takes when slurm.conf leaves the key out; None when not known, or the key is not."""
    value = None
    for since, text in _defaults().get(key.lower(), ()):
        if since is None or release >= since:
            value = text
    return value


@cache
def _effects() -> list[dict[str, str]]:
    return list(rows("slurm_effects.tsv"))


def effect(file: str, key: str, release: SlurmRelease, block: str = "") -> tuple[str, str]:
    """What a change of the key takes (reconfigure, restart-slurmctld, restart-slurmd, restart-slurm, restart-slurmdbd,
    drain, refuse), and a remark.
    """
    for r in _effects():
        if (
            r["file"] == file
            and r["block"] in ("*", block)
            and r["key"].lower() in ("*", key.lower())
            and (not r["until"] or release < SlurmRelease(r["until"]))
        ):
            return r["effect"], r["note"]
    return "reconfigure", ""
