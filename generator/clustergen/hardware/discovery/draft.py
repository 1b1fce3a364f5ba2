"""The `node_types` and `nodes` of a manifest for groups of machines; what is assumed has a comment with CHECK."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from clustergen.catalogue.hardware import gpu as gpu_of
from clustergen.catalogue.systems import System
from clustergen.diagnostics.words import counted
from clustergen.hardware.discovery.facts import Cpus, NodeFacts
from clustergen.hardware.discovery.grouping import Group
from clustergen.hardware.discovery.recognise import gpu_id, is_board, named_systems, nic_id
from clustergen.hostlist import compress, natural_key
from clustergen.render.yaml_flow import flow

_NOT_TEXT = ("yes", "no", "on", "off", "true", "false", "null", "y", "n")
_UNKNOWN = "service"  # a machine that runs no jobs requires no description
_ARCHITECTURES = ("x86_64", "aarch64")
_LEAST_OF_FABRIC = 100
_MANAGEMENT = re.compile(r"(eno|enp|ens|eth|bond|br)")  # what ssh uses, rather than a port of the fabric


def data(machines: Sequence[Group]) -> dict[str, Any]:
    """`node_types` and `nodes`, as a manifest has them."""
    names = _names(machines)
    types = {name: _node_type(group) for name, group in zip(names, machines, strict=True)}
    nodes = [_nodes(name if types[name] else _UNKNOWN, group) for name, group in zip(names, machines, strict=True)]
    return {"node_types": {name: fields for name, fields in types.items() if fields}, "nodes": nodes}


def text(machines: Sequence[Group]) -> str:
    """The same as YAML with comments."""
    document = data(machines)
    lines = ["node_types:"] if document["node_types"] else []
    described = [group for group, entry in zip(machines, document["nodes"], strict=True) if entry["type"] != _UNKNOWN]
    for (name, fields), group in zip(document["node_types"].items(), described, strict=True):
        lines += [f"  # {one_line(remark)}" for remark in _remarks(group)]
        lines.append(f"  {name}:")
        lines += [f"    {key}: {flow(value, _scalar)}{_comment(key, group)}" for key, value in fields.items()]
    lines.append("nodes:")
    for entry, group in zip(document["nodes"], machines, strict=True):
        interface = next((interface for interface, _ in _address(group.first)), "")
        check = f" # CHECK: addresses of {interface}" if "address" in entry else " # CHECK: no address was found"
        if entry["type"] == _UNKNOWN:
            lines += [f"  # {one_line(remark)}" for remark in _remarks(group)]
            check += "; no hardware was recorded: add its roles, or record it again"
        lines.append(f"  - {flow(entry, _scalar)}{check}")
    return "\n".join(lines) + "\n"


def _names(machines: Sequence[Group]) -> list[str]:
    names: list[str] = []
    for group in machines:
        base = group.system.id if group.system else "-".join(filter(None, (_gpu_word(group.first), "node")))
        name, number = base, 2
        while name in names:
            name, number = f"{base}-{number}", number + 1
        names.append(name)
    return names


def _gpu_word(node: NodeFacts) -> str:
    return f"{gpu_id(node.gpus[0].name) or 'gpu'}x{len(node.gpus)}" if node.gpus else ""


def _node_type(group: Group) -> dict[str, Any]:
    node, system = group.first, group.system
    fields: dict[str, Any] = {"system": system.id} if system else {}
    if node.cpus and node.cpus.arch in _ARCHITECTURES and node.cpus.arch != (system.arch if system else "x86_64"):
        fields["arch"] = node.cpus.arch
    if cpu := _cpu(node.cpus, system):
        fields["cpu"] = cpu
    if group.real_memory_mib and not _counts_gpu_memory(group):
        fields["real_memory"] = group.real_memory_mib
    if node.gpus and (gpus := _gpus(node, system)):
        fields["gpus"] = gpus
    ports = list(_ports(group))
    if ports:
        fields["nics"] = ports
    if node.disks:
        fields["disks"] = [
            {"device": disk.device, "size": _decimal(disk.size), "use": "system" if disk.mounted else "spare"}
            for disk in node.disks
        ]
    return fields


def _counts_gpu_memory(group: Group) -> bool:
    """True if the driver of a superchip has added the GPU's memory to that of Linux; RealMemory must not promise it."""
    system, model = group.system, gpu_of(gpu_id(group.first.gpus[0].name)) if group.first.gpus else None
    is_superchip = model is not None and model.form == "superchip"
    return is_superchip and system is not None and (group.real_memory_mib or 0) > system.memory_mib


def _cpu(cpus: Cpus | None, system: System | None) -> dict[str, Any]:
    """All counts where one differs from the system's."""
    if cpus is None:
        return {}
    counts = ("sockets", "cores_per_socket", "threads_per_core", "numa_per_socket")
    seen = {key: getattr(cpus, key) for key in counts if getattr(cpus, key)}
    differs = system is None or any(getattr(system.cpu, key) != value for key, value in seen.items())
    numbering = {"numbering": cpus.numbering} if cpus.numbering not in ("", "sockets") else {}
    return {**(seen if differs else {}), **numbering}


def _gpus(node: NodeFacts, system: System | None) -> dict[str, Any]:
    """The GPUs, where they differ from the system's."""
    model, numa = gpu_id(node.gpus[0].name), [gpu.numa for gpu in node.gpus]
    fields: dict[str, Any] = {}
    if system is None or system.gpu != model or system.gpu_options:
        fields["model"] = model or "unknown"
    if system is None:
        fields["count"] = len(node.gpus)
    if None not in numa and (system is None or numa != [gpu.numa for gpu in system.gpus]):
        fields["numa"] = numa
    return fields


def _ports(group: Group) -> Iterator[dict[str, Any]]:
    """Nothing where the catalogue's system has the same ones next to the same GPUs.

    In order of their numbers, since rails follow the order: sysfs and ibstat have mlx5_10 before mlx5_2.
    """
    node = group.first
    if group.system and _has_ports_of(group.system, node):
        return
    fabric = _fabric_ports(node)
    if group.system is None and not any(port.link for port in node.ports):
        fabric = frozenset(port.device for port in node.ports)
    for port in sorted(node.ports, key=lambda port: natural_key(port.device)):
        if port.device not in fabric and not port.link:
            continue  # the matrix of GPUs names it, and nothing shows what it is
        network = "fabric" if port.device in fabric else "storage" if port.link == "infiniband" else "management"
        model = nic_id(port.type)
        yield {
            "device": port.device,
            "network": network,
            **({"model": model} if model else {}),
            **({} if port.numa is None else {"numa": port.numa}),
        }


def _has_ports_of(system: System, node: NodeFacts) -> bool:
    names = {port.device for port in node.ports}
    compute = {nic.rdma for nic in system.nics_of("compute")}
    places = {gpu.ordinal: gpu.rdma for gpu in system.gpus}
    if any("rdma" in nic.unverified for nic in system.nics_of("compute")):
        return False
    same = all(gpu.nearest == places.get(index, "") for index, gpu in enumerate(node.gpus) if gpu.close)
    return same and compute <= names <= {nic.rdma for nic in system.nics}


def _fabric_ports(node: NodeFacts) -> frozenset[str]:
    """Ports behind a switch of GPUs; where no place is known, InfiniBand, else the fastest from 100 Gb/s on."""
    if close := [device for gpu in node.gpus for device in gpu.close]:
        return frozenset(close)
    if infiniband := [port.device for port in node.ports if port.link == "infiniband"]:
        return frozenset(infiniband)
    best = max((port.gbit or 0 for port in node.ports), default=0)
    return frozenset(port.device for port in node.ports if port.gbit == best >= _LEAST_OF_FABRIC)


def _nodes(name: str, group: Group) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": compress([node.name for node in group.nodes]), "type": name}
    addresses = [address for node in group.nodes for _, address in _address(node)]
    if len(addresses) == len(group.nodes):
        entry["address"] = _folded(addresses)
    return entry


def _address(node: NodeFacts) -> list[tuple[str, str]]:
    """The first one of an interface that looks like management; else the first."""
    likely = [pair for pair in node.addresses if _MANAGEMENT.match(pair[0])]
    return [*likely, *node.addresses][:1]


def _folded(addresses: list[str]) -> str:
    """10.0.0.[11-18,20],10.0.1.[11-18]: in the order of the nodes, so that each keeps its own."""
    parts = []
    for head, group in groupby(addresses, key=lambda address: address.rpartition(".")[0]):
        numbers = [int(address.rpartition(".")[2]) for address in group]
        runs = [
            [number for _, number in run] for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
        ]
        body = ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
        parts.append(f"{head}.[{body}]" if len(numbers) > 1 else f"{head}.{body}")
    return ",".join(parts)


def _remarks(group: Group) -> Iterator[str]:
    node = group.first
    what = node.product or "unknown product"
    yield f"{counted(len(group.nodes), 'node')}: {what}"
    if group.system is None and node.gpus:
        yield "CHECK: no system of the catalogue fits; clustergen catalogue systems lists them"
    elif group.system and is_board(group.system) and group.system not in named_systems(node.product):
        yield "CHECK: system is a guess by the GPUs alone: no row of the catalogue has this product name"
    if node.gpus and not node.gpus[0].name:
        yield "CHECK: the model of the GPUs: nvidia-smi-topo-m has no names; nvidia-smi -L shows them"
    elif unknown := sorted({gpu.name for gpu in node.gpus if not gpu_id(gpu.name)}):
        yield f"CHECK: GPUs that the catalogue lacks: {', '.join(unknown)[:200]}"
    if not node.cpus:
        yield "CHECK: neither slurmd-C nor lscpu has its CPUs"
    if group.real_memory_mib is None:
        yield "CHECK: neither slurmd-C nor meminfo has its memory"
    if _counts_gpu_memory(group):
        size = group.real_memory_mib
        yield f"CHECK: the {size} MiB of Linux include memory of the GPUs; real_memory is the catalogue's"
    yield from _port_remarks(group)
    drivers = sorted({gpu.driver for member in group.nodes for gpu in member.gpus if gpu.driver})
    if len(drivers) > 1:
        yield f"CHECK: NVIDIA drivers differ: {', '.join(drivers)[:200]}"
    if others := sorted({file for member in group.nodes for file in member.others}):
        yield f"files that discover does not read: {', '.join(others)[:200]}"
    for reason in dict.fromkeys(reason for member in group.nodes for reason in member.unread):
        hosts = [member.name for member in group.nodes if reason in member.unread]
        yield f"not read on {compress(hosts)}: {reason}"


def _port_remarks(group: Group) -> Iterator[str]:
    node, printed = group.first, {port["device"] for port in _ports(group)}
    if printed and not any(gpu.close for gpu in node.gpus):
        shown = any(port.link for port in node.ports)
        source = "nvidia-smi-topo-m shows which are close to GPUs" if shown else "ibstat shows them"
        yield f"CHECK: the network of each port; {source}"
    if group.system is None or not group.system.nics_of("compute") or _has_ports_of(group.system, node):
        unknown = []
    else:
        unknown = [port.device for port in node.ports if not port.link and port.device not in printed]
    if unknown:
        yield f"CHECK: ibstat shows the networks of {', '.join(unknown)[:200]}, which are not listed"
    if not printed and group.system and not _has_ports_of(group.system, node):
        yield "CHECK: ports are those of the catalogue; neither ibstat nor infiniband was recorded"


def _comment(key: str, group: Group) -> str:
    if key == "real_memory" and group.most_memory_mib != group.real_memory_mib:
        return f" # the smallest; the largest has {group.most_memory_mib}"
    if key == "disks" and any(not disk.mounted for disk in group.first.disks):
        return " # CHECK: spare means that nothing was mounted"
    return ""


def one_line(remark: str) -> str:
    """Text of a machine inside a comment: printable ASCII, since YAML ends a line at more than one character."""
    return "".join(sign if " " <= sign <= "~" else "?" for sign in remark)


def _decimal(size: int) -> str:
    """The size as makers print it: 1.92TB."""
    return f"{size / 1e12:.3g}TB" if size >= 1e12 else f"{size / 1e9:.3g}GB"


def _scalar(value: Any) -> str:
    """JSON, with plain words unquoted."""
    if isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_-]*", value) and value not in _NOT_TEXT:
        return value
    return json.dumps(value)
