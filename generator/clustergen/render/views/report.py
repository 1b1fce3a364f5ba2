"""README.md of the tree: the cluster at a glance, for whoever reviews a change of it."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.groups import mounts
from clustergen.cluster.hardware import SERVICE
from clustergen.cluster.model import Cluster, NodeType
from clustergen.records import record
from clustergen.render.registry import File
from clustergen.render.tree import Outline
from clustergen.render.views.diagram import Diagram, diagram, shortened
from clustergen.render.views.tables import Table, files_by_group, table_of
from clustergen.units import Bytes, Duration, Watts


@record
class Report:
    """The page."""

    name: str
    description: str | None
    facts: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    diagram: Diagram
    files: tuple[Table, ...]


def report(cluster: Cluster, outline: Outline) -> Report:
    tables = (
        table_of("Nodes", "", _nodes(cluster)),
        table_of("Hardware", "", _hardware(cluster)),
        table_of("Partitions", "", _partitions(cluster)),
        table_of("Qualities of service", "", _qos(cluster)),
        table_of("File systems", "", _storage(cluster)),
        table_of("Networks", "", _networks(cluster)),
        table_of(
            "Power", "The most that the nodes draw at the wall, switches and storage servers left out.", _power(cluster)
        ),
    )
    return Report(
        name=cluster.name,
        description=cluster.manifest.description,
        facts=tuple(_facts(cluster, outline)),
        tables=tuple(table for table in tables if table.rows),
        diagram=diagram(cluster),
        files=tuple(files_by_group(outline)),
    )


def memory(mib: int) -> str:
    return str(Bytes(mib << 20))


def _facts(cluster: Cluster, outline: Outline) -> Iterator[tuple[str, str]]:
    manifest = cluster.manifest
    yield "Nodes", f"{cluster.host_count}, {len(cluster.hosts('slurm-compute'))} of them run jobs"
    if cluster.gpu_count:
        yield "GPUs", str(cluster.gpu_count)
    yield "Operating system", ", ".join(dict.fromkeys(kind.os.id for kind in cluster.node_types))
    yield "Slurm", f"{cluster.release}, topology {cluster.topology}"
    for name, roles in {
        "Controllers": "slurm-controller",
        "Accounting": "slurm-accounting",
        "Monitoring": "monitoring",
    }.items():
        if hosts := cluster.folded(roles):
            yield name, hosts
    if manifest.networks.fabric:
        fabric = manifest.networks.fabric
        yield "Fabric", " ".join(filter(None, (fabric.type, fabric.rate)))
    yield "Files", f"{sum(file.group is not None for file in outline.files.values())} for nodes, in overlays/"


def _nodes(cluster: Cluster) -> Iterator[dict[str, str]]:
    for group in cluster.groups:
        yield {
            "Nodes": group.folded,
            "Count": str(len(group.hosts)),
            "Type": group.type.name,
            "Roles": ", ".join(group.roles),
            "Addresses": shortened(group.addresses),
            "State": "" if group.state == "UNKNOWN" else group.state,
        }


def _hardware(cluster: Cluster) -> Iterator[dict[str, str]]:
    for kind in cluster.node_types:
        if kind.name == SERVICE:
            continue
        gpus = kind.gpus
        yield {
            "Type": kind.name,
            "System": kind.title if kind.title != kind.name else "",
            "CPUs": f"{kind.sockets} × {kind.cores_per_socket} cores, {kind.cpus} threads",
            "Memory": memory(kind.memory_mib),
            "GPUs": f"{gpus.count} × {gpus.model.nvml_name}" if gpus else "",
            "NVLink": gpus.nvlink if gpus and gpus.nvlink != "none" else "",
            "MIG": _mig(kind),
            "Fabric ports": str(len(kind.fabric_ports()) or ""),
            "OS": kind.os.id,
        }


def _mig(kind: NodeType) -> str:
    if not kind.gpus:
        return ""
    return ", ".join(dict.fromkeys(layout.plan for layout in kind.gpus.mig if layout))


def minutes(count: int | None) -> str:
    return "unlimited" if count is None else Duration(count * 60).slurm()


def _partitions(cluster: Cluster) -> Iterator[dict[str, str]]:
    for partition in cluster.partitions:
        spec = partition.spec
        yield {
            "Partition": partition.name,
            "Nodes": "all" if partition.nodes == "ALL" else partition.nodes,
            "Count": str(len(partition.hosts)),
            "Default": "yes" if partition.default else "",
            "Longest job": minutes(partition.max_time_minutes),
            "Unless stated": minutes(partition.default_time_minutes),
            "Tier": "" if spec.priority_tier is None else str(spec.priority_tier),
            "Preempted": spec.preempt or "",
            "Limits of": spec.qos or "",
            "Accounts": ", ".join(spec.allow_accounts),
        }


def _qos(cluster: Cluster) -> Iterator[dict[str, str]]:
    for name, qos in cluster.manifest.slurm.qos.items():
        limits = {"per user": qos.max_tres_per_user, "per job": qos.max_tres_per_job, "together": qos.group_tres}
        yield {
            "QOS": name,
            "Priority": str(qos.priority),
            "Longest job": qos.max_wall.slurm() if qos.max_wall else "",
            "Limits": "; ".join(
                f"{', '.join(f'{count} {what}' for what, count in limit.items())} {whose}"
                for whose, limit in limits.items()
                if limit
            ),
            "Preempts": ", ".join(qos.preempt),
            "Description": qos.description or "",
        }


def _storage(cluster: Cluster) -> Iterator[dict[str, str]]:
    for name, entry in cluster.manifest.storage.items():
        yield {
            "Name": name,
            "Type": entry.type,
            "Mounted at": entry.mount,
            "On": ",".join(group.folded for group in cluster.groups if name in mounts(cluster, group)),
            "Without it": "Slurm does not start" if entry.required else "jobs run",
        }


def _networks(cluster: Cluster) -> Iterator[dict[str, str]]:
    networks = cluster.manifest.networks
    for name in ("management", "bmc", "fabric", "storage"):
        network = getattr(networks, name)
        if network is not None:
            yield {
                "Network": name,
                "Kind": getattr(network, "type", "ethernet"),
                "Addresses": ", ".join(filter(None, (network.cidr, *getattr(network, "rails", ())))),
                "Domain": network.domain or "",
                "Rate": network.rate or "",
                "MTU": str(network.mtu or ""),
                "VLAN": str(network.vlan or ""),
                "Switches": str(len(cluster.switches) or "") if name == "fabric" else "",
            }


def _power(cluster: Cluster) -> Iterator[dict[str, str]]:
    total = 0
    counts: dict[str, int] = {}
    for group in cluster.groups:
        counts[group.type.name] = counts.get(group.type.name, 0) + len(group.hosts)
    known = [kind for kind in cluster.node_types if kind.power_max_w]
    for kind in known:
        each = kind.power_max_w or 0
        total += counts[kind.name] * each
        yield {
            "Type": kind.name,
            "Count": str(counts[kind.name]),
            "Each": str(Watts(each)),
            "Together": kilowatts(counts[kind.name] * each),
        }
    if len(known) > 1:
        yield {
            "Type": "all",
            "Count": str(sum(counts[kind.name] for kind in known)),
            "Each": "",
            "Together": kilowatts(total),
        }


def kilowatts(watts: int) -> str:
    return f"{watts / 1000:.1f} kW"


FILES = (File("tree/README.md", report, per="tree"),)
