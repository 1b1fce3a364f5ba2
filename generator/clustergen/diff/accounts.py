"""Accounts of Slurm's database and of the machines: what a tree leaves there is left to people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from clustergen.catalogue import sacctmgr
from clustergen.cluster.slurm.rights import NORMAL, ROOT
from clustergen.diff.narrower import ROOT_ACCOUNT, Entity, Settings, limits, manages_qos
from clustergen.diff.policy import RIGHTS, VALUES, read, settings_of
from clustergen.diff.snapshot import Snapshot

_UNSET = {"share": "1", "text": ""}
_SYSUSERS = "/etc/sysusers.d/"


class _Database:
    """The entries that clustergen-accounts of a tree brings into Slurm's database."""

    def __init__(self, side: Snapshot) -> None:
        text = next((file.text for file in side.files.values() if file.target == VALUES), "")
        self.settings: Settings = settings_of(text)
        values = read(text)
        self.cluster = values["cluster"] or side.inventory.cluster
        self.qos = dict.fromkeys(qos["name"] for qos in values["qos"])
        names = (account["name"] for account in values["accounts"])
        self.accounts = dict.fromkeys(name for name in names if name != ROOT)
        self.users = dict.fromkeys(
            (account["name"], name) for account in values["accounts"] for name in account["users"]
        )
        """Account and user."""
        self.removes_unlisted = bool(values.get("removes_unlisted"))
        self.coordinated = {account["name"] for account in values["accounts"] if account["coordinators"] is not None}
        """Accounts whose coordinators are exactly those that the tree names."""


def left_over(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """The commands of sacctmgr that take away what is gone: the tree's script leaves it, as that ends its history."""
    before, after = _Database(old), _Database(new)
    if before.cluster != after.cluster:  # another cluster of the database, which has nothing yet
        return ()
    where = f"cluster={after.cluster}"
    # An account takes its users along, but 22.05 refuses while it is the only one of a user.
    remaining = {user for _, user in after.users}
    users = [
        f"sacctmgr delete user name={shlex.quote(user)} account={shlex.quote(account)} {where}"
        for account, user in before.users
        if (account, user) not in after.users and (account in after.accounts or user not in remaining)
    ]
    accounts = [f"sacctmgr delete account name={shlex.quote(name)} {where}" for name in _removals(before, after)]
    qos = [
        f"sacctmgr delete qos name={shlex.quote(name)}"
        for name in before.qos
        if name not in {**after.qos, NORMAL: None}
    ]
    removed = () if after.removes_unlisted and after.accounts else (*_defaults(before, after, where), *users, *accounts)
    return (*removed, *qos, *_kept(before, after, where))


def _defaults(before: _Database, after: _Database, where: str) -> Iterator[str]:
    """The commands that give users another default account before theirs is removed: sacctmgr refuses to remove it, or
    (22.05) leaves them without any.
    """
    users: dict[str, list[str]] = {}
    for user in dict.fromkeys(user for _, user in before.users):
        stated, still_stated = (side.settings.get(("user", user), {}).get("DefaultAccount") for side in (before, after))
        default = stated or next(account for account, name in before.users if name == user)
        others = [account for account, name in after.users if name == user]
        if others and default not in others and not still_stated:
            users.setdefault(others[0], []).append(user)
    for account, names in users.items():
        yield f"sacctmgr modify user where name={','.join(names)} {where} set DefaultAccount={account}"


def _kept(before: _Database, after: _Database, where: str) -> Iterator[str]:
    """The commands that reset what the script leaves: root without any account, QOS lists without any QOS."""
    for entity, stated in before.settings.items():
        if entity == ROOT_ACCOUNT and ROOT_ACCOUNT not in after.settings:
            options = [key for key in stated if sacctmgr.option("association", key)]
        elif entity[0] != "qos" and entity in after.settings and not manages_qos(after.settings):
            options = [key for key in stated if key in RIGHTS]
        else:
            continue
        if options := [key for key in options if (entity, key, stated[key]) != (ROOT_ACCOUNT, "QOS", NORMAL)]:
            yield f"sacctmgr modify {_where(entity)} {where} set {' '.join(_unset(entity, options, stated))}"
    if ROOT not in after.coordinated and (names := before.settings.get(ROOT_ACCOUNT, {}).get("Coordinators")):
        yield f"sacctmgr remove coordinator account={ROOT} names={names}"


def _where(entity: Entity) -> str:
    kind, name = entity
    user, _, account = name.rpartition(" in ")
    return f"{kind} where name={user} account={account}" if kind == "user" else f"{kind} where name={name}"


def _unset(entity: Entity, options: list[str], stated: Mapping[str, str]) -> Iterator[str]:
    """The words of `set` that take options back to what an association has from its start."""
    for key in options:
        row = sacctmgr.option("association", key)
        form = row.form if row else "count"
        if form == "tres":
            yield f"{key}={','.join(f'{name}=-1' for name in limits(stated[key]))}"
        elif form == "list":
            yield f"{key}={NORMAL if entity == ROOT_ACCOUNT else ''}"
        else:
            yield f"{key}={_UNSET.get(form, '-1')}"


def _removals(before: _Database, after: _Database) -> list[str]:
    """Accounts that are gone, the children before their parents."""
    return [name for name in reversed(before.accounts) if name not in after.accounts]


def renumbered(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """`slurm from 64030 to 64040`: systemd-sysusers makes accounts, and leaves those that exist alone."""
    before, after = _numbers(old), _numbers(new)
    return tuple(
        f"{name} from {before[name]} to {number}"
        for name, number in after.items()
        if name in before and before[name] != number
    )


def _numbers(side: Snapshot) -> dict[str, str]:
    numbers: dict[str, str] = {}
    for file in side.files.values():
        if file.target.startswith(_SYSUSERS):
            for line in file.text.splitlines():
                words = line.split()
                if len(words) > 2 and words[0] == "u":
                    numbers[words[1]] = words[2].partition(":")[0]
    return numbers
