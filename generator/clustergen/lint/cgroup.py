"""cgroup.conf against slurm.conf."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.lint.finding import LintFinding
from clustergen.lint.gres import first_gpus
from clustergen.lint.site import Site
from clustergen.slurmconf.scalars import TRUE

_WHY = {
    "ConstrainDevices": "every job can open all devices of its node",
    "ConstrainRAMSpace": "a job can use more memory than it requested and crash other jobs",
    "ConstrainCores": "jobs can run on each other's cores",
}


def constraints(site: Site) -> Iterator[LintFinding]:
    config = site.directory.config("cgroup.conf")
    if config is None:
        return
    tasks = {word.rpartition("/")[2] for word in site.words("TaskPlugin")} if site.slurm else {"cgroup"}
    for key, why in _WHY.items():
        setting = config.value(key)
        if setting is None:
            continue
        if setting.text.lower() in TRUE and "cgroup" not in tasks:
            yield site.warning(
                "slurm-key-ignored",
                setting,
                f"{key} has no effect without task/cgroup in TaskPlugin of slurm.conf",
                "write TaskPlugin=task/cgroup,task/affinity",
                key=True,
            )
            return
        if setting.text.lower() not in TRUE and (key != "ConstrainDevices" or first_gpus(site) is None):  # as in gres
            yield site.warning("slurm-value-harmful", setting, f"without {key} {why}", f"write {key}=yes")
    memory = config.value("ConstrainRAMSpace")
    handed = any("memory" in word for word in site.words("SelectTypeParameters"))
    if site.slurm and memory and memory.text.lower() in TRUE and not handed and "cgroup" in tasks:
        yield site.warning(
            "slurm-value-harmful",
            site.setting("SelectTypeParameters") or memory,
            "memory is not a consumable resource, so no job has a memory limit that ConstrainRAMSpace could enforce",
            "write SelectTypeParameters=CR_Core_Memory",
        )


def disabled(site: Site) -> Iterator[LintFinding]:
    config = site.directory.config("cgroup.conf")
    plugin = config.value("CgroupPlugin") if config else None
    if (
        plugin
        and plugin.text.lower() == "disabled"
        and "cgroup" in (site.plugin("ProctrackType"), *(word.rpartition("/")[2] for word in site.words("TaskPlugin")))
    ):
        yield site.error(
            "slurm-value-wrong",
            plugin,
            "slurm.conf requires cgroups; slurmd does not start without them",
            "write CgroupPlugin=autodetect",
        )


CHECKS = (constraints, disabled)
