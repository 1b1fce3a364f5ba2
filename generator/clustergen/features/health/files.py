"""The check that slurmd runs on its node: a runner that drains and resumes, and a script per thing to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from clustergen.catalogue.gpu_health import dcgm_incidents, generation, xids_of
from clustergen.cluster.contributions import Unit
from clustergen.cluster.directories import own_directory
from clustergen.cluster.entry import Entry, is_needed_by_jobs
from clustergen.cluster.fabric import are_guessed
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.groups import membership
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.facility.expectations import gpu_floors
from clustergen.features.health.resolved import Health, checks_mounts
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.slurm_files import script

_NEEDED = ("munge.service", "nvidia-fabricmanager.service", "nvidia-imex.service", "sssd.service")
_MOST_SKEW_S = 30  # as the alert; munge refuses messages of 300


@record
class HealthValues:
    """Values of the checks of all nodes."""

    spool: str
    min_free_kib: int
    fabric_devices: tuple[str, ...]  # empty: not checked
    fabric_gbit_s: int  # rate below which a port is ill; 0: any will do
    services: tuple[str, ...]  # that jobs need
    most_skew_s: int  # of the clock
    has_logins: bool  # users may have processes without a job


@record
class Floor:
    """The least that nvidia-smi has to report of every GPU, with words for the reason."""

    field: str
    relation: str
    bound: int
    words: str


@record
class GpuHealth:
    gpu_count: int
    floors: tuple[Floor, ...]
    nvlinks: tuple[int, ...]  # that must be up, by GPU
    max_temperature: int | None  # degrees Celsius


@record
class Dcgm:
    """Actions for messages of DCGM: extended regular expressions."""

    drains: bool
    drain: tuple[str, ...]
    driver: tuple[str, ...]
    warn: tuple[str, ...]
    ignore: tuple[str, ...]


def is_enabled(cluster: Cluster) -> bool:
    return cluster.of(Health).enabled


def values(cluster: Cluster, node_type: NodeType) -> HealthValues | None:
    spec = cluster.of(Health)
    if not spec.enabled:
        return None
    spool = own_directory(cluster.slurm.spool_directory) or "/"
    network = cluster.networks.fabric
    return HealthValues(
        spool=spool,
        min_free_kib=spec.min_free_kib,
        fabric_devices=_fabric_devices(cluster, node_type),
        fabric_gbit_s=(network.rate_gbit if network else None) or 0,
        services=_services(cluster, node_type),
        most_skew_s=_MOST_SKEW_S,
        has_logins=any(group.has("login") for group in cluster.of_type[node_type.name]),
    )


def _services(cluster: Cluster, node_type: NodeType) -> tuple[str, ...]:
    """Services without which jobs fail, and whose failure no other check sees."""
    units, groups = _needed_units(cluster), cluster.of_type[node_type.name]
    return tuple(dict.fromkeys(name for group in groups for name in units.get(group.index, ())))


@once_per_cluster
def _needed_units(cluster: Cluster) -> Mapping[int, Sequence[str]]:
    """Index of a group of nodes → names of the units."""
    groups, units = membership(cluster), defaultdict[int, list[str]](list)
    for unit in cluster.needs(Unit):
        for group in groups.get(unit.group, ()) if unit.name in _NEEDED else ():
            units[group.index].append(unit.name)
    return units


def _fabric_devices(cluster: Cluster, node_type: NodeType) -> tuple[str, ...]:
    """None where the names of the devices are a guess: a wrong one would drain every node of the type."""
    if not cluster.of(Health).fabric or not cluster.networks.fabric or are_guessed(cluster, node_type):
        return ()
    return tuple(port.device for port in node_type.fabric_ports() if port.device)


def checks_fabric(cluster: Cluster, node_type: NodeType) -> bool:
    return is_enabled(cluster) and bool(_fabric_devices(cluster, node_type))


_FIELDS = {
    "power_limit": ("power.limit", "power limit"),
    "clock": ("clocks.max.sm", "highest clock"),
    "pcie_width": ("pcie.link.width.current", "PCIe lanes"),
    "pcie_gen": ("pcie.link.gen.max", "PCIe generation"),
}


def gpu_values(cluster: Cluster, node_type: NodeType) -> GpuHealth | None:
    spec, gpus = cluster.of(Health), node_type.gpus
    if not spec.enabled or gpus is None:
        return None
    return GpuHealth(gpus.count, _floors(gpus), _nvlinks(gpus), spec.max_temperature_c)


def _floors(gpus: GpuSet) -> tuple[Floor, ...]:
    """The floors of acceptance that hold between jobs as well."""
    return tuple(
        Floor(_FIELDS[floor.metric][0], floor.relation, int(floor.value), _FIELDS[floor.metric][1])
        for floor in gpu_floors(gpus)
        if floor.metric in _FIELDS
    )


def _nvlinks(gpus: GpuSet) -> tuple[int, ...]:
    """Empty for MIG, which takes the links down."""
    links = () if gpus.nvlink == "none" or any(gpus.mig) else gpus.wired_links
    return links if any(links) else ()


def checks_gpu_count(cluster: Cluster, node_type: NodeType) -> bool:
    return is_enabled(cluster) and cluster.of(Health).gpu_count and node_type.gpus is not None


def checks_gpu_settings(cluster: Cluster, node_type: NodeType) -> bool:
    spec = cluster.of(Health)
    return spec.enabled and spec.gpu_settings and node_type.gpus is not None and bool(_floors(node_type.gpus))


def checks_gpu_errors(cluster: Cluster, node_type: NodeType) -> bool:
    return is_enabled(cluster) and cluster.of(Health).ecc and node_type.gpus is not None


def checks_nvlink(cluster: Cluster, node_type: NodeType) -> bool:
    spec = cluster.of(Health)
    return spec.enabled and spec.nvlink and node_type.gpus is not None and bool(_nvlinks(node_type.gpus))


def checks_temperature(cluster: Cluster, node_type: NodeType) -> bool:
    return is_enabled(cluster) and bool(cluster.of(Health).max_temperature_c) and node_type.gpus is not None


def dcgm(cluster: Cluster, node_type: NodeType) -> Dcgm | None:
    spec = cluster.of(Health)
    mode = spec.dcgm.get(node_type.name)
    if not spec.enabled or node_type.gpus is None or mode is None:
        return None
    drains = "|".join(str(xid.xid) for xid in xids_of(generation(node_type.gpus.model), "drain"))
    texts: dict[str, list[str]] = {"drain": [], "driver": [], "warn": [], "ignore": []}
    for incident in dcgm_incidents():
        text = incident.text.replace("{xids}", f"({drains})")
        action = incident.action if node_type.gpus.concerned_by(incident) else "ignore"
        if text not in texts[action]:
            texts[action].append(text)
    return Dcgm(mode == "drain", **{action: tuple(patterns) for action, patterns in texts.items()})


def checks_dcgm(cluster: Cluster, node_type: NodeType) -> bool:
    return dcgm(cluster, node_type) is not None


def mount_check(cluster: Cluster, entry: Entry) -> dict[str, bool]:
    return {entry.name: True} if checks_mounts(cluster) and is_needed_by_jobs(entry) else {}


def checks_job_gpus(cluster: Cluster, node_type: NodeType) -> bool:
    """In the epilog."""
    return cluster.of(Scripts).epilog and cluster.of(Health).ecc and node_type.gpus is not None


_GPU = "gpu_node/etc/slurm/health.d"
FILES: tuple[File, ...] = (
    File("slurm_compute/etc/clustergen/health.sh", values, values=True, per="type"),
    File("gpu_node/etc/clustergen/gpu-health.sh", gpu_values, values=True, per="type"),
    File("gpu_node/etc/clustergen/dcgm-health.sh", dcgm, values=True, per="type"),
    script("slurm_compute/etc/slurm/health", is_enabled),
    script("slurm_compute/etc/slurm/health.d/05-killed", is_enabled),
    script(f"{_GPU}/10-gpu-count", checks_gpu_count, per_type=True),
    script(f"{_GPU}/15-gpu-settings", checks_gpu_settings, per_type=True),
    script(f"{_GPU}/20-gpu-errors", checks_gpu_errors, "slurm/gpu-errors.sh", per_type=True),
    script("gpu_node/etc/slurm/epilog.d/35-gpu-errors", checks_job_gpus, "slurm/gpu-errors.sh", per_type=True),
    script(f"{_GPU}/25-nvlink", checks_nvlink, per_type=True),
    File("mount/etc/slurm/health.d/30-mount-{name}", mount_check, mode=0o755, program="slurm/mount.sh"),
    script("slurm_compute/etc/slurm/health.d/40-fabric", checks_fabric, per_type=True),
    script("slurm_compute/etc/slurm/health.d/45-system", is_enabled),
    script("slurm_compute/etc/slurm/health.d/50-disk", is_enabled),
    script(f"{_GPU}/60-temperature", checks_temperature, per_type=True),
    script(f"{_GPU}/70-dcgm", checks_dcgm, per_type=True),
)
