"""gates.json, reframe.yaml and README.md of `acceptance/`."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from clustergen.catalogue.acceptance import gate_kinds, shares
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.jobs import Resources
from clustergen.facility.expectations import Floor
from clustergen.features.acceptance.gates import Gate, GatedType, gated_types, gates
from clustergen.features.acceptance.resolved import Acceptance
from clustergen.hostlist import expand
from clustergen.records import record
from clustergen.render.file import Context, File
from clustergen.render.formats import Safe, one_line
from clustergen.render.views.tables import Table

FORMAT = 1
_MOST_JOBS = 64  # srun processes at once on the controller
_SIGNS = {"least": "≥", "most": "≤", "equal": "="}


@record
class ReframeSettings:
    """ReFrame's site configuration: one partition for each node type."""

    system: str
    types: tuple[GatedType, ...]
    jobs: int


def _is_enabled(cluster: Cluster) -> bool:
    return cluster.has(Acceptance) and bool(gated_types(cluster))


def gates_json(cluster: Cluster) -> Context | None:
    """The whole text: one gate a line, so that a changed floor is a changed line."""
    if not _is_enabled(cluster):
        return None
    mpi = cluster.of(Resources).mpi_default
    lines = [
        "{",
        f' "format": {FORMAT},',
        f' "cluster": {json.dumps(cluster.slurm.cluster_name)},',
        f' "mpi": {json.dumps("pmix" if mpi == "none" else mpi)},',
        ' "types": {',
        ",\n".join(f"  {json.dumps(one.name)}: {json.dumps(_type(one))}" for one in gated_types(cluster)),
        " },",
        ' "gates": [',
        ",\n".join(f"  {json.dumps(_document(gate))}" for gate in gates(cluster)),
        " ]",
        "}",
    ]
    for line in "\n".join(lines).split("\n"):
        one_line(line)
    return {"text": Safe("\n".join(lines))}


def _type(gated: GatedType) -> dict[str, str]:
    return {"hosts": gated.hosts, "partition": gated.partition, "gres": gated.gres}


def _document(gate: Gate) -> dict[str, Any]:
    kind = gate_kinds()[gate.kind]
    return {
        "name": gate.name,
        "kind": gate.kind,
        "type": gate.type,
        "stage": kind.stage,
        "nodes": gate.nodes,
        "tasks_per_node": gate.tasks_per_node,
        "gpus": gate.gpus,
        "seconds": kind.seconds,
        "drains": kind.drains,
        **({"hosts": expand(gate.hosts)} if gate.hosts else {}),
        **({"compare": {"metric": gate.compared, "share": shares()["training"].share}} if gate.compared else {}),
        "arguments": dict(gate.arguments),
        "floors": [
            {"metric": floor.metric, "relation": floor.relation, "value": floor.value, "unit": floor.unit}
            for floor in gate.floors
        ],
    }


def reframe_yaml(cluster: Cluster) -> ReframeSettings | None:
    return ReframeSettings(cluster.name, gated_types(cluster), _MOST_JOBS) if _is_enabled(cluster) else None


def _bound(floor: Floor) -> str:
    return f"{floor.metric} {_SIGNS[floor.relation]} {floor.value:.10g} {floor.unit}"


def floors_page(cluster: Cluster) -> Context | None:
    """One table for each node type; a gate without a floor is recorded and compared with the last run."""
    if not _is_enabled(cluster):
        return None
    tables = []
    gates_of_type: defaultdict[str, list[Gate]] = defaultdict(list)
    for gate in gates(cluster):
        gates_of_type[gate.type].append(gate)
    for gated in gated_types(cluster):
        rows, seconds = [], 0
        for gate in gates_of_type[gated.name]:
            seconds += gate_kinds()[gate.kind].seconds * (_rounds_of_pairs(gated.count) if gate.nodes == 2 else 1)
            kind = gate_kinds()[gate.kind]
            name = "/".join(filter(None, (gate.kind, gate.subject)))
            floors: tuple[Floor | None, ...] = gate.floors or (None,)
            for floor in floors:
                bound = _bound(floor) if floor else "recorded"
                rows.append((kind.stage, name, kind.title, bound, floor.why if floor else "", _action(gate)))
            if gate.compared:
                bound = f"{gate.compared} ≥ {shares()['training'].share:.0%} of the median"
                rows.append((kind.stage, name, kind.title, bound, "the nodes of the type in this run", _action(gate)))
        intro = f"{gated.hosts}, partition {gated.partition}. All gates end within {-(-seconds // 60)} minutes."
        columns = ("Stage", "Gate", "What it measures", "Floor", "Derived from", "A failure")
        tables.append(Table(gated.name, intro, columns, tuple(rows), frozenset({"Gate"})))
    return {"name": cluster.name, "tables": tuple(tables)}


def _rounds_of_pairs(count: int) -> int:
    """Neighbours in a ring, no node twice at a time."""
    return 1 if count == 2 else 2 + count % 2


def _action(gate: Gate) -> str:
    return "drains the node" if gate_kinds()[gate.kind].drains else "is reported"


FILES = (
    File("tree/acceptance/gates.json", gates_json),
    File("tree/acceptance/reframe.yaml", reframe_yaml),
    File("tree/acceptance/README.md", floors_page),
)
