"""Keys: is there such a key in the release, does it stand twice, has it a newer name; and the values of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from clustergen.catalogue import slurm, slurm_traps
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import Severity, did_you_mean
from clustergen.lint.finding import Fix, LintFinding
from clustergen.lint.site import Site, delete_line
from clustergen.records import replace
from clustergen.slurmconf.config import Config, Setting
from clustergen.slurmconf.grammar import Line, Pair
from clustergen.slurmrules import Outcome, Remark, values
from clustergen.slurmrules import keys as rules

_RENAMED = {
    "procs": ("cpus",),
    "shared": ("oversubscribe",),
    "priority": ("prioritytier", "priorityjobfactor"),
}
"""Old name → the newer ones, which win over it where both stand."""
_OLD_HOSTS = ("controlmachine", "controladdr", "backupcontroller", "backupaddr")
_ARRAY = "array"
_PROGRAMS = ("prolog", "epilog", "prologslurmctld", "epilogslurmctld")
# Read by slurmd and srun only, or not at all: slurmctld starts without them.
_NOT_SLURMCTLD = ("mpidefault", "launchtype", "routeplugin")


def keys(site: Site, name: str) -> Iterator[LintFinding]:
    """Every key and value of one file and of what it includes."""
    config = site.directory.config(name)
    if config is None or slurm.key_tables(name) is None:
        return
    first: dict[str, Setting] = {}
    judged: dict[tuple[str, str, str], tuple[Remark, ...]] = {}
    for line in config.lines:
        if not line.pairs:
            continue
        yield from _repeated(site, name, line, first)
        block = ""
        seen: dict[str, Setting] = {}
        last = {pair.key.lower(): pair for pair in line.pairs}
        for index, pair in enumerate(line.pairs):
            lower = pair.key.lower()
            cell = (block, lower, pair.value)
            remarks = judged.get(cell)
            if remarks is None:
                remarks = tuple(_judge(site.release, name, *cell, pair.key))
                judged[cell] = remarks
            newer = next((last[key] for key in _RENAMED.get(lower, ()) if index and key in last), None)
            if newer is not None:
                message = f"{pair.key}={pair.value} is ignored because {newer.key}={newer.value} is on the same line"
                hint = f"delete it: {pair.key} is the old name of {newer.key}"
                yield site.warning("slurm-key-ignored", Setting(line.file, pair), message, hint, key=True)
                remarks = tuple(one for one in remarks if one.code != "slurm-key-old-name")
            if remarks:
                most = Severity.WARNING if _mild(site, config, line, index, remarks) else None
                if lower in _RENAMED and not _safe(config, line, lower, last):
                    remarks = tuple(replace(one, instead=None) if one.on_key else one for one in remarks)
                yield from site.remarks(Setting(line.file, pair), remarks, most=most)
            if index == 0:
                head = slurm.key(name, lower)
                block = head.key if head else pair.key
            elif lower in seen:
                message = f"{pair.key} is listed twice on this line; Slurm uses the last one and logs an error"
                yield site.warning("slurm-key-twice", Setting(line.file, pair), message, key=True)
            seen[lower] = Setting(line.file, pair)


def _mild(site: Site, config: Config, line: Line, index: int, remarks: tuple[Remark, ...]) -> bool:
    """True if slurmctld starts with a value that stops it elsewhere."""
    pair = line.pairs[index]
    lower = pair.key.lower()
    if lower == "propagateresourcelimits":  # the other key wins, and nobody reads this one
        return config.value("PropagateResourceLimitsExcept") is not None
    if lower == "preemptmode" and index:
        return site.has("preempt-mode-of-partition-logged")
    return lower in _NOT_SLURMCTLD or (index > 0 and _by_form(remarks) and _unused(config, line, pair))


def _judge(release: SlurmRelease, file: str, block: str, lower: str, text: str, key_text: str) -> Iterator[Remark]:
    """Problems of one key and its value, in any place."""
    row = slurm.key(file, lower, block)
    if row is None:
        if not block or (file, block) in _known_blocks():
            yield rules.unknown(file, block, key_text, _hint(file, block, key_text))
    elif (state := row.state(release)) != "known":
        is_removable = not block and (state == "defunct" or row.note == "delete it")
        for remark in rules.state(row, release):
            yield replace(remark, at=None, on_key=True, instead="delete" if is_removable else None)
    else:
        yield from _old_name(release, row, text)
        if text.upper() != "DEFAULT" or lower not in ("nodename", "partitionname"):
            yield from _value(release, row, text)


def _old_name(release: SlurmRelease, row: slurm.SlurmKey, text: str) -> Iterator[Remark]:
    """A name that the release reads and that has a newer one."""
    lower = row.key.lower()
    if lower in _OLD_HOSTS:  # what they say together is for another check
        return
    newer = _newer(row)
    if newer:
        both = " and ".join(newer)
        instead = f"key:{newer[0]}" if len(newer) == 1 else f"key:{newer[0]}={text} {newer[1]}"
        message, hint = f"'{row.key}' is the old name of {both}", f"write {both}"
        yield Remark("slurm-key-old-name", message, hint, Outcome.ADVICE, on_key=True, instead=instead)
    elif row.instead and _exists(row, release) and not any(True for _ in values.traps(row, release, text)):
        message = f"'{row.key}' is an old name; {release} still reads it"
        yield Remark("slurm-key-old-name", message, rules.instead_of(row), Outcome.ADVICE, on_key=True)


def _newer(row: slurm.SlurmKey) -> list[str]:
    """The newer names of a key of nodes and partitions, as Slurm writes them."""
    rows = [slurm.key(row.file, name, row.block) for name in _RENAMED.get(row.key.lower(), ())]
    return [key.key for key in rows if key is not None] if row.block else []


def _value(release: SlurmRelease, row: slurm.SlurmKey, text: str) -> Iterator[Remark]:
    """A value of a key that the release knows."""
    traps = list(values.traps(row, release, text))
    caught = [
        (Outcome(trap.outcome), *_span(trap.pattern, text))
        for trap in slurm_traps.traps(row.file, row.key, row.block)
        if trap.fits(release, text)
    ]
    for remark in (*values.value(release, row, text), *values.form(row, text)):
        start, length = remark.at or (0, len(text))
        # a trap knows better, unless it warns of what starts and this release does not start with it
        if not any(
            low <= start and start + length <= high
            for outcome, low, high in caught
            if not (outcome is Outcome.SILENT and remark.outcome is Outcome.STOPS)
        ):
            traps.append(remark)
    yield from traps
    if not traps and row.type == "boolean" and text.lower() in ("up", "down"):
        message = f"'{row.key}={text}' is ambiguous: yes or no"
        yield Remark("slurm-value-harmful", message, "write YES or NO", Outcome.ADVICE)


def _safe(config: Config, line: Line, lower: str, pairs: Mapping[str, Pair]) -> bool:
    """True if a newer name means the same here: no DEFAULT line, and not this one, says it too."""
    if line.pairs[0].value.lower() == "default":
        return False
    newer = _RENAMED[lower]
    return _default_keys(config, line.key).isdisjoint((lower, *newer)) and pairs.keys().isdisjoint(newer)


@lru_cache(maxsize=4)
def _default_keys(config: Config, block: str) -> frozenset[str]:
    """The keys, in lower case, that DEFAULT lines of a block set."""
    return frozenset(pair.key.lower() for line in config.default_lines(block) for pair in line.pairs)


def _unused(config: Config, line: Line, pair: Pair) -> bool:
    """True if a value of a DEFAULT line counts for no line: nobody reads then what it says."""
    if line.pairs[0].value.lower() != "default" or line.key not in ("nodename", "partitionname"):
        return False
    return id(pair) not in _inherited(config, line.key)


@lru_cache(maxsize=4)
def _inherited(config: Config, block: str) -> frozenset[int]:
    """The identities of the pairs of DEFAULT lines that count for some line."""
    return frozenset(
        id(setting.pair)
        for entry in config.entries(block)
        for key, setting in entry.inherited.items()
        if entry.own_value(key) is None
    )


def _by_form(remarks: tuple[Remark, ...]) -> bool:
    """True if Slurm finds it when it uses the text, not when it reads it."""
    return all(remark.by_form for remark in remarks)


def _span(pattern: re.Pattern[str], text: str) -> tuple[int, int]:
    match = pattern.search(text)
    return match.span() if match else (0, 0)


def _exists(row: slurm.SlurmKey, release: SlurmRelease) -> bool:
    """True if the release has what took the key's place."""
    since = re.search(r"\bfrom ([0-9]{2}\.[0-9]{2})", row.note)
    if since and release < SlurmRelease(since[1]):
        return False
    newer = slurm.key(row.file, row.instead, row.block)
    return newer is None or newer.state(release) == "known"


@cache
def _known_blocks() -> frozenset[tuple[str, str]]:
    return frozenset((file, block) for file, blocks in slurm.files().items() for block in blocks)


def _hint(file: str, block: str, name: str) -> str | None:
    if file == "slurm.conf" and not block and (never := slurm_traps.never_there(name)):
        return never.hint
    if similar := did_you_mean(name, _names(file, block)):
        return similar
    for other, home in _homes().get(name.lower(), ()):
        if (other, home) != (file, block):
            return f"move it to {f'a {home} line of ' if home else ''}{other}"
    return None


@cache
def _names(file: str, block: str) -> tuple[str, ...]:
    return tuple(key.key for key in slurm.keys(file, block))


@cache
def _homes() -> dict[str, list[tuple[str, str]]]:
    """Key in lower case → the files and blocks that have one of that name."""
    homes: dict[str, list[tuple[str, str]]] = {}
    for file, blocks in slurm.files().items():
        for block in ("", *blocks):
            for name in _names(file, block):
                homes.setdefault(name.lower(), []).append((file, block))
    return homes


def _repeated(site: Site, name: str, line: Line, first: dict[str, Setting]) -> Iterator[LintFinding]:
    """A key of a line of its own that stands a second time."""
    pair = line.pairs[0]
    lower = pair.key.lower()
    row = slurm.key(name, lower)
    if row is None:
        return
    single = row.type != _ARRAY or (lower in _PROGRAMS and not site.has("programs-repeat"))
    if not single:
        return
    setting = Setting(line.file, pair)
    before = first.get(lower)
    first[lower] = setting
    if before is None:
        return
    where = f"line {before.key_at.line}" + (f" of {before.file}" if before.file != setting.file else "")
    same = before.text == setting.text and not line.problems
    message = f"'{row.key}' is already set on {where}; Slurm uses the last one and logs an error"
    value_text = "something else" if lower.endswith("pass") else f"'{before.text}'"
    hint = "delete one of them: the values are the same" if same else f"keep the right one; that line sets {value_text}"
    fix: Fix | None = delete_line(setting) if same and line.number == setting.value_at.line else None
    yield site.finding("slurm-key-twice", Severity.WARNING, setting, message, hint, key=True, fix=fix)
