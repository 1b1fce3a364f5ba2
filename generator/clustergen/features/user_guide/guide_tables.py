"""Tables of the guide for users: what they may use, how much of it, and where."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.job_templates import quota_commands
from clustergen.cluster.entry import Entry
from clustergen.cluster.exports import serves
from clustergen.cluster.groups import users_groups
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.associations import Associations
from clustergen.cluster.slurm.job_site import JobSite, shared_with_jobs, visible
from clustergen.cluster.slurm.model import Partition
from clustergen.cluster.slurm.rights import parents_first, rights_of
from clustergen.diagnostics.words import counted
from clustergen.features.user_guide.scripts import JobScript, job_scripts, unfit_templates
from clustergen.hostlist import compress
from clustergen.records import record
from clustergen.render.views.report_policy import qos_rows
from clustergen.render.views.tables import Table, table_of
from clustergen.units.duration import slurm_minutes


@record
class Part:
    """A section: sentences, then commands, then tables. `after`: sentences below the commands."""

    title: str
    sentences: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


_CODE = frozenset(
    {"Partition", "QOS", "Account", "Directory", "Template", "Nodes", "GPU type", "Your quota", "Install"}
)


def code_table(title: str, rows: Iterator[dict[str, str]]) -> Table:
    table = table_of(title, "", rows)
    return Table(table.title, table.intro, table.columns, table.rows, _CODE)


def _memory(mib: int) -> str:
    """Rounded down: what is printed can be requested."""
    return f"{mib // 1024} GiB" if mib >= 1024 else f"{mib} MiB"


def partition_table(cluster: Cluster) -> Table:
    return code_table("Partitions", _partition_rows(cluster))


def _partition_rows(cluster: Cluster) -> Iterator[dict[str, str]]:
    """A row per partition and node type; hidden partitions are left out."""
    for one in cluster.slurm.partitions:
        if one.hidden or not one.hosts:
            continue
        for kind in _kinds(cluster, one):
            gpus = kind.gpus
            yield {
                "Partition": one.name,
                "Default": "yes" if one.default else "",
                "Nodes": _hosts(cluster, one, kind),
                "GPUs per node": str(gpus.gres_count) if gpus else "",
                "GPU type": ", ".join(_gpu_types(kind)),
                "CPUs per node": str(kind.job_cores * kind.threads_per_core),
                "Memory per node": _memory(kind.job_memory_mib),
                "CPUs per GPU": str(one.cpus_per_gpu or "") if gpus else "",
                "Memory per GPU": _memory(one.mem_per_gpu_mib) if gpus and one.mem_per_gpu_mib else "",
                "MaxTime": slurm_minutes(one.max_time_minutes).lower(),
                "DefaultTime": slurm_minutes(one.default_time_minutes).lower()
                if one.default_time_minutes != 0
                else "state --time",
                "Nodes per job": f"at most {one.max_nodes}" if one.max_nodes else "",
                "Accounts": ", ".join(one.allow_accounts),
                "Allowed QOS": ", ".join(one.allow_qos),
            }


def _kinds(cluster: Cluster, partition: Partition) -> Iterator[NodeType]:
    for node_type in cluster.node_types:
        if any(host in partition.hosts for group in cluster.of_type[node_type.name] for host in group.hosts):
            yield node_type


def _hosts(cluster: Cluster, partition: Partition, node_type: NodeType) -> str:
    return compress([h for group in cluster.of_type[node_type.name] for h in group.hosts if h in partition.hosts])


def _gpu_types(node_type: NodeType) -> list[str]:
    """GPU types in the syntax of --gpus: the type of whole GPUs, and of MIG instances."""
    if node_type.gpus is None:
        return []
    if not any(node_type.gpus.mig):
        return [node_type.gpus.gres_type] if node_type.gpus.gres_type else []
    names = {
        node_type.gpus.instance_type(profile): None
        for layout in node_type.gpus.mig
        for profile in (layout.profiles if layout else ())
    }
    whole = [node_type.gpus.gres_type] if not all(node_type.gpus.mig) and node_type.gpus.gres_type else []
    return [*whole, *names]


def qos_table(cluster: Cluster) -> Table:
    return code_table("QOS", qos_rows(cluster))


def account_table(cluster: Cluster) -> Table:
    return code_table("Accounts", _account_rows(cluster))


def _account_rows(cluster: Cluster) -> Iterator[dict[str, str]]:
    """Accounts that have users; who is in one is not said here."""
    accounts = cluster.of(Associations).accounts
    rights = rights_of(accounts)
    for name, account in parents_first(accounts):
        if account.users:
            yield {
                "Account": name,
                "Description": account.description or "",
                "Default QOS": rights[name].default,
                "Allowed QOS": ", ".join(rights[name].qos),
            }


def storage_table(cluster: Cluster, site: JobSite) -> Table:
    return code_table("File systems", _storage_rows(cluster, site))


def _storage_rows(cluster: Cluster, site: JobSite) -> Iterator[dict[str, str]]:
    shared = shared_with_jobs(cluster, site.kind)
    login = {name for group in users_groups(cluster) for name in visible(cluster, group)}
    jobs = [(group, visible(cluster, group)) for group in cluster.compute]
    for name, entry in cluster.storage.items():
        places = ["login nodes"] if name in login else []
        seeing = [group for group, names in jobs if name in names]
        if seeing:
            hosts = [host for group in seeing for host in group.hosts] if len(seeing) < len(jobs) else []
            places.append(f"compute nodes {compress(hosts)}".rstrip())
        if not places:
            continue
        served = _is_served(cluster, entry)
        yield {
            "Directory": entry.mount.rstrip("/"),
            "Type": f"{entry.type}, from this cluster" if served else entry.type,
            "Available on": " and ".join(places),
            "Use": _use(name in shared, not entry.is_shared, entry.read_only),
            "Your quota": quota_commands().get(entry.type, "").format(mount=entry.mount)
            if is_asked(cluster, entry)
            else "",
        }


def _is_served(cluster: Cluster, entry: Entry) -> bool:
    """True if a node of the cluster is its server."""
    return any(serves(cluster, group, entry) for group in cluster.groups)


def is_asked(cluster: Cluster, entry: Entry) -> bool:
    """True if users can ask for their quota: also of a server elsewhere, whose quotas are unknown here."""
    return not _is_served(cluster, entry) or entry.shows_quotas


def _use(is_shared: bool, is_local: bool, read_only: bool) -> str:
    if read_only:
        return "read only"
    if is_local:
        return "fast and private to a node; keep nothing there that you need after the job"
    return "the same files on all nodes" if is_shared else "shared by some of the nodes"


def template_table(cluster: Cluster) -> Table:
    return code_table("Templates", (_template_row(script) for script in job_scripts(cluster).values()))


def _template_row(script: JobScript) -> dict[str, str]:
    return {
        "Template": f"{script.name}.sh",
        "For": script.title,
        "Requests": _request(script),
        "Install": f"pip install {script.packages}" if script.packages else "",
    }


def _request(script: JobScript) -> str:
    nodes = counted(script.nodes, "node")
    if not script.gpus:
        return f"{nodes} × {script.tasks} processes" if script.tasks > 1 else nodes
    return f"{nodes} × {counted(script.gpus, 'GPU')}"


def unfit_table(cluster: Cluster) -> Table:
    rows = ({"Template": f"{one.name}.sh", "For": one.title, "Why": one.why} for one in unfit_templates(cluster))
    return code_table("Not on this cluster", rows)
