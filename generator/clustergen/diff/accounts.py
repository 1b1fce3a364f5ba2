"""Accounts of Slurm's database and of the machines: a tree only ever adds some, the rest is left to people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from clustergen.diff.snapshot import Snapshot

_SCRIPT = "/usr/local/sbin/clustergen-accounts"
_SYSUSERS = "/etc/sysusers.d/"
_BUILT_IN = "normal"  # the QOS of associations that name none; every database has it


class _Database:
    """What the script of a tree brings into Slurm's database."""

    def __init__(self, side: Snapshot) -> None:
        self.cluster = side.cluster
        self.qos: dict[str, None] = {}
        self.accounts: dict[str, None] = {}
        self.users: dict[tuple[str, str], None] = {}
        """Account and user."""
        texts = [file.text for file in side.files.values() if file.target == _SCRIPT]
        for verb, words in (call for text in texts for call in _calls(text)):
            if verb == "name_qos":
                self.qos.update(dict.fromkeys(words))
            elif verb == "name_account":
                self.accounts[words[0]] = None
            elif verb == "users":
                self.users.update(dict.fromkeys((words[0], user) for user in words[1:]))
            elif verb.startswith("cluster="):
                self.cluster = verb.partition("=")[2]


def _calls(text: str) -> Iterator[tuple[str, list[str]]]:
    """The lines of the script that call one of its functions with plain words."""
    for line in text.splitlines():
        word = line.split(maxsplit=1)[:1]
        if word and (word[0] in ("name_qos", "name_account", "users") or line.startswith("cluster=")):
            words = shlex.split(line, comments=True)
            if words[0] == "users" and not line.startswith(" "):  # the function itself
                continue
            yield words[0], words[1:]


def left_over(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """The commands of sacctmgr that take away what is gone: the tree's script leaves it, as that ends its history."""
    before, after = _Database(old), _Database(new)
    if before.cluster != after.cluster:  # another cluster of the database, which has nothing yet
        return ()
    where = f"cluster={after.cluster}"
    users = [
        f"sacctmgr delete user name={shlex.quote(user)} account={shlex.quote(account)} {where}"
        for account, user in before.users
        if (account, user) not in after.users and account in after.accounts
    ]
    accounts = [f"sacctmgr delete account name={shlex.quote(name)} {where}" for name in _removals(before, after)]
    qos = [
        f"sacctmgr delete qos name={shlex.quote(name)}"
        for name in before.qos
        if name not in {**after.qos, _BUILT_IN: None}
    ]
    return (*users, *accounts, *qos)


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
