"""Every field of the manifest, manifests that hold it, and what another value of it changes in their trees.

A field is named by its path, with `*` for the key of a mapping, `[]` for the place in a list, and the kind of a file
system for its entry: `storage.nfs.quotas[].space`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from clustergen.cluster.model import Cluster
from clustergen.cluster.resolve import resolve
from clustergen.diagnostics import CODES, Finding, ManifestPath, Severity
from clustergen.explain.edits import Edit
from clustergen.explain.fields import Field, Fields
from clustergen.explain.manifests import Original
from clustergen.explain.producers import producer_of
from clustergen.manifest.base import Section
from clustergen.manifest.model import Manifest
from clustergen.manifest.mount import Mount
from clustergen.manifest.source import load
from clustergen.render.build import Builder
from clustergen.render.file import File
from clustergen.render.node_hardware import hardware
from clustergen.render.tree import Tree
from clustergen.rules import check
from strategies.inventories import MANIFESTS
from strategies.pages import ROOT

BASES = (
    *sorted((ROOT / "tests" / "fixtures" / "fields").glob("*.yaml")),
    *sorted((ROOT / "tests" / "fixtures" / "verify").glob("*.yaml")),
    *MANIFESTS.values(),
)
"""Small ones first."""
_TRES = (
    *("group_tres", "group_tres_minutes", "group_tres_run_minutes"),
    *("max_tres_per_job", "max_tres_per_node", "max_tres_minutes_per_job"),
)
_WITH_TRES = ("slurm.qos.*", "slurm.accounts.*", "slurm.accounts.*.user_limits.*")
_NAME = "manifest.yaml"
_MOST_PLACES = 4  # of one field in a manifest
VALUES: dict[str, Any] = {
    "catalogue.systems.*.cpu.model": "NVIDIA Grace",
    "networks.bmc.gateway": "10.0.9.254",
    "networks.fabric.gateway": "10.1.0.254",
    "networks.fabric.interfaces": ["ibx0"],
    "networks.fabric.switches[].uplinks[].to": "spine1",
    "networks.fabric.routing": "bridged",
    "networks.storage.interface": "bond9.20",
    **{f"networks.{name}.plan.nodes": "n[2-6],n1" for name in ("management", "bmc", "storage", "fabric")},
    "networks.bmc.plan.unit": 4,
    "networks.fabric.plan.capacity": 160,
    **{f"networks.{name}.plan.capacity": 16 for name in ("management", "bmc", "storage")},
    "node_types.*.system": "dgx-h200",
    "node_types.*.gpus.gres_type": "own",
    "node_types.*.gpus.mig_prefix": "a100",
    "node_types.*.gpus.links": [[-1, 1, 1, 1], [1, -1, 1, 1], [1, 1, -1, 1], [1, 1, 1, -1]],
    "node_types.*.gres": {"fpga": 2},
    "node_types.*.gres.*.count": 8,
    "node_types.*.gres.*.files": "/dev/fpga[0-3]",
    "node_types.*.gres.*.flags": ["CountOnly"],
    "node_types.*.slurm_options": {"Port": 17001},
    "nodes[].slurm_options": {"Port": 17001},
    "racks.*.places": {"head": 10},
    "facility.loops.*.racks": "r1",
    "facility.loops.*.cdus.model": "hpe-in-row-1300kw",
    "facility.loops.*.cdus.count": 4,
    "facility.loops.*.cdus.spare": 0,
    "facility.loops.*.chillers.count": 3,
    "facility.loops.*.chillers.spare": 0,
    "facility.prices.items.*": 210000,
    "facility.prices.items.*.low": 210000,
    "facility.prices.items.*.high": 230000,
    "facility.deliveries.*.types": [],
    "facility.estimates.training.*.type": "head",
    "facility.estimates.training.*.gpus": [12],
    "facility.estimates.training.*.batch": "8k",
    "facility.estimates.training.*.tensor": 2,
    "facility.estimates.training.*.pipeline": 2,
    "facility.estimates.training.*.parallelism": "tensor",
    "slurm.partitions.*.billing": {"gres/gpu": 2.0},
    "slurm.partitions.*.options": {"LLN": "YES"},
    "slurm.node_sets": {"some": "n1"},
    "notebooks.host": "login2",
    "notebooks.partitions": ["short"],
    "environment.python.*.cuda": "13.0",
    "slurm.priority.flags": ["SMALL_RELATIVE_TO_TIME"],
    "slurm.qos.*.preempt": ["low", "normal"],
    "slurm.qos.*.flags": ["DenyOnLimit"],
    "slurm.qos.*.options": {"LimitFactor": 2},
    "slurm.accounts.*.parent": "root",
    "slurm.accounts.*.options": {"GrpJobsAccrue": 10},
    "slurm.accounts.*.user_limits.*.options": {"MaxJobsAccrue": 10},
    "slurm.accounts.*.coordinators": ["bob"],
    "slurm.users.*.default_account": "teams",
    "slurm.accounting.database_host": "db.example.org:3307",
    "slurm.accounting.tres": ["license/matlab"],
    "slurm.accounting.gather_parameters": ["NoShared"],
    "slurm.accounting.private": ["jobs"],
    "slurm.accounting.options": {"CommitDelay": 1},
    "slurm.scheduler.parameters": ["defer"],
    "slurm.scheduler.dependency_parameters": ["kill_invalid_depend"],
    "slurm.resources.select_parameters": ["CR_CPU_Memory"],
    "slurm.topology.block_sizes": [3, 6],
    "slurm.topology.blocks": {"b1": "n[1-3]", "b2": "n[4-6]"},
    "slurm.topology.parameters": ["TopoOptional"],
    "slurm.topology.lines": [{"BlockName": "b1", "Nodes": "n[1-6]"}, {"BlockSizes": "6"}],
    "slurm.power_saving.except_nodes": "n2",
    "slurm.power_saving.except_partitions": ["urgent"],
    "slurm.options": {"KillWait": 60},
    "slurm.gres_options": {"Flags": "CountOnly"},
    "slurm.cgroup_options": {"AllowedRAMSpace": 99},
    "slurm.acct_gather_options": {"EnergyIPMIFrequency": 10},
    "slurm.lines": [{"DownNodes": "n1", "State": "DOWN"}],
    "slurm.gres_lines": [],
    "nccl.env": {"NCCL_SOCKET_NTHREADS": 2},
    "ucx.env": {"UCX_LOG_LEVEL": "info"},
    "gpu.mig_plans": {
        "small": {"profiles": {"1g.5gb": 6}},
        "half": {"profiles": {"3g.20gb": 2}},
        "whole": {"profiles": {"7g.40gb": 1}},
    },
    "storage.beegfs.servers.metadata_options": {"tuneNumWorkers": 64},
    "storage.beegfs.client_options": {"tuneFileCacheType": "native"},
    "storage.cephfs.servers.managers": "s3",
    "storage.cephfs.quotas[].directory": "/ceph/other",
    "storage.lustre.peers": ["10.0.0.95@tcp,10.99.0.1@tcp8"],
    "storage.lustre.routes[].gateways": ["10.0.0.92@tcp"],
    "storage.lustre.quotas[].directory": "/lustre/eight",
    "storage.lustre.striping[].directory": "/lustre/other",
    "storage.lustre.targets[].kind": "OST",
    "storage.nfs.export.zfs.vdev_width": 4,
    "storage.nfs.failover.directory": "/export",
    "storage.nfs.failover.servers": "s2,s1",
    "storage.nfs.failover.device": "/dev/mapper/other",
    "identity.home": "/users/%u",
    "monitoring.receivers": {"other": {"webhook": "http://hook.example.org/y"}},
    "monitoring.dcgm.counters": ["DCGM_FI_DEV_FAN_SPEED"],
    "monitoring.snmp.devices.*.rack": "r2",
    **{f"{section}.{name}": {"gres/gpu": 8} for section in _WITH_TRES for name in _TRES},
    "slurm.qos.*.max_tres_per_account": {"gres/gpu": 8},
    "slurm.qos.*.min_tres_per_job": {"gres/gpu": 8},
}
"""Field → another value, where its schema does not say enough to make one."""


@cache
def all_fields() -> Mapping[str, FieldInfo]:
    """All fields that have a second value, by name, in the order of the models."""
    return {_joined(path): info for path, info in _below(Manifest, ())}


def _below(model: type[Section], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    for name, info in model.model_fields.items():
        is_section = _holds_only_sections(info.annotation)  # acts by their fields
        has_one_value = get_origin(info.annotation) is Literal and len(get_args(info.annotation)) == 1
        if not is_section and not has_one_value:
            yield (*path, name), info
        for more, inner in _sections(info.annotation):
            yield from _below(inner, (*path, name, *more))


def _holds_only_sections(annotation: Any) -> bool:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (dict, tuple, Annotated):
        return _holds_only_sections(arguments[-1] if origin is dict else arguments[0])
    if origin in (Union, UnionType):
        return all(map(_holds_only_sections, arguments))
    return isinstance(annotation, type) and issubclass(annotation, Section)


def _sections(annotation: Any) -> Iterator[tuple[tuple[str, ...], type[Section]]]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield (), annotation
    elif origin is Annotated:
        yield from _sections(arguments[0])
    elif origin in (Union, UnionType):
        for option in arguments:
            yield from _sections(option)
    elif origin in (dict, tuple):
        for more, inner in _sections(arguments[-1] if origin is dict else arguments[0]):
            part = "[]" if origin is tuple else _kind(inner) or "*"
            yield (part, *more), inner


def _kind(model: type[Section]) -> str | None:
    """The `type` of a file system's model."""
    return get_args(model.model_fields["type"].annotation)[0] if issubclass(model, Mount) else None


def _joined(path: tuple[str, ...]) -> str:
    return ".".join(path).replace(".[]", "[]")


def field_name(manifest: Manifest, path: ManifestPath) -> str:
    """The name of the field at a path of this manifest."""
    value: Any = manifest
    parts = []
    for part in path:
        if isinstance(value, Section):
            parts.append(str(part))
            value = value.__dict__[str(part)]
        else:
            value = value[part]
            parts.append("[]" if isinstance(part, int) else (isinstance(value, Mount) and value.type) or "*")
    return _joined(tuple(parts))


class Trial:
    """A valid manifest: its cluster and the codes of what the rules find in it. It is rendered when asked for files."""

    def __init__(self, cluster: Cluster, codes: frozenset[str]) -> None:
        self.cluster = cluster
        self.codes = codes

    @cached_property
    def tree(self) -> Tree:
        builder = Builder(self.cluster, _NAME)
        files = builder.build()
        builder.finish()  # adds the files about all others
        return Tree(dict(sorted(files.items())), _hosts(builder), _NAME, "0" * 64, hardware(self.cluster))

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """The files of the tree, without variables that nothing reads."""
        return {path: _without_unread(path, file.content) for path, file in self.tree.files.items()}

    def file(self, row: File) -> bytes:
        """The one file of a row of the registry, rendered alone; empty where there is none."""
        return b"".join(file.content for file in producer_of(row, _NAME)(self.cluster).values())


class Base:
    """A manifest of which fields are changed one at a time."""

    def __init__(self, path: Path) -> None:
        data = load(path).data
        self.original = Original(data)
        self.fields = Fields(self.original)
        self.by_name: dict[str, list[Field]] = {}
        for field in self.fields.all:
            if field.kind != "key":
                name = field_name(self.original.manifest, _whole(field))
                self.by_name.setdefault(name, []).append(field)
        start = _trial(self.original.manifest)
        assert start is not None, path
        self.start = start

    def trials(self, name: str, value: Any = None) -> Iterator[Trial]:
        """Every valid manifest with `value`, or else with other values of this field, likely ones first."""
        value = VALUES.get(name) if value is None else value
        for field in self.by_name.get(name, ())[:_MOST_PLACES]:
            for edit in self.fields.edits(field) if value is None else [Edit(_whole(field), "set", "", value)]:
                try:
                    manifest = self.original.edited([edit])
                except (ValidationError, TypeError):  # TypeError: below an entry that is a plain value here
                    continue
                if (trial := _trial(manifest)) is not None:
                    yield trial


def _whole(field: Field) -> ManifestPath:
    """The path of the field, without places within its value."""
    return field.path[: field.origin.depth + 1]


def _trial(manifest: Manifest) -> Trial | None:
    """None where the manifest has errors."""
    findings: list[Finding] = []
    cluster = resolve(manifest, findings.append)
    findings += check(cluster, manifest)
    if any(CODES[finding.code].severity is Severity.ERROR for finding in findings):
        return None
    return Trial(cluster, frozenset(each.code for each in findings))


def _hosts(builder: Builder) -> dict[str, tuple[str, ...]]:
    return {name: tuple(host for group in groups for host in group.hosts) for name, groups in builder.members.items()}


@cache
def _playbooks() -> str:
    """All that Ansible reads beside a tree."""
    files = (path for suffix in ("yml", "py", "j2") for path in (ROOT / "playbooks").rglob(f"*.{suffix}"))
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def _without_unread(path: str, content: bytes) -> bytes:
    """Variables that neither Ansible nor a playbook reads are no effect."""
    if not path.startswith("inventory/group_vars/"):
        return content
    lines = content.decode().splitlines()
    names = (re.match(r"([a-z_]+):", line) for line in lines)
    return "\n".join(
        line
        for line, name in zip(lines, names, strict=True)
        if name is None or name[1].startswith("ansible_") or name[1] in _playbooks()
    ).encode()


@cache
def _base(path: Path) -> Base:
    return Base(path)


def trials(name: str, value: Any = None) -> Iterator[tuple[Trial, Trial]]:
    """Manifests with another value of the field, each with the one that it was before; of a mapping, `value` as well."""
    for path in BASES:
        one = _base(path)
        for trial in one.trials(name, value):
            yield one.start, trial
