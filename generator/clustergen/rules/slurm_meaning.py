"""Values of Slurm's keys that its parser takes and that do not fit together, or do not fit this cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.base import OptionValue
from clustergen.rules.slurm_values import findings
from clustergen.slurmrules import combinations as shared

_FALSE = ("no", "down", "false", "0")


class _Options:
    """The options of one file, whatever the case of their keys."""

    def __init__(self, path: ManifestPath, given: Mapping[str, OptionValue]) -> None:
        self._path = path
        self._given = {key.lower(): (key, str(value)) for key, value in given.items()}

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.lower() in self._given

    def text(self, key: str) -> str:
        return self._given[key.lower()][1] if key in self else ""

    def words(self, key: str) -> list[str]:
        """The words of a list, in lower case and without their values."""
        return [part.strip().partition("=")[0].lower() for part in self.text(key).split(",")] if key in self else []

    def path(self, key: str) -> ManifestPath:
        return (*self._path, self._given[key.lower()][0])


def _slurm_conf(cluster: Cluster) -> _Options:
    return _Options(("slurm", "options"), cluster.manifest.slurm.options)


def combinations(cluster: Cluster) -> Iterator[Finding]:
    """Words and keys that exclude or need each other, whatever the cluster."""
    own = _slurm_conf(cluster)
    for key, remark in shared.combinations(own):
        yield from findings(own.path(key), [remark])


def health_states(cluster: Cluster) -> Iterator[Finding]:
    """START_ONLY and REBOOT_ONLY stand alone."""
    path: ManifestPath = ("health", "states")
    states = _Options(path, {"HealthCheckNodeState": ",".join(cluster.manifest.health.states)})
    for _, remark in shared.combinations(states):
        yield from findings(path, [remark])


def lacking(cluster: Cluster) -> Iterator[Finding]:
    """Words that this cluster needs and that a value of the manifest's own leaves out: it takes the place of ours."""
    own = _slurm_conf(cluster)
    written = cluster.manifest.slurm
    numa = next((group.type.name for group in cluster.compute if group.type.numa_as_socket), None)
    namespaces = any(
        "tmpfs" in own.text(key) or "linux" in own.text(key) for key in ("JobContainerType", "NamespaceType")
    )
    adopts = cluster.manifest.host.ssh_adopt
    for key, word, why in (
        (
            "SlurmctldParameters",
            "enable_configless",
            "nodes of a configless cluster could fetch no configuration" if written.configless else None,
        ),
        (
            "SlurmdParameters",
            "numa_node_as_socket",
            f"nodes of type '{numa}' are described by NUMA nodes, and would be drained" if numa else None,
        ),
        ("PrologFlags", "Contain", "namespaces of jobs need it, and no daemon starts" if namespaces else None),
        (
            "PrologFlags",
            "Contain",
            "ssh sessions could not be put into their job" if adopts and not namespaces else None,
        ),
    ):
        # X11 brings Contain along.
        if (
            why
            and key in own
            and word.lower() not in own.words(key)
            and not (word == "Contain" and "x11" in own.words(key))
        ):
            yield Finding("slurm-value-wrong", own.path(key), f"without {word}, {why}", f"add {word}")


def gpus(cluster: Cluster) -> Iterator[Finding]:
    """Values with which GPUs are not handed out, or not kept apart."""
    own = _slurm_conf(cluster)
    if own.text("SelectType").lower().endswith("linear") and (cluster.gpu_count or cluster.topology == "tree"):
        yield Finding(
            "slurm-value-wrong",
            own.path("SelectType"),
            "select/linear hands out whole nodes, and knows no GPUs and no switches",
            "leave it out: select/cons_tres is written",
        )
    if "TaskPlugin" in own and not any(word.endswith("cgroup") for word in own.words("TaskPlugin")):
        yield Finding(
            "slurm-value-harmful",
            own.path("TaskPlugin"),
            "without task/cgroup nothing keeps a job inside its cores, memory and GPUs",
            "write task/cgroup,task/affinity",
        )
    if own.words("SelectTypeParameters") and not any("memory" in word for word in own.words("SelectTypeParameters")):
        yield Finding(
            "slurm-value-harmful",
            own.path("SelectTypeParameters"),
            "memory is not handed out, so jobs on one node can take each other's",
            "write CR_Core_Memory",
        )
    cgroup = _Options(("slurm", "cgroup_options"), cluster.manifest.slurm.cgroup_options)
    for key, why in (
        ("ConstrainDevices", "every job can open all GPUs of its node"),
        ("ConstrainRAMSpace", "a job that takes more memory than it asked for brings its neighbours down"),
        ("ConstrainCores", "jobs run on each other's cores"),
    ):
        if cgroup.text(key).lower() in _FALSE:
            yield Finding("slurm-value-harmful", cgroup.path(key), f"without {key} {why}")


RULES = (combinations, health_states, lacking, gpus)
