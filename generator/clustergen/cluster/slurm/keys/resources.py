"""Resources: cores, memory and GPUs that are scheduled, the start of tasks, and cgroup.conf, which confines jobs."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.nvlink import IMEX, switches_imex
from clustergen.cluster.slurm.jobs import Resources
from clustergen.cluster.slurm.keys.devices import gres_names, has_mps, has_shards
from clustergen.cluster.slurm.keys.row import Row, words
from clustergen.cluster.slurm.scheduling import Scheduler


def resources(cluster: Cluster) -> Iterator[Row]:
    spec = cluster.of(Resources)
    linear = spec.select == "linear"
    # select/linear hands out nothing but whole nodes.
    select, reason = ["CR_Core_Memory"], "allocates both cores and memory"
    if linear:
        select, reason = ["CR_Memory"], "allocates whole nodes with their memory"
    if has_shards(cluster) or has_mps(cluster):
        select.append("LL_SHARED_GRES")
    if spec.select_parameters:
        select, reason = [*spec.select_parameters], ""
    parameters = [*select, *["ENFORCE_BINDING_GRES"] * spec.enforce_binding]
    yield Row("SelectType", f"select/{spec.select}", "" if linear else "the only plugin that allocates GPUs")
    yield Row("SelectTypeParameters", words("SelectTypeParameters", parameters, cluster.slurm.release), reason)
    yield Row("GresTypes", ",".join(gres_names(cluster)), always=True)
    yield Row("ProctrackType", f"proctrack/{spec.process_tracking}")
    is_default = spec.task_plugins == ("cgroup", "affinity")
    plugins = ",".join(f"task/{name}" for name in spec.task_plugins)
    yield Row("TaskPlugin", plugins, "limits by cgroup, binding by affinity" if is_default else "")
    if any(group.type.numa_as_socket for group in cluster.compute):
        several = "GPUs are attached to NUMA nodes, several per socket"
        yield Row("SlurmdParameters", "numa_node_as_socket", several, always=True)
    if switches_imex(cluster):
        yield Row("SwitchType", IMEX, "memory export between the trays of an NVLink domain")


def cgroup(_: Cluster) -> Iterator[Row]:
    """The keys that every release takes; swap is constrained too, or a job would leave its memory limit that way."""
    yield Row("CgroupPlugin", "autodetect", "v2 on all current systems")
    yield Row("ConstrainCores", "yes")
    yield Row("ConstrainDevices", "yes", "a job can open only its allocated GPUs")
    yield Row("ConstrainRAMSpace", "yes", "a job that exceeds its memory is killed, not other jobs")
    yield Row("ConstrainSwapSpace", "yes", "a job cannot swap instead")


def jobs(cluster: Cluster) -> Iterator[Row]:
    spec, scheduler = cluster.of(Resources), cluster.of(Scheduler)
    yield Row("MpiDefault", spec.mpi_default)
    launch = words("LaunchParameters", ["use_interactive_step"] * spec.interactive_step, cluster.slurm.release)
    yield Row("LaunchParameters", launch, "salloc opens a shell on the first node")
    pinned = "the login node's limits would keep RDMA from pinning memory"
    yield Row("PropagateResourceLimitsExcept", "MEMLOCK,NOFILE", pinned)
    whole = "otherwise a job without GPUs would get a whole node's memory"
    yield Row("DefMemPerCPU", _memory_per_cpu(cluster), whole)
    yield Row("JobRequeue", int(scheduler.requeue), "jobs are requeued when their node fails")
    yield Row("EnforcePartLimits", "ALL", "jobs that can never run are rejected")
    yield Row("MaxJobCount", scheduler.max_jobs, "job records in memory, including finished jobs")


def _memory_per_cpu(cluster: Cluster) -> int | None:
    """MiB of one CPU's share on the leanest nodes, where a partition has a default per GPU only."""
    if not any(partition.mem_per_gpu_mib for partition in cluster.slurm.partitions):
        return None
    kinds = {group.type.name: group.type for group in cluster.compute}.values()
    shares = (kind.job_memory_mib // max(1, kind.job_cores * kind.threads_per_core) for kind in kinds)
    return min(shares, default=0) or None
