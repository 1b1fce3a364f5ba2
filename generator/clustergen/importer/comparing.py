"""The rendered files beside the hand-written ones: what differs in meaning, and what is known of why."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from clustergen import compile as compiler
from clustergen.catalogue import slurm
from clustergen.catalogue.slurm_meanings import spelled
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.slurm.accounting import PASSWORD_FILE
from clustergen.diagnostics import Diagnostic, Severity
from clustergen.diff.change import Change
from clustergen.diff.slurm import slurm_changes
from clustergen.hostlist import expand, names_of
from clustergen.importer.draft import Draft, Note, Origin
from clustergen.importer.originals import CONFIGS, Originals
from clustergen.importer.sections import replaced
from clustergen.importer.topology import YAML, file_of, renamed
from clustergen.manifest import MANIFEST
from clustergen.records import record, replace
from clustergen.render.tree import Tree
from clustergen.slurmrules.values import value


@record
class Comparison:
    """The meaning of the rendered files beside the hand-written ones. `why` is empty where the reason is not known."""

    change: Change
    why: str
    meant: bool
    """True: another spelling of the same value."""


def rendered(draft: Draft, text: str) -> tuple[tuple[Diagnostic, ...], Tree | None]:
    with tempfile.TemporaryDirectory(prefix="clustergen-import-") as directory:
        path = Path(directory) / MANIFEST
        path.write_text(text, encoding="utf-8")
        for name, content in draft.files.items():
            place = Path(directory) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            place.chmod(0o755 if name in draft.programs else 0o644)
        compiled = compiler.validate(path)
        if not compiled.ok:
            errors = [item for item in compiled.diagnostics if item.severity is Severity.ERROR]
            return tuple(errors), None
        tree, diagnostics = compiler.render(compiled, path)
        return tuple(item for item in diagnostics if item.severity is Severity.ERROR), tree


def changes_of(draft: Draft, originals: Originals, tree: Tree) -> tuple[Change, ...]:
    old = originals.flat()
    extra: dict[str, str] = {}
    for name, content in draft.files.items():
        extra["/" + name.split("/", 2)[2]] = content.decode("utf-8", "surrogateescape")
    old |= extra
    if ("slurm", "topology", "format") in draft.items:
        old["/etc/slurm/topology.yaml"] = renamed(originals.directory.text(YAML) or "")
    old |= {f"/etc/slurm/{name}": originals.directory.text(name) or "" for name in replaced(draft)}
    if file_of(originals) == YAML:
        old.pop("/etc/slurm/topology.conf", None)
    targets = {f"/etc/slurm/{name}" for name in (*CONFIGS, YAML, *replaced(draft))} | set(extra)
    new = {
        file.target: file.content.decode("utf-8", "surrogateescape")
        for file in tree
        if file.target and file.target in targets
    }
    dbd = originals.configs.get("slurmdbd.conf")
    password = dbd.text("StoragePass") if dbd else None
    if password is not None:  # as it will be on the node
        new[PASSWORD_FILE] = f"StoragePass={password}\n"
    for name in ("cgroup.conf", "mpi.conf", "acct_gather.conf"):  # an empty file says as much as none
        path = f"/etc/slurm/{name}"
        if path not in new and not old.get(path, "").strip():
            old.pop(path, None)
    return slurm_changes(old, new, originals.release)


def explained(changes: Iterable[Change], draft: Draft) -> tuple[Comparison, ...]:
    """Each change with what the notes know of it."""
    exact: dict[str, list[Note]] = {}
    alike: dict[str, list[Note]] = {}
    for note in draft.notes:
        if note.key:
            exact.setdefault(note.key, []).append(note)
            alike.setdefault(note.key.partition(" ")[0], []).append(note)
    return tuple(_explained(change, draft, exact, alike) for change in changes)


def with_reasons(compared: Iterable[Comparison], release: SlurmRelease) -> tuple[Comparison, ...]:
    """The differences, those without a reason with what the hand-written value itself says of it."""
    return tuple(one if one.why else replace(one, why=_of_value(one.change, release)) for one in compared)


def _of_value(change: Change, release: SlurmRelease) -> str:
    """Words for a hand-written value that Slurm cannot read, or that is absent; empty for any other."""
    file = change.file.rpartition("/")[2]
    row = slurm.key(file, change.key, _block(change))
    if row is None or change.old is None:
        return ""
    if change.kind == "key" and change.old == slurm.default(file, "", change.key, release):
        return f"{file} leaves {change.key} to Slurm's default; clustergen derives it from the other settings"
    return next((f"{change.key}={change.old}: {remark.message}" for remark in value(release, row, change.old)), "")


def _explained(
    change: Change, draft: Draft, exact: Mapping[str, list[Note]], alike: Mapping[str, list[Note]]
) -> Comparison:
    """`exact`: the notes by what they are about; `alike`: by its key alone."""
    if change.key == "AutoDetect" and not change.new and change.nodes and not _with_gres(draft, change.nodes):
        return Comparison(change, "these nodes have no Gres, so there is nothing to detect", True)
    if change.name:
        names = dict.fromkeys((f"{change.key} {change.name}", f"{_block(change)} {change.name}"))
        notes = [note for name in names for note in exact.get(name, ())]
        notes = notes or [note for note in alike.get(change.key, ()) if overlaps(note.key, change.name)]
    else:
        notes = exact.get(change.key, [])
    why = "; ".join(dict.fromkeys(note.text for note in notes))
    return Comparison(change, why, bool(notes) and all(note.kind in ("meant", "secret") for note in notes))


def _with_gres(draft: Draft, nodes: str) -> bool:
    data = draft.data()
    kinds = {name for name, kind in data["node_types"].items() if "gpus" in kind or "Gres" in _options(kind)}
    hosts = set(expand(nodes))
    entries = (entry for entry in data["nodes"] if entry["type"] in kinds or "Gres" in _options(entry))
    return any(not hosts.isdisjoint(expand(entry["name"])) for entry in entries)


def _options(section: dict[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = section.get("slurm_options", {})
    return options


def _block(change: Change) -> str:
    return {"node": "NodeName", "partition": "PartitionName", "node set": "NodeSet"}.get(change.kind, "")


def overlaps(key: str, names: str) -> bool:
    return not set(names_of(key.partition(" ")[2])).isdisjoint(names_of(names))


def is_about(origin: Origin, change: Change) -> bool:
    name_of_block = {"nodename": "NodeName", "partitionname": "PartitionName"}.get(origin.block, "")
    if _block(change) != name_of_block:
        return False
    if change.key not in spelled(change.file.rpartition("/")[2], name_of_block, origin.key):
        return False
    return not change.name or origin.name == change.name or overlaps(f"x {origin.name}", change.name)
