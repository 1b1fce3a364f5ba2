"""Guesses for a word that is no field, code, key or file."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from clustergen.diagnostics import CODES, one_of, suggest
from clustergen.explain.about import about, field_names
from clustergen.explain.keys import names
from clustergen.hardware.drift.kinds import KINDS
from clustergen.render.registry import files

_MOST_FIELDS = 8
_MOST = 4
_SLACK = 0.12  # of a likeness from 0 to 1


def fields_called(word: str) -> list[str]:
    """The few fields that end in this name, in any case: `max_time` is slurm.partitions.max_time."""
    paths = list(dict.fromkeys(path for path, _ in field_names() if path.rpartition(".")[2] == word.lower()))
    return paths if len(paths) <= _MOST_FIELDS else []


def did_you_mean_any(word: str, paths: Iterable[str] = ()) -> str | None:
    """A hint with the nearest fields, codes, kinds of drift, keys and files: those of `paths`, or of any tree."""
    likeness: dict[str | None, float] = {}

    def add(typed: str, meant: str | None, *named: str) -> None:
        ratio = SequenceMatcher(None, typed, meant or "").ratio()
        likeness.update(dict.fromkeys(named or (meant,), ratio))

    add(word, suggest(word, sorted(paths) or [row.path.rpartition("/")[2] for row in files() if "{" not in row.path]))
    if not {"/", ":"} & set(word):
        topics = [code.page for code in CODES.values()]
        for candidates in () if "." in word else (CODES, KINDS, names(), topics):  # none of these has a dot
            add(word, suggest(word, candidates))
        last = word.rpartition(".")[2]
        if isinstance(path := about(word), str) and path:
            add(word, path)
        elif meant := suggest(last, [path.rpartition(".")[2] for path, _ in field_names()]):
            add(last, meant, *fields_called(meant))
    likeness.pop(None, None)
    least = max(likeness.values(), default=0) - _SLACK
    best = [name for name in sorted(likeness, key=lambda name: -likeness[name]) if name and likeness[name] >= least]
    return f"did you mean {one_of(best[:_MOST])}?" if best else None
