"""GPU nodes: the driver's options, persistence, power and clocks."""

from __future__ import annotations

from clustergen.cluster.contributions import GpuUnit
from clustergen.cluster.gpu_settings import DriverModule
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.model import Slurm
from clustergen.features.nvidia_driver.needs import FABRIC_MANAGER, has_fabric_manager, loads_peermem
from clustergen.features.nvidia_driver.resolved import DirectPci, GpuSettings
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, REBOOT, restart, run
from clustergen.render.file import Context, File, sbin
from clustergen.render.formats import RenderError, Safe

_PERSISTENCED = "nvidia-persistenced.service"
_SETTINGS = "clustergen-gpu-settings.service"


def _units(cluster: Cluster, node_type: NodeType) -> list[GpuUnit]:
    return list(cluster.needs_by_type(GpuUnit).get(node_type.name, ()))


def _has_settings(cluster: Cluster, node_type: NodeType) -> bool:
    gpus = node_type.gpus
    return gpus is not None and bool(
        gpus.power_limit_w or gpus.graphics_clock_mhz or cluster.of(GpuSettings).compute_mode
    )


def modprobe(cluster: Cluster) -> Context:
    return {"options": tuple(_option(name, value) for name, value in cluster.of(DriverModule).options.items())}


def _option(name: str, text: str) -> Safe:
    """One option of a module: the kernel takes blanks inside double quotes, and has no way to write a quote itself."""
    if not text.isascii() or not text.isprintable() or any(sign in text for sign in "\"'\\"):
        raise RenderError(f"{name}={text!r} cannot be written as a module option")
    return Safe(f'{name}="{text}"' if " " in text else f"{name}={text}")


def modules(cluster: Cluster, node_type: NodeType) -> Context:
    """Kernel modules to load at boot, with the reason for each."""
    names = [
        ("nvidia", "the driver"),
        ("nvidia_uvm", "creates /dev/nvidia-uvm before the first job needs it"),
    ]
    if loads_peermem(cluster, node_type):
        names.append(("nvidia_peermem", "lets network adapters access GPU memory without DMA-BUF"))
    if has_fabric_manager(node_type) and node_type.gpus and (node_type.gpus.model.nvlink_gen or 0) >= 5:
        names.append(("ib_umad", "fabric manager uses it for NVLink 5 switches"))
    return {"modules": tuple(names)}


def persistenced(cluster: Cluster) -> Context | None:
    """Drop-in of nvidia-persistenced.service."""
    return {"smi": "/usr/bin/nvidia-smi"} if cluster.of(GpuSettings).persistence else None


@record
class Settings:
    """The settings of all GPUs of a node; None: left unchanged."""

    gpus: int
    power_limit_w: int | None
    clock_mhz: int | None
    compute_mode: str | None  # as nvidia-smi prints it


_COMPUTE_MODES = {None: None, "default": "Default", "exclusive-process": "Exclusive_Process"}


def settings(cluster: Cluster, node_type: NodeType) -> Settings | None:
    if not _has_settings(cluster, node_type) or node_type.gpus is None:
        return None
    mode = _COMPUTE_MODES[cluster.of(GpuSettings).compute_mode]
    return Settings(
        node_type.gpus.count, node_type.gpus.power_limit_w or None, node_type.gpus.graphics_clock_mhz or None, mode
    )


def settings_unit(cluster: Cluster, node_type: NodeType) -> Context | None:
    """The oneshot that runs the script at boot."""
    if not _has_settings(cluster, node_type):
        return None
    before = [_PERSISTENCED] if cluster.of(GpuSettings).persistence else []
    after = [
        *before,
        *([FABRIC_MANAGER] if has_fabric_manager(node_type) else []),
        *(unit.name for unit in _units(cluster, node_type) if unit.makes_devices),
    ]
    return {"part_of": " ".join(before), "after": " ".join(after)}


@record
class Slurmd:
    """Drop-in of slurmd.service: what must be done to the GPUs before it counts them."""

    requires: str
    wants: str
    after: str


def slurmd(cluster: Cluster, node_type: NodeType, _: Slurm) -> Slurmd | None:
    others = _units(cluster, node_type)
    requires = [unit.name for unit in others if unit.makes_devices]
    wants = [_PERSISTENCED] if cluster.of(GpuSettings).persistence else []
    wants += [FABRIC_MANAGER] if has_fabric_manager(node_type) else []
    wants += [unit.name for unit in others if not unit.makes_devices]
    wants += [_SETTINGS] if _has_settings(cluster, node_type) else []
    if not requires and not wants:
        return None
    return Slurmd(" ".join(requires), " ".join(wants), " ".join([*requires, *wants]))


def acs_off(cluster: Cluster) -> bool:
    return cluster.has(DirectPci)


_UNITS = "gpu_node/etc/systemd/system"
FILES: tuple[File, ...] = (
    File("gpu_node/etc/modprobe.d/clustergen-nvidia.conf", modprobe, REBOOT),
    File(
        "gpu_node/etc/modules-load.d/clustergen-nvidia.conf",
        modules,
        restart("systemd-modules-load.service"),
        per="type",
    ),
    File(f"{_UNITS}/nvidia-persistenced.service.d/50-clustergen.conf", persistenced, restart(_PERSISTENCED)),
    sbin("gpu_node", "gpu/clustergen-gpu-settings.sh", settings_unit, run(_SETTINGS), per="type"),
    File("gpu_node/etc/clustergen/gpu-settings.sh", settings, run(_SETTINGS), per="type", values=True),
    File(f"{_UNITS}/{_SETTINGS}", settings_unit, run(_SETTINGS), per="type"),
    File(f"{_UNITS}/slurmd.service.d/60-clustergen-gpu.conf", slurmd, DAEMON_RELOAD, per="type"),
    sbin("gpu_node", "gpu/clustergen-acs-off.sh", acs_off, run("clustergen-acs-off.service")),
    File(f"{_UNITS}/clustergen-acs-off.service", acs_off, DAEMON_RELOAD),
)
