"""Slurm's keys that an escape hatch may not hold: the manifest has a field for them, or they follow from it."""

from __future__ import annotations

from functools import cache

_PRIORITY = {
    "PriorityDecayHalfLife": "half_life",
    "PriorityCalcPeriod": "calc_period",
    "PriorityMaxAge": "max_age",
    "PriorityUsageResetPeriod": "usage_reset",
    "PriorityFlags": "flags",
    "PriorityFavorSmall": "favor_small",
    "PriorityWeightAge": "weights.age",
    "PriorityWeightAssoc": "weights.assoc",
    "PriorityWeightFairshare": "weights.fairshare",
    "PriorityWeightJobSize": "weights.job_size",
    "PriorityWeightPartition": "weights.partition",
    "PriorityWeightQOS": "weights.qos",
}
_PURGE = ("Event", "Job", "Resv", "Step", "Suspend", "TXN", "Usage")

# (file, block) → key → the field that says it. The two places would contradict each other.
FIELDS: dict[tuple[str, str], dict[str, str]] = {
    ("slurm.conf", ""): {
        "ClusterName": "slurm.cluster_name",
        "SlurmUser": "slurm.user",
        "StateSaveLocation": "slurm.state_location",
        "AuthType": "slurm.auth",
        "CredType": "slurm.auth",
        "CryptoType": "slurm.auth",
        "SlurmctldPort": "slurm.ports.slurmctld",
        "SlurmdPort": "slurm.ports.slurmd",
        "AccountingStoragePort": "slurm.ports.slurmdbd",
        "PreemptType": "slurm.preemption.by",
        "PreemptMode": "slurm.preemption.mode",
        "PreemptExemptTime": "slurm.preemption.exempt_time",
        "TopologyPlugin": "slurm.topology.plugin",
        "TopologyParam": "slurm.topology.parameters",
        "SchedulerParameters": "slurm.scheduler.parameters",
        "JobRequeue": "slurm.scheduler.requeue",
        "MaxJobCount": "slurm.scheduler.max_jobs",
        "MaxArraySize": "slurm.scheduler.max_array",
        "AccountingStorageEnforce": "slurm.accounting.enforce",
        "AccountingStorageTRES": "slurm.accounting.tres",
        "AccountingStoreFlags": "slurm.accounting.store",
        "PrivateData": "slurm.accounting.private",
        "RebootProgram": "slurm.reboot_program",
        "ResumeTimeout": "slurm.resume_timeout",
        "SlurmdTimeout": "slurm.slurmd_timeout",
        "MessageTimeout": "slurm.message_timeout",
        "NodeName": "nodes",
        "PartitionName": "slurm.partitions",
        "NodeSet": "slurm.node_sets",
        **{key: f"slurm.priority.{field}" for key, field in _PRIORITY.items()},
    },
    ("slurm.conf", "NodeName"): {
        "NodeAddr": "address of the nodes",
        "Gres": "gpus",
        "CPUs": "cpu",
        "Procs": "cpu",
        "Boards": "cpu.sockets",
        "SocketsPerBoard": "cpu.sockets",
        "Sockets": "cpu.sockets",
        "CoresPerSocket": "cpu.cores_per_socket",
        "ThreadsPerCore": "cpu.threads_per_core",
        "RealMemory": "memory",
        "CoreSpecCount": "reserved.cores",
        "CPUSpecList": "reserved.cores",
        "MemSpecLimit": "reserved.memory",
        "Feature": "features",
        "Features": "features",
        "Weight": "weight",
        "State": "state of the nodes",
    },
    ("slurm.conf", "PartitionName"): {
        "Nodes": "nodes",
        "Default": "default",
        "State": "state",
        "MaxTime": "max_time",
        "DefaultTime": "default_time",
        "PriorityTier": "priority_tier",
        "PriorityJobFactor": "priority_factor",
        "Priority": "priority_tier, and priority_factor",
        "PreemptMode": "preempt",
        "GraceTime": "grace_time",
        "DefCPUPerGPU": "cpus_per_gpu",
        "DefMemPerGPU": "memory_per_gpu",
        "DefMemPerCPU": "memory_per_cpu",
        "DefMemPerNode": "memory_per_gpu or memory_per_cpu",
        "MinNodes": "min_nodes",
        "MaxNodes": "max_nodes",
        "MaxCPUsPerNode": "max_cpus_per_node",
        "Shared": "oversubscribe",
        "QOS": "qos",
        "AllowAccounts": "allow_accounts",
        "AllowQos": "allow_qos",
        "AllowGroups": "allow_groups",
        "Hidden": "hidden",
        "TRESBillingWeights": "billing",
    },
    ("slurmdbd.conf", ""): {
        "DbdPort": "slurm.ports.slurmdbd",
        "StorageHost": "slurm.accounting.database_host",
        "StoragePort": "slurm.accounting.database_host, as host:port",
        "StorageUser": "slurm.accounting.database_user",
        "StorageLoc": "slurm.accounting.database_name",
        "SlurmUser": "slurm.user",
        "AuthType": "slurm.auth",
        "PrivateData": "slurm.accounting.private",
        **{f"Purge{kind}After": f"slurm.accounting.purge.{kind.lower()}" for kind in _PURGE},
    },
    ("gres.conf", "NodeName"): {
        "Type": "gpus.gres_type",
        "AutoDetect": "gpus.autodetect",
        "Cores": "gpus.numa",
        "CPUs": "gpus.numa",
        "Links": "gpus.links",
        "Link": "gpus.links",
    },
}

# (file, block) → key → what it follows from.
DERIVED: dict[tuple[str, str], dict[str, str]] = {
    ("slurm.conf", ""): {
        "SlurmctldHost": "the role slurm-controller",
        "SlurmctldAddr": "the address of the controller",
        "ControlMachine": "the role slurm-controller",
        "ControlAddr": "the address of the controller",
        "BackupController": "the role slurm-controller, on a second node",
        "BackupAddr": "the address of the second controller",
        "AccountingStorageHost": "the role slurm-accounting",
        "AccountingStorageBackupHost": "the role slurm-accounting, on a second node",
        "AccountingStorageType": "the role slurm-accounting",
        "GresTypes": "gpus of the node types",
        "PropagateResourceLimits": "PropagateResourceLimitsExcept, which may be given here and excludes it",
    },
    ("slurmdbd.conf", ""): {
        "DbdHost": "the role slurm-accounting",
        "DbdAddr": "the role slurm-accounting",
        "DbdBackupHost": "the role slurm-accounting, on a second node",
        "StorageType": "what slurmdbd can do: MySQL and MariaDB only",
        "StoragePass": "a secret that is put on the node when the tree is applied",
    },
    ("gres.conf", "NodeName"): dict.fromkeys(
        ("Name", "File", "Files", "MultipleFiles", "Count"), "nodes, and gpus of the node types"
    ),
}

# With Slurm's own defaults, an option may say what a field has no words for; these it may not.
NOT_FREE = frozenset(("ClusterName", "NodeName", "PartitionName", "NodeSet", "StoragePass"))


@cache
def _lower() -> tuple[dict[tuple[str, str, str], str], ...]:
    """Both tables by file, block and key in lower case."""
    return tuple(
        {(*place, key.lower()): said for place, keys in table.items() for key, said in keys.items()}
        for table in (FIELDS, DERIVED)
    )


def field_of(file: str, block: str, name: str) -> str | None:
    """The field of the manifest that says a key; None where none does."""
    return _lower()[0].get((file, block, name.lower()))


def derived_from(file: str, block: str, name: str) -> str | None:
    """What a key follows from that cannot be given at all."""
    return _lower()[1].get((file, block, name.lower()))
