"""The meaning of a value: texts that Slurm reads alike become equal, and two lists show which of their words differ."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable
from posixpath import commonpath, normpath
from typing import Any

from clustergen.catalogue import slurm_values
from clustergen.catalogue.slurm_meanings import Meaning
from clustergen.slurmconf import scalars
from clustergen.slurmconf.scalars import files_of, hosts_of

_DIGITS = re.compile(r"[0-9]{1,40}")
_AGE = re.compile(r"([0-9]{1,40}) *(h|d|m|)[a-z]*", re.IGNORECASE)

Canonical = Hashable
"""Equal for texts of one meaning; None for a value that is as good as absent."""


def canonical(how: Meaning, key: str, text: str) -> Canonical:
    """The meaning of the text. Never raises: a text that cannot be read stands for itself."""
    text = text.strip()
    if how.same:
        text = dict(how.same).get(text.lower(), text)
    if not text or text == "(null)":
        return None
    if how.form in ("plugin", "plugin set"):
        plugins = _plugins(key, text)
        return tuple(sorted(plugins)) if how.form == "plugin set" else plugins
    reader = _READERS.get(how.form)
    return reader(text) if reader else text


def _boolean(text: str) -> Canonical:
    value = scalars.boolean(text)
    return text.lower() if value is None else value


def _unsigned(kind: str) -> Callable[[str], Canonical]:
    def read(text: str) -> Canonical:
        if text.lower() in (*scalars.NO_LIMIT, "-1"):
            return "unlimited"
        value = scalars.unsigned(text, kind)
        return text.lower() if value is None else value

    return read


def _float(text: str) -> Canonical:
    try:
        return float(text)
    except ValueError:
        return text.lower()


def _time(text: str) -> Canonical:
    """Seconds."""
    seconds = scalars.seconds_of(text)
    return text.lower() if seconds is None else "unlimited" if seconds < 0 else seconds


def _minutes(text: str) -> Canonical:
    """Whole minutes: Slurm rounds a partition's times up."""
    seconds = _time(text)
    return -(-seconds // 60) if isinstance(seconds, int) else seconds


def _time_seconds(text: str) -> Canonical:
    return int(text) if _DIGITS.fullmatch(text) else text.lower()


def _amount(text: str) -> Canonical:
    value = scalars.amount(text)
    return text.lower() if value is None else value


def _age(text: str) -> Canonical:
    """slurmdbd counts hours, days or months; a bare number is months."""
    match = _AGE.fullmatch(text)
    return (int(match[1]), match[2].lower() or "m") if match else text.lower()


def _word(text: str) -> str:
    """A word of a list; the case of its name does not matter, that of a value may."""
    name, equals, value = text.partition("=")
    return name.lower() + equals + value


def _set(text: str) -> Canonical:
    return frozenset(map(_word, scalars.words(text))) or None


def _list(text: str) -> Canonical:
    return tuple(scalars.words(text)) or None


def _plugins(key: str, text: str) -> tuple[str, ...]:
    """In full, where the part before the slash is left out."""
    words = [(word, slurm_values.plugin(key, word)) for word in scalars.words(text)]
    return tuple(row.value.lower() if row else word for word, row in words)


def _pairs(text: str) -> Canonical:
    """`cpu=1.0,Mem=0.25G`: name and number, in any order; a unit stays with its number."""
    pairs = []
    for word in scalars.words(text):
        name, sign, value = word.partition("=")
        if not sign:
            name, sign, value = word.partition(":")
        number = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", value)
        pairs.append((name.lower(), (_float(number[1]), number[2].upper()) if number else value))
    return frozenset(pairs) or None


def _ranges(text: str) -> Canonical:
    """`0-3,8` as the set of its numbers."""
    numbers: set[int] = set()
    for word in scalars.words(text):
        low, dash, high = word.strip("[]").partition("-")
        if not _DIGITS.fullmatch(low) or (dash and not _DIGITS.fullmatch(high)):
            return text.lower()
        if int(high or low) - int(low) > 65_536:
            return text.lower()
        numbers.update(range(int(low), int(high or low) + 1))
    return frozenset(numbers)


def _hosts(text: str) -> Canonical:
    return "all" if text.lower() == "all" else frozenset(hosts_of(text))


def _gres(text: str) -> Canonical:
    return frozenset(scalars.gres(text).items()) or None


_READERS: dict[str, Callable[[str], Canonical]] = {
    "boolean": _boolean,
    "uint16": _unsigned("uint16"),
    "uint32": _unsigned("uint32"),
    "uint64": _unsigned("uint64"),
    "long": _unsigned("long"),
    "float": _float,
    "time": _time,
    "minutes": _minutes,
    "time seconds": _time_seconds,
    "amount": _amount,
    "age": _age,
    "word": lambda text: text.lower(),
    "set": _set,
    "list": _list,
    "hosts in order": _list,
    "weights": _pairs,
    "ranges": _ranges,
    "hosts": _hosts,
    "files": lambda text: tuple(files_of(text)),
    "path": normpath,
    "gres": _gres,
}


def differing(how: Meaning, key: str, old: str | None, new: str | None) -> tuple[str, ...]:
    """The words of the table of effects for a changed value; its header explains them."""
    before, after = (canonical(how, key, text or "") for text in (old, new))
    if how.form == "set":
        sides = [side if isinstance(side, frozenset) else frozenset() for side in (before, after)]
        items = tuple(sorted({str(word).partition("=")[0] for word in sides[0] ^ sides[1]}))
        return (*items, *_moved(*sides), ">".join(",".join(sorted(map(str, side))) for side in sides))
    if how.form == "ranges" and isinstance(before, frozenset) and isinstance(after, frozenset):
        return tuple(word for word in _moved(before, after) if word in ("lost", "gained"))
    if how.form == "gres":
        return (_gres_word(scalars.gres(old or ""), scalars.gres(new or "")),)
    if how.form == "hosts in order":
        return _hosts_words(*(side if isinstance(side, tuple) else () for side in (before, after)))
    if how.form.startswith("plugin"):
        names = [",".join(map(str, side)) if isinstance(side, tuple) else str(side) for side in (before, after)]
        return (f"{names[0]} to {names[1]}", ">".join(names))
    if before is None or after is None:
        return ("set",) if before is None else ("unset",)
    if how.form == "path":
        return ("nested",) if _is_nested(str(before), str(after)) else ()
    if how.form in ("word", "boolean"):
        return (str(after).lower(),)
    sizes = [math.inf if side == "unlimited" else side for side in (before, after)]
    if isinstance(sizes[0], int | float) and isinstance(sizes[1], int | float):
        return ("lowered",) if sizes[1] < sizes[0] else ("raised",)
    return ()


def _is_nested(one: str, other: str) -> bool:
    """True if one of two directories is below the other."""
    return all(path.startswith("/") for path in (one, other)) and commonpath((one, other)) in (one, other)


def _moved(before: frozenset[Any], after: frozenset[Any]) -> tuple[str, ...]:
    """`lost` where items are gone, `gained` where there are more, and these as `+ITEM`."""
    more = sorted(f"+{item}" for item in after - before)
    return (*(("lost",) if before - after else ()), *(("gained", *more) if more else ()))


def _gres_word(before: dict[tuple[str, str], int], after: dict[tuple[str, str], int]) -> str:
    """`count`, or for as many devices of other types `type`; `type added` where those had none."""
    if _totals(before) != _totals(after):
        return "count"
    fewer = (kind for (name, kind), count in before.items() if after.get((name, kind), 0) < count)
    return "type" if any(fewer) else "type added"


def _totals(gres: dict[tuple[str, str], int]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for (name, _), count in gres.items():
        totals[name] = totals.get(name, 0) + count
    return totals


def _hosts_words(before: tuple[Hashable, ...], after: tuple[Hashable, ...]) -> tuple[str, ...]:
    """`first` where another host leads, `address` where a host that stays has another address."""
    addresses = [dict(str(host).rstrip(")").partition("(")[::2] for host in side) for side in (before, after)]
    firsts = [next(iter(side), None) for side in addresses]
    moved = any(addresses[1].get(name, address) != address for name, address in addresses[0].items())
    return (*(("first",) if firsts[0] != firsts[1] else ()), *(("address",) if moved else ()))
