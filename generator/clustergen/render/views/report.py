"""README.md of the tree: the cluster at a glance, for reviewers of a change."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.operating_systems import X86_64
from clustergen.cluster.assumptions import assumptions
from clustergen.cluster.contributions import Fact, Picture, PrivateDirectories
from clustergen.cluster.groups import clients_of
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.roles import SERVICE
from clustergen.cluster.site import Description
from clustergen.cluster.slurm.jobs import Resources
from clustergen.cluster.slurm.model import Slurm
from clustergen.facility.placement import switches_of
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.tree import Outline
from clustergen.render.views.dashboards import dashboards, site
from clustergen.render.views.diagram import Diagram, diagram, shortened
from clustergen.render.views.report_policy import account_rows, accounts_intro, people_rows, qos_rows
from clustergen.render.views.report_power import power, power_intro, racks, racks_intro
from clustergen.render.views.report_prices import hour_prices, hour_prices_intro
from clustergen.render.views.requisites import requisites
from clustergen.render.views.tables import Table, files_by_group, table_of
from clustergen.slurmconf import scalars
from clustergen.units import Bytes
from clustergen.units.duration import slurm_minutes

_MOST_PICTURES = 12
"""Pictures that the page shows; it links the others."""


@record
class Report:
    """The page."""

    name: str
    description: str
    facts: tuple[tuple[str, str], ...]
    requisites: Table
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    more_pictures: tuple[Picture, ...]
    room_tables: tuple[Table, ...]
    diagram: Diagram
    files: tuple[Table, ...]


def report(cluster: Cluster, outline: Outline) -> Report:
    tables = (
        table_of("Nodes", "", _nodes(cluster)),
        table_of("Hardware", "", _hardware(cluster)),
        *(_slurm(cluster) if cluster.has(Slurm) else ()),
        table_of("File systems", "", _storage(cluster)),
        _dashboards(cluster),
        table_of("Manual steps", "", _manual_steps(cluster)),
        table_of("Networks", "", _networks(cluster)),
    )
    room_tables = (
        table_of("Racks", racks_intro(cluster), racks(cluster)),
        table_of("Power", power_intro(cluster), power(cluster)),
    )
    pictures = cluster.needs(Picture)
    return Report(
        name=cluster.name,
        description=cluster.of(Description).text,
        facts=tuple(_facts(cluster, outline)),
        requisites=table_of("Before you apply", "", requisites(cluster, outline)),
        tables=tuple(table for table in tables if table.rows),
        pictures=pictures[:_MOST_PICTURES],
        more_pictures=pictures[_MOST_PICTURES:],
        room_tables=tuple(table for table in room_tables if table.rows),
        diagram=diagram(cluster),
        files=tuple(files_by_group(outline)),
    )


def _slurm(cluster: Cluster) -> Iterator[Table]:
    yield table_of("Partitions", "", _partitions(cluster))
    yield table_of("Prices", hour_prices_intro(cluster), hour_prices(cluster))
    yield table_of("QOS", "", qos_rows(cluster))
    yield table_of("Accounts", accounts_intro(cluster), account_rows(cluster))
    yield table_of("Users", "", people_rows(cluster))


def _dashboards(cluster: Cluster) -> Table:
    intro = f"Pages of Grafana at {address}, and what each reads." if (address := site(cluster)) else ""
    rows = (
        {
            "Dashboard": page.title,
            "Shows": page.purpose,
            "Panels": str(sum(len(row.panels) for row in page.rows)),
            "uid": page.uid,
        }
        for page in (dashboards(cluster) if intro else ())
    )
    return table_of("Dashboards", intro, rows)


def memory(mib: int) -> str:
    return str(Bytes(mib << 20))


def _facts(cluster: Cluster, outline: Outline) -> Iterator[tuple[str, str]]:
    yield "Nodes", f"{cluster.host_count}, {len(cluster.hosts('slurm-compute'))} compute"
    if cluster.gpu_count:
        yield "GPUs", str(cluster.gpu_count)
    yield "Operating system", ", ".join(dict.fromkeys(_os(node_type) for node_type in cluster.node_types))
    if cluster.has(Slurm):
        yield "Slurm", f"{cluster.slurm.release}, topology {cluster.slurm.topology}"
    for assumed in assumptions(cluster):
        yield f"Assumed: {assumed.subject}", f"{assumed.message}; {assumed.hint}"
    controllers = cluster.hosts("slurm-controller")
    if controllers:
        backup = f", backup {', '.join(controllers[1:])}" if len(controllers) > 1 else ", no backup"
        yield "Controller", controllers[0] + backup
    for name, roles in {
        "Accounting": "slurm-accounting",
        "Monitoring": "monitoring",
        "Logs": "log-collector",
    }.items():
        if hosts := cluster.folded(roles):
            yield name, hosts
    for directories in cluster.needs(PrivateDirectories):
        yield "Private to each job", directories.text
    if cluster.has(Resources) and cluster.of(Resources).disable_root_jobs:
        yield "Jobs of root", "rejected"
    if fabric := cluster.networks.fabric:
        yield "Fabric", " ".join(filter(None, (fabric.type, fabric.rate)))
    for fact in cluster.needs(Fact):
        yield fact.title, fact.text
    yield "Files", f"{sum(file.group is not None for file in outline.files.values())} for nodes, in overlays/"


def _nodes(cluster: Cluster) -> Iterator[dict[str, str]]:
    for group in cluster.groups:
        yield {
            "Nodes": group.folded,
            "Count": str(len(group.hosts)),
            "Type": group.type.name,
            "Roles": ", ".join(group.roles),
            "Addresses": shortened(group.addresses),
            "BMC": shortened(group.bmc),
            "State": "" if group.state == "UNKNOWN" else group.state,
        }


def _hardware(cluster: Cluster) -> Iterator[dict[str, str]]:
    for node_type in cluster.node_types:
        if node_type.name == SERVICE:
            continue
        gpus = node_type.gpus
        yield {
            "Type": f"{node_type.name} (like {node_type.like})" if node_type.like else node_type.name,
            "System": node_type.title if node_type.title != node_type.name else "",
            "CPUs": f"{node_type.sockets} × {node_type.cores_per_socket} cores, {node_type.cpus} threads",
            "Memory": memory(node_type.memory_mib),
            "GPUs": f"{gpus.count} × {gpus.model.nvml_name}" if gpus else _passed_gpus(node_type),
            "NVLink": gpus.nvlink if gpus and gpus.nvlink != "none" else "",
            "MIG": _mig(node_type),
            "Fabric ports": str(len(node_type.fabric_ports()) or ""),
            "OS": _os(node_type),
        }


def _passed_gpus(node_type: NodeType) -> str:
    """GPUs of a Gres that the manifest passes through to Slurm, as it names them."""
    stated = scalars.gres(str(node_type.slurm_options.get("Gres", "")))
    return ", ".join(f"{count} × {kind or name}" for (name, kind), count in stated.items() if name == "gpu")


def _os(node_type: NodeType) -> str:
    return node_type.os.id if node_type.os.arch == X86_64 else f"{node_type.os.id} {node_type.os.arch}"


def _mig(node_type: NodeType) -> str:
    if not node_type.gpus:
        return ""
    return ", ".join(dict.fromkeys(layout.plan for layout in node_type.gpus.mig if layout))


def _partitions(cluster: Cluster) -> Iterator[dict[str, str]]:
    for partition in cluster.slurm.partitions:
        yield {
            "Partition": partition.name,
            "Nodes": "all" if partition.nodes == "ALL" else partition.nodes,
            "Count": str(len(partition.hosts)),
            "Default": "yes" if partition.default else "",
            "MaxTime": slurm_minutes(partition.max_time_minutes).lower(),
            "DefaultTime": slurm_minutes(partition.default_time_minutes).lower()
            if partition.default_time_minutes != 0
            else "none: jobs must state --time",
            "PriorityTier": "" if partition.priority_tier is None else str(partition.priority_tier),
            "PreemptMode": partition.preempt or "",
            "Partition QOS": partition.qos or "",
            "Accounts": ", ".join(partition.allow_accounts),
        }


def _storage(cluster: Cluster) -> Iterator[dict[str, str]]:
    for name, entry in cluster.storage.items():
        yield {
            "Name": name,
            "Type": entry.type,
            "Server": ", ".join(entry.sources),
            "Mounted at": entry.mount,
            "Clients": ",".join(filter(cluster.with_role, entry.clients))
            + (f" of type {', '.join(entry.node_types)}" if entry.node_types else ""),
            "If not mounted": ("Slurm does not start" if entry.required else "jobs still run")
            if cluster.has(Slurm)
            else "",
        }


def _manual_steps(cluster: Cluster) -> Iterator[dict[str, str]]:
    for name, entry in cluster.storage.items():
        clients = ",".join(group.folded for group in clients_of(cluster, name))
        for step in entry.manual_steps(clients):
            yield {"File system": name, "Step": step}


def _networks(cluster: Cluster) -> Iterator[dict[str, str]]:
    networks = cluster.networks
    for name in ("management", "bmc", "fabric", "storage"):
        network = networks.get(name)
        if network is not None:
            yield {
                "Network": name,
                "Kind": network.type,
                "Addresses": ", ".join(filter(None, (network.cidr, *getattr(network, "rails", ())))),
                "Domain": network.domain or "",
                "Rate": network.rate or "",
                "MTU": str(network.mtu or ""),
                "VLAN": str(network.vlan or ""),
                "Switches": str(len(switches_of(cluster).get(name, ())) or ""),
            }


FILES = (File("tree/README.md", report, per="tree"),)
