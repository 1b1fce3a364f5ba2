"""README.md of the tree: who may run what, with all settings of QOS, accounts and users by sacctmgr's names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from clustergen.catalogue.sacctmgr import AS_PARENT
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.associations import Account, Associations, settings
from clustergen.cluster.slurm.rights import NORMAL, ROOT, parents_first, rights_of

_SHOWN = 20
_PREEMPTED = {"PreemptMode": "{}", "GraceTime": "after {} s", "PreemptExemptTime": "exempt for the first {}"}
_IN_COLUMNS = ("Priority", "Preempt", "PreemptMode", "GraceTime", "PreemptExemptTime", "Fairshare", "QOS", "DefaultQOS")


def qos_rows(cluster: Cluster) -> Iterator[dict[str, str]]:
    for name, qos in cluster.of(Associations).qos.items():
        stated = dict(settings("qos", qos))
        yield {
            "QOS": name,
            "Priority": str(qos.priority),
            "Preempts": ", ".join(qos.preempt),
            "When preempted": ", ".join(text.format(stated[key]) for key, text in _PREEMPTED.items() if key in stated),
            "Limits and flags": _others(stated.items()),
            "Description": qos.description or "",
        }


def account_rows(cluster: Cluster) -> Iterator[dict[str, str]]:
    """Accounts, parents first, each followed by its users with settings of their own."""
    accounts = cluster.of(Associations).accounts
    rights = rights_of(accounts)
    shares: Counter[str] = Counter()
    """Of all accounts below one."""
    for account in accounts.values():
        if account.fairshare != AS_PARENT:
            shares[account.parent or ROOT] += account.fairshare
    for name, account in parents_first(accounts):
        yield {
            "Account": name,
            "Parent": "" if name == ROOT else account.parent or ROOT,
            "Share": "" if name == ROOT else _share(account, shares),
            "Allowed QOS": ", ".join(rights[name].qos),
            "Default QOS": rights[name].default,
            "Limits": _others(settings("association", account)),
            "Coordinators": ", ".join(account.coordinators),
            "Users": _some(account.users),
            "Description": account.description or "",
        }
        for user, member in account.user_limits.items():
            below = rights[name].below(member.qos, member.default_qos)
            yield {
                "Account": name,
                "Parent": "",
                "Share": str(member.fairshare),
                "Allowed QOS": ", ".join(below.qos),
                "Default QOS": below.default,
                "Limits": _others(settings("association", member)),
                "Coordinators": "",
                "Users": user,
                "Description": "limits of this user",
            }


def people_rows(cluster: Cluster) -> Iterator[dict[str, str]]:
    for name, user in cluster.of(Associations).users.items():
        yield {
            "User": name,
            "Default account": user.default_account or "",
            "Admin level": "" if user.admin_level == "none" else user.admin_level,
        }


def accounts_intro(cluster: Cluster) -> str:
    """The sentence above the table of accounts."""
    words = "" if ROOT in cluster.of(Associations).accounts else f"Account root has QOS {NORMAL}. "
    enforced = ", ".join(cluster.of(Accounting).enforce) or "none"
    return f"{words}QOS and default QOS include inherited values. AccountingStorageEnforce: {enforced}."


def _others(stated: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{key} {_number(text)}" for key, text in stated if key not in _IN_COLUMNS)


def _number(text: str) -> str:
    """Factors without the zeros that sacctmgr shows: 0.25 for 0.250000."""
    return f"{float(text):g}" if re.fullmatch(r"\d+\.\d{6}", text) else text


def _share(account: Account, shares: Mapping[str, int]) -> str:
    if account.fairshare == AS_PARENT:
        return "parent"
    total = shares[account.parent or ROOT]
    return f"{account.fairshare} of {total}" if total else str(account.fairshare)


def _some(names: tuple[str, ...]) -> str:
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:_SHOWN])} … ({len(names)} users)"
