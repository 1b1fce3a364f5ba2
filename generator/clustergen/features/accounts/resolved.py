"""Accounts, users and QOS as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.associations import Account, Associations, Limits, Qos, User
from clustergen.cluster.slurm.rights import ROOT
from clustergen.features.accounts.section import Account as Section
from clustergen.manifest.slurm import Slurm
from clustergen.records import copied


def resolve(section: Slurm, _: Cluster) -> Associations:
    accounts = {name: _account(name, account) for name, account in section.accounts.items()}
    return Associations(
        federation=section.federation,
        qos={name: copied(Qos, qos) for name, qos in section.qos.items()},
        accounts=accounts,
        root=accounts.get(ROOT) or _account(ROOT, Section.model_construct()),
        users={name: copied(User, user) for name, user in section.users.items()},
        removes_unlisted=section.unlisted_accounts == "remove",
    )


def _account(name: str, section: Section) -> Account:
    return copied(
        Account,
        section,
        parent=section.parent or (None if name == ROOT else ROOT),
        user_limits={user: copied(Limits, limits) for user, limits in section.user_limits.items()},
    )


RECORDS = {Associations: resolve}
