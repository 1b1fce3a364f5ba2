"""Partitions: who may use which nodes, for how long, and with which defaults."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import AnyName, HostList, Options, Section, SlurmName, field, text
from clustergen.slurmrules.field_table import PreemptMode
from clustergen.units import Bytes, Minutes, Seconds

Weight = float | Annotated[str, text(r"^[0-9]+(\.[0-9]+)?[KMGTP]$", "write a number, for memory as 0.25G for each GiB")]


class Partition(Section):
    """A partition."""

    nodes: HostList | Literal["all", "none"] = field(
        ..., "Nodes, node sets, all (every node that runs slurmd), or none: a partition without nodes.", sample="all"
    )
    default: bool = field(False, "Default partition: for jobs submitted without one.")
    max_time: Minutes | None = field(None, "MaxTime; default unlimited.")
    default_time: Minutes | None = field(
        None,
        "DefaultTime: limit of jobs submitted without one; default 1 hour or max_time, for backfill. 0: such jobs are"
        " rejected.",
    )
    priority_tier: Annotated[int, Field(ge=0, le=65533)] | None = field(
        None, "PriorityTier: higher tiers are scheduled first and can preempt."
    )
    priority_factor: Annotated[int, Field(ge=0, le=65533)] | None = field(
        None, "PriorityJobFactor: the partition's part of a job's priority."
    )
    preempt: PreemptMode | None = field(None, "PreemptMode of its jobs.")
    grace_time: Seconds | None = field(None, "GraceTime: time between the warning and the end of a preempted job.")
    cpus_per_gpu: Annotated[int, Field(ge=1, le=4096)] | None = field(
        None, "Default per GPU; derived from the hardware."
    )
    memory_per_gpu: Bytes | None = field(None, "Default per GPU; derived from the hardware.")
    memory_per_cpu: Bytes | None = field(None, "Default per CPU, for partitions without GPUs.")
    memory_per_node: Bytes | None = field(None, "DefMemPerNode: default per node, instead of per GPU or CPU.")
    max_memory_per_cpu: Bytes | None = field(None, "MaxMemPerCPU: maximum memory of a job per CPU.")
    max_memory_per_node: Bytes | None = field(None, "MaxMemPerNode: maximum memory of a job on a node.")
    max_cpus_per_node: Annotated[int, Field(ge=1)] | None = field(
        None, "MaxCPUsPerNode: leaves cores for the GPUs on nodes that CPU jobs share."
    )
    max_nodes: Annotated[int, Field(ge=1)] | None = field(None, "MaxNodes: largest job.")
    min_nodes: Annotated[int, Field(ge=1)] | None = field(None, "MinNodes: smallest job.")
    oversubscribe: (
        Annotated[
            str,
            text(
                r"^(no|exclusive|(yes|force)(:[1-9][0-9]{0,3})?)$",
                "write no, exclusive, yes or force, or force:4 for four jobs on a core",
                10,
            ),
        ]
        | None
    ) = field(None, "Sharing of cores: no, exclusive, yes or force, with the number of jobs as in force:4; default no.")
    qos: AnyName | None = field(None, "Partition QOS: its limits apply to the whole partition.")
    allow_accounts: tuple[AnyName, ...] = field((), "AllowAccounts: only these accounts.")
    allow_qos: tuple[AnyName, ...] = field((), "AllowQos: only these QOS.")
    allow_groups: tuple[SlurmName, ...] = field((), "AllowGroups: only these Unix groups.")
    deny_accounts: tuple[AnyName, ...] = field((), "DenyAccounts: all accounts except these; excludes allow_accounts.")
    deny_qos: tuple[AnyName, ...] = field((), "DenyQos: all QOS except these; excludes allow_qos.")
    billing: dict[str, Weight] | None = field(
        None,
        "TRESBillingWeights, as {cpu: 1.0, mem: 0.25G}; memory without a unit counts MiB, as in Slurm. By default"
        " all partitions have one unit, of which the cheapest or least capable GPU is 1000.",
    )
    state: Literal["UP", "DOWN", "DRAIN", "INACTIVE"] = field("UP", "State: whether jobs are accepted and started.")
    hidden: bool = field(False, "Hidden from users who cannot use it.")
    require_reservation: bool = field(False, "ReqResv: only for jobs in a reservation.")
    options: Options = field({}, "More keys of the PartitionName line.")
