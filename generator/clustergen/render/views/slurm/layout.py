"""Lays out the table of Slurm's keys as its files have it: headings, keys with their reasons, lines."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import groupby

from clustergen.cluster.assumptions import Assumption
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.line import Line
from clustergen.cluster.slurm.keys.table import settings_of
from clustergen.records import record
from clustergen.render.formats import Safe, comment_text, slurm_value

_COMMENT_COLUMN = 48


@record
class Section:
    """Lines on one topic."""

    title: str
    lines: tuple[Safe, ...]


@record
class TypeLines:
    """The lines of one node type."""

    title: Safe
    lines: tuple[Safe, ...]
    assumed: Safe | None
    """Values of the lines that no source confirms."""


@record
class Sections:
    """A file that consists of them."""

    sections: tuple[Section, ...]


def sections(cluster: Cluster, file: str) -> tuple[Section, ...]:
    """The keys in effect in the file, by topic."""
    topics = groupby(settings_of(cluster, file).rows, key=lambda row: row.topic)
    return tuple(
        Section(title, tuple(_setting(row.key, row.value, row.reason) for row in rows)) for title, rows in topics
    )


@cache
def _setting(key: str, value: str, reason: str) -> Safe:
    text = _word(key, value)
    return Safe(f"{text:<{_COMMENT_COLUMN}}  # {comment_text(reason)}" if reason else text)


def _word(key: str, value: str) -> str:
    return f"{key}={slurm_value(value)}"


def lines_of(lines: Iterable[Line]) -> tuple[Safe, ...]:
    """Lines of several keys."""
    return tuple(Safe(" ".join(_word(*pair) for pair in line.keys.items())) for line in lines)


def assumption_text(assumption: Assumption | None) -> Safe | None:
    """The comment on values that no source confirms."""
    return comment_text(f"Assumed: {assumption.message}; {assumption.hint}.") if assumption is not None else None
