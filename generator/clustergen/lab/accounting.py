"""slurmdbd and databases outside of the cluster: a lab has them on its first node with slurmdbd, or its controller."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.hostlist import expand
from clustergen.lab.scale import Document, part, roles_of
from clustergen.lab.work import Work, labs

_ROLE = "slurm-accounting"


def neighbours(work: Work) -> frozenset[str]:
    """Addresses of the nodes of other labs."""
    others = [other.known_hosts for other in labs() if other.name != work.name]
    texts = (place.read_text(encoding="utf-8") for place in others if place.exists())
    return frozenset(line.partition(" ")[0] for text in texts for line in text.splitlines())


def slurmdbd_elsewhere(cluster: Cluster, reached: Collection[str]) -> bool:
    """True if slurmdbd is another cluster's, and none of a lab's node."""
    host = cluster.of(Accounting).slurmdbd
    return host is not None and host not in reached


def database_elsewhere(cluster: Cluster) -> bool:
    return bool(cluster.slurm.accounting_hosts) and not cluster.of(Accounting).database_is_local


def bring_slurmdbd(document: Document, cluster: Cluster) -> None:
    """Gives the first controller slurmdbd, with a database."""
    del document["slurm"]["accounting"]["slurmdbd"]
    document["nodes"] = list(_with_role(document["nodes"], cluster.slurm.controllers[:1]))


def bring_database(document: Document, cluster: Cluster) -> None:
    """Gives the first node that runs slurmdbd its database; no second one shares it."""
    for key in ("database_host", "password"):
        document["slurm"]["accounting"].pop(key, None)
    document["nodes"] = list(_with_role(document["nodes"], cluster.slurm.accounting_hosts[:1]))


def _with_role(entries: list[Document], hosts: Collection[str]) -> Iterator[Document]:
    """Entries of `nodes` of which these hosts alone have the role."""
    for entry in entries:
        names = expand(entry["name"])
        roles = [role for role in roles_of(entry) if role != _ROLE]
        for chosen in (True, False):
            if some := part(entry, names, [name for name in names if (name in hosts) is chosen]):
                stated = [*roles, _ROLE] if chosen else roles
                yield some if tuple(stated) == roles_of(entry) else {**some, "roles": stated}
