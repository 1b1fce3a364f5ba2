"""NVIDIA's driver: branches and kernel modules that do not serve the GPUs of a node type."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.drivers import OPEN_SINCE, Support, nearest, support_of
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.gpu_settings import DriverModule
from clustergen.cluster.model import Cluster, NodeType
from clustergen.diagnostics import Finding, ManifestPath


def _driven(cluster: Cluster) -> Iterator[tuple[NodeType, GpuSet, Support]]:
    for kind in cluster.gpu_types:
        if kind.gpus:
            yield kind, kind.gpus, support_of(kind.gpus.model)


def _place(kind: NodeType, gpus: GpuSet, field: str) -> ManifestPath:
    return ("node_types", kind.name, "gpus", field) if field in gpus.stated else ("gpu", field)


def driver_unfit(cluster: Cluster) -> Iterator[Finding]:
    for kind, gpus, support in _driven(cluster):
        branch = gpus.driver.branch
        if branch is None or _serves(gpus, branch):
            continue
        if support.serves(branch):
            problem = f"cannot split the {gpus.model.nvml_name} of '{kind.name}'; {support.mig} is the first that can"
        else:
            limit = f"from {support.first} on" if branch < (support.first or 0) else f"no newer than {support.last}"
            problem = f"does not know the {gpus.model.nvml_name} of '{kind.name}', which takes one {limit}"
        fitting = nearest(gpus.model, branch, (support.mig or 0) if any(gpus.mig) else 0)
        hint = _other_branch(cluster, kind, gpus, fitting)
        yield Finding("driver-unfit", _place(kind, gpus, "driver"), f"driver {branch} {problem}", hint)


def _other_branch(cluster: Cluster, kind: NodeType, gpus: GpuSet, branch: int | None) -> str:
    """For the whole cluster where the branch serves all GPUs that follow gpu.driver, otherwise for the node type."""
    if "driver" in gpus.stated:
        return f'write driver: "{branch}"'
    others = [each for other, each, _ in _driven(cluster) if "driver" not in each.stated and other is not kind]
    if branch is not None and all(_serves(each, branch) for each in others):
        return f'write driver: "{branch}"'
    return f"add gpus: {{driver: \"{branch}\"}} to node type '{kind.name}', or set gpu.driver: auto"


def _serves(gpus: GpuSet, branch: int) -> bool:
    support = support_of(gpus.model)
    return support.serves(branch) and not (any(gpus.mig) and branch < (support.mig or 0))


def kernel_modules_unfit(cluster: Cluster) -> Iterator[Finding]:
    for kind, gpus, support in _driven(cluster):
        modules, branch = gpus.driver.kernel_modules, gpus.driver.branch
        if support.modules not in ("both", modules):
            message = f"the {modules} kernel modules do not drive the {gpus.model.nvml_name} of '{kind.name}'"
            fitting = support.modules
        elif modules == "open" and branch and branch < OPEN_SINCE:
            message = f"driver {branch} has no open kernel modules; {OPEN_SINCE} is the first with them"
            fitting = "proprietary"
        else:
            continue
        hint = f"write kernel_modules: {fitting}"
        if "kernel_modules" not in gpus.stated and len(list(_driven(cluster))) > 1:
            hint = f"remove it, or add gpus: {{kernel_modules: {fitting}}} to node type '{kind.name}'"
        yield Finding("kernel-modules-unfit", _place(kind, gpus, "kernel_modules"), message, hint)


def gpudirect_absent(cluster: Cluster) -> Iterator[Finding]:
    if cluster.of(DriverModule).peermem is not False or not cluster.networks.has_rdma_fabric:
        return
    for kind, gpus, _ in _driven(cluster):
        if gpus.driver.kernel_modules == "proprietary" and kind.fabric_ports():
            yield Finding(
                "gpudirect-absent",
                ("gpu", "peermem"),
                f"network adapters of '{kind.name}' cannot reach GPU memory: proprietary kernel modules have no"
                " DMA-BUF, and nvidia_peermem is not loaded",
                "remove it, so that nvidia_peermem is loaded where it is needed",
            )
            return
