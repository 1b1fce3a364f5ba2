"""What the Slurm of this release, and of the packages that nodes get, cannot do."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm_values
from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.builds import from_distribution
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath

_AUTH_SLURM = SlurmRelease("23.11")


def plugins_lacking(cluster: Cluster) -> Iterator[Finding]:
    """Plugins that a field of the manifest asks for and that the distribution's own build does not have."""
    written = cluster.manifest.slurm
    for os in _systems(cluster, "slurm-compute"):
        if written.mpi_default == "pmix" and os.fact("slurm_pmix") in ("", "no"):
            yield _lacking(os, ("slurm", "mpi_default"), "PMIx", "pmi2")
    for os in _systems(cluster, "slurm-controller", "slurm-compute", "login"):
        if written.auth == "slurm" and not os.yes("slurm_auth_slurm") and cluster.release >= _AUTH_SLURM:
            yield _lacking(os, ("slurm", "auth"), "auth/slurm", "munge")
    for os in _systems(cluster, "slurm-controller"):
        # Before 23.11 no build has it, which another rule says.
        block = written.topology.plugin == "block" and cluster.release >= SlurmRelease("23.11")
        if block and not os.yes("slurm_topology_block"):
            yield _lacking(os, ("slurm", "topology", "plugin"), "topology/block", "tree")
    for kind in cluster.gpu_types:
        detect = kind.gpus.autodetect if kind.gpus else "off"
        if detect == "off" or not from_distribution(cluster, kind.os) or _too_new(detect, cluster.release):
            continue
        if not kind.os.yes(f"slurm_gpu_{detect}"):
            path: ManifestPath = ("node_types", kind.name, "gpus")
            if cluster.manifest.node_types[kind.name].gpus.autodetect is None:  # MIG instances are found by NVML only
                yield _lacking(kind.os, (*path, "mig"), f"gpu/{detect}, which MIG needs")
            else:
                yield _lacking(kind.os, (*path, "autodetect"), f"gpu/{detect}", "leave it out")


def options_lacking(cluster: Cluster) -> Iterator[Finding]:
    """The same for plugins that an option names."""
    told: set[str] = set()
    for os in _systems(cluster, "slurm-controller", "slurm-compute"):
        for key, given in cluster.manifest.slurm.options.items():
            for part in str(given).split(","):
                known = slurm_values.plugin(key, part) if slurm_values.has_plugins(key) else None
                lacks = known is not None and os.id in known.packages and known.packages[os.id] is None
                if known and lacks and known.state(cluster.release) == "known" and key not in told:
                    told.add(key)
                    yield _lacking(os, ("slurm", "options", key), known.value)


def _systems(cluster: Cluster, *roles: str) -> list[OperatingSystem]:
    """The systems of nodes with one of the roles that take Slurm from their distribution."""
    found = {group.type.os.id: group.type.os for group in cluster.groups if any(map(group.has, roles))}
    return [os for os in found.values() if from_distribution(cluster, os)]


def _lacking(os: OperatingSystem, path: ManifestPath, plugin: str, instead: str = "") -> Finding:
    hint = f"{instead}, or build: schedmd" if instead else "say build: schedmd"
    return Finding("slurm-plugin-lacking", path, f"the Slurm packages of {os.id} come without {plugin}", hint)


def _too_new(detect: str, release: SlurmRelease) -> bool:
    known = slurm_values.plugin("AutoDetect", detect)
    return known is not None and known.state(release) == "too-new"


def too_new(cluster: Cluster) -> Iterator[Finding]:
    if cluster.manifest.slurm.auth == "slurm" and cluster.release < _AUTH_SLURM:
        yield Finding(
            "slurm-feature-too-new",
            ("slurm", "auth"),
            f"auth/slurm exists from Slurm {_AUTH_SLURM} on; this is {cluster.release}",
            "munge",
        )
    for name, kind in cluster.manifest.node_types.items():
        detect = kind.gpus.autodetect
        if detect and _too_new(detect, cluster.release):
            known = slurm_values.plugin("AutoDetect", detect)
            yield Finding(
                "slurm-feature-too-new",
                ("node_types", name, "gpus", "autodetect"),
                f"AutoDetect={detect} exists from Slurm {known.since if known else ''} on; this is {cluster.release}",
                "leave it out: the device files of the GPUs are named instead",
            )


RULES = (plugins_lacking, options_lacking, too_new)
