"""The check that slurmd runs on its node: a runner that drains and resumes, and a script per thing to look at."""

from __future__ import annotations

from clustergen.catalogue.gpu_health import dcgm_incidents, generation, xids_of
from clustergen.cluster.catalogue_view import gbit
from clustergen.cluster.directories import own_directory
from clustergen.cluster.fabric import are_guessed
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster, NodeType
from clustergen.facility.expectations import gpu_floors
from clustergen.manifest.mount import Mount
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.views.alerts.health import concerns
from clustergen.render.views.alerts.model import dcgm_types
from clustergen.render.views.slurm.hooks import HEALTH_LIMIT
from clustergen.render.views.slurm.scripts import Gpus, MountCheck, script

_GIB_IN_KIB = 1 << 20
_RESERVE = 12  # seconds for scontrol


@record
class Runner:
    limit: int
    slurmd_limit: int


@record
class Killed:
    """Nothing of it depends on the cluster."""


@record
class GpuCount:
    count: int


@record
class GpuSettings:
    """Floors of what nvidia-smi reports of every GPU: field, relation, bound, and words for the reason."""

    rows: tuple[tuple[str, str, int, str], ...]


@record
class NvLink:
    links: tuple[int, ...]
    """NVLinks that must be up, by GPU."""


@record
class Temperature:
    limit: int
    wait: int
    """Seconds in which a healthy GPU cools down by a degree."""


@record
class Dcgm:
    """What to do about messages of DCGM."""

    drains: bool
    texts: tuple[tuple[str, tuple[str, ...]], ...]
    """By action (drain, driver, warn, ignore): extended regular expressions of the messages."""


@record
class Fabric:
    devices: tuple[str, ...]
    gbit: int
    """Rate below which a port is ill; 0: any will do."""


@record
class Disk:
    spool: str
    min_free_kib: int


def runner(cluster: Cluster) -> Runner | None:
    return Runner(HEALTH_LIMIT - _RESERVE, HEALTH_LIMIT) if cluster.manifest.health.enabled else None


def killed(cluster: Cluster) -> Killed | None:
    return Killed() if cluster.manifest.health.enabled else None


def gpu_count(cluster: Cluster, kind: NodeType) -> GpuCount | None:
    spec = cluster.manifest.health
    return GpuCount(kind.gpus.count) if spec.enabled and spec.gpu_count and kind.gpus else None


_FIELDS = {
    "power_limit": ("power.limit", "power limit"),
    "clock": ("clocks.max.sm", "highest clock"),
    "pcie_width": ("pcie.link.width.current", "PCIe lanes"),
    "pcie_gen": ("pcie.link.gen.max", "PCIe generation"),
}


def gpu_settings(cluster: Cluster, kind: NodeType) -> GpuSettings | None:
    """The floors of acceptance that hold between jobs as well; None where none of them is known."""
    spec = cluster.manifest.health
    if not spec.enabled or not spec.gpu_settings or kind.gpus is None:
        return None
    rows = tuple(
        (_FIELDS[floor.metric][0], floor.relation, int(floor.value), _FIELDS[floor.metric][1])
        for floor in gpu_floors(kind.gpus)
        if floor.metric in _FIELDS
    )
    return GpuSettings(rows) if rows else None


def gpu_errors(cluster: Cluster, kind: NodeType) -> Gpus | None:
    """All GPUs of the node: what is looked at does not depend on a job."""
    spec = cluster.manifest.health
    return Gpus(exclusive=False) if spec.enabled and spec.ecc and kind.gpus else None


def nvlink(cluster: Cluster, kind: NodeType) -> NvLink | None:
    """MIG takes the links down, so its nodes are not looked at."""
    spec = cluster.manifest.health
    gpus = kind.gpus
    if not spec.enabled or spec.nvlink is False or gpus is None or gpus.nvlink == "none" or any(gpus.mig):
        return None
    links = wired_links(gpus)
    return NvLink(links) if any(links) else None


def wired_links(gpus: GpuSet) -> tuple[int, ...]:
    """NVLinks in use by GPU: to its neighbours, or all that it has where switches join them."""
    if gpus.links:
        return tuple(sum(number for number in row if number > 0) for row in gpus.links)
    return (gpus.model.nvlink_links or 0,) * gpus.count if gpus.nvlink == "nvswitch" else ()


def temperature(cluster: Cluster, kind: NodeType) -> Temperature | None:
    spec = cluster.manifest.health
    return Temperature(spec.max_temperature, 10) if spec.enabled and spec.max_temperature and kind.gpus else None


def dcgm(cluster: Cluster, kind: NodeType) -> Dcgm | None:
    spec = cluster.manifest.health
    mode = spec.dcgm or ("drain" if kind.name in dcgm_types(cluster) else "off")
    if not spec.enabled or kind.gpus is None or mode == "off":
        return None
    drains = "|".join(str(xid.xid) for xid in xids_of(generation(kind.gpus.model), "drain"))
    texts: dict[str, list[str]] = {"drain": [], "driver": [], "warn": [], "ignore": []}
    for incident in dcgm_incidents():
        text = incident.text.replace("{xids}", f"({drains})")
        action = incident.action if concerns(incident, kind.gpus) else "ignore"
        if text not in texts[action]:
            texts[action].append(text)
    return Dcgm(mode == "drain", tuple((action, tuple(patterns)) for action, patterns in texts.items()))


def fabric(cluster: Cluster, kind: NodeType) -> Fabric | None:
    """None where the names of the devices are a guess: a wrong one would drain every node of the type."""
    spec = cluster.manifest.health
    network = cluster.manifest.networks.fabric
    devices = tuple(port.device for port in kind.fabric_ports() if port.device)
    if not (spec.enabled and spec.fabric and network and devices) or are_guessed(cluster, kind):
        return None
    return Fabric(devices, (gbit(network.rate) if network.rate else None) or 0)


def disk(cluster: Cluster) -> Disk | None:
    spec = cluster.manifest.health
    spool = own_directory(cluster.manifest.slurm.spool_directory) or "/"
    return Disk(spool, spec.min_free.value >> 10 if spec.min_free else _GIB_IN_KIB) if spec.enabled else None


def mount_check(cluster: Cluster, name: str, entry: Mount) -> dict[str, MountCheck]:
    spec = cluster.manifest.health
    is_enabled = spec.enabled and spec.mounts and entry.required and "slurm-compute" in entry.clients
    return {name: MountCheck(name, entry.mount, 10)} if is_enabled else {}


FILES: tuple[File, ...] = (
    script("slurm_compute/etc/slurm/health", runner),
    script("slurm_compute/etc/slurm/health.d/05-killed", killed),
    script("gpu_node/etc/slurm/health.d/10-gpu-count", gpu_count, per_type=True),
    script("gpu_node/etc/slurm/health.d/15-gpu-settings", gpu_settings, per_type=True),
    script("gpu_node/etc/slurm/health.d/20-gpu-errors", gpu_errors, per_type=True),
    script("gpu_node/etc/slurm/health.d/25-nvlink", nvlink, per_type=True),
    script("mount/etc/slurm/health.d/30-mount-{name}", mount_check),
    script("slurm_compute/etc/slurm/health.d/40-fabric", fabric, per_type=True),
    script("slurm_compute/etc/slurm/health.d/50-disk", disk),
    script("gpu_node/etc/slurm/health.d/60-temperature", temperature, per_type=True),
    script("gpu_node/etc/slurm/health.d/70-dcgm", dcgm, per_type=True),
)
