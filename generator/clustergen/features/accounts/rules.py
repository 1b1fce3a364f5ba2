"""QOS, accounts and users: their names, who may use which QOS, their limits, and settings without a field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clustergen.catalogue import sacctmgr
from clustergen.catalogue.sacctmgr import Entity, SacctmgrOption
from clustergen.catalogue.versions import since
from clustergen.cluster.model import Cluster
from clustergen.cluster.nodes import is_pending
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.associations import Associations, Limits, Qos
from clustergen.cluster.slurm.keys.devices import amounts
from clustergen.cluster.slurm.rights import NORMAL, ROOT, Rights, rights_of
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.features.accounts.section import Account
from clustergen.manifest.base import OptionValue
from clustergen.manifest.slurm import Slurm
from clustergen.rules.slurm_daemons import accounting_hint
from clustergen.rules.tres import untracked
from clustergen.units import Bytes, Duration, UnitError

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
    """A default QOS has to be in the list, be it inherited. A list with an unknown name has an error of its own."""
    accounts, defined = cluster.of(Associations).accounts, {NORMAL, *cluster.of(Associations).qos}
    rights = rights_of(accounts)
    for name, account in accounts.items():
        path: ManifestPath = (*_ACCOUNTS, name)
        if defined.issuperset(rights[name].qos):
            yield from _default(path, name, account, rights[name])
        for user, member in account.user_limits.items():
            below = rights[name].below(member.qos, member.default_qos)
            if defined.issuperset(below.qos):
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
            hint = did_you_mean(stated, list(slurm.accounts)) or f"use {one_of(slurm.accounts)}"
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


_QOS_FLAGS = (
    "DenyOnLimit", "EnforceUsageThreshold", "NoDecay", "NoReserve", "OverPartQOS", "PartitionMaxNodes",
    "PartitionMinNodes", "PartitionTimeLimit", "Relative", "RequiresReservation", "UsageFactorSafe",
)  # fmt: skip


def known_qos(cluster: Cluster) -> list[str]:
    return list(dict.fromkeys([*cluster.of(Associations).qos, NORMAL]))


def unknown(
    code: str, path: ManifestPath, names: Iterable[str], candidates: list[str], what: str, *, listed: bool = True
) -> Iterator[Finding]:
    """Names that are not defined; `listed` if `path` is a list of them."""
    for index, name in enumerate(names):
        if name not in candidates:
            section = "slurm.qos" if code == "qos-unknown" else "slurm.accounts"
            hint = did_you_mean(name, candidates) or f"add {section}.{name}, or use {one_of(candidates, 8)}"
            yield Finding(code, (*path, index) if listed else path, f"{what} '{name}' is not defined", hint)


def partition_limits(cluster: Cluster) -> Iterator[Finding]:
    """QOS and accounts that partitions name."""
    if not cluster.slurm.slurmdbd_hosts:
        return  # accounting-missing says it for all
    accounts = cluster.of(Associations).accounts
    accounts_known = [*accounts, ROOT]
    qos_known = known_qos(cluster)
    for partition in cluster.slurm.partitions:
        path: ManifestPath = ("slurm", "partitions", partition.name)
        one = (partition.qos,) if partition.qos else ()
        yield from unknown("qos-unknown", (*path, "qos"), one, qos_known, "QOS", listed=False)
        yield from unknown("qos-unknown", (*path, "allow_qos"), partition.allow_qos, qos_known, "QOS")
        # Accounts that sacctmgr alone knows are none of the manifest's business, unless it has some of its own.
        if accounts:
            listed = partition.allow_accounts
            yield from unknown("account-unknown", (*path, "allow_accounts"), listed, accounts_known, "account")


def qos(cluster: Cluster) -> Iterator[Finding]:
    for name, spec in cluster.of(Associations).qos.items():
        path: ManifestPath = ("slurm", "qos", name)
        yield from unknown("qos-unknown", (*path, "preempt"), spec.preempt, known_qos(cluster), "QOS")
        for index, flag in enumerate(spec.flags):
            where: ManifestPath = (*path, "flags", index)
            if flag not in _QOS_FLAGS:
                yield Finding(
                    "qos-flag-unknown",
                    where,
                    f"'{flag}' is not a QOS flag of sacctmgr",
                    did_you_mean(flag, _QOS_FLAGS) or f"use {one_of(_QOS_FLAGS, len(_QOS_FLAGS))}",
                )
            elif flag == "Relative" and not cluster.slurm.release.has("qos-relative"):
                yield Finding(
                    "qos-flag-unknown",
                    where,
                    f"the QOS flag Relative requires Slurm {since('qos-relative')} or newer; this is"
                    f" {cluster.slurm.release}",
                )


def needs_accounting(cluster: Cluster) -> Iterator[Finding]:
    policy = cluster.of(Associations)
    for name, what in (("qos", "QOS"), ("accounts", "accounts"), ("federation", "federations")):
        if getattr(policy, name) and not cluster.slurm.keeps_books:
            message = f"{what} require slurmdbd, which no node runs"
            yield Finding("accounting-missing", ("slurm", name), message, accounting_hint(cluster), key=True)


def accounts(cluster: Cluster) -> Iterator[Finding]:
    section = cluster.of(Associations).accounts
    names = [*section, ROOT]
    for name, spec in section.items():
        path: ManifestPath = ("slurm", "accounts", name)
        above = (spec.parent,) if spec.parent else ()
        yield from unknown("account-unknown", (*path, "parent"), above, names, "account", listed=False)
        yield from unknown("qos-unknown", (*path, "qos"), spec.qos, known_qos(cluster), "QOS")
        default = (spec.default_qos,) if spec.default_qos else ()
        yield from unknown("qos-unknown", (*path, "default_qos"), default, known_qos(cluster), "QOS", listed=False)
        for user, member in spec.user_limits.items():
            inside: ManifestPath = (*path, "user_limits", user)
            yield from unknown("qos-unknown", (*inside, "qos"), member.qos, known_qos(cluster), "QOS")
            default = (member.default_qos,) if member.default_qos else ()
            yield from unknown(
                "qos-unknown", (*inside, "default_qos"), default, known_qos(cluster), "QOS", listed=False
            )


def resources(cluster: Cluster) -> Iterator[Finding]:
    """Limits on resources: those that are tracked, and memory alone has units."""
    for path, entity, section in holders(cluster):
        for option in sacctmgr.options(entity):
            if option.form != "tres" or not option.field:
                continue
            limits: Mapping[str, object] = getattr(section, option.field)
            yield from untracked(cluster, (*path, option.field), limits)
            for name, limit in limits.items():
                if isinstance(limit, Bytes) and name != "mem" and not name.startswith("bb/"):
                    message = f"'{name}' is a count and has no unit"
                    yield Finding("unit-wrong", (*path, option.field, name), message, "write a whole number")


def limit_above_cluster(cluster: Cluster) -> Iterator[Finding]:
    """Limits on resources that no job can reach. Below a minimum that is as large no job starts, which is an error."""
    if any(map(is_pending, cluster.compute)):
        return
    nodes = [(amounts(group.type), len(group.hosts)) for group in cluster.compute]
    names = {name for each, _ in nodes for name in each}
    total = {name: sum(each.get(name, 0) * number for each, number in nodes) for name in names}
    largest = {name: max(each.get(name, 0) for each, _ in nodes) for name in names}
    for path, entity, section in holders(cluster):
        for option in sacctmgr.options(entity):
            if option.form != "tres" or not option.field or "minutes" in option.field:
                continue
            is_of_node = option.field.endswith("_per_node")
            for name, stated in getattr(section, option.field).items():
                limit = stated.mib if isinstance(stated, Bytes) else stated
                available = (largest if is_of_node else total).get(name.lower(), 0)
                if 0 < available < limit:
                    present = f"{'the largest node' if is_of_node else 'the cluster'} has {_amount(name, available)}"
                    message = f"{option.field} of {name} is {_amount(name, limit)}, but {present}"
                    yield _above((*path, option.field, name), message, f"{name}: {_amount(name, available)}")


def _amount(name: str, number: int) -> str:
    return str(Bytes(number * 2**20)) if name.lower() == "mem" else str(number)


def _above(path: ManifestPath, message: str, largest: str) -> Finding:
    if str(path[-2]).startswith("min_"):
        return Finding("partition-sizes", path, f"{message}, so no job ever starts", f"write {largest} or less")
    return Finding("limit-above-cluster", path, f"{message}, so nothing is limited", f"write {largest} or less")


def zero_times(cluster: Cluster) -> Iterator[Finding]:
    """MaxWall and GrpWall of 0, which Slurm does not read as unlimited."""
    for path, entity, section in holders(cluster):
        for field, reason in (("max_wall", "MaxWallDurationPerJobLimit"), ("group_wall", "GrpWallLimit")):
            limit: Duration | None = getattr(section, field, None)
            if limit and limit.seconds == 0:
                yield Finding(
                    "time-limit-zero",
                    (*path, field),
                    "with a limit of 0 every job stays pending with reason"
                    f" {'QOS' if entity == 'qos' else 'Assoc'}{reason}",
                    "write unlimited for no limit, or group_submit: 0 to reject jobs",
                )


def account_circles(_: Cluster, section: Mapping[str, Account]) -> Iterator[Finding]:
    """An account above itself; one finding for each cycle."""
    parents = {name: spec.parent for name, spec in section.items()}
    done: set[str] = set()
    for start in parents:
        way: list[str] = []
        name: str | None = start
        while name in parents and name not in done and name not in way:
            way.append(name)
            name = parents[name]
        if name in way:
            circle = way[way.index(name) :]
            shown = " → ".join([*circle, circle[0]])
            yield Finding(
                "account-cycle",
                ("slurm", "accounts", circle[-1], "parent"),
                f"the parents of account '{circle[-1]}' form a cycle: {shown}"
                if len(circle) > 1
                else f"account '{circle[-1]}' is its own parent",
                "remove one parent, or set it to root or another account",
            )
        done.update(way)
