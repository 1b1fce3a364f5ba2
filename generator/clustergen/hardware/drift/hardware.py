"""One machine against its node type in the manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from clustergen.cluster.contributions import AdapterSetting, FirmwareItem
from clustergen.cluster.fabric import has_rdma
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.ip_networks import addresses_in, ip_networks
from clustergen.cluster.model import Cluster, NodeType, Port
from clustergen.cluster.slurm.model import Slurm
from clustergen.hardware.discovery.facts import NodeFacts, PortFact
from clustergen.hardware.discovery.recognise import named_systems
from clustergen.hardware.drift.model import DriftFinding

_GPU_FILES = frozenset(("nvidia-smi.csv", "nvidia-smi-q.xml"))


class NodeCheck:
    """Compares machines with the node types of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        fabric = cluster.networks.fabric
        self._cluster = cluster
        self._is_infiniband = fabric is not None and fabric.type == "infiniband"
        self._rate = fabric.rate_gbit if fabric else None
        self._addresses: dict[str, list[tuple[str, str]]] = {}  # host → (network, address)
        for network in ip_networks(cluster):
            for group in cluster.groups:
                for host, address in zip(group.hosts, addresses_in(group, network), strict=False):
                    self._addresses.setdefault(host, []).append((network.name, address))

    def findings(self, node_type: NodeType, facts: NodeFacts) -> Iterator[DriftFinding]:
        yield from self._address(facts)
        if not node_type.is_resolved:
            return
        yield from _processors(node_type, facts, has_slurm=self._cluster.has(Slurm))
        yield from _product(node_type, facts)
        if node_type.gpus:
            yield from _gpus(node_type.gpus, facts)
            yield from _gpu_settings(node_type.gpus, facts)
        yield from self._ports(node_type, facts)
        if facts.bios:
            yield from _firmware_settings(self._cluster.needs_by_type(FirmwareItem)[node_type.name], facts)
        if facts.adapter_settings:
            yield from _adapter_settings(self._cluster.needs_by_type(AdapterSetting).get(node_type.name, ()), facts)

    def _address(self, facts: NodeFacts) -> Iterator[DriftFinding]:
        """The facts have IPv4 addresses only."""
        actual = {address for _, address in facts.addresses}
        has = ", ".join(f"{name} {ip}" for name, ip in facts.addresses[:4])
        for network, address in self._addresses.get(facts.name, ()) if actual else ():
            if "." in address and address not in actual:
                yield DriftFinding("address-missing", (facts.name,), f"{network} address", has, address)

    def _ports(self, node_type: NodeType, facts: NodeFacts) -> Iterator[DriftFinding]:
        is_stated = "nics" in node_type.stated
        by_device = {port.device: port for port in facts.ports}
        has_list = bool(facts.files & {"ibstat", "infiniband"})
        for port in node_type.ports:
            if has_rdma(port, infiniband=self._is_infiniband) and port.device:
                if has_list:
                    yield from self._rdma(port, by_device.get(port.device), facts)
            elif is_stated and port.interface and facts.interfaces and port.interface not in facts.interfaces:
                yield DriftFinding("interface-missing", (facts.name,), port.interface, "no such interface")

    def _rdma(self, port: Port, actual: PortFact | None, facts: NodeFacts) -> Iterator[DriftFinding]:
        subject = f"{port.network} port {port.device}"
        if actual is None:
            others = ", ".join(sorted(other.device for other in facts.ports)) or "none"
            yield DriftFinding("port-missing", (facts.name,), subject, f"not among the RDMA devices ({others})")
            return
        if actual.state and actual.state != "active":
            shown = f"{actual.state} ({actual.physical})" if actual.physical else actual.state
            yield DriftFinding("port-down", (facts.name,), subject, shown, "active")
            return
        rates = [rate for rate in (port.max_gbit, self._rate if port.network == "fabric" else None) if rate]
        if actual.gbit and rates and actual.gbit < min(rates):
            yield DriftFinding("port-slow", (facts.name,), subject, f"{actual.gbit} Gb/s", f"{min(rates):g} Gb/s")


def uncompared_settings(cluster: Cluster, node_type: NodeType) -> list[str]:
    """Fields of the node type's `firmware` for which the catalogue knows no attribute of its system."""
    items = cluster.needs_by_type(FirmwareItem)[node_type.name]
    return [item.setting.name.replace("-", "_") for item in items if item.is_stated and item.attribute is None]


def _firmware_settings(items: Iterable[FirmwareItem], facts: NodeFacts) -> Iterator[DriftFinding]:
    """Attributes whose value has another meaning than the node type's."""
    for item in items:
        if item.attribute is None or not item.value:
            continue
        for name, value in facts.bios:
            if fnmatchcase(name, item.attribute.attribute) and item.differs(value):
                subject = f"{item.setting.title}, {name}"
                yield DriftFinding("firmware-setting", (facts.name,), subject, value, item.value)


def _adapter_settings(items: Iterable[AdapterSetting], facts: NodeFacts) -> Iterator[DriftFinding]:
    """A true or false is 1 or 0 to mstconfig."""
    shown = {(device, name): value for device, name, value in facts.adapter_settings}
    for item in items:
        value = shown.get((item.device, item.name))
        if value is not None and item.differs(value):
            yield DriftFinding("adapter-setting", (facts.name,), f"{item.name} of {item.device}", value, item.value)


def _processors(node_type: NodeType, facts: NodeFacts, *, has_slurm: bool) -> Iterator[DriftFinding]:
    cpus = facts.cpus
    if cpus is not None:
        actual = (cpus.sockets, cpus.cores_per_socket, cpus.threads_per_core)
        expected = (node_type.sockets, node_type.cores_per_socket, node_type.threads_per_core)
        if actual != expected and actual != (
            node_type.slurm_sockets,
            node_type.slurm_cores_per_socket,
            node_type.threads_per_core,
        ):
            yield DriftFinding("cpu-count", (facts.name,), "processors", _counts(actual), _counts(expected))
    if facts.real_memory_mib is not None and facts.real_memory_mib < node_type.real_memory_mib:
        expected_memory = f"{'RealMemory ' if has_slurm else ''}{node_type.real_memory_mib} MiB"
        yield DriftFinding("memory-low", (facts.name,), "memory", f"{facts.real_memory_mib} MiB", expected_memory)


def _counts(counts: tuple[int, int, int]) -> str:
    return f"{counts[0]} sockets x {counts[1]} cores x {counts[2]} threads"


def _product(node_type: NodeType, facts: NodeFacts) -> Iterator[DriftFinding]:
    actual = named_systems(facts.product)
    if node_type.system and actual and node_type.system not in (made.id for made in actual):
        yield DriftFinding("product-differs", (facts.name,), "product", facts.product, node_type.title)


def _gpus(gpus: GpuSet, facts: NodeFacts) -> Iterator[DriftFinding]:
    name, expected = facts.name, f"{gpus.count} x {gpus.model.nvml_name}"
    if facts.gpu_failure:
        yield DriftFinding("gpu-driver", (name,), "nvidia-smi", facts.gpu_failure, expected)
    elif facts.gpus or (facts.files & _GPU_FILES and not any(text.startswith("nvidia-smi") for text in facts.unread)):
        counts = Counter(gpu.name for gpu in facts.gpus)
        actual = " + ".join(f"{count} x {model}" for model, count in counts.items()) or "none"
        if len(facts.gpus) < gpus.count:
            yield DriftFinding("gpu-missing", (name,), "GPUs", actual + _lost(facts), expected)
        elif set(counts) != {gpus.model.nvml_name}:
            yield DriftFinding("gpu-model", (name,), "GPUs", actual, expected)
        elif len(facts.gpus) > gpus.count:
            yield DriftFinding("gpu-extra", (name,), "GPUs", actual, expected)
    branch = str(gpus.driver.branch or "")
    versions = dict.fromkeys(gpu.driver for gpu in facts.gpus if gpu.driver)
    if branch and (others := [version for version in versions if version.partition(".")[0] != branch]):
        yield DriftFinding("driver-branch", (name,), "NVIDIA driver", " ".join(others), f"branch {branch}")
    yield from _devices(gpus, facts)


def _devices(gpus: GpuSet, facts: NodeFacts) -> Iterator[DriftFinding]:
    """Unless nvidia-smi shows too few GPUs: then the missing GPU is the finding."""
    if facts.gpu_devices is None or facts.gpu_failure or 0 < len(facts.gpus) < gpus.count:
        return
    absent = [f"/dev/nvidia{index}" for index in range(gpus.count) if f"nvidia{index}" not in facts.gpu_devices]
    if absent:
        yield DriftFinding("gpu-device", (facts.name,), "device files", f"{', '.join(absent)} missing")


def _lost(facts: NodeFacts) -> str:
    """Where lspci still shows a GPU that the driver does not, or the bus answers for it with ff."""
    visible = {gpu.pci for gpu in facts.gpus}
    cards = [one for one in facts.pci if one.kind.startswith("03") and one.ident.startswith("10de:")]
    missing = [one for one in cards if one.address not in visible]
    if not missing or not visible:
        return ""
    words = [f"{one.address}{' no longer answers' if one.is_lost else ' is on the bus only'}" for one in missing]
    return f" ({', '.join(words)})"


def _gpu_settings(gpus: GpuSet, facts: NodeFacts) -> Iterator[DriftFinding]:
    for index, gpu in enumerate(facts.gpus):
        if gpus.power_limit_w and gpu.power_limit_w is not None and round(gpu.power_limit_w) != gpus.power_limit_w:
            subject = f"power limit of GPU {index}"
            yield DriftFinding(
                "gpu-setting", (facts.name,), subject, f"{gpu.power_limit_w:g} W", f"{gpus.power_limit_w} W"
            )
        is_split = bool(gpus.mig) and index < len(gpus.mig) and gpus.mig[index] is not None
        if gpu.mig in ("Enabled", "Disabled") and (gpu.mig == "Enabled") != is_split:
            expected = "Enabled" if is_split else "Disabled"
            yield DriftFinding("gpu-setting", (facts.name,), f"MIG mode of GPU {index}", gpu.mig, expected)
