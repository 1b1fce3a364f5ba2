"""The catalogue's names as tables of the guides, between `<!-- catalogue: NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clustergen.catalogue import hardware
from clustergen.catalogue.systems import system, system_ids

_PLACE = re.compile(r"(<!-- catalogue: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_NO_SYSTEM = ("custom",)  # stands for what a manifest describes by itself


def filled(text: str) -> str:
    """A page's text with its tables as the catalogue has them today."""
    return _PLACE.sub(lambda found: found[1] + "\n" + TABLES[found[2]]() + "\n" + found[3], text)


def _table(head: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _systems() -> str:
    rows = []
    for name in system_ids():
        found = system(name)
        if found is None or name in _NO_SYSTEM:
            continue
        cpu = found.cpu
        gpus = f"{found.gpu_count} × `{found.gpu}`" if found.gpu_count else ""
        cores = f"{cpu.sockets} × {cpu.cores_per_socket}" if cpu.cores_per_socket else "state `cpu`"
        memory = f"{found.memory_mib // 1024} GiB" if found.memory_mib else "state `memory`"
        rows.append((f"`{name}`", found.name, cores, memory, gpus, ", ".join(sorted(found.unverified))))
    return _table(("`system`", "what", "cores", "memory", "GPUs", "not confirmed"), rows)


def _gpus() -> str:
    rows = []
    for gpu in hardware.gpus().values():
        marks = ", ".join(sorted(gpu.unverified))
        mig = gpu.mig_max or None
        rows.append((f"`{gpu.id}`", gpu.nvml_name, f"`{gpu.gres_type}`", gpu.memory_gb, gpu.tdp_w, mig, marks))
    return _table(("`gpus.model`", "the driver's name", "Slurm type", "GB", "W", "MIG", "not confirmed"), rows)


def _nics() -> str:
    rows = []
    for nic in hardware.nics().values():
        others = ", ".join(f"`{alias}`" for alias in nic.aliases)
        rows.append((f"`{nic.id}`", nic.name, f"{nic.max_gbit} Gb/s", nic.infiniband, others))
    return _table(("`model`", "what", "fastest port", "InfiniBand", "also"), rows)


def _switches() -> str:
    rows = []
    for switch in hardware.switches().values():
        if switch.fabric not in ("infiniband", "ethernet"):
            continue  # NVLink's stand in no manifest
        split = f", or {switch.split_ports} × {switch.split_gbit}" if switch.split_ports else ""
        ports = f"{switch.ports} × {switch.port_gbit} Gb/s{split}"
        rows.append((f"`{switch.id}`", switch.fabric, ports, "yes" if switch.managed else "no"))
    return _table(("`model`", "fabric", "ports", "managed"), rows)


TABLES = {"systems": _systems, "gpus": _gpus, "nics": _nics, "switches": _switches}
