"""Manifest + catalogue → Cluster. What cannot be resolved is reported, and a placeholder lets other checks go on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from clustergen.catalogue.operating_systems import OperatingSystem, operating_system
from clustergen.catalogue.slurm_values import has_token
from clustergen.catalogue.systems import Cpu
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster import ansible, gpu_settings, named_rows, networks, site, storage
from clustergen.cluster import monitoring as ground_monitoring
from clustergen.cluster.catalogue_view import CatalogueView, Report, resolve_catalogue
from clustergen.cluster.cores import polling_cores
from clustergen.cluster.facility import middles
from clustergen.cluster.hardware import TypeResolver
from clustergen.cluster.model import Cluster, NodeGroup, NodeType, arguments_for
from clustergen.cluster.nodes import resolve_nodes
from clustergen.cluster.racks import resolve_racks
from clustergen.cluster.roles import SERVICE
from clustergen.cluster.slurm import ground, jobs, scheduling
from clustergen.cluster.slurm.keys import table
from clustergen.cluster.slurm.model import Slurm
from clustergen.cluster.switches import resolve_other_switches, resolve_switches
from clustergen.cluster.tracing import made
from clustergen.feature import Attributed, checked, claim, modules, requirement
from clustergen.manifest.model import Manifest
from clustergen.manifest.places import section_for
from clustergen.records import replace

Resolve = Callable[[Any, Cluster], object]
_OURS = f"{__package__}."
_GROUND: Mapping[type, Resolve] = {
    Slurm: ground.resolve,
    networks.ManagementNetwork: networks.resolve_management,
    networks.BmcNetwork: networks.resolve_bmc,
    networks.Fabric: networks.resolve_fabric,
    networks.StorageNetwork: networks.resolve_storage,
    named_rows.NamedRows: named_rows.resolve_named_rows,
    named_rows.Configurations: named_rows.resolve_configurations,
    storage.Storage: storage.resolve,
    ground.Metrics: ground.resolve_metrics,
    ground.Timeouts: ground.resolve_timeouts,
    ground.StatedFields: ground.resolve_stated_fields,
    scheduling.Scheduler: scheduling.resolve_scheduler,
    scheduling.Priority: scheduling.resolve_priority,
    scheduling.Preemption: scheduling.resolve_preemption,
    jobs.Resources: jobs.resolve_resources,
    site.Description: site.resolve_description,
    site.SiteFiles: site.resolve_files,
    ansible.Ssh: ansible.resolve_ssh,
    ansible.Ansible: ansible.resolve,
    gpu_settings.MigPlans: gpu_settings.resolve_mig_plans,
    ground_monitoring.Monitoring: ground_monitoring.resolve,
    ground_monitoring.Scraping: ground_monitoring.resolve_scraping,
    ground_monitoring.Thresholds: ground_monitoring.resolve_thresholds,
}
_DERIVED: Mapping[type, Callable[[Cluster], object]] = {table.SlurmKeys: table.slurm_keys}
"""Records that follow from others, worked out when they are first asked for."""


def section_name(record: type) -> str:
    """The section of a record where the cluster is printed: `power_saving` of PowerSaving."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", record.__name__).lower()


@cache
def records() -> Mapping[type, Resolve]:
    """The function that resolves each record, in this order. It sees the ground and the records above its own; that of
    a feature sees the ground and its own feature. Records of the ground come first, also those that features fill. It
    receives its section, or the whole manifest, and returns None where the cluster does not have the record. It is not
    called where the cluster lacks a record that it has as a further argument.
    """
    of_features: dict[type, Resolve] = {}
    owners = {section_name(record): record.__module__ for record in (*_GROUND, *_DERIVED)}
    for module in modules("resolved"):
        for record, function in getattr(module, "RECORDS", {}).items():
            with Attributed(module.__name__):
                if not (isinstance(record, type) and callable(function)):
                    raise TypeError(f"RECORDS: {record!r}: {function!r} is no record with its function")
            claim(owners, section_name(record), module.__name__, f"have a record {record.__name__}")
            of_features[record] = function
    of_ground = {record: of_features[record] for record in of_features if record.__module__.startswith(_OURS)}
    return {**_GROUND, **of_ground, **of_features}


def record_types() -> tuple[type, ...]:
    """The types of all records that a cluster may have, in the order in which it is printed."""
    return (*records(), *_DERIVED)


def resolve(manifest: Manifest, report: Report) -> Cluster:
    """The cluster that a manifest means; `report` receives what cannot be resolved, and prevents a render."""
    catalogue = made("catalogue", lambda: resolve_catalogue(manifest.catalogue))
    types = made("types", lambda: _types(manifest, catalogue, report), "catalogue")
    groups = made("groups", lambda: resolve_nodes(manifest, types, report), "types")
    resolved: dict[type, object] = {}
    switches = made("switches", lambda: resolve_switches(manifest, catalogue, groups, report), "catalogue", "groups")
    racks = made("racks", lambda: resolve_racks(manifest))
    cluster = Cluster(
        name=made("name", lambda: manifest.name),
        os=made("os", lambda: _system(manifest)),
        catalogue=catalogue,
        node_types=made("node_types", lambda: _in_use(types, groups), "types", "groups"),
        groups=groups,
        switches=switches,
        racks=racks,
        other_switches=made(
            "other_switches",
            lambda: resolve_other_switches(manifest, catalogue, groups, racks, switches, report),
            "catalogue",
            "groups",
            "racks",
            "switches",
        ),
        managed=made("managed", lambda: manifest.manage),
        _records=resolved,
        _derived=_DERIVED,
    )

    def value(kind: type, of: Resolve) -> object:
        if of is ground.resolve:
            return ground.resolve(manifest.slurm, cluster, report, _costs(manifest)) if manifest.slurm else None
        if not cluster.meets(requirement(of.__module__)):
            return None
        with Attributed(kind.__module__):
            section, needed = section_for(of, manifest), arguments_for(of, cluster, 2)
            result = None if section is None or needed is None else of(section, cluster, *needed)
            return None if result is None else checked(result, kind, of)

    for record, resolve_record in records().items():
        if (made_record := made(record, partial(value, record, resolve_record))) is not None:
            resolved[record] = made_record
    return cluster


def _costs(manifest: Manifest) -> Mapping[str, float]:
    """Prices of the site, on which billing depends: those of a node type are needed before the section is resolved."""
    prices = manifest.facility.prices if manifest.facility else None
    return middles(prices.items) if prices else {}


def _system(manifest: Manifest) -> OperatingSystem:
    system = operating_system(manifest.os)
    assert system is not None, "the manifest's schema and the catalogue name the same operating systems"
    return system


def _in_use(types: Mapping[str, NodeType], groups: tuple[NodeGroup, ...]) -> tuple[NodeType, ...]:
    used = {group.type.name for group in groups}
    return tuple(node_type for node_type in types.values() if node_type.name in used)


def _types(manifest: Manifest, catalogue: CatalogueView, report: Report) -> dict[str, NodeType]:
    resolver = TypeResolver(manifest, catalogue, report)
    types = {name: resolver.resolve(name, spec) for name, spec in manifest.node_types.items()}
    types.setdefault(SERVICE, resolver.service())
    # SlurmdParameters=numa_node_as_socket holds for the whole cluster, so all node types follow or none does.
    stated = {spec.numa_as_socket for spec in manifest.node_types.values()}
    slurm = manifest.slurm
    as_socket = slurm is not None and (
        True in stated
        or (
            resolver.gpus.wants_numa
            and False not in stated
            and has_token("SlurmdParameters", "numa_node_as_socket", SlurmRelease(slurm.version))
            and slurm.defaults != "slurm"
        )
    )
    types = {name: _seen_by_slurm(kind, as_socket) for name, kind in types.items()}
    return {
        name: _with_polling(manifest, kind, polling_cores(manifest, kind, resolver.entries[name]))
        for name, kind in types.items()
    }


def _with_polling(manifest: Manifest, node_type: NodeType, polling: Mapping[str, tuple[int, ...]]) -> NodeType:
    """Cores on which storage clients poll come on top of the system's. The system then gets a core of its own, since
    slurmd is confined to all these cores together.
    """
    taken = {core for cores in polling.values() for core in cores}
    if not taken:
        return node_type
    stated = manifest.node_types[node_type.name].reserved.cores
    return replace(node_type, polling=polling, reserved_cores=len(taken) + (1 if stated is None else stated))


def _seen_by_slurm(node_type: NodeType, numa_as_socket: bool) -> NodeType:
    """Cores of each GPU must be whole sockets as Slurm counts them."""
    gpus = node_type.gpus
    if gpus is not None:
        cpu = Cpu(node_type.sockets, node_type.cores_per_socket, node_type.threads_per_core, node_type.numa_per_socket)
        if numa_as_socket and gpus.numa:
            cores = tuple(cpu.cores_of_numa(node) for node in gpus.numa)
        elif numa_as_socket and node_type.numa_per_socket > 1:
            cores = ()  # somewhere in the socket, nobody knows where
        else:
            cores = tuple(cpu.cores_of_socket(socket) for socket in gpus.sockets)
        gpus = replace(gpus, cores=cores)
    return replace(node_type, numa_as_socket=numa_as_socket and node_type.numa_per_socket > 1, gpus=gpus)
