"""Values of Slurm's keys that its parser takes and that do not fit together, or do not fit this cluster."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import PrivateDirectories
from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.table import settings_of
from clustergen.diagnostics import Finding
from clustergen.rules.slurm_values import findings
from clustergen.slurmconf.scalars import FALSE
from clustergen.slurmrules import combinations as shared


def combinations(cluster: Cluster) -> Iterator[Finding]:
    """Words and keys that exclude or need each other, whatever the cluster."""
    conf = settings_of(cluster, "slurm.conf")
    for key, remark in shared.combinations(conf):
        yield from findings(conf.place(key), [remark])


def lacking(cluster: Cluster) -> Iterator[Finding]:
    """Words that this cluster needs and that a value of the manifest's own leaves out: it takes the place of ours."""
    conf = settings_of(cluster, "slurm.conf")
    numa = next((group.type.name for group in cluster.compute if group.type.numa_as_socket), None)
    plugin = any(
        "tmpfs" in conf.text(key) or "linux" in conf.text(key) for key in ("JobContainerType", "NamespaceType")
    )
    namespaces = next(
        (each.section for each in cluster.needs(PrivateDirectories)), "the plugin of job namespaces" if plugin else ""
    )
    adopts = cluster.of(NodeLogins).needs_job
    for key, word, why in (
        (
            "SlurmdParameters",
            "numa_node_as_socket",
            f"nodes of type '{numa}', which are described by NUMA nodes, would be drained" if numa else None,
        ),
        ("PrologFlags", "Contain", f"no daemon starts, because {namespaces} requires it" if namespaces else None),
        (
            "PrologFlags",
            "Contain",
            "ssh sessions cannot be moved into their job" if adopts and not namespaces else None,
        ),
    ):
        # X11 brings Contain along.
        if (
            why
            and key in conf
            and word.lower() not in shared.words(conf, key)
            and not (word == "Contain" and "x11" in shared.words(conf, key))
        ):
            yield Finding("slurm-value-wrong", conf.place(key), f"without {word}, {why}", f"add {word}")


def gpus(cluster: Cluster) -> Iterator[Finding]:
    """Values with which GPUs are not handed out, or not kept apart."""
    conf = settings_of(cluster, "slurm.conf")
    if conf.text("SelectType").lower().endswith("linear") and (cluster.gpu_count or cluster.slurm.topology == "tree"):
        yield Finding(
            "slurm-value-wrong",
            conf.place("SelectType"),
            "select/linear allocates whole nodes and supports neither GPUs nor switches",
            "remove it to use the default, cons_tres",
        )
    if conf.text("ProctrackType").lower().endswith("pgid"):
        yield Finding(
            "slurm-value-harmful",
            conf.place("ProctrackType"),
            "a process that changes its process group escapes tracking and continues after its job",
            "write process_tracking: cgroup",
        )
    if "TaskPlugin" in conf and not any(word.endswith("cgroup") for word in shared.words(conf, "TaskPlugin")):
        yield Finding(
            "slurm-value-harmful",
            conf.place("TaskPlugin"),
            "without task/cgroup nothing confines a job to its cores, memory and GPUs",
            "write task_plugins: [cgroup, affinity]",
        )
    select = shared.words(conf, "SelectTypeParameters")
    if select and not any("memory" in word for word in select):
        yield Finding(
            "slurm-value-harmful",
            conf.place("SelectTypeParameters"),
            "memory is not a consumable resource, so jobs on one node can use each other's",
            "write CR_Core_Memory",
        )
    cgroup = settings_of(cluster, "cgroup.conf")
    for key, why in (
        ("ConstrainDevices", "every job can open all GPUs of its node"),
        ("ConstrainRAMSpace", "a job can use more memory than it requested and crash other jobs"),
        ("ConstrainCores", "jobs can run on each other's cores"),
    ):
        if cgroup.text(key).lower() in FALSE:
            yield Finding("slurm-value-harmful", cgroup.place(key), f"without {key} {why}")


def cloud_without_power_saving(cluster: Cluster) -> Iterator[Finding]:
    """Nodes that slurmctld has to start need its power saving, which is off unless three keys are set."""
    slurm = cluster.slurm
    group = next((group for group in cluster.compute if group.state == "CLOUD"), None)
    lines = [key.lower() for line in slurm.lines for key in line]
    if group is None or "poweraction" in lines:
        return
    times = [
        str(value) for one in slurm.partitions for key, value in one.options.items() if key.lower() == "suspendtime"
    ]
    missing = shared.power_saving_lacks(settings_of(cluster, "slurm.conf").text, times)
    if missing:
        yield Finding(
            "cloud-without-power-saving",
            ("nodes", group.index, "state"),
            f"without {' and '.join(missing)} slurmctld never starts {group.folded}, and jobs there stay CONFIGURING",
            f"set slurm.power_saving, or {', '.join(missing)} in slurm.options",
        )


def hashes(cluster: Cluster) -> Iterator[Finding]:
    conf, slurmdbd = settings_of(cluster, "slurm.conf"), settings_of(cluster, "slurmdbd.conf")
    name = conf.text("HashPlugin")
    if cluster.slurm.accounting_hosts and shared.slurmdbd_lacks_hash(name, slurmdbd.text("HashPlugin")):
        yield Finding(
            "slurm-value-harmful",
            conf.place("HashPlugin"),
            f"slurmdbd does not load {name}, so slurmctld and sacctmgr cannot connect to it",
            f"add HashPlugin: {name} to slurm.accounting.options",
        )
