"""Values of Slurm's keys that its parser takes and that do not fit together, or do not fit this cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.contributions import PrivateDirectories
from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.keys.table import settings_of
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.base import OptionValue
from clustergen.manifest.slurm import Slurm
from clustergen.manifest.stated import is_stated
from clustergen.rules.slurm_values import fields_of_slurm, findings
from clustergen.slurmconf.scalars import FALSE
from clustergen.slurmrules import combinations as shared

_TEXTS = ("plugin", "plugins", "words", "lower words")


class Options:
    """The options of one file, whatever the case of their keys, and fields that stand for keys."""

    def __init__(
        self,
        path: ManifestPath,
        options: Mapping[str, OptionValue],
        fields: Mapping[str, tuple[ManifestPath, str]] | None = None,
    ) -> None:
        self._options = {key.lower(): (place, text) for key, (place, text) in (fields or {}).items()}
        self._options |= {key.lower(): ((*path, key), str(value)) for key, value in options.items()}

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.lower() in self._options

    def text(self, key: str) -> str:
        return self._options[key.lower()][1] if key in self else ""

    def path(self, key: str) -> ManifestPath:
        return self._options[key.lower()][0]


def _slurm_conf(section: Slurm) -> Options:
    """Keys of slurm.conf that the manifest sets, by fields or options."""
    fields: dict[str, tuple[ManifestPath, str]] = {}
    for key, row, value in fields_of_slurm(section):
        is_text = row.form in _TEXTS and isinstance(value, (str, tuple))
        if is_text and is_stated(section, row.path.removeprefix("slurm.")):
            text = value if isinstance(value, str) else ",".join(value)
            fields[key] = (tuple(row.path.split(".")), text)
    return Options(("slurm", "options"), section.options, fields)


def combinations(_: Cluster, section: Slurm) -> Iterator[Finding]:
    """Words and keys that exclude or need each other, whatever the cluster."""
    conf = _slurm_conf(section)
    for key, remark in shared.combinations(conf):
        yield from findings(conf.path(key), [remark])


def lacking(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    """Words that this cluster needs and that a value of the manifest's own leaves out: it takes the place of ours."""
    conf = _slurm_conf(section)
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
            yield Finding("slurm-value-wrong", conf.path(key), f"without {word}, {why}", f"add {word}")


def gpus(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    """Values with which GPUs are not handed out, or not kept apart."""
    conf = _slurm_conf(section)
    if conf.text("SelectType").lower().endswith("linear") and (cluster.gpu_count or cluster.slurm.topology == "tree"):
        yield Finding(
            "slurm-value-wrong",
            conf.path("SelectType"),
            "select/linear allocates whole nodes and supports neither GPUs nor switches",
            "remove it to use the default, cons_tres",
        )
    if conf.text("ProctrackType").lower().endswith("pgid"):
        yield Finding(
            "slurm-value-harmful",
            conf.path("ProctrackType"),
            "a process that changes its process group escapes tracking and continues after its job",
            "write process_tracking: cgroup",
        )
    if "TaskPlugin" in conf and not any(word.endswith("cgroup") for word in shared.words(conf, "TaskPlugin")):
        yield Finding(
            "slurm-value-harmful",
            conf.path("TaskPlugin"),
            "without task/cgroup nothing confines a job to its cores, memory and GPUs",
            "write task_plugins: [cgroup, affinity]",
        )
    select = shared.words(conf, "SelectTypeParameters")
    if select and not any("memory" in word for word in select):
        yield Finding(
            "slurm-value-harmful",
            conf.path("SelectTypeParameters"),
            "memory is not a consumable resource, so jobs on one node can use each other's",
            "write CR_Core_Memory",
        )
    cgroup = Options(("slurm", "cgroup_options"), cluster.slurm.cgroup_options)
    for key, why in (
        ("ConstrainDevices", "every job can open all GPUs of its node"),
        ("ConstrainRAMSpace", "a job can use more memory than it requested and crash other jobs"),
        ("ConstrainCores", "jobs can run on each other's cores"),
    ):
        if cgroup.text(key).lower() in FALSE:
            yield Finding("slurm-value-harmful", cgroup.path(key), f"without {key} {why}")


def cloud_without_power_saving(cluster: Cluster) -> Iterator[Finding]:
    """Nodes that slurmctld has to start need its power saving, which is off unless three keys are set."""
    slurm = cluster.slurm
    group = next((group for group in cluster.compute if group.state == "CLOUD"), None)
    lines = [key.lower() for line in slurm.lines for key in line]
    if group is None or "poweraction" in lines:
        return
    conf = settings_of(cluster, "slurm.conf")
    partitions = [Options(("slurm", "partitions", one.name), one.options) for one in slurm.partitions]
    missing = shared.power_saving_lacks(conf.text, [partition.text("SuspendTime") for partition in partitions])
    if missing:
        yield Finding(
            "cloud-without-power-saving",
            ("nodes", group.index, "state"),
            f"without {' and '.join(missing)} slurmctld never starts {group.folded}, and jobs there stay CONFIGURING",
            f"set slurm.power_saving, or {', '.join(missing)} in slurm.options",
        )


def hashes(cluster: Cluster) -> Iterator[Finding]:
    conf = Options(("slurm", "options"), cluster.slurm.options)
    slurmdbd = Options(("slurm", "accounting", "options"), cluster.of(Accounting).options)
    name = conf.text("HashPlugin")
    if cluster.slurm.accounting_hosts and shared.slurmdbd_lacks_hash(name, slurmdbd.text("HashPlugin")):
        yield Finding(
            "slurm-value-harmful",
            conf.path("HashPlugin"),
            f"slurmdbd does not load {name}, so slurmctld and sacctmgr cannot connect to it",
            f"add HashPlugin: {name} to slurm.accounting.options",
        )
