"""Racks by name: an entry that names several stands for each of them, with an equal part of its nodes."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Circuit, Rack
from clustergen.hostlist import expand
from clustergen.manifest.model import Manifest
from clustergen.records import copied


def resolve_racks(manifest: Manifest) -> tuple[Rack, ...]:
    """All racks, in order of the manifest. Where racks are in no row, they stand in one, side by side."""
    racks: list[Rack] = []
    rows: dict[str, int] = {}
    free: dict[str, int] = {}
    for entry, spec in manifest.racks.items():
        names = expand(entry)
        hosts = tuple(expand(spec.nodes)) if spec.nodes else ()
        row = spec.row or ""
        rows.setdefault(row, len(rows))
        circuits = tuple(copied(Circuit, circuit) for circuit in spec.circuits)
        start = spec.position or free.get(row, 1)
        for offset, (name, part) in enumerate(zip(names, _parts(hosts, len(names)), strict=True)):
            racks.append(
                copied(
                    Rack,
                    spec,
                    name=name,
                    entry=entry,
                    entry_nodes=spec.nodes or "",
                    hosts=part,
                    row=row,
                    row_number=rows[row],
                    position=start + offset,
                    weight_kg=spec.weight,
                    airflow_cfm=spec.airflow,
                    depth_mm=spec.depth,
                    circuits=circuits,
                )
            )
        free[row] = start + len(names)
    return tuple(racks)


def _parts(hosts: tuple[str, ...], count: int) -> Iterator[tuple[str, ...]]:
    size = -(-len(hosts) // count)
    for start in range(0, count * size, size) if size else ():
        yield hosts[start : start + size]
    if not size:
        yield from [()] * count
