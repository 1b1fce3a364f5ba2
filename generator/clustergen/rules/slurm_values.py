"""Values of Slurm's keys: what its parser reads, the words and plugins that the release has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel

from clustergen.catalogue import slurm, slurm_values
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, quote
from clustergen.diagnostics.model_path import value_at
from clustergen.manifest.base import OptionValue
from clustergen.manifest.slurm import Slurm
from clustergen.records import replace
from clustergen.slurmrules import Outcome, Remark, values
from clustergen.slurmrules.field_table import FIELDS, Field

REQUIRES = "slurm"

_HARMFUL = "slurm-value-harmful"


def findings(path: ManifestPath, remarks: Iterable[Remark]) -> Iterator[Finding]:
    """The remarks about a value as findings at its path."""
    for remark in remarks:
        yield Finding(remark.code, path, remark.message, remark.hint, key=remark.on_key, at=remark.at)


def value(release: SlurmRelease, path: ManifestPath, row: slurm.SlurmKey, stated: OptionValue) -> Iterator[Finding]:
    """Findings about the value of a key that the release knows."""
    text = str(stated)
    if remarks := [*values.unprintable(text)]:
        return findings(path, remarks)
    traps = _lowered(values.traps(row, release, text))
    remarks = [*traps, *values.value(release, row, text), *_lowered(values.form(row, text))]
    return findings(path, {remark.at: remark for remark in reversed(remarks)}.values())


def _lowered(remarks: Iterable[Remark]) -> Iterator[Remark]:
    """The remarks that matter, as warnings where daemons start nevertheless."""
    for remark in remarks:
        if remark.outcome in (Outcome.LOGS, Outcome.SILENT) and remark.code == "slurm-value-wrong":
            yield replace(remark, code=_HARMFUL)
        elif remark.outcome is not Outcome.ADVICE:
            yield remark


def fields_of_slurm(section: Slurm) -> Iterator[tuple[str, Field, Any]]:
    """Keys of slurm.conf that have a field in the section `slurm`, with the field and its value as written: a word that
    the release does not know is not in effect.
    """
    for key, row in FIELDS["slurm.conf", ""].items():
        top, _, path = row.path.partition(".")
        if top == "slurm":
            yield key, row, value_at(section, path)


def word_lists(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    """The lists of words that have fields of their own."""
    for key, row, stated in fields_of_slurm(section):
        if isinstance(stated, tuple) and slurm_values.has_tokens(key):
            yield from words(cluster, key, row, stated)


def words(cluster: Cluster, key: str, row: Field, stated: Iterable[str]) -> Iterator[Finding]:
    for index, word in enumerate(stated):
        yield from findings((*row.path.split("."), index), values.words(cluster.slurm.release, key, word))


def refused_values(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    """Values of fields that the key's type allows and that no daemon starts with: `slurm.user: nobody`."""
    for key, row, stated in fields_of_slurm(section):
        key_row = slurm.key("slurm.conf", key)
        path: ManifestPath = tuple(row.path.split("."))
        if key_row is None or row.form in ("word", "switch"):
            continue
        words = enumerate(stated) if isinstance(stated, tuple) else [(None, stated)]
        for index, word in words:
            if isinstance(word, str):
                traps = _lowered(values.traps(key_row, cluster.slurm.release, word))
                yield from findings(path if index is None else (*path, index), [replace(one, at=None) for one in traps])


def plugin_fields(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    """The plugins that have fields of their own, by the part of their name behind the slash."""
    for key, row, name in fields_of_slurm(section):
        by_name = row.form == "plugin" and not row.values and isinstance(name, str)
        plugin = slurm_values.plugin(key, str(name)) if by_name else None
        if plugin is None or row.path == "slurm.auth":  # which a rule of its own judges
            continue
        family = plugin.value.partition("/")[0] + "/"
        for remark in values.plugins(cluster.slurm.release, key, plugin.value):
            hint = remark.hint.replace(family, "") if remark.hint else None
            yield from findings(tuple(row.path.split(".")), [replace(remark, hint=hint, at=None)])


def name_repeated(_: Cluster, section: Slurm) -> Iterator[Finding]:
    """Lists of names in which one stands twice: the second has no effect, and was probably meant to be another."""
    for path, words in _lists(section, ("slurm",)):
        first: dict[str, int] = {}
        for index, word in enumerate(words):
            if first.setdefault(word, index) != index:
                message = f"{quote(word)} is listed twice"
                yield Finding("name-repeated", (*path, index), message, "remove one", first=(*path, first[word]))


def _lists(value: object, path: ManifestPath) -> Iterator[tuple[ManifestPath, tuple[str, ...]]]:
    """All lists of words below a section, with their places."""
    if isinstance(value, BaseModel):
        for name in value.model_fields_set:
            yield from _lists(getattr(value, name), (*path, name))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _lists(inner, (*path, key))
    elif isinstance(value, tuple) and value and all(isinstance(word, str) for word in value):
        yield path, value
