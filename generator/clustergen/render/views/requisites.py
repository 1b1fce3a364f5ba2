"""Things that an operator supplies before a tree can be applied: secrets, certificates, keys, programs and
repositories.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Repository, Requisite, Secret
from clustergen.cluster.groups import membership
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.associations import Associations
from clustergen.cluster.slurm.model import Slurm
from clustergen.hostlist import compress
from clustergen.render.tree import Outline
from clustergen.render.views.packages import packages_by_group, provision


def requisites(cluster: Cluster, outline: Outline) -> Iterator[dict[str, str]]:
    """One row for each thing that the playbook neither makes nor fetches."""
    members = membership(cluster)

    def hosts(*names: str) -> str:
        groups = {group.index: group for name in names for group in members.get(name, ())}
        return compress([host for group in groups.values() for host in group.hosts], sort=True) if groups else ""

    yield _row("ssh access as the user of ansible_user", hosts("all"), "the key of the machine that runs Ansible")
    for secret in cluster.needs(Secret):
        if secret.origin == "given":
            what = f"secret {secret.name}: {secret.path}"
            yield _row(what, hosts(*secret.groups), f"secrets_given: {{{secret.name}: …}}")
    if (
        cluster.has(Slurm)
        and cluster.slurm.slurmdbd_hosts
        and not cluster.of(Associations).accounts
        and cluster.of(Accounting).enforce
    ):
        supply = "slurm.accounts, or sacctmgr add account and add user: nobody else can submit jobs"
        yield _row("accounts and users of Slurm", hosts("slurm_accounting"), supply)
    for name, groups in _repositories(cluster, outline).items():
        variables = f"repositories_{name}_url, and repositories_{name}_key"
        yield _row(f"package repository {name}", hosts(*groups), variables)
    for requisite in cluster.needs(Requisite):
        yield _row(requisite.what, hosts(*requisite.groups), requisite.supply)


def _row(what: str, hosts: str, supply: str) -> dict[str, str]:
    return {"What": what, "Nodes": hosts, "Supply": supply}


def _repositories(cluster: Cluster, outline: Outline) -> dict[str, list[str]]:
    """Package repository without a public address → groups whose packages come from it."""
    systems = {node_type.os.key: node_type.os for node_type in cluster.node_types}
    repositories = {key: provision(cluster, os).repositories for key, os in systems.items()}
    groups: dict[str, list[str]] = {}
    for group, purposes in packages_by_group(cluster, outline).items():
        of_group = {node_group.type.os.key for node_group in outline.groups[group]}
        origins = {repositories[key].get(purpose) for key in of_group for purpose in purposes}
        for repository in cluster.needs(Repository):
            if repository.name in origins:
                groups.setdefault(repository.name, []).append(group)
    return groups
