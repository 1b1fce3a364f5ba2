"""Who may use which QOS, names that Slurm takes for one, and settings of accounts, users and QOS without a field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.catalogue import sacctmgr
from clustergen.catalogue.sacctmgr import Entity, SacctmgrOption
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.associations import Associations, Limits, Qos
from clustergen.cluster.slurm.rights import NORMAL, ROOT, Rights, rights_of
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.base import OptionValue
from clustergen.manifest.slurm import Slurm
from clustergen.units import Duration, UnitError

_ACCOUNTS: ManifestPath = ("slurm", "accounts")
_WITHOUT_ASSOCIATIONS = {"nojobs", "nosteps"}  # values of AccountingStorageEnforce that do not imply associations
Holder = tuple[ManifestPath, Entity, Limits | Qos]


def holders(cluster: Cluster) -> Iterator[Holder]:
    """All QOS, accounts, and users of accounts that have settings."""
    policy = cluster.of(Associations)
    for name, qos in policy.qos.items():
        yield ("slurm", "qos", name), "qos", qos
    for name, account in policy.accounts.items():
        yield (*_ACCOUNTS, name), "association", account
        for user, member in account.user_limits.items():
            yield (*_ACCOUNTS, name, "user_limits", user), "association", member


def qos_not_allowed(cluster: Cluster) -> Iterator[Finding]:
    """A default QOS has to be in the list, be it inherited."""
    accounts = cluster.of(Associations).accounts
    rights = rights_of(accounts)
    for name, account in accounts.items():
        path: ManifestPath = (*_ACCOUNTS, name)
        yield from _default(path, name, account, rights[name])
        for user, member in account.user_limits.items():
            below = rights[name].below(member.qos, member.default_qos)
            yield from _default((*path, "user_limits", user), user, member, below)


def _default(path: ManifestPath, name: str, limits: Limits, rights: Rights) -> Iterator[Finding]:
    stated = limits.default_qos
    if stated is not None and stated not in rights.qos:
        usable = ", ".join(rights.qos)
        how = f", which inherits {usable}" if rights.inherits_qos else ""
        hint = f"write qos: [{usable}, {stated}]" if rights.inherits_qos else f"add it to qos of '{name}'"
        message = f"'{stated}' is not among the QOS that '{name}' may use{how}"
        yield Finding("qos-not-allowed", (*path, "default_qos"), message, hint)


def qos_unused(cluster: Cluster) -> Iterator[Finding]:
    """A QOS that no job can have: accounts without a list inherit, and root has normal."""
    accounts = cluster.of(Associations).accounts
    if not accounts:
        return
    used = {NORMAL, *(partition.qos for partition in cluster.slurm.partitions)}
    for rights in rights_of(accounts).values():
        used.update(rights.qos)
    for account in accounts.values():
        used.update(name for member in account.user_limits.values() for name in member.qos)
    example = next(iter(accounts))
    for name in cluster.of(Associations).qos:
        if name not in used:
            hint = f"add it to an account, for example slurm.accounts.{example}.qos: [{NORMAL}, {name}]"
            yield Finding("qos-unused", ("slurm", "qos", name), f"no account may use QOS '{name}'", hint, key=True)


def name_differs_in_case(cluster: Cluster) -> Iterator[Finding]:
    """Names that are one to slurmdbd, which keeps them in lower case; `root` and `normal` are in every database."""
    section = cluster.of(Associations)
    what: tuple[tuple[str, str, Iterable[str], str], ...] = (
        ("accounts", "account", section.accounts, ROOT),
        ("qos", "QOS", section.qos, NORMAL),
    )
    for key, kind, names, built_in in what:
        spellings = {built_in: built_in}
        for name in names:
            first = spellings.setdefault(name.lower(), name)
            if first != name:
                yield Finding(
                    "name-differs-in-case",
                    ("slurm", key, name),
                    f"'{name}' and '{first}' are one {kind} to Slurm, which keeps such names in lower case",
                    "give it another name" if first in names else f"write {first}",
                    key=True,
                )


def accounts_missing(cluster: Cluster, section: Slurm) -> Iterator[Finding]:
    """Slurm that requires associations, and no account: `accounts: {}` says that they are made elsewhere."""
    slurm = cluster.slurm
    needs_accounts = set(section.accounting.enforce) - _WITHOUT_ASSOCIATIONS
    if slurm.slurmdbd_hosts and needs_accounts and "accounts" not in section.model_fields_set and not slurm.bare:
        yield Finding(
            "accounts-missing",
            ("slurm",),
            "AccountingStorageEnforce requires associations, but slurm.accounts is not set: only root can submit jobs",
            "add accounts: {research: {users: [alice]}}, or accounts: {} if accounts are managed with sacctmgr",
            key=True,
        )


def users(cluster: Cluster) -> Iterator[Finding]:
    """Names of users who are in no account, or not in that account."""
    slurm = cluster.of(Associations)
    names = list(dict.fromkeys(user for account in slurm.accounts.values() for user in account.users))
    for name, account in slurm.accounts.items():
        path: ManifestPath = (*_ACCOUNTS, name)
        if name == ROOT and account.parent:
            yield Finding(
                "account-cycle", (*path, "parent"), "account 'root' cannot have a parent", "remove its parent"
            )
        for user in account.user_limits:
            if user not in account.users:
                yield _no_user((*path, "user_limits", user), user, name, list(account.users), key=True)
        for index, user in enumerate(account.coordinators):
            if names and user not in names:
                yield Finding(
                    "user-unknown",
                    (*path, "coordinators", index),
                    f"coordinator '{user}' is not a user of any account",
                    did_you_mean(user, names) or f"add {user} to the users of an account",
                )
    for user, settings in slurm.users.items():
        where: ManifestPath = ("slurm", "users", user)
        stated = settings.default_account
        if stated is None:
            continue
        if stated not in slurm.accounts:
            hint = did_you_mean(stated, list(slurm.accounts))
            yield Finding("account-unknown", (*where, "default_account"), f"account '{stated}' is not defined", hint)
        elif user not in slurm.accounts[stated].users:
            yield _no_user((*where, "default_account"), user, stated, list(slurm.accounts[stated].users))


def _no_user(path: ManifestPath, user: str, account: str, names: list[str], *, key: bool = False) -> Finding:
    hint = did_you_mean(user, names) or f"add {user} to slurm.accounts.{account}.users"
    return Finding("user-unknown", path, f"'{user}' is not a user of account '{account}'", hint, key=key)


def options(cluster: Cluster) -> Iterator[Finding]:
    """Settings by sacctmgr's names: it must have them in this release, and the manifest no field for them."""
    for path, entity, section in holders(cluster):
        for name, value in section.options.items():
            yield from _option(cluster, (*path, "options", name), entity, name, value)


def _option(cluster: Cluster, path: ManifestPath, entity: Entity, name: str, value: OptionValue) -> Iterator[Finding]:
    row = sacctmgr.option(entity, name)
    alias = None if row else sacctmgr.alias_of(entity, name)
    what = "QOS" if entity == "qos" else "accounts"
    if row is None:
        names = [option.name for option in sacctmgr.options(entity, cluster.slurm.release)]
        message = f"'{name}' is not an option of sacctmgr for {what}"
        if alias:
            message = f"'{name}' is another name of {alias[1]}{' in ' if alias[1] else ''}'{alias[0].name}'"
        hint = _write(*alias) if alias else did_you_mean(name, names)
        yield Finding("slurm-key-unknown", path, message, hint, key=True)
    elif row.field:
        yield Finding(
            "slurm-key-managed", path, f"the manifest has a field for '{row.name}'", f"write {row.field}", key=True
        )
    elif cluster.slurm.release < row.since:
        message = f"'{row.name}' requires Slurm {row.since} or newer; this is {cluster.slurm.release}"
        yield Finding("slurm-key-too-new", path, message, key=True)
    elif wrong := _wrong(row, str(value)):
        yield Finding("slurm-value-wrong", path, f"'{row.name}' {wrong}, not '{value}'")


def _write(meant: SacctmgrOption, tres: str) -> str:
    value = f": {{{tres}: …}}" if tres else ""
    return f"write {meant.field}{value} beside options" if meant.field else f"write {meant.name}"


def _wrong(option: SacctmgrOption, text: str) -> str | None:
    if option.form == "count" and not (text.isascii() and text.isdigit()):
        return "must be a whole number"
    if option.form == "minutes":
        try:
            Duration.parse(text)
        except UnitError:
            return "must be a duration"
    if option.form == "factor" and not text.replace(".", "", 1).isdigit():
        return "must be a number"
    if option.form == "tres":
        for item in text.split(","):
            name, _, amount = item.partition("=")
            if not name or not amount.isdigit():
                return "must be TRES with whole numbers, as cpu=4,gres/gpu=1"
    if option.form == "text" and (set(text) & set("|'\"`$\\") or not text.isprintable()):
        return "must be plain words"
    return None


def enforced(cluster: Cluster) -> Iterator[Finding]:
    """Limits of QOS and accounts count only where slurmctld enforces them."""
    if not cluster.slurm.slurmdbd_hosts or {"limits", "safe", "all"} & set(cluster.of(Accounting).enforce):
        return
    for path, entity, section in holders(cluster):
        for option in sacctmgr.options(entity):
            if option.is_limit and option.field and getattr(section, option.field):
                yield Finding(
                    "limits-not-enforced",
                    (*path, option.field),
                    f"{option.field} is not enforced: slurm.accounting.enforce does not contain limits",
                    "remove enforce, or add limits and safe to it",
                    key=True,
                )
