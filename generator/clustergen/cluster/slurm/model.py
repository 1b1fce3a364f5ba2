"""Slurm as every part of the tree needs it: release, daemons, partitions, and what the site passes through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.annotations import HOSTS, Hosts, Mib
from clustergen.diagnostics import ManifestPath
from clustergen.records import record
from clustergen.units import Duration

Options = Mapping[str, str | int | float]
ROLES: dict[str, str] = {
    "slurmctld": "slurm-controller",
    "slurmd": "slurm-compute",
    "slurmdbd": "slurm-accounting",
}
"""Daemon → role of the nodes that run it."""


@record
class Daemon:
    """A daemon of Slurm's."""

    hosts: Hosts  # nodes of this cluster that run it
    port: int  # that it listens on
    port_at: ManifestPath | None
    log_file: str  # path
    log_file_at: ManifestPath | None
    log_level: str  # as info, in slurm.conf
    pid_file: str  # empty: Slurm's own default


@record
class Leaf:
    """A leaf switch in Slurm's topology: one switch, or the leaves of all rails that serve the same nodes."""

    name: str  # in topology.conf
    nodes: Hosts  # that are connected to it
    parents: tuple[str, ...]  # switches above


@record
class Partition:
    """A partition with its defaults worked out. None is not set; of `*_at`, that the limit is a default."""

    name: str  # in slurm.conf
    nodes: str  # folded, or ALL, none, or node sets as written
    hosts: Annotated[frozenset[str], HOSTS]  # those of `nodes`
    default: bool
    max_time_minutes: int | None  # None: unlimited
    max_time_at: ManifestPath | None
    default_time_minutes: int | None  # None: unlimited
    default_time_at: ManifestPath | None
    cpus_per_gpu: int | None
    mem_per_gpu_mib: int | None  # DefMemPerGPU
    mem_per_cpu_mib: int | None  # DefMemPerCPU
    memory_per_node: Mib | None
    max_memory_per_cpu: Mib | None
    max_memory_per_node: Mib | None
    max_cpus_per_node: int | None
    min_nodes: int | None
    max_nodes: int | None
    priority_tier: int | None
    priority_factor: int | None
    preempt: str | None
    grace_time: Duration | None
    oversubscribe: str | None
    qos: str | None
    allow_accounts: tuple[str, ...]
    allow_qos: tuple[str, ...]
    allow_groups: tuple[str, ...]
    deny_accounts: tuple[str, ...]
    deny_qos: tuple[str, ...]
    billing: Mapping[str, float]  # TRES → weight of TRESBillingWeights
    state: str  # UP, DOWN, DRAIN or INACTIVE
    hidden: bool
    require_reservation: bool
    options: Options  # further keys of its line


@record
class Slurm:
    """Slurm on this cluster."""

    release: SlurmRelease  # as 24.11
    bare: bool  # Slurm's own defaults hold where the manifest says nothing
    build: str  # auto, distribution or schedmd
    cluster_name: str
    auth: str  # munge or slurm
    configless: bool
    user: str  # SlurmUser
    uid: int  # of `user`
    state_location: str  # StateSaveLocation
    state_location_at: ManifestPath | None
    state_shared: bool  # by a file system that is not under `storage`
    spool_directory: str  # SlurmdSpoolDir
    daemons: Mapping[str, Daemon]  # slurmctld, slurmd and slurmdbd
    slurmdbd_hosts: Hosts  # nodes of this cluster, or another cluster's
    keeps_books: bool  # there is a slurmdbd: on nodes of the manifest, or elsewhere, as an option says
    srun_ports: str | None  # None: any
    partitions: tuple[Partition, ...]
    node_sets: Mapping[str, str]  # name → host list
    topology: str  # flat, tree or block
    leaves: tuple[Leaf, ...]  # switches to which nodes are connected
    options: Options  # further keys of slurm.conf
    lines: tuple[Options, ...]  # further lines of slurm.conf
    gres_options: Options  # further keys of gres.conf
    gres_lines: tuple[Options, ...] | None  # in place of those of the GPUs
    cgroup_options: Options  # further keys of cgroup.conf
    mpi_options: Options  # further keys of mpi.conf
    acct_gather_options: Options  # further keys of acct_gather.conf

    @property
    def controllers(self) -> Hosts:
        """slurmctld hosts; the first is the primary."""
        return self.daemons["slurmctld"].hosts

    @property
    def accounting_hosts(self) -> Hosts:
        """Nodes of this cluster that run slurmdbd."""
        return self.daemons["slurmdbd"].hosts
