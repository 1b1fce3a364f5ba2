"""Values of Slurm's keys: what its parser reads, the words and plugins that the release has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue import slurm, slurm_values
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.base import OptionValue

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_FLOAT = re.compile(r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_AMOUNT = re.compile(r"([0-9]+) ?([MGTmgt])(?:i?[Bb])?")
_NO_LIMIT = ("unlimited", "infinite")
_BOOLEANS = ("yes", "up", "true", "1", "no", "down", "false", "0")
_HIGHEST = {"uint16": (1 << 16) - 1, "uint32": (1 << 32) - 1, "uint64": (1 << 64) - 1}
_KIB = ("uint32", "uint64")  # these take a `k` for 1024

# Numbers that Slurm refuses, or puts back to its own default, although they fit the type: lowest, highest.
_BOUNDS = {
    "EpilogMsgTime": (0, 1_000_000),
    "FirstJobId": (1, 0x03FFFFFF),
    "MaxDBDMsgs": (10_000, (1 << 32) - 1),
    "MaxNodeCount": (1, 65_536),
    "MaxStepCount": (1, (1 << 32) - 1),
    "PropagatePrioProcess": (0, 2),
    "SchedulerTimeSlice": (5, 65_535),
    "TreeWidth": (1, 65_533),
}
_LEVELS = ("quiet", "fatal", "error", "info", "verbose", "debug", "debug2", "debug3", "debug4", "debug5")
_LEVEL_KEYS = (
    "SlurmctldDebug",
    "SlurmctldSyslogDebug",
    "SlurmdDebug",
    "SlurmdSyslogDebug",
    "DebugLevel",
    "DebugLevelSyslog",
)


def value(release: SlurmRelease, path: ManifestPath, known: slurm.SlurmKey, given: OptionValue) -> Iterator[Finding]:
    """What is wrong with the value of a key that the release knows."""
    text = str(given)
    if '"' in text:
        yield Finding(
            "slurm-value-unprintable",
            path,
            "Slurm's files have no way to write a double quote inside a value",
            "single quotes, or a script of its own",
            at=(text.index('"'), 1),
        )
        return
    if wanted := _refused(known, text):
        yield Finding("slurm-value-wrong", path, f"'{known.key}' takes {wanted}, not '{text}'", _in_mib(known, text))
        return
    if known.file == "slurm.conf" and known.block in ("", "PartitionName"):
        if slurm_values.has_tokens(known.key):
            yield from words(release, path, known.key, text)
        elif slurm_values.has_plugins(known.key) and text:
            yield from _plugins(release, path, known.key, text)


def _refused(known: slurm.SlurmKey, text: str) -> str | None:
    """What the parser wants in place of a text; None where it takes it."""
    if known.type in _HIGHEST:
        low, high = _BOUNDS.get(known.key, (0, _HIGHEST[known.type]))
        number = _number(text, known.type)
        if (number is not None and low <= number <= high) or text.lower() in _NO_LIMIT:
            return None
        unit = f" of {known.unit}" if known.unit else ""
        return f"a whole number{unit} from {low} to {high}" if known.type != "uint64" else f"a whole number{unit}"
    if known.type == "boolean" and text.lower() not in _BOOLEANS:
        return "yes or no"
    if known.type in ("float", "long") and not _FLOAT.fullmatch(text) and text.lower() not in _NO_LIMIT:
        return "a number"
    if known.key in _LEVEL_KEYS and text.lower() not in _LEVELS and not text.isdigit():
        return f"one of {', '.join(_LEVELS)}"
    return None


def _in_mib(known: slurm.SlurmKey, text: str) -> str | None:
    """The number that was meant by an amount with a unit."""
    amount = _AMOUNT.fullmatch(text)
    if known.unit != "MiB" or amount is None:
        return None
    return f"write {int(amount[1]) << {'m': 0, 'g': 10, 't': 20}[amount[2].lower()]}"


def _number(text: str, kind: str) -> int | None:
    """As strtoul() of base 0 reads it: hexadecimal behind 0x, octal behind 0."""
    factor = 1
    if kind in _KIB and text[-1:] in ("k", "K"):
        text, factor = text[:-1], 1024
    if not _NUMBER.fullmatch(text):
        return None
    octal = len(text) > 1 and text[0] == "0" and text[1] not in "xX"
    try:
        return int(text, 8 if octal else 0) * factor
    except ValueError:
        return None


def words(release: SlurmRelease, path: ManifestPath, key: str, text: str) -> Iterator[Finding]:
    """Words of a comma-separated list that the release does not know, or that lack their value."""
    start = 0
    for part in text.split(","):
        word = part.strip()
        at = (start + part.find(word), len(word.partition("=")[0]))
        start += len(part) + 1
        if not word:
            continue
        known = slurm_values.token(key, word)
        if known is None:
            yield Finding("slurm-word-unknown", path, _unknown_word(key, word), _near_word(key, word), at=at)
        elif (state := known.state(release)) != "known":
            yield Finding(
                "slurm-word-unknown", path, _other_release(key, known, release, state), _instead(known), at=at
            )
        elif known.takes_value and "=" not in word:
            yield Finding(
                "slurm-value-wrong",
                path,
                f"'{known.token}' of {key} needs a value; without one Slurm passes over it",
                f"write {known.token}=…",
                at=at,
            )


def _unknown_word(key: str, word: str) -> str:
    what = "no daemon starts with it" if slurm_values.unknown_token_is_fatal(key) else "Slurm passes over it in silence"
    return f"{key} has no word '{word.partition('=')[0]}' in any release; {what}"


def _near_word(key: str, word: str) -> str | None:
    """A word of the same key, or the key that has this word."""
    name = word.partition("=")[0]
    if hint := did_you_mean(name, [token.token for token in slurm_values.tokens(key)]):
        return hint
    homes = [other for other in slurm_values.keys_with_token(name) if other != key]
    return f"it is a word of {homes[0]}" if homes else None


def _other_release(key: str, known: slurm_values.SlurmToken, release: SlurmRelease, state: str) -> str:
    gone = known.removed or known.defunct
    when = f"exists from Slurm {known.since} on" if state == "too-new" else f"was removed in Slurm {gone}"
    return f"the word '{known.token}' of {key} {when}; this is {release}"


def _instead(known: slurm_values.SlurmToken) -> str | None:
    return f"write {known.instead}" if known.instead else None


def _plugins(release: SlurmRelease, path: ManifestPath, key: str, text: str) -> Iterator[Finding]:
    start = 0
    for part in text.split(","):
        at = (start, len(part)) if part else (max(start - 1, 0), 1)
        start += len(part) + 1
        known = slurm_values.plugin(key, part)
        if known is None:
            names = [plugin.value for plugin in slurm_values.plugins(key)]
            yield Finding(
                "slurm-plugin-unknown", path, f"{key} has no plugin '{part}'", _near_plugin(part, names), at=at
            )
        elif (state := known.state(release)) != "known":
            when = (
                f"exists from Slurm {known.since} on" if state == "too-new" else f"was removed in Slurm {known.removed}"
            )
            hint = f"write {known.note.partition(' ')[0]}" if "/" in known.note.partition(" ")[0] else None
            yield Finding("slurm-plugin-unknown", path, f"'{known.value}' {when}; this is {release}", hint, at=at)


def _near_plugin(name: str, names: list[str]) -> str | None:
    """By the whole name, or by the part behind the slash."""
    bare = {full.rpartition("/")[2]: full for full in names}
    if hint := did_you_mean(name, names):
        return hint
    return did_you_mean(name.rpartition("/")[2], bare)


def word_lists(cluster: Cluster) -> Iterator[Finding]:
    """The lists of words that have fields of their own."""
    manifest = cluster.manifest
    written = manifest.slurm
    lists: tuple[tuple[ManifestPath, str, tuple[str, ...]], ...] = (
        (("slurm", "scheduler", "parameters"), "SchedulerParameters", written.scheduler.parameters),
        (("slurm", "priority", "flags"), "PriorityFlags", written.priority.flags),
        (("slurm", "topology", "parameters"), "TopologyParam", written.topology.parameters),
        (("slurm", "accounting", "private"), "PrivateData", written.accounting.private),
        (("slurm", "accounting", "store"), "AccountingStoreFlags", written.accounting.store),
        (("slurm", "accounting", "enforce"), "AccountingStorageEnforce", written.accounting.enforce),
        (("health", "states"), "HealthCheckNodeState", manifest.health.states),
    )
    for path, key, given in lists:
        for index, word in enumerate(given):
            yield from words(cluster.release, (*path, index), key, word)


RULES = (word_lists,)
