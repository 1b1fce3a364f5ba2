"""The passthrough options for Slurm's own keys, checked by release: is there such a key, and may it stand here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clustergen.catalogue import slurm, slurm_traps
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.diagnostics.model_path import follow, value_at
from clustergen.diagnostics.shapes import refusal
from clustergen.diagnostics.words import on_one_line
from clustergen.manifest.base import OptionValue
from clustergen.manifest.hardware import NodeType
from clustergen.manifest.model import Manifest
from clustergen.manifest.nodes import Nodes
from clustergen.manifest.slurm import Slurm
from clustergen.manifest.stated import is_stated
from clustergen.rules.slurm_values import findings, value
from clustergen.slurmrules import keys, values
from clustergen.slurmrules.conf import bare
from clustergen.slurmrules.field_table import NOT_FREE, Field
from clustergen.slurmrules.fields import current_names, derived_from, field_of, fields_of

REQUIRES = "slurm"

Passthrough = tuple[ManifestPath, str, str, Mapping[str, OptionValue], tuple[object, ...]]

# (file, block) → where its keys go.
OPTIONS_OF = {
    ("slurm.conf", ""): "slurm.options",
    ("slurm.conf", "NodeName"): "slurm_options of a node type",
    ("slurm.conf", "PartitionName"): "options of a partition",
    ("cgroup.conf", ""): "slurm.cgroup_options",
    ("gres.conf", "NodeName"): "slurm.gres_options",
    ("mpi.conf", ""): "slurm.mpi_options",
    ("slurmdbd.conf", ""): "slurm.accounting.options",
    ("acct_gather.conf", ""): "slurm.acct_gather_options",
}


def passthrough_sections(section: Slurm) -> Iterator[Passthrough]:
    """Path, file, block and options of each passthrough section, and the sections with the fields for its keys."""
    root = _root(section)
    yield ("slurm", "options"), "slurm.conf", "", section.options, root
    yield ("slurm", "cgroup_options"), "cgroup.conf", "", section.cgroup_options, root
    yield ("slurm", "mpi_options"), "mpi.conf", "", section.mpi_options, root
    yield ("slurm", "acct_gather_options"), "acct_gather.conf", "", section.acct_gather_options, root
    yield ("slurm", "accounting", "options"), "slurmdbd.conf", "", section.accounting.options, root
    for name, partition in section.partitions.items():
        yield ("slurm", "partitions", name, "options"), "slurm.conf", "PartitionName", partition.options, (partition,)


def _root(section: Slurm) -> tuple[object, ...]:
    """The manifest as far as it has fields for keys of Slurm's files; every manifest has nodes."""
    return ({"slurm": section, "nodes": ()},)


def own_lines(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    """Lines that stand as the manifest gives them: the first key says what the others may be."""
    places: tuple[tuple[ManifestPath, str, tuple[Mapping[str, OptionValue], ...]], ...] = (
        (("slurm", "lines"), "slurm.conf", section.lines),
        (("slurm", "gres_lines"), "gres.conf", section.gres_lines or ()),
        (("slurm", "topology", "lines"), "topology.conf", section.topology.lines),
    )
    for path, file, lines in places:
        for index, line in enumerate(lines):
            opening = next(iter(line), "")
            block = next((name for name in slurm.files()[file] if name.lower() == opening.lower()), None)
            if file == "gres.conf":
                block = "NodeName"
            for name, text in line.items():
                where: ManifestPath = (*path, index, name)
                row = slurm.key(file, name, "" if name == opening or block is None else block)
                if row is None:
                    yield _unknown(where, file, block or "", name)
                elif row.state(cluster.slurm.release) != "known":
                    yield from findings(where, keys.state(row, cluster.slurm.release))
                elif block is None and (conflict := conflicting(_root(section), row, text)):
                    yield Finding("slurm-key-managed", where, *conflict, key=True)
                elif name != opening or block is None:
                    yield from value(cluster.slurm.release, where, row, text)


def options(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    yield from _options(cluster, passthrough_sections(section))


def options_of_types(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """Passthrough options of a node type that conflict with fields; those of GPUs, with a field of any type."""
    gres, types = cluster.slurm.gres_options, tuple(section.values())
    yield from _options(cluster, [(("slurm", "gres_options"), "gres.conf", "NodeName", gres, types)])
    for name, kind in section.items():
        path: ManifestPath = ("node_types", name, "slurm_options")
        yield from _options(cluster, [(path, "slurm.conf", "NodeName", kind.slurm_options, (kind,))])


def options_of_nodes(cluster: Cluster, section: tuple[Nodes, ...]) -> Iterator[Finding]:
    for index, entry in enumerate(section):
        path: ManifestPath = ("nodes", index, "slurm_options")
        yield from _options(cluster, [(path, "slurm.conf", "NodeName", entry.slurm_options, (entry,))])


def _options(cluster: Cluster, places: Iterable[Passthrough]) -> Iterator[Finding]:
    for path, file, block, options, sections in places:
        seen: dict[str, str] = {}
        if path == ("slurm", "options"):
            seen = {name.lower(): name for line in cluster.slurm.lines for name in list(line)[:1]}
        for name, text in options.items():
            where: ManifestPath = (*path, name)
            spellings = current_names(file, block, name)
            other = next((seen[one.lower()] for one in spellings if one.lower() in seen), None)
            if other is not None:
                yield Finding("slurm-key-twice", where, _twice(name, other), "remove one of them", key=True)
                continue
            seen |= {one.lower(): name for one in spellings}
            yield from _option(cluster, where, file, block, name, text, sections)


def _twice(name: str, other: str) -> str:
    if name == other:
        return f"'{name}' is also set in slurm.lines"
    if name.lower() == other.lower():
        return f"'{name}' and '{other}' are the same key: Slurm ignores case"
    return f"'{name}' and '{other}' are two names of the same key"


def _option(
    cluster: Cluster,
    path: ManifestPath,
    file: str,
    block: str,
    name: str,
    text: OptionValue,
    sections: tuple[object, ...],
) -> Iterator[Finding]:
    release = cluster.slurm.release
    known_key = slurm.key(file, name, block)
    rows = fields_of(file, block, name)
    free = cluster.slurm.bare and (known_key is None or known_key.key not in NOT_FREE)  # slurm.defaults: slurm
    if known_key is None:
        yield _unknown(path, file, block, name)
    elif conflict := conflicting(sections, known_key, text):
        yield Finding("slurm-key-managed", path, *conflict, key=True)
    elif (field := field_of(file, block, name)) and not free and not all(row.optional for row in rows):
        remark = next(values.plugins(release, known_key.key, str(text)), None) if rows[0].form == "plugin" else None
        right = (remark.instead if remark else None) or str(text)
        is_right = len(rows) == 1 and not any(value(release, path, known_key, right))
        above = "node_types.<name>." if path[:2] == ("slurm", "gres_options") else ""
        meant = (is_right and in_field(rows[0], right)) or f"{above}{field}"
        message = f"the manifest has a field for '{known_key.key}'"
        yield Finding("slurm-key-managed", path, message, f"write {meant}", key=True)
    elif (origin := derived_from(file, block, name)) and not free:
        yield Finding(
            "slurm-key-managed",
            path,
            f"'{known_key.key}' is set by clustergen",
            f"remove it: clustergen derives it from {origin}",
            key=True,
        )
    elif known_key.state(release) != "known":
        yield from findings(path, keys.state(known_key, release))
    else:
        yield from value(release, path, known_key, text)


def in_field(row: Field, text: str) -> str | None:
    """A field with the value of its key, where the field accepts it: `slurm.resources.process_tracking: cgroup`."""
    forms: dict[str, Any] = {
        "number": int(text) if text.isdigit() else None,
        "path": text,
        "plugin": row.values.get(text.lower()) if row.values else bare(text),
        "plugins": [bare(word) for word in text.split(",")],
        "words": text.split(","),
        "lower": text.lower(),
    }
    meant, declared = forms.get(row.form), follow(Manifest, tuple(row.path.split("."))).declared
    is_refused = meant is None or declared is None or refusal(declared, meant)[0]
    return None if is_refused else f"{row.path}: {on_one_line(meant)}"


def conflicting(sections: tuple[object, ...], known_key: slurm.SlurmKey, text: OptionValue) -> tuple[str, str] | None:
    """Message and hint where a field that the manifest sets contradicts an option, or is silently overridden by it."""
    for row in fields_of(known_key.file, known_key.block, known_key.key):
        section = next((section for section in sections if is_stated(section, row.path)), None)
        is_off = section is None and any(value_at(each, row.path) is False for each in sections)
        if is_off and row.decides_more and _has_word(text, row.word):
            return f"{row.word} alone leaves slurm.conf on the nodes", f"write {row.path}: true, and remove {row.word}"
        if section is None or row.other_key:
            continue
        value = value_at(section, row.path)
        if row.form == "word":
            has = _has_word(text, row.word)
            if has != bool(value):
                verb = "has" if has else "lacks"
                return f"{row.path} is {str(bool(value)).lower()}, but this list {verb} {row.word}", _agree(row, has)
        elif row.form != "switch" or value:
            remedy = f"write {row.path}: false to use your own program"
            hint = remedy if row.form == "switch" else f"keep only {row.path}"
            return f"'{known_key.key}' is already set by {row.path}, which this option would override", hint
    return None


def _has_word(text: OptionValue, word: str) -> bool:
    words = [part.strip().partition("=")[0].lower().rpartition("/")[2] for part in str(text).split(",")]
    return word.lower() in words


def _agree(row: Field, has: bool) -> str:
    return f"remove {row.word}, or write {row.path}: true" if has else f"add {row.word}, or write {row.path}: false"


def _unknown(path: ManifestPath, file: str, block: str, name: str) -> Finding:
    never = slurm_traps.never_there(name)
    hint = never.manifest if never else did_you_mean(name, [key.key for key in slurm.keys(file, block)])
    if hint is None:
        homes = [(f, b) for f, b in OPTIONS_OF if slurm.key(f, name, b) is not None]
        if homes:
            place = field_of(*homes[0], name) or OPTIONS_OF[homes[0]]
            hint = f"write {place}: it is a key of {'a ' + homes[0][1] + ' line' if homes[0][1] else homes[0][0]}"
    return next(findings(path, [keys.unknown(file, block, name, hint)]))
