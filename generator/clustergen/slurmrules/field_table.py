"""The fields of the manifest by Slurm's keys: one table for the checks, the import, the rendered files and the diff."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

Form = Literal[
    "",  # the import has code of its own for it
    "text",
    "path",
    "directory",  # one that the tree may create and own
    "number",
    "boolean",
    "minutes",  # Slurm's times: a bare number counts minutes
    "seconds",
    "MiB",
    "upper",
    "lower",
    "level",  # a log level, by name or number
    "words",
    "lower words",
    "names",  # the same, where ALL means no list
    "plugin",  # by the part of its name behind the slash
    "plugins",
    "word",  # a boolean: whether the list has `Field.word`
    "switch",  # a boolean: whether clustergen's own program is run
]
"""How Slurm writes the value of a field."""


class Field(NamedTuple):
    """A field that holds the value of a key."""

    path: str
    """`slurm.priority.max_age`; relative to the partition, node type or entry for the keys of their lines."""
    form: Form = ""
    values: Mapping[str, str] = {}
    """Slurm's words in lower case → the field's, where they differ; other words have no place in the field then."""
    word: str = ""
    optional: bool = False
    """True: an option may hold the key as long as the manifest does not set the field, which covers less."""
    other_key: bool = False
    """True: the field is printed under another key, so that with Slurm's defaults an option overrides nothing."""
    topic: str = ""
    """Heading below which the value is printed as it is, in the order of the table; empty: a topic has code for it."""
    reason: str = ""
    """Printed behind such a value."""
    decides_more: bool = False
    """True: files of nodes depend on the field as well, so that an option with its word is no substitute."""


def _word(path: str, word: str, decides_more: bool = False) -> Field:
    return Field(path, "word", word=word, optional=True, decides_more=decides_more)


def _each(path: str, form: Form, keys: Mapping[str, str]) -> dict[str, Field]:
    return {key: Field(f"{path}.{name}", form) for key, name in keys.items()}


Purged = Literal["event", "job", "resv", "step", "suspend", "txn", "usage"]
PURGE_KEYS = {kind: f"Purge{'TXN' if kind == 'txn' else kind.title()}After" for kind in get_args(Purged)}
PreemptMode = Literal["off", "requeue", "cancel", "suspend"]
WEIGHTS = {
    "PriorityWeightAge": "age",
    "PriorityWeightAssoc": "assoc",
    "PriorityWeightFairshare": "fairshare",
    "PriorityWeightJobSize": "job_size",
    "PriorityWeightPartition": "partition",
    "PriorityWeightQOS": "qos",
}
_MODES = {"requeue": "requeue", "cancel": "cancel", "suspend,gang": "suspend", "gang,suspend": "suspend"}
_PREEMPT_MODES = {word: word for word in get_args(PreemptMode)}

FIELDS: dict[tuple[str, str], dict[str, Field]] = {
    ("slurm.conf", ""): {
        "ClusterName": Field("slurm.cluster_name"),
        "NodeName": Field("nodes"),
        "PartitionName": Field("slurm.partitions"),
        "NodeSet": Field("slurm.node_sets"),
        # daemons
        **_each("slurm.ports", "number", {"SlurmctldPort": "slurmctld", "SlurmdPort": "slurmd"}),
        "AccountingStoragePort": Field("slurm.ports.slurmdbd"),
        "SrunPortRange": Field("slurm.srun_ports", "text", topic="Cluster and controllers"),
        "SlurmUser": Field("slurm.user", "text"),
        "StateSaveLocation": Field("slurm.state_location", "directory"),
        "SlurmdSpoolDir": Field("slurm.spool_directory", "directory", topic="Cluster and controllers"),
        **_each("slurm.pid_files", "path", {"SlurmctldPidFile": "slurmctld", "SlurmdPidFile": "slurmd"}),
        **_each("slurm.log_files", "path", {"SlurmctldLogFile": "slurmctld", "SlurmdLogFile": "slurmd"}),
        **_each("slurm.log_levels", "level", {"SlurmctldDebug": "slurmctld", "SlurmdDebug": "slurmd"}),
        "SlurmctldParameters": _word("slurm.configless", "enable_configless", decides_more=True),
        "MetricsType": _word("slurm.metrics", "openmetrics"),
        "ReturnToService": Field("slurm.return_to_service", "number"),
        # messages and timeouts
        "AuthType": Field("slurm.auth", "plugin"),
        "CredType": Field("slurm.auth"),
        "MessageTimeout": Field("slurm.message_timeout", "number"),
        "SlurmctldTimeout": Field("slurm.slurmctld_timeout", "number", topic="Authentication, messages and timeouts"),
        "SlurmdTimeout": Field(
            "slurm.slurmd_timeout",
            "number",
            topic="Authentication, messages and timeouts",
            reason="seconds without a response until a node is DOWN and its jobs are lost",
        ),
        "UnkillableStepTimeout": Field("slurm.unkillable_step_timeout", "number"),
        "CompleteWait": Field("slurm.complete_wait", "number", topic="Authentication, messages and timeouts"),
        "RebootProgram": Field("slurm.reboot_program", "path", topic="Authentication, messages and timeouts"),
        "ResumeTimeout": Field(
            "slurm.resume_timeout",
            "number",
            topic="Authentication, messages and timeouts",
            reason="maximum time of a reboot; after that the node is DOWN",
        ),
        "ResumeProgram": Field("slurm.power_saving", optional=True),
        "SuspendProgram": Field("slurm.power_saving", optional=True),
        "SuspendTime": Field("slurm.power_saving.suspend_time", optional=True),
        "SuspendTimeout": Field("slurm.power_saving.suspend_timeout", optional=True),
        "SuspendRate": Field("slurm.power_saving.suspend_rate", optional=True),
        "ResumeRate": Field("slurm.power_saving.resume_rate", optional=True),
        "SuspendExcNodes": Field("slurm.power_saving.except_nodes", optional=True),
        "SuspendExcParts": Field("slurm.power_saving.except_partitions", optional=True),
        # resources and tasks
        "SelectType": Field("slurm.resources.select", "plugin"),
        "SelectTypeParameters": Field("slurm.resources.select_parameters", "words"),
        "ProctrackType": Field("slurm.resources.process_tracking", "plugin"),
        "TaskPlugin": Field("slurm.resources.task_plugins", "plugins"),
        "MpiDefault": Field("slurm.mpi_default", "plugin", optional=True),
        "LaunchParameters": _word("slurm.interactive_step", "use_interactive_step"),
        # scheduling
        "PreemptType": Field("slurm.preemption.by", "plugin", {"partition_prio": "partition", "qos": "qos"}),
        "PreemptMode": Field("slurm.preemption.mode", "lower", _MODES),
        "PreemptExemptTime": Field("slurm.preemption.exempt_time", "minutes"),
        "PreemptParameters": _word("slurm.preemption.youngest_first", "youngest_first"),
        "TopologyPlugin": Field(
            "slurm.topology.plugin",
            "plugin",
            {"tree": "tree", "block": "block", "flat": "flat", "none": "flat", "default": "flat"},
        ),
        "TopologyParam": Field("slurm.topology.parameters", "words", topic="Topology"),
        "SchedulerParameters": Field("slurm.scheduler.parameters", "words"),
        "DependencyParameters": Field("slurm.scheduler.dependency_parameters", "words", topic="Scheduler"),
        "JobRequeue": Field("slurm.scheduler.requeue", "boolean"),
        "DisableRootJobs": Field("slurm.disable_root_jobs", "boolean", topic="Jobs", reason="root cannot submit jobs"),
        "MaxJobCount": Field("slurm.scheduler.max_jobs", "number"),
        "MaxArraySize": Field("slurm.scheduler.max_array", "number", topic="Jobs"),
        "PriorityType": Field("slurm.priority", optional=True),
        "PriorityDecayHalfLife": Field("slurm.priority.half_life", "minutes"),
        "PriorityCalcPeriod": Field("slurm.priority.calc_period", "minutes"),
        "PriorityMaxAge": Field("slurm.priority.max_age", "minutes"),
        "PriorityUsageResetPeriod": Field("slurm.priority.usage_reset", "upper"),
        "PriorityFlags": Field("slurm.priority.flags", "words"),
        "PriorityFavorSmall": Field("slurm.priority.favor_small", "boolean"),
        **_each("slurm.priority.weights", "number", WEIGHTS),
        # accounting
        "AccountingStorageEnforce": Field("slurm.accounting.enforce", "lower words"),
        "AccountingStorageTRES": Field("slurm.accounting.tres", "words"),
        "AccountingStoreFlags": Field("slurm.accounting.store", "lower words"),
        "JobAcctGatherType": Field("slurm.accounting.gather", "plugin"),
        "JobAcctGatherFrequency": Field("slurm.accounting.gather_frequency", "number", optional=True),
        "JobAcctGatherParams": Field("slurm.accounting.gather_parameters", "words"),
        "AcctGatherEnergyType": Field("slurm.accounting.energy", optional=True),
        "AcctGatherNodeFreq": Field("slurm.accounting.energy", optional=True),
        "PrivateData": Field("slurm.accounting.private", topic="Accounting", reason="what users cannot see of others"),
        # programs; an option names the site's own where the field is false or not set
        "PrologEpilogTimeout": Field("slurm.scripts.timeout", optional=True),
        "HealthCheckInterval": Field("health.interval", optional=True),
        "HealthCheckNodeState": Field("health.states", optional=True),
        "Prolog": Field("slurm.scripts.prolog", "switch", optional=True),
        "Epilog": Field("slurm.scripts.epilog", "switch", optional=True),
        "TaskProlog": Field("slurm.scripts.task_prolog", "switch", optional=True),
        "HealthCheckProgram": Field("health.enabled", "switch", optional=True),
        "JobContainerType": Field("slurm.private_tmp", optional=True),
        "NamespaceType": Field("slurm.private_tmp", optional=True),
    },
    ("slurm.conf", "NodeName"): {
        "NodeAddr": Field("address"),
        "Gres": Field("gpus", other_key=True),  # the GPUs that are there, and those that Slurm hands out
        "CPUs": Field("cpu", other_key=True),
        "Boards": Field("cpu.sockets", other_key=True),
        "SocketsPerBoard": Field("cpu.sockets", other_key=True),
        "Sockets": Field("cpu.sockets"),
        "CoresPerSocket": Field("cpu.cores_per_socket"),
        "ThreadsPerCore": Field("cpu.threads_per_core"),
        "RealMemory": Field("memory"),
        "CoreSpecCount": Field("reserved.cores"),
        "CPUSpecList": Field("reserved.cores", other_key=True),
        "MemSpecLimit": Field("reserved.memory"),
        "Feature": Field("features", "words"),
        "Weight": Field("weight", "number"),
        "State": Field("state", "upper"),
    },
    ("slurm.conf", "PartitionName"): {
        "Nodes": Field("nodes"),
        "Default": Field("default", "boolean"),
        "State": Field("state", "upper"),
        "DefaultTime": Field("default_time", "minutes"),
        "MaxTime": Field("max_time", "minutes"),
        "PriorityTier": Field("priority_tier", "number"),
        "PriorityJobFactor": Field("priority_factor", "number"),
        "PreemptMode": Field("preempt", "lower", _PREEMPT_MODES),
        "GraceTime": Field("grace_time", "seconds"),
        "OverSubscribe": Field("oversubscribe", "lower"),
        "MinNodes": Field("min_nodes", "number"),
        "MaxNodes": Field("max_nodes", "number"),
        "MaxCPUsPerNode": Field("max_cpus_per_node", "number"),
        "QOS": Field("qos", "text"),
        "AllowAccounts": Field("allow_accounts", "names"),
        "AllowQos": Field("allow_qos", "names"),
        "AllowGroups": Field("allow_groups", "names"),
        "DenyAccounts": Field("deny_accounts", "words"),
        "DenyQos": Field("deny_qos", "words"),
        "Hidden": Field("hidden", "boolean"),
        "ReqResv": Field("require_reservation", "boolean"),
        "DefCpuPerGPU": Field("cpus_per_gpu", "number"),
        "DefMemPerGPU": Field("memory_per_gpu", "MiB"),
        "DefMemPerCPU": Field("memory_per_cpu", "MiB"),
        "DefMemPerNode": Field("memory_per_node", "MiB"),
        "MaxMemPerCPU": Field("max_memory_per_cpu", "MiB"),
        "MaxMemPerNode": Field("max_memory_per_node", "MiB"),
        "TRESBillingWeights": Field("billing"),
    },
    ("slurmdbd.conf", ""): {
        "DbdPort": Field("slurm.ports.slurmdbd"),
        "StorageHost": Field("slurm.accounting.database_host"),
        "StoragePort": Field("slurm.accounting.database_host"),
        "StorageUser": Field("slurm.accounting.database_user", "text", topic="Database"),
        "StorageLoc": Field("slurm.accounting.database_name", "text", topic="Database"),
        "SlurmUser": Field("slurm.user"),
        "AuthType": Field("slurm.auth"),
        "PidFile": Field("slurm.pid_files.slurmdbd", "path"),
        "LogFile": Field("slurm.log_files.slurmdbd", "path"),
        "DebugLevel": Field("slurm.log_levels.slurmdbd", "level"),
        "PrivateData": Field("slurm.accounting.private", topic="Daemon"),
        **_each("slurm.accounting.purge", "text", {key: kind for kind, key in PURGE_KEYS.items()}),
    },
    ("gres.conf", "NodeName"): {
        "Type": Field("gpus.gres_type"),
        "AutoDetect": Field("gpus.autodetect"),
        "Cores": Field("gpus.numa"),
        "Links": Field("gpus.links"),
    },
}
"""(file, key that opens the line) → key as it is printed → field; a partition's in the order of its rendered line."""

MORE: dict[tuple[str, str], dict[str, tuple[Field, ...]]] = {
    ("slurm.conf", ""): {
        "SelectTypeParameters": (_word("slurm.enforce_binding", "ENFORCE_BINDING_GRES"),),
        "SchedulerParameters": (Field("slurm.scheduler.backfill_window", optional=True),),
        "JobAcctGatherFrequency": (Field("slurm.accounting.energy", optional=True),),
    },
    ("slurm.conf", "NodeName"): {"RealMemory": (Field("real_memory"),), "Gres": (Field("gres", other_key=True),)},
}
"""Further fields that a key's value follows from."""

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
        "GresTypes": "gpus and gres of the node types",
        "PropagateResourceLimits": "PropagateResourceLimitsExcept, which excludes it; set that instead",
    },
    ("slurmdbd.conf", ""): {
        "DbdHost": "the role slurm-accounting",
        "DbdAddr": "the role slurm-accounting",
        "DbdBackupHost": "the role slurm-accounting, on a second node",
        "StorageType": "slurmdbd itself, which supports MySQL and MariaDB only",
        "StoragePass": "a secret that Ansible installs on the node",
    },
    ("gres.conf", "NodeName"): dict.fromkeys(
        ("Name", "File", "MultipleFiles", "Count"), "nodes, and gpus and gres of the node types"
    ),
}
"""(file, key that opens the line) → key → what it follows from: no field holds it."""

NOT_FREE = frozenset(("ClusterName", "NodeName", "PartitionName", "NodeSet", "StoragePass"))
"""Keys that no option may hold, even with Slurm's own defaults."""
