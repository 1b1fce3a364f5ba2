"""A view per output family: dataclasses with everything computed, and the table of the files that they feed.

Each module has `FILES`, its rows of the registry, and one function per file that returns the view, or None where the
cluster has no use for the file. Templates loop, test and print; what they see are the fields of the view.
"""

from __future__ import annotations

from types import ModuleType

from clustergen.render.views import (
    acceptance,
    backups,
    cloud_init,
    cloud_init_seed,
    containers,
    dcgm,
    dcgm_guard,
    drift,
    exporters,
    fabric,
    facility,
    gpu,
    grafana,
    host,
    inventory,
    jobs,
    logs,
    monitoring,
    nccl,
    network,
    probes,
    pull,
    report,
    slurm,
    storage,
    usage_report,
    user_directories,
    warewulf,
)

FAMILIES: tuple[ModuleType, ...] = (
    slurm,
    host,
    network,
    fabric,
    nccl,
    monitoring,
    grafana,
    drift,
    exporters,
    probes,
    logs,
    usage_report,
    backups,
    dcgm,
    dcgm_guard,
    gpu,
    storage,
    containers,
    user_directories,
    inventory,
    pull,
    cloud_init,
    cloud_init_seed,
    warewulf,
    facility,
    acceptance,
    jobs,
    report,
)
