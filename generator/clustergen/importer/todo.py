"""Facts that a manifest needs and Slurm's files lack, as a list for the end of the manifest and of the report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clustergen.diagnostics.words import listed
from clustergen.importer.draft import Draft, Note

SECTIONS = {
    "networks.management": "cidr and domain of the management network: {cidr: 192.0.2.0/24, domain: cluster.local}",
    "networks.fabric": "the network for MPI and NCCL, if there is one: {type: infiniband, rate: NDR}",
    "storage": "home and scratch (where home is not shared, the output of a job stays on its first node):"
    " {home: {type: nfs, server: 192.0.2.20, path: /export/home, mount: /home}}",
    "monitoring": "metrics and alerts: add monitoring to the roles of a service node",
    "login": "login nodes: {name: login1, type: service, roles: [login]} in nodes",
    "slurm.accounts": "accounts and QOS: import again with --accounts, or {} if you manage them with sacctmgr",
}
"""Missing part → its purpose, and an example."""


_BY_HARDWARE = re.compile(r"-\d+(g|cpu)(-\d+)?$")
_MOST_NAMES = 5


def import_todo(draft: Draft) -> None:
    """Adds a note for each section that the files say nothing of, and for names of node types that nobody uses."""
    data = draft.data()
    for section in _missing(data):
        draft.note("todo", f"{section}: {SECTIONS[section]}")
    names = [str(name) for name in data.get("node_types", {}) if _BY_HARDWARE.search(str(name))]
    if names:
        words = f"{listed(names, _MOST_NAMES)} have names made of their memory and CPUs; rename them here and in nodes"
        draft.note("todo", f"node_types: {words}")


def todo_lines(draft: Draft) -> Iterator[str]:
    """The end of the manifest."""
    notes: list[Note] = [note for note in draft.notes if note.kind == "todo"]
    if notes:
        yield "To do, as Slurm's files do not contain it:"
        yield from (f"- {note.text}" for note in notes)


def _missing(data: dict[str, Any]) -> Iterator[str]:
    networks, slurm = data.get("networks", {}), data.get("slurm", {})
    roles = {role for entry in data.get("nodes", ()) for role in entry.get("roles", ())}
    if not networks.get("management", {}).get("cidr"):
        yield "networks.management"
    if "fabric" not in networks:
        yield "networks.fabric"
    if "storage" not in data:
        yield "storage"
    yield from (role for role in ("monitoring", "login") if role not in roles)
    if "slurm-accounting" in roles and "accounts" not in slurm:
        yield "slurm.accounts"
