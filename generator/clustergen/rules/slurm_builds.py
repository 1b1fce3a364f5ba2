"""Features that the Slurm of this release, or of the packages of the nodes, lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue import slurm_values
from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.slurm_values import has_plugin
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.builds import from_distribution, offers
from clustergen.cluster.slurm.keys.table import settings_of
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.hardware import NodeType
from clustergen.manifest.slurm import Slurm
from clustergen.manifest.stated import is_stated

REQUIRES = "slurm"

_METRICS = "metrics/openmetrics"


def plugins_lacking(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    """Plugins that a field of the manifest asks for and that the distribution's own build does not have."""
    for os in _systems(cluster, "slurm-compute"):
        if section.mpi_default == "pmix" and os.fact("slurm_pmix") in ("", "no"):
            yield _lacking(os, ("slurm", "mpi_default"), "PMIx", "use pmi2")
    for os in _systems(cluster, "slurm-controller", "slurm-compute", "login"):
        if (
            section.auth == "slurm"
            and not os.yes("slurm_auth_slurm")
            and has_plugin("AuthType", "auth/slurm", cluster.slurm.release)
        ):
            yield _lacking(os, ("slurm", "auth"), "auth/slurm", "use munge")
    for os in _systems(cluster, "slurm-controller"):
        # That no build of an older release has it is for topology-too-new to say.
        block = section.topology.plugin == "block" and has_plugin(
            "TopologyPlugin", "topology/block", cluster.slurm.release
        )
        if block and not os.yes("slurm_topology_block"):
            yield _lacking(os, ("slurm", "topology", "plugin"), "topology/block", "use tree")
        metrics = _asks_for_metrics(section) and not _too_new("MetricsType", _METRICS, cluster.slurm.release)
        if metrics and not offers(cluster, os, "slurm_openmetrics"):
            yield _lacking(os, ("slurm", "metrics"), _METRICS, "remove it")
    for node_type in cluster.gpu_types:
        detect = node_type.gpus.autodetect if node_type.gpus else "off"
        if (
            detect == "off"
            or not from_distribution(cluster, node_type.os)
            or _too_new("AutoDetect", detect, cluster.slurm.release)
        ):
            continue
        if not node_type.os.yes(f"slurm_gpu_{detect}"):
            path: ManifestPath = ("node_types", node_type.name, "gpus")
            if node_type.gpus and "autodetect" not in node_type.gpus.stated:  # MIG instances are found by NVML only
                yield _lacking(node_type.os, (*path, "mig"), f"gpu/{detect}, which MIG needs")
            else:
                yield _lacking(node_type.os, (*path, "autodetect"), f"gpu/{detect}", "remove it")


def options_lacking(cluster: Cluster) -> Iterator[Finding]:
    """The same for plugins that an option names."""
    reported: set[str] = set()
    for os in _systems(cluster, "slurm-controller", "slurm-compute"):
        for place, row in settings_of(cluster, "slurm.conf").options():
            for part in row.value.split(","):
                plugin = slurm_values.plugin(row.key, part) if slurm_values.has_plugins(row.key) else None
                lacks = plugin is not None and os.id in plugin.packages and plugin.packages[os.id] is None
                if plugin and lacks and plugin.state(cluster.slurm.release) == "known" and row.key not in reported:
                    reported.add(row.key)
                    yield _lacking(os, place, plugin.value)


def _systems(cluster: Cluster, *roles: str) -> list[OperatingSystem]:
    """The systems of nodes with one of the roles that take Slurm from their distribution."""
    systems = {group.type.os.id: group.type.os for group in cluster.groups if any(map(group.has, roles))}
    return [os for os in systems.values() if from_distribution(cluster, os)]


def _lacking(os: OperatingSystem, path: ManifestPath, plugin: str, instead: str = "") -> Finding:
    hint = f"{instead}, or set build: schedmd" if instead else "set build: schedmd"
    return Finding("slurm-plugin-lacking", path, f"the Slurm packages of {os.id} do not include {plugin}", hint)


def _asks_for_metrics(section: Slurm) -> bool:
    """True if the manifest sets `metrics: true`, which is also the default where the build can."""
    return section.metrics and is_stated(section, "metrics")


def _too_new(key: str, name: str, release: SlurmRelease) -> bool:
    plugin = slurm_values.plugin(key, name)
    return plugin is not None and plugin.state(release) == "too-new"


def too_new(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    auth = slurm_values.plugin("AuthType", "auth/slurm")
    if section.auth == "slurm" and auth and auth.state(cluster.slurm.release) == "too-new":
        yield Finding(
            "slurm-feature-too-new",
            ("slurm", "auth"),
            f"auth/slurm requires Slurm {auth.since} or newer; this is {cluster.slurm.release}",
            "use munge",
        )
    metrics = slurm_values.plugin("MetricsType", _METRICS)
    if _asks_for_metrics(section) and metrics and metrics.state(cluster.slurm.release) == "too-new":
        yield Finding(
            "slurm-feature-too-new",
            ("slurm", "metrics"),
            f"{_METRICS} requires Slurm {metrics.since} or newer; this is {cluster.slurm.release}",
            "remove it: a script exports metrics of older releases",
        )


def autodetect_too_new(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    for name, kind in section.items():
        detect = kind.gpus.autodetect
        if detect and _too_new("AutoDetect", detect, cluster.slurm.release):
            plugin = slurm_values.plugin("AutoDetect", detect)
            yield Finding(
                "slurm-feature-too-new",
                ("node_types", name, "gpus", "autodetect"),
                f"AutoDetect={detect} requires Slurm {plugin.since if plugin else ''} or newer; this is"
                f" {cluster.slurm.release}",
                "remove it: gres.conf then lists the device files of the GPUs",
            )
