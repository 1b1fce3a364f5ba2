"""Values of Slurm's keys: what its parser reads, the words and plugins that the release has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue import slurm, slurm_traps, slurm_values
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import did_you_mean
from clustergen.records import replace
from clustergen.slurmconf import scalars
from clustergen.slurmrules import durations
from clustergen.slurmrules.forms import FORMS
from clustergen.slurmrules.remarks import Outcome, Remark
from clustergen.units import Duration, UnitError
from clustergen.units.digits import whole

_FLOAT = re.compile(r"[ \t]*[-+]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F]+)")
_AMOUNT = re.compile(r"([0-9]+) ?([MGTmgt])(?:i?[Bb])?")
_TWO_NUMBERS = re.compile(r"[0-9]{1,9}:[0-9]{1,9}")
_SECONDS = re.compile(r"([0-9]+) ?s(?:ec|ecs|econds?)?", re.IGNORECASE)
HIGHEST = {"uint16": (1 << 16) - 1, "uint32": (1 << 32) - 1, "uint64": (1 << 64) - 1}
_MOST_WORDS = 1_000  # of one list; SchedulerParameters, which has the most, knows about a hundred
_OPEN = ("GresTypes",)  # any name is a GRES of one's own
_ANY_CASE = ("AutoDetect",)
_NO_BLANKS = ("SelectTypeParameters", "PrologFlags")  # their readers take a blank as part of the word
LEVEL_KEYS = (
    "SlurmctldDebug",
    "SlurmctldSyslogDebug",
    "SlurmdDebug",
    "SlurmdSyslogDebug",
    "DebugLevel",
    "DebugLevelSyslog",
)


def unprintable(text: str) -> Iterator[Remark]:
    """Values that cannot be written into a file of Slurm's."""
    if '"' in text:
        yield Remark(
            "slurm-value-unprintable",
            "a value in Slurm's files cannot contain a double quote",
            "use single quotes, or a script",
            at=(text.index('"'), 1),
        )


def value(release: SlurmRelease, row: slurm.SlurmKey, text: str) -> Iterator[Remark]:
    """Problems of the value of a key that the release knows."""
    newer = slurm.key(row.file, row.instead, row.block) if row.note == "old name" else None
    family, _, bare = text.rpartition("/")
    if newer is not None and family and family == slurm_values.family(row.key):  # Slurm replaces the family too
        for remark in value(release, newer, f"{slurm_values.family(newer.key)}/{bare}"):
            yield replace(remark, at=None, instead=None)
        return
    if refused := _refused(row, release, text):
        expected, outcome = refused
        hint, instead = _meant(row, text)
        message = f"'{row.key}' must be {expected}, not '{text}'"
        yield Remark("slurm-value-wrong", message, hint, outcome, instead=instead)
        return
    if row.file in ("slurm.conf", "cgroup.conf") and row.block in ("", "PartitionName"):
        if slurm_values.has_tokens(row.key):
            yield from words(release, row.key, text)
        elif slurm_values.has_plugins(row.key) and text:
            yield from plugins(release, row.key, text)
        elif whole := slurm_values.needs_family(row.key, text, release):
            does = Outcome(slurm_values.unknown_plugin(row.key, release))
            instead = whole if text else None
            hint = f"write {whole}" if text else "remove it, or name a plugin"
            yield Remark("slurm-plugin-unknown", _lacks_family(row.key, text), hint, does, instead=instead)


def _refused(row: slurm.SlurmKey, release: SlurmRelease, text: str) -> tuple[str, Outcome] | None:
    """The form that the parser wants in place of a text, and its reaction without; None where it accepts the text."""
    if row.type in HIGHEST:
        bounds = slurm_values.bounds(row.key)
        low, high = (bounds.low, bounds.high) if bounds else (0, HIGHEST[row.type])
        parsed = HIGHEST[row.type] if text.lower() in scalars.NO_LIMIT else scalars.unsigned(text, row.type)
        if parsed is not None and low <= parsed <= high:
            return None if text else ("a number; Slurm reads 0", Outcome.SILENT)
        unit = f" of {row.unit}" if row.unit else ""
        expected = f"a whole number{unit} from {low} to {high}" if row.type != "uint64" else f"a whole number{unit}"
        readable = parsed is not None and parsed <= HIGHEST[row.type]
        if not bounds or not readable:
            return expected, Outcome.STOPS
        return expected, Outcome(bounds.beyond) if not bounds.since or release >= bounds.since else Outcome.SILENT
    if row.type == "boolean" and scalars.boolean(text) is None:
        return "yes or no", Outcome.STOPS
    if row.type in ("float", "long") and text and not _FLOAT.fullmatch(text) and text.lower() not in scalars.NO_LIMIT:
        return "a number", Outcome.STOPS
    if row.key in LEVEL_KEYS and text.lower() not in scalars.LOG_LEVELS and not text.isdigit():
        # of a number with more behind it Slurm reads the number
        return f"one of {', '.join(scalars.LOG_LEVELS)}", Outcome.LOGS if text[:1].isdigit() else Outcome.STOPS
    return None


def _meant(row: slurm.SlurmKey, text: str) -> tuple[str | None, str | None]:
    """The number that was meant by an amount with a unit: a hint, and the text."""
    if row.unit == "MiB" and (mib := mebibytes(text)) is not None:
        return f"write {mib}", str(mib)
    seconds = _SECONDS.fullmatch(text)
    if row.unit == "seconds" and seconds is not None:
        return f"write {seconds[1]}", seconds[1]
    return None, None


def mebibytes(text: str) -> int | None:
    """The MiB that were meant by an amount with a unit, as 64G or 1 TiB."""
    amount = _AMOUNT.fullmatch(text)
    return whole(amount[1]) << {"m": 0, "g": 10, "t": 20}[amount[2].lower()] if amount is not None else None


_ELSEWHERE = {
    ("JobCompType", "slurmdbd"): "delete it: AccountingStorageType=accounting_storage/slurmdbd records jobs",
    ("MpiDefault", "openmpi"): "write pmix, by which Open MPI starts",
    ("TaskPluginParam", "sched"): "delete it, and write TaskPlugin=task/cgroup,task/affinity",
}
"""(key, plugin or word that it does not have) → what does that."""


def _stands_alone(word: str) -> bool:
    row = slurm_values.token("AuthInfo", word)
    return row is not None and not row.takes_value


def words(release: SlurmRelease, key: str, text: str) -> Iterator[Remark]:
    """Words of a comma-separated list that the release does not know, or that lack their value or have a wrong one."""
    if key == "AuthInfo" and "=" not in text and not all(map(_stands_alone, text.split(","))):
        return  # all of it is a path
    start = 0
    outcome = Outcome(slurm_values.unknown_token(key))
    for part in text.split(",", _MOST_WORDS)[:_MOST_WORDS]:
        word = part.strip()
        at = (start + part.find(word), len(word.partition("=")[0]))
        start += len(part) + 1
        if not word:
            continue
        row = slurm_values.token(key, word)
        if key in _NO_BLANKS and part.startswith(" "):
            message = f"{key} has a blank before '{word}', and no daemon starts with it"
            yield Remark("slurm-value-wrong", message, "remove the blanks after commas", outcome, at)
        elif row is None:
            hint, instead = _near_word(key, word)
            yield Remark("slurm-word-unknown", _unknown_word(key, word, outcome), hint, outcome, at, instead=instead)
        elif (state := row.state(release)) != "known":
            message = _other_release(key, row, release, state)
            does = Outcome.LOGS if state == "defunct" else outcome
            hint = _instead(row) or _ELSEWHERE.get((key, row.token.lower()))
            yield Remark("slurm-word-unknown", message, hint, does, at)
        elif row.takes_value and "=" not in word:
            yield Remark(
                "slurm-value-wrong",
                f"'{row.token}' of {key} requires a value; Slurm ignores it without one",
                f"write {row.token}=…",
                Outcome.SILENT,
                at,
            )
        else:
            yield from _number_of(key, row, word, at[0])
    if (more := text.count(",") + 1 - _MOST_WORDS) > 0:
        message = f"only the first {_MOST_WORDS:,} options of {key} are checked, not the other {more:,}"
        yield Remark("slurm-word-unknown", message, None, outcome, (start, max(1, len(text) - start)))


def _number_of(key: str, row: slurm_values.SlurmToken, word: str, start: int) -> Iterator[Remark]:
    """The number behind a word, where the catalogue has its bounds."""
    limits = slurm_values.bounds(key, row.token) if row.takes_value else None
    text = word.partition("=")[2].strip()
    if limits and (not re.fullmatch("-?[0-9]+", text) or not limits.low <= whole(text) <= limits.high):
        message = f"'{row.token}' must be a whole number from {limits.low} to {limits.high}, not '{text}'"
        at = start + word.index("=") + 1, max(1, len(text))
        yield Remark("slurm-value-wrong", message, None, Outcome(limits.beyond), at)


def _unknown_word(key: str, word: str, outcome: Outcome) -> str:
    what = {
        Outcome.STOPS: "no daemon starts with it",
        Outcome.LOGS: "Slurm ignores it and logs an error",
    }.get(outcome, "Slurm silently ignores it")
    return f"'{word.partition('=')[0]}' is not an option of {key} in any release; {what}"


def _near_word(key: str, word: str) -> tuple[str | None, str | None]:
    """A word of the same key, and the hint that names it or the key that has this word."""
    name = word.partition("=")[0]
    if hint := did_you_mean(name, [token.token for token in slurm_values.tokens(key)]):
        return hint, None
    homes = [other for other in slurm_values.keys_with_token(name) if other != key]
    return f"move it to {homes[0]}" if homes else None, None


def _other_release(key: str, row: slurm_values.SlurmToken, release: SlurmRelease, state: str) -> str:
    end = row.removed or row.defunct
    when = f"requires Slurm {row.since} or newer" if state == "too-new" else f"was removed in Slurm {end}"
    return f"option '{row.token}' of {key} {when}; this is {release}"


def _instead(row: slurm_values.SlurmToken) -> str | None:
    return f"write {row.instead}" if row.instead else None


def plugins(release: SlurmRelease, key: str, text: str) -> Iterator[Remark]:
    """Plugins of a comma-separated list that the release does not have."""
    start = 0
    for part in text.split(",", _MOST_WORDS)[:_MOST_WORDS]:
        at = (start, len(part)) if part else (max(start - 1, 0), 1)
        start += len(part) + 1
        row = _plugin(release, key, part)
        if row is not None:
            # what takes the place of one plugin does not take that of a list with others in it
            yield replace(row, at=at, instead=row.instead if text == part else None)
    if (more := text.count(",") + 1 - _MOST_WORDS) > 0:
        message = f"only the first {_MOST_WORDS:,} plugins of {key} are checked, not the other {more:,}"
        outcome = Outcome(slurm_values.unknown_plugin(key, release))
        yield Remark("slurm-plugin-unknown", message, None, outcome, (start, max(1, len(text) - start)))


def _plugin(release: SlurmRelease, key: str, part: str) -> Remark | None:
    """Problems of one name of a plugin."""
    name, row = part.strip(), slurm_values.plugin(key, part)
    bare = name.rpartition("/")[2]
    if bare.lower() == "none" and slurm_values.takes_any_none(key, release):
        return None
    does = Outcome(slurm_values.unknown_plugin(key, release))
    if row is None:
        if key in _OPEN:
            return None
        names = [plugin.value for plugin in slurm_values.plugins(key)]
        hint = _ELSEWHERE.get((key, bare.lower())) or _near_plugin(part, names)
        return Remark("slurm-plugin-unknown", f"'{part}' is not a plugin for {key}", hint, does)
    if key not in _ANY_CASE and name != name.lower():
        right = name.lower()
        message = f"plugin names are lower case; Slurm {release} does not find '{name}'"
        if key in _OPEN:
            message, does = f"GRES names are case-sensitive: '{name}' is not {right}", Outcome.LOGS
        return Remark("slurm-plugin-unknown", message, f"write {right}", does, instead=right)
    if whole := slurm_values.needs_family(key, name, release):
        return Remark("slurm-plugin-unknown", _lacks_family(key, name), f"write {whole}", does, instead=whole)
    state = row.state(release)
    if state == "known" or key in _OPEN:
        return None
    when = f"exists from Slurm {row.since} on" if state == "too-new" else f"was removed in Slurm {row.removed}"
    other = row.note.partition(" ")[0]
    instead = other if "/" in other else None
    hint = f"write {other}" if instead else None
    return Remark("slurm-plugin-unknown", f"'{row.value}' {when}; this is {release}", hint, instead=instead)


def _lacks_family(key: str, name: str) -> str:
    return f"{key} requires the full name of a plugin; no daemon starts with '{name}'"


def _near_plugin(name: str, names: list[str]) -> str | None:
    """By the whole name, or by the part behind the slash."""
    bare = {full.rpartition("/")[2]: full for full in names}
    if hint := did_you_mean(name, names):
        return hint
    return did_you_mean(name.rpartition("/")[2], bare)


def form(row: slurm.SlurmKey, text: str) -> Iterator[Remark]:
    """A text that does not have the form that the key's own reader wants."""
    expected = row.text
    if expected is not None and not FORMS[expected.form].reads(text):
        message = f"'{row.key}' must be {FORMS[expected.form].expected}, not '{text}'"
        hint, instead = _slurm_duration(text) if expected.form == "duration" else (None, None)
        yield Remark("slurm-value-wrong", message, hint, Outcome(expected.beyond), instead=instead, by_form=True)
    elif expected is not None and expected.form == "duration" and _TWO_NUMBERS.fullmatch(text):
        hint = f"write {text}:00 for hours and minutes, or 0:{text} for minutes and seconds"
        yield Remark(durations.CODE, durations.two_numbers(text), hint, Outcome.SILENT, by_form=True)


def _slurm_duration(text: str) -> tuple[str | None, str | None]:
    """`24h`, `7d` as Slurm writes them."""
    try:
        meant = Duration.parse(text).slurm()
    except UnitError:
        return None, None
    return f"write {meant}", meant


def traps(row: slurm.SlurmKey, release: SlurmRelease, text: str) -> Iterator[Remark]:
    """Warnings of the catalogue."""
    for trap in slurm_traps.traps(row.file, row.key, row.block):
        if trap.fits(release, text):
            outcome = Outcome(trap.outcome)
            yield Remark(trap.code, trap.message, trap.hint or None, outcome, instead=trap.instead or None)
