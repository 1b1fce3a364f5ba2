"""Keys: is there such a key in the release, does it stand twice, has it a newer name; and the values of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from clustergen.catalogue import slurm, slurm_traps
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import Severity, did_you_mean
from clustergen.lint.found import Fix, Found
from clustergen.lint.site import Site, delete_line
from clustergen.records import replace
from clustergen.slurmconf.folder import Config, Setting
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
_REPEATABLE = SlurmRelease("24.05")  # of Prolog, Epilog and those of slurmctld
_PROGRAMS = ("prolog", "epilog", "prologslurmctld", "epilogslurmctld")
# Read by slurmd and srun only, or not at all: slurmctld starts without them.
_NOT_SLURMCTLD = ("mpidefault", "launchtype", "routeplugin")


def keys(site: Site, name: str) -> Iterator[Found]:
    """Every key and value of one file and of what it includes."""
    config = site.folder.config(name)
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
        for index, pair in enumerate(line.pairs):
            lower = pair.key.lower()
            cell = (block, lower, pair.value)
            remarks = judged.get(cell)
            if remarks is None:
                remarks = tuple(_judge(site.release, name, *cell, pair.key))
                judged[cell] = remarks
            if remarks:
                most = Severity.WARNING if _mild(site, config, line, index, remarks) else None
                if lower in _RENAMED and not _safe(config, line, lower):
                    remarks = tuple(replace(one, instead=None) if one.on_key else one for one in remarks)
                yield from site.remarks(Setting(line.file, pair), remarks, most=most)
            if index == 0:
                head = slurm.key(name, lower)
                block = head.key if head else pair.key
            elif lower in seen:
                message = f"{pair.key} stands twice in this line; Slurm takes the last one, and logs an error"
                yield site.warning("slurm-key-twice", Setting(line.file, pair), message, key=True)
            seen[lower] = Setting(line.file, pair)


def _mild(site: Site, config: Config, line: Line, index: int, remarks: tuple[Remark, ...]) -> bool:
    """Whether slurmctld starts with a value that stops it elsewhere."""
    pair = line.pairs[index]
    lower = pair.key.lower()
    if lower == "propagateresourcelimits":  # the other key wins, and nobody reads this one
        return config.value("PropagateResourceLimitsExcept") is not None
    if lower == "preemptmode" and index:
        return site.since("24.11")
    return lower in _NOT_SLURMCTLD or (index > 0 and _by_form(remarks) and _unused(config, line, pair))


def _judge(release: SlurmRelease, file: str, block: str, lower: str, text: str, written: str) -> Iterator[Remark]:
    """What is wrong with one key and its value, wherever it stands."""
    known = slurm.key(file, lower, block)
    if known is None:
        if not block or (file, block) in _known_blocks():
            yield rules.unknown(file, block, written, _hint(file, block, written))
    elif (state := known.state(release)) != "known":
        gone = not block and (state == "defunct" or known.note == "delete it")
        for remark in rules.state(known, release):
            yield replace(remark, at=None, on_key=True, instead="delete" if gone else None)
    else:
        yield from _old_name(release, known, text)
        if text.upper() != "DEFAULT" or lower not in ("nodename", "partitionname"):
            yield from _value(release, known, text)


def _old_name(release: SlurmRelease, known: slurm.SlurmKey, text: str) -> Iterator[Remark]:
    """A name that the release reads and that has a newer one."""
    lower = known.key.lower()
    if lower in _OLD_HOSTS:  # what they say together is for another check
        return
    newer = _newer(known)
    if newer:
        both = " and ".join(newer)
        instead = f"key:{newer[0]}" if len(newer) == 1 else f"key:{newer[0]}={text} {newer[1]}"
        message, hint = f"'{known.key}' is the old name of {both}", f"write {both}"
        yield Remark("slurm-key-old-name", message, hint, Outcome.ADVICE, on_key=True, instead=instead)
    elif known.instead and _there(known, release) and not any(True for _ in values.traps(known, release, text)):
        message = f"'{known.key}' is an old name; {release} still reads it"
        yield Remark("slurm-key-old-name", message, rules.instead_of(known), Outcome.ADVICE, on_key=True)


def _newer(known: slurm.SlurmKey) -> list[str]:
    """The newer names of a key of nodes and partitions, as Slurm writes them."""
    found = [slurm.key(known.file, name, known.block) for name in _RENAMED.get(known.key.lower(), ())]
    return [key.key for key in found if key is not None] if known.block else []


def _value(release: SlurmRelease, known: slurm.SlurmKey, text: str) -> Iterator[Remark]:
    """A value of a key that the release knows."""
    told = list(values.traps(known, release, text))
    caught = [
        (trap.outcome, *_span(trap.pattern, text))
        for trap in slurm_traps.traps(known.file, known.key, known.block)
        if trap.fits(release, text)
    ]
    for remark in (*values.value(release, known, text), *values.form(known, text)):
        start, length = remark.at or (0, len(text))
        # a trap knows better, unless it warns of what starts and this release does not start with it
        if not any(
            low <= start and start + length <= high
            for outcome, low, high in caught
            if not (outcome == Outcome.SILENT and remark.outcome is Outcome.STOPS)
        ):
            told.append(remark)
    yield from told
    if not told and known.type == "boolean" and text.lower() in ("up", "down"):
        message = f"'{known.key}={text}' reads as yes or no"
        yield Remark("slurm-value-harmful", message, "write YES or NO", Outcome.ADVICE)


def _safe(config: Config, line: Line, lower: str) -> bool:
    """Whether a newer name means the same here: no DEFAULT line, and not this one, says it too."""
    others = (lower, *_RENAMED[lower])
    above = config.default_lines(line.key)
    return line not in above and not any(
        one.pair(key) for key in others for one in (*above, line) if (one, key) != (line, lower)
    )


def _unused(config: Config, line: Line, pair: Pair) -> bool:
    """Whether a value of a DEFAULT line counts for no line: nobody reads then what it says."""
    if line.pairs[0].value.lower() != "default" or line.key not in ("nodename", "partitionname"):
        return False
    found = [entry.value(pair.key) for entry in config.entries(line.key)]
    return not any(one is not None and one.pair is pair for one in found)


def _by_form(remarks: tuple[Remark, ...]) -> bool:
    """Whether Slurm finds it when it uses the text, not when it reads it."""
    return all(remark.by_form for remark in remarks)


def _span(pattern: re.Pattern[str], text: str) -> tuple[int, int]:
    found = pattern.search(text)
    return found.span() if found else (0, 0)


def _there(known: slurm.SlurmKey, release: SlurmRelease) -> bool:
    """Whether the release has what took the key's place."""
    since = re.search(r"\bfrom ([0-9]{2}\.[0-9]{2})", known.note)
    if since and release < SlurmRelease(since[1]):
        return False
    newer = slurm.key(known.file, known.instead, known.block)
    return newer is None or newer.state(release) == "known"


@cache
def _known_blocks() -> frozenset[tuple[str, str]]:
    return frozenset((file, block) for file, blocks in slurm.files().items() for block in blocks)


def _hint(file: str, block: str, name: str) -> str | None:
    if file == "slurm.conf" and not block and (never := slurm_traps.never_there(name)):
        return never.hint
    if near := did_you_mean(name, [key.key for key in slurm.keys(file, block)]):
        return near
    for other, blocks in slurm.files().items():
        for home in ("", *blocks):
            if (other, home) != (file, block) and slurm.key(other, name, home) is not None:
                return f"it is a key of {f'a {home} line of ' if home else ''}{other}"
    return None


def _repeated(site: Site, name: str, line: Line, first: dict[str, Setting]) -> Iterator[Found]:
    """A key of a line of its own that stands a second time."""
    pair = line.pairs[0]
    lower = pair.key.lower()
    known = slurm.key(name, lower)
    if known is None:
        return
    single = known.type != _ARRAY or (lower in _PROGRAMS and site.release < _REPEATABLE)
    if not single:
        return
    setting = Setting(line.file, pair)
    before = first.get(lower)
    first[lower] = setting
    if before is None:
        return
    where = f"line {before.key_at.line}" + (f" of {before.file}" if before.file != setting.file else "")
    same = before.text == setting.text and not line.problems
    message = f"'{known.key}' stands on {where} already; the last one counts, and Slurm logs an error"
    said = "something else" if lower.endswith("pass") else f"'{before.text}'"
    hint = "it says the same: delete one of them" if same else f"that line says {said}; keep the right one"
    fix: Fix | None = delete_line(setting) if same and line.number == setting.value_at.line else None
    yield site.found("slurm-key-twice", Severity.WARNING, setting, message, hint, key=True, fix=fix)
