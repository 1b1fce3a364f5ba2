"""What a value means: texts that Slurm reads alike become equal, and two lists say which of their words differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable

from clustergen.catalogue import slurm_values
from clustergen.catalogue.slurm_meanings import Meaning
from clustergen.hostlist import HostlistError, expand
from clustergen.units import Duration, UnitError

_TRUE = ("yes", "up", "true", "1")
_FALSE = ("no", "down", "false", "0")
_TIME = re.compile(r"[0-9:-]+|unlimited|infinite", re.IGNORECASE)
_AMOUNT = re.compile(r"([0-9]+)([kmgtp]?)b?", re.IGNORECASE)
_AGE = re.compile(r"([0-9]+) *(h|d|m|)[a-z]*", re.IGNORECASE)
_NO_LIMIT = ("unlimited", "infinite", "-1")

Canonical = Hashable
"""Equal for texts of one meaning; None for a value that is as good as absent."""


def canonical(how: Meaning, key: str, text: str) -> Canonical:
    """What the text means. Never raises: what cannot be read stands for itself."""
    text = text.strip()
    if how.same:
        text = dict(how.same).get(text.lower(), text)
    if not text or text == "(null)":
        return None
    if how.form in ("plugin", "plugin set"):
        found = _plugins(key, text)
        return tuple(sorted(found)) if how.form == "plugin set" else found
    reader = _READERS.get(how.form)
    return reader(text) if reader else text


def _boolean(text: str) -> Canonical:
    word = text.lower()
    return True if word in _TRUE else False if word in _FALSE else word


def _integer(text: str) -> Canonical:
    """As strtoul() of base 0: hexadecimal behind 0x, octal behind 0, `k` for 1024."""
    word = text.lower()
    if word in _NO_LIMIT:
        return "unlimited"
    digits, factor = (word[:-1], 1024) if word.endswith("k") else (word, 1)
    try:
        octal = len(digits) > 1 and digits[0] == "0" and digits[1] != "x"
        return int(digits, 8 if octal else 0) * factor
    except ValueError:
        return word


def _float(text: str) -> Canonical:
    try:
        return float(text)
    except ValueError:
        return text.lower()


def _time(text: str) -> Canonical:
    """Seconds."""
    if not _TIME.fullmatch(text):
        return text.lower()
    try:
        return Duration.parse(text).value
    except UnitError:
        return text.lower()


def _minutes(text: str) -> Canonical:
    """Whole minutes: Slurm rounds a partition's times up."""
    seconds = _time(text)
    if not isinstance(seconds, int):
        return seconds
    found = Duration(seconds)
    return "unlimited" if found.unlimited else found.minutes


def _time_seconds(text: str) -> Canonical:
    return int(text) if text.isascii() and text.isdigit() else text.lower()


def _amount(text: str) -> Canonical:
    found = _AMOUNT.fullmatch(text)
    return int(found[1]) << 10 * " kmgtp".index(found[2].lower() or " ") if found else text.lower()


def _age(text: str) -> Canonical:
    """slurmdbd counts hours, days or months; a bare number is months."""
    found = _AGE.fullmatch(text)
    return (int(found[1]), found[2].lower() or "m") if found else text.lower()


def words_of(text: str) -> list[str]:
    return [word for part in text.split(",") if (word := part.strip())]


def _word(text: str) -> str:
    """A word of a list; the case of its name does not matter, that of a value may."""
    name, equals, value = text.partition("=")
    return name.lower() + equals + value


def _set(text: str) -> Canonical:
    return frozenset(map(_word, words_of(text))) or None


def _list(text: str) -> Canonical:
    return tuple(words_of(text)) or None


def _plugins(key: str, text: str) -> tuple[str, ...]:
    """In full, where the part before the slash is left out."""
    words = [(word, slurm_values.plugin(key, word)) for word in words_of(text)]
    return tuple(found.value.lower() if found else word for word, found in words)


def _pairs(text: str) -> Canonical:
    """`cpu=1.0,Mem=0.25G`: name and number, in any order; a unit stays with its number."""
    found = []
    for word in words_of(text):
        name, sign, value = word.partition("=")
        if not sign:
            name, sign, value = word.partition(":")
        number = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", value)
        found.append((name.lower(), (_float(number[1]), number[2].upper()) if number else value))
    return frozenset(found) or None


def _ranges(text: str) -> Canonical:
    """`0-3,8` as the set of its numbers."""
    numbers: set[int] = set()
    for word in words_of(text):
        low, dash, high = word.strip("[]").partition("-")
        if not (low.isascii() and low.isdigit() and (not dash or (high.isascii() and high.isdigit()))):
            return text.lower()
        if int(high or low) - int(low) > 65_536:
            return text.lower()
        numbers.update(range(int(low), int(high or low) + 1))
    return frozenset(numbers)


def hosts_of(text: str) -> list[str]:
    """The names of a host list; the text itself where it is none."""
    try:
        return expand(text) if text.strip() else []
    except HostlistError:
        return [text]


def _hosts(text: str) -> Canonical:
    return "all" if text.lower() == "all" else frozenset(hosts_of(text))


def files_of(text: str) -> list[str]:
    """`/dev/nvidia[0-3]` as its files; also several, with commas."""
    found: list[str] = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", text):
        folder, slash, name = part.strip().rpartition("/")
        found += [folder + slash + each for each in hosts_of(name)]
    return found


def gres_of(text: str) -> dict[tuple[str, str], int]:
    """`gpu:h100:8,shard:32(S:0-1)` as (name, type) → count."""
    found: dict[tuple[str, str], int] = {}
    for word in re.findall(r"(?:[^,(]|\([^)]*\))+", text):
        name, *rest = word.partition("(")[0].strip().split(":")
        count = 1
        if rest and (number := _AMOUNT.fullmatch(rest[-1])):
            count = int(number[1]) << 10 * " kmgtp".index(number[2].lower() or " ")
            rest.pop()
        kind = (name.lower(), ":".join(part for part in rest if part.lower() != "no_consume").lower())
        found[kind] = found.get(kind, 0) + count
    return found


def _gres(text: str) -> Canonical:
    return frozenset(gres_of(text).items()) or None


_READERS: dict[str, Callable[[str], Canonical]] = {
    "boolean": _boolean,
    "uint16": _integer,
    "uint32": _integer,
    "uint64": _integer,
    "long": _integer,
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
    "gres": _gres,
}


def differing(how: Meaning, key: str, old: str | None, new: str | None) -> tuple[str, ...]:
    """What of the change the table of effects may name: words that came or went, `count` or `type` of gres, `first` of
    several hosts, `OLD to NEW`.
    """
    before, after = (canonical(how, key, text or "") for text in (old, new))
    if how.form == "set":
        sides = [side if isinstance(side, frozenset) else frozenset() for side in (before, after)]
        return tuple(sorted({str(word).partition("=")[0] for word in sides[0] ^ sides[1]}))
    if how.form == "gres":
        return ("type",) if _totals(old) == _totals(new) else ("count",)
    if how.form == "hosts in order":
        firsts = [_host_name(side[0]) if isinstance(side, tuple) and side else None for side in (before, after)]
        return ("first",) if firsts[0] != firsts[1] else ()
    if how.form.startswith("plugin"):
        names = [",".join(map(str, side)) if isinstance(side, tuple) else str(side) for side in (before, after)]
        return (f"{names[0]} to {names[1]}",)
    return ()


def _totals(text: str | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for (name, _), count in gres_of(text or "").items():
        found[name] = found.get(name, 0) + count
    return found


def _host_name(host: object) -> str:
    """`head(10.0.0.1)` without its address: another address is no other host."""
    return str(host).partition("(")[0]
