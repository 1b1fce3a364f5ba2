"""Partitions: who may use which nodes, for how long, and with which defaults."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.accounts import AnyName
from clustergen.manifest.base import HostList, Options, Section, SlurmName, field, text
from clustergen.units import Bytes, Minutes, Seconds


class Partition(Section):
    """A queue."""

    nodes: HostList | Literal["all", "none"] = field(
        ..., "Nodes, node sets, all (every node that runs slurmd), or none: a partition without nodes."
    )
    default: bool = field(False, "Where jobs go that name no partition.")
    max_time: Minutes | None = field(None, "Longest job; default unlimited.")
    default_time: Minutes | None = field(
        None, "Limit of jobs that state none; default 1 hour or max_time: backfill needs it. 0: they are refused."
    )
    priority_tier: Annotated[int, Field(ge=0, le=65533)] | None = field(None, "Higher tiers go first, and may preempt.")
    priority_factor: Annotated[int, Field(ge=0, le=65533)] | None = field(
        None, "Partition's share of a job's priority."
    )
    preempt: Literal["off", "requeue", "cancel", "suspend"] | None = field(
        None, "What happens to its jobs when preempted."
    )
    grace_time: Seconds | None = field(None, "Time between the warning and the end of a preempted job.")
    cpus_per_gpu: Annotated[int, Field(ge=1, le=4096)] | None = field(
        None, "Default per GPU; worked out from the hardware."
    )
    memory_per_gpu: Bytes | None = field(None, "Default per GPU; worked out from the hardware.")
    memory_per_cpu: Bytes | None = field(None, "Default per CPU, for partitions without GPUs.")
    memory_per_node: Bytes | None = field(None, "Default per node, in place of one per GPU or CPU.")
    max_memory_per_cpu: Bytes | None = field(None, "Most that a job gets per CPU.")
    max_memory_per_node: Bytes | None = field(None, "Most that a job gets on a node.")
    max_cpus_per_node: Annotated[int, Field(ge=1)] | None = field(None, "Keeps CPU jobs off the cores that GPUs need.")
    max_nodes: Annotated[int, Field(ge=1)] | None = field(None, "Largest job.")
    min_nodes: Annotated[int, Field(ge=1)] | None = field(None, "Smallest job.")
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
    qos: AnyName | None = field(None, "QOS whose limits hold for the partition as a whole.")
    allow_accounts: tuple[AnyName, ...] = field((), "Only these accounts.")
    allow_qos: tuple[AnyName, ...] = field((), "Only these QOS.")
    allow_groups: tuple[SlurmName, ...] = field((), "Only these Unix groups.")
    deny_accounts: tuple[AnyName, ...] = field((), "All accounts except these; not together with allow_accounts.")
    deny_qos: tuple[AnyName, ...] = field((), "All QOS except these; not together with allow_qos.")
    billing: dict[str, float] | None = field(
        None, "TRESBillingWeights; default made so that a whole node bills by its GPUs."
    )
    state: Literal["UP", "DOWN", "DRAIN", "INACTIVE"] = field("UP", "Whether jobs are taken and started.")
    hidden: bool = field(False, "Not shown to those who may not use it.")
    require_reservation: bool = field(False, "Only for jobs that name a reservation.")
    options: Options = field({}, "More keys of the PartitionName line.")
