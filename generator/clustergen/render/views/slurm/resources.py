"""slurm.conf: what is scheduled (cores, memory, GPUs), how jobs are kept inside it, and how tasks start."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.nvlink import IMEX, switches_imex
from clustergen.cluster.slurm.jobs import Resources
from clustergen.cluster.slurm.scheduling import Scheduler
from clustergen.render.views.slurm.devices import has_mps, has_shards
from clustergen.render.views.slurm.settings import Section, Setting, section, words

FILE = "slurm.conf"


def resources(cluster: Cluster) -> Section:
    spec = cluster.of(Resources)
    sharing = has_shards(cluster) or has_mps(cluster)
    linear = spec.select == "linear"
    parameters = [
        *(
            spec.select_parameters
            or [
                "CR_Memory" if linear else "CR_Core_Memory",  # whole nodes are all that select/linear hands out
                *(["LL_SHARED_GRES"] if sharing else []),
            ]
        ),
        *(["ENFORCE_BINDING_GRES"] if spec.enforce_binding else []),
    ]
    as_socket = any(group.type.numa_as_socket for group in cluster.compute)
    rows = [
        Setting("SelectType", f"select/{spec.select}", "" if linear else "the only plugin that allocates GPUs"),
        Setting(
            "SelectTypeParameters",
            words("SelectTypeParameters", parameters, cluster.slurm.release),
            ""
            if spec.select_parameters
            else "allocates whole nodes with their memory"
            if linear
            else "allocates both cores and memory",
        ),
        Setting("GresTypes", ",".join(gres_names(cluster))),
        Setting("ProctrackType", f"proctrack/{spec.process_tracking}"),
        Setting(
            "TaskPlugin",
            ",".join(f"task/{name}" for name in spec.task_plugins),
            "limits by cgroup, binding by affinity" if spec.task_plugins == ("cgroup", "affinity") else "",
        ),
        Setting("SlurmdParameters", "numa_node_as_socket", "GPUs are attached to NUMA nodes, several per socket")
        if as_socket
        else None,
        Setting("SwitchType", IMEX, "memory export between the trays of an NVLink domain")
        if switches_imex(cluster)
        else None,
    ]
    return section("Resources", FILE, cluster.slurm.release, rows)


def gres_names(cluster: Cluster) -> list[str]:
    names = ["gpu"] if cluster.gpu_types else []
    return names + ["shard"] * has_shards(cluster) + ["mps"] * has_mps(cluster)


def jobs(cluster: Cluster) -> Section:
    spec, scheduler = cluster.of(Resources), cluster.of(Scheduler)
    launch = ["use_interactive_step"] if spec.interactive_step else []
    rows = [
        Setting("MpiDefault", spec.mpi_default),
        Setting(
            "LaunchParameters",
            words("LaunchParameters", launch, cluster.slurm.release),
            "salloc opens a shell on the first node",
        ),
        Setting(
            "PropagateResourceLimitsExcept",
            "MEMLOCK,NOFILE",
            "the login node's limits would keep RDMA from pinning memory",
        ),
        Setting("DefMemPerCPU", share, "otherwise a job without GPUs would get a whole node's memory")
        if (share := _memory_per_cpu(cluster))
        else None,
        Setting("JobRequeue", int(scheduler.requeue), "jobs are requeued when their node fails"),
        Setting("EnforcePartLimits", "ALL", "jobs that can never run are rejected"),
        Setting("DisableRootJobs", "YES", "root cannot submit jobs") if spec.disable_root_jobs else None,
        Setting("MaxJobCount", scheduler.max_jobs, "job records in memory, including finished jobs"),
        Setting("MaxArraySize", scheduler.max_array) if scheduler.max_array else None,
    ]
    return section("Jobs", FILE, cluster.slurm.release, rows)


def _memory_per_cpu(cluster: Cluster) -> int | None:
    """MiB of one CPU's share on the leanest nodes, where a partition has a default per GPU only."""
    if not any(partition.mem_per_gpu_mib for partition in cluster.slurm.partitions):
        return None
    kinds = {group.type.name: group.type for group in cluster.compute}.values()
    shares = (kind.job_memory_mib // max(1, kind.job_cores * kind.threads_per_core) for kind in kinds)
    return min(shares, default=0) or None
