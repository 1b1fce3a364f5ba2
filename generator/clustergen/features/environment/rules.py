"""Software for users: toolkits that drivers and GPUs cannot use, pins that only apt knows, and what is not shared."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.drivers import cuda_drivers, cuda_gpus
from clustergen.catalogue.system_paths import is_below, plain
from clustergen.cluster.groups import members_of
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.job_site import visible
from clustergen.diagnostics import Finding, ManifestPath, quote
from clustergen.features.environment import resolved
from clustergen.features.environment.needs import GROUP
from clustergen.features.environment.section import Environment

_AT = "environment"


def _releases(cluster: Cluster) -> Iterator[tuple[ManifestPath, str]]:
    if cluster.has(resolved.Environment):
        for index, release in enumerate(cluster.of(resolved.Environment).cuda):
            yield (_AT, "cuda", index), release


def cuda_driver_old(cluster: Cluster) -> Iterator[Finding]:
    for path, release in _releases(cluster):
        row = cuda_drivers().get(int(release.partition(".")[0]))
        for kind in cluster.gpu_types if row else ():
            branch = kind.gpus.driver.branch if kind.gpus else None
            if row and branch and branch < row.driver:
                older = max((one.cuda for one in cuda_drivers().values() if one.driver <= branch), default=None)
                message = f"programs of CUDA {release} require driver {row.driver} or newer; '{kind.name}' has {branch}"
                instead = f", or write a toolkit of CUDA {older}" if older else ""
                yield Finding("cuda-driver-old", path, message, f'write gpu: {{driver: "{row.driver}"}}{instead}')
                break


def cuda_gpu_unfit(cluster: Cluster) -> Iterator[Finding]:
    for path, release in _releases(cluster):
        for kind in cluster.gpu_types:
            row = cuda_gpus().get(kind.gpus.model.sm) if kind.gpus else None
            if row is None or kind.gpus is None or row.serves(release):
                continue
            limit = f"CUDA {row.first} or newer" + (f", up to CUDA {row.last}" if row.last else "")
            message = f"CUDA {release} does not compile for the {kind.gpus.model.nvml_name} of '{kind.name}'"
            yield Finding("cuda-gpu-unfit", path, message, f"add a toolkit for these nodes: {limit}")
            break


def library_without_toolkit(cluster: Cluster, section: Environment) -> Iterator[Finding]:
    for name in ("cudnn", "nccl"):
        if not getattr(section, name):
            continue
        if not section.cuda:
            message = f"{name} is built for a release of CUDA, and environment.cuda has none"
            yield Finding("cuda-toolkit-missing", (_AT, name), message, 'add cuda: ["12.8"]')
        elif kind := next((one for one in members_of(cluster, GROUP) if one.type.os.fact("family") != "debian"), None):
            message = f"a release of {name} can be chosen with apt alone, and {kind.folded} has {kind.type.os.id}"
            yield Finding("cuda-toolkit-missing", (_AT, name), message, "remove it, and install the release yourself")
    for module, one in section.python.items():
        if one.cuda and one.cuda not in section.cuda:
            message = f"{module} loads cuda/{one.cuda}, and environment.cuda has no such toolkit"
            hint = f"write one of {', '.join(section.cuda)}" if section.cuda else f'add cuda: ["{one.cuda}"]'
            yield Finding("cuda-toolkit-missing", (_AT, "python", module, "cuda"), message, hint)


def environment_not_shared(cluster: Cluster) -> Iterator[Finding]:
    environment = cluster.get(resolved.Environment)
    if environment is None or not environment.python or cluster.host_count == 1:
        return
    for group in members_of(cluster, GROUP):
        entries = [
            entry
            for entry in visible(cluster, group).values()
            if entry.is_shared and is_below(plain(environment.directory), plain(entry.mount))
        ]
        if not entries:
            yield Finding(
                "environment-not-shared",
                (_AT, "directory"),
                f"{environment.directory} is on no file system that {group.folded} mounts, so that its users have no"
                " Python environments",
                "write a directory on a file system with `clients: [login, slurm-compute]`",
            )
            return


def python_differs(cluster: Cluster) -> Iterator[Finding]:
    """A virtual environment is for one release of Python, that of the node on which it is built."""
    if not cluster.has(resolved.Environment) or not cluster.of(resolved.Environment).python:
        return
    releases: dict[str, str] = {}
    for group in members_of(cluster, GROUP):
        releases.setdefault(group.type.os.fact("python"), group.folded)
    if len(releases) > 1:
        nodes = " and ".join(f"{hosts} with Python {release}" for release, hosts in releases.items())
        message = f"one Python environment cannot serve {nodes}"
        hint = "use one operating system on login and compute nodes"
        yield Finding("environment-not-shared", (_AT, "python"), message, hint, key=True)


def modules_twice(_: Cluster, section: Environment) -> Iterator[Finding]:
    for module in section.python:
        if module.partition("/")[0] == "cuda":
            path: ManifestPath = (_AT, "python", module)
            yield Finding(
                "cuda-toolkit-missing", path, f"{quote(module)} has the name of CUDA's modules", "rename it", key=True
            )
