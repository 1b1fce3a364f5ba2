"""Values of clustergen-accounts, which calls sacctmgr: accounts, users and QOS as the manifest states them.

Not a dump for `sacctmgr load`: that format differs between releases, and loading it takes away what it does not name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.catalogue import sacctmgr
from clustergen.catalogue.sacctmgr import Entity, Form
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.associations import UNSET, Account, Associations, Limits, Qos, settings
from clustergen.cluster.slurm.rights import ROOT, Rights, parents_first, rights_of
from clustergen.records import record
from clustergen.render.effects import Effect
from clustergen.render.file import File, sbin
from clustergen.slurmrules.limits import BUILT_IN_TRES

_LEVELS = {"none": "None", "operator": "Operator", "administrator": "Administrator"}


@record
class Key:
    """A setting that the program compares and makes."""

    name: str
    form: Form
    unset: str


@record
class QosValues:
    """A QOS by sacctmgr's options."""

    name: str
    settings: dict[str, str]
    description: dict[str, str]


@record
class AccountValues:
    name: str
    parent: str
    description: dict[str, str]
    users: tuple[str, ...]
    coordinators: tuple[str, ...] | None
    """With those of the accounts above. None for a root that the manifest does not name: they are not this
    cluster's alone, and stay.
    """


@record
class Association:
    """The settings of an account, or of a user in it."""

    account: str
    user: str
    settings: dict[str, str]


@record
class Accounts:
    cluster: str
    federation: str
    """Empty: left as it is."""
    announces_inherited: bool
    """True if slurmdbd does not notify slurmctld of rights that accounts inherit from a changed one."""
    removes_unlisted: bool
    resources: tuple[str, ...]
    """Trackable resources with limits that slurmdbd learns of from slurmctld."""
    qos_keys: tuple[Key, ...]
    association_keys: tuple[Key, ...]
    qos: tuple[QosValues, ...]
    accounts: tuple[AccountValues, ...]
    """Root is one of them wherever there are any: limits that the manifest does not state are taken back there too."""
    associations: tuple[Association, ...]
    admin_levels: dict[str, tuple[str, ...]]
    """AdminLevel, and the users that have it."""
    default_accounts: dict[str, str]
    """Of users."""


def accounts(cluster: Cluster) -> Accounts | None:
    if not cluster.slurm.slurmdbd_hosts:
        return None
    policy = cluster.of(Associations)
    ordered = parents_first({ROOT: policy.root, **policy.accounts} if policy.accounts else {})
    coordinators = _coordinators(ordered)
    return Accounts(
        cluster=cluster.slurm.cluster_name,
        federation=(policy.federation or "").lower(),
        announces_inherited=cluster.slurm.release.has("associations-unannounced"),
        removes_unlisted=policy.removes_unlisted,
        resources=tuple(name for name in limited_resources(policy) if name not in BUILT_IN_TRES),
        qos_keys=_keys("qos", cluster.slurm.release, _without_field(policy)),
        association_keys=_keys(
            "association", cluster.slurm.release, () if _has_rights(policy) else ("QOS", "DefaultQOS")
        ),
        qos=tuple(
            QosValues(name.lower(), dict(settings("qos", qos)), _description(description=qos.description))
            for name, qos in policy.qos.items()
        ),
        accounts=tuple(
            AccountValues(
                name.lower(),
                (account.parent or ROOT).lower(),
                _description(description=account.description, organization=account.organization),
                tuple(dict.fromkeys(account.users)),
                coordinators[name] if name in policy.accounts else None,
            )
            for name, account in ordered
        ),
        associations=tuple(_associations(ordered, with_qos=_has_rights(policy))),
        admin_levels=dict(_levels(policy)),
        default_accounts={
            name: user.default_account.lower() for name, user in policy.users.items() if user.default_account
        },
    )


def _keys(entity: Entity, release: SlurmRelease, without: Iterable[str]) -> tuple[Key, ...]:
    return tuple(
        Key(option.name, option.form, UNSET.get((entity, option.name), ""))
        for option in sacctmgr.options(entity, release)
        if option.name not in without
    )


def _without_field(policy: Associations) -> list[str]:
    """Settings of a QOS that have no field, and that no QOS states: before 25.05, import cannot read them."""
    stated = [sacctmgr.option("qos", name) for qos in policy.qos.values() for name in qos.options]
    return [option.name for option in sacctmgr.options("qos") if not option.field and option not in stated]


def _has_rights(policy: Associations) -> bool:
    """True if the manifest says anything about QOS; otherwise the accounts keep those that they have."""
    members = (member for account in policy.accounts.values() for member in (account, *account.user_limits.values()))
    return bool(policy.qos) or any(member.qos or member.default_qos for member in members)


def _description(**texts: str | None) -> dict[str, str]:
    return {key.capitalize(): text for key, text in texts.items() if text}


def _associations(ordered: Iterable[tuple[str, Account]], *, with_qos: bool) -> Iterator[Association]:
    rights = rights_of(dict(ordered))
    for name, account in ordered:
        yield Association(name.lower(), "", dict(_stated(account, rights[name], with_qos=with_qos, top=name == ROOT)))
        for user, member in account.user_limits.items():
            below = rights[name].below(member.qos, member.default_qos)
            yield Association(name.lower(), user, dict(_stated(member, below, with_qos=with_qos)))


def _stated(limits: Limits, rights: Rights, *, with_qos: bool, top: bool = False) -> Iterator[tuple[str, str]]:
    """The settings with the default QOS that follows from the list; root has none above it to inherit from."""
    yield from ((key, text) for key, text in settings("association", limits) if key != "DefaultQOS")
    if with_qos and top and rights.inherits_qos:
        yield "QOS", ",".join(rights.qos)
    if with_qos and not rights.inherits_default:
        yield "DefaultQOS", rights.default.lower()


def limited_resources(policy: Associations) -> tuple[str, ...]:
    """All resources that a limit names."""
    limits = [
        *policy.accounts.values(),
        *(m for account in policy.accounts.values() for m in account.user_limits.values()),
    ]
    sections: list[tuple[Entity, Qos | Limits]] = [("association", part) for part in limits]
    sections += [("qos", qos) for qos in policy.qos.values()]
    names: dict[str, None] = {}
    for entity, section in sections:
        for option in sacctmgr.options(entity):
            if option.form == "tres" and option.field:
                names.update(dict.fromkeys(getattr(section, option.field)))
        for key, value in section.options.items():
            row = sacctmgr.option(entity, key)
            if row is not None and row.form == "tres":
                names.update((item.partition("=")[0].strip(), None) for item in str(value).split(","))
    return tuple(names)


def _coordinators(ordered: Iterable[tuple[str, Account]]) -> dict[str, tuple[str, ...]]:
    """Of each account; those of an account above coordinate it too."""
    names: dict[str, tuple[str, ...]] = {}
    for name, account in ordered:
        names[name] = tuple(dict.fromkeys([*names.get(account.parent or ROOT, ()), *account.coordinators]))
    return names


def _levels(policy: Associations) -> Iterator[tuple[str, tuple[str, ...]]]:
    members = (user for account in policy.accounts.values() for user in (*account.users, *account.coordinators))
    names = [name for name in dict.fromkeys((*members, *policy.users)) if name != ROOT]
    for level, word in _LEVELS.items():
        users = tuple(n for n in names if (policy.users[n].admin_level if n in policy.users else "none") == level)
        if users:
            yield word, users


FILES: tuple[File, ...] = (
    sbin("slurm_controller", "accounts/clustergen-accounts.py", accounts, Effect("load-accounts")),
    File("slurm_controller/etc/clustergen/accounts.json", accounts, Effect("load-accounts"), values=True),
)
