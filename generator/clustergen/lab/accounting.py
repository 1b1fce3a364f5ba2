"""slurmdbd and databases outside of the cluster: a lab has them on a node of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.hostlist import expand
from clustergen.lab.scale import Document, part, roles_of
from clustergen.lab.work import Work, labs

_ROLE = "slurm-accounting"
_KEYS = ("accountingstoragetype", "accountingstoragehost", "accountingstoragebackuphost")


def neighbours(work: Work) -> frozenset[str]:
    """Addresses of the nodes of other labs."""
    others = [other.known_hosts for other in labs() if other.name != work.name]
    texts = (place.read_text(encoding="utf-8") for place in others if place.exists())
    return frozenset(line.partition(" ")[0] for text in texts for line in text.splitlines())


def slurmdbd_elsewhere(cluster: Cluster, reached: Collection[str]) -> bool:
    """True if slurm.conf has a slurmdbd that is neither of a node with its role nor of another lab."""
    kind = str(cluster.slurm.options.get("AccountingStorageType", ""))
    is_named = bool(cluster.slurm.slurmdbd_hosts) or kind.lower().endswith("slurmdbd")
    return is_named and not cluster.slurm.accounting_hosts and cluster.of(Accounting).slurmdbd not in reached


def database_elsewhere(cluster: Cluster) -> bool:
    return bool(cluster.slurm.accounting_hosts) and not cluster.of(Accounting).database_is_local


def bring_slurmdbd(document: Document, cluster: Cluster) -> None:
    """Gives the service node that slurm.conf names slurmdbd and a database, or else the first controller."""
    slurm = document["slurm"]
    (slurm.get("accounting") or {}).pop("slurmdbd", None)
    for key in [key for key in slurm.get("options") or {} if key.lower() in _KEYS]:
        del slurm["options"][key]
    service = {name for entry in document["nodes"] if entry.get("roles") for name in expand(entry["name"])}
    host = next((host for host in cluster.slurm.slurmdbd_hosts if host in service), cluster.slurm.controllers[0])
    document["nodes"] = list(_with_role(document["nodes"], (host,)))
    if "manage" in document:
        document["manage"] = list(dict.fromkeys([*document["manage"], "accounting", "users"]))


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
