"""Who may use which QOS. Accounts and users inherit what they do not state, as associations in Slurm do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clustergen.records import record

if TYPE_CHECKING:
    from clustergen.cluster.slurm.associations import Account

NORMAL = "normal"  # the QOS that every database has from its first start
ROOT = "root"  # the account above all others


@record
class Rights:
    """The QOS that the jobs of an account or user may use, and the one of jobs that name none."""

    qos: tuple[str, ...]
    default: str
    inherits_qos: bool
    inherits_default: bool

    def below(self, qos: tuple[str, ...], default: str | None) -> Rights:
        """The rights of an account or user below: what it states, and the rest from here.

        A list of its own without the inherited default has normal as default, or else its first.
        """
        names = tuple(dict.fromkeys(qos)) or self.qos
        if default is None and self.default in names:
            return Rights(names, self.default, not qos, True)
        return Rights(names, default or (NORMAL if NORMAL in names else names[0]), not qos, False)


def rights_of(accounts: Mapping[str, Account]) -> dict[str, Rights]:
    """The rights of each account, root's first, parents before their children."""
    top = Rights((NORMAL,), NORMAL, True, True)
    stated = accounts.get(ROOT)
    rights = {ROOT: top.below(stated.qos, stated.default_qos) if stated else top}
    for name, account in parents_first(accounts):
        if name != ROOT:
            rights[name] = rights.get(account.parent or ROOT, rights[ROOT]).below(account.qos, account.default_qos)
    return rights


def parents_first(accounts: Mapping[str, Account]) -> list[tuple[str, Account]]:
    """Accounts in an order in which each can be made; those in a circle come last, in their own order."""
    placed: dict[str, Account] = {}
    while True:
        ready = {
            name: account
            for name, account in accounts.items()
            if name not in placed
            and (name == ROOT or (above := account.parent or ROOT) not in accounts or above in placed)
        }
        if not ready:
            return list({**placed, **accounts}.items())
        placed |= ready
