"""The meaning of changed values of clustergen-accounts: settings of QOS, accounts and users, each old and new."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from clustergen.catalogue import slurm_jobs
from clustergen.catalogue.slurm_jobs import AffectedJobs
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.slurm.rights import NORMAL, ROOT
from clustergen.diff.change import Change
from clustergen.diff.conditions import Conditions
from clustergen.diff.narrower import (
    ROOT_ACCOUNT,
    Entity,
    Narrower,
    Settings,
    higher,
    limits,
    lower,
    manages_qos,
    narrower,
    parent_of,
)
from clustergen.diff.preemption import preemptible
from clustergen.records import replace
from clustergen.render.effects import Effect

VALUES = "/etc/clustergen/accounts.json"
PROGRAM = "/usr/local/sbin/clustergen-accounts"
"""It reads them."""
RIGHTS = ("QOS", "DefaultQOS")
"""Settings that accounts and users keep if the manifest has no QOS for them."""
_AT_ONCE = "slurmctld applies it at once; running jobs continue, pending jobs beyond a limit or without their QOS wait"
_PREEMPTION = "slurmctld applies it at once, to running jobs too"
_Table = Callable[[str, str, SlurmRelease, str, tuple[str, ...]], tuple[AffectedJobs, ...]]


def policy_changes(
    old: str, new: str, effect: Effect, release: SlurmRelease, conditions: Conditions
) -> Iterator[Change]:
    """The differences between two texts of the values; the key of each is sacctmgr's option, empty for the whole.

    `effect` is that of the file, `conditions` are those of slurm.conf.
    """
    before, after = settings_of(old), settings_of(new)
    changes = list(_stated(before, after, effect))
    waiting: dict[Change, list[AffectedJobs]] = {}
    ending: dict[Change, list[AffectedJobs]] = {}
    by_place = {(change.kind, change.name, change.key): change for change in changes}
    for less in narrower(before, after):
        kind, name = less.entity
        change = _behind(less, by_place, after) or changes[0]
        inherits = f"; also those of {', '.join(less.heirs)}, which inherit it" if less.heirs else ""
        for table, jobs in ((slurm_jobs.waiting, waiting), (slurm_jobs.running, ending)):
            rows = table("accounts", less.option, release, kind, (less.word,))
            jobs.setdefault(change, []).extend(
                row._replace(text=f"{row.text}{inherits}") for row in _of(name, less.new, rows)
            )
    for change in changes:
        if change.kind == "qos":
            waiting[change] = [*_of_qos(change, release, slurm_jobs.waiting)]
            ending[change] = [
                *preemptible(before, after, change.name, change.key, release),
                *_of_qos(change, release, slurm_jobs.running),
            ]
        running = conditions.of(ending.get(change, ()))
        reason = _PREEMPTION if running else _AT_ONCE
        yield replace(change, reason=reason, waiting=tuple(waiting.get(change, ())), running=running)


def _stated(before: Settings, after: Settings, effect: Effect) -> Iterator[Change]:
    def change(entity: Entity, key: str, old: str | None, new: str | None) -> Change:
        kind, name = entity
        return Change(
            file=VALUES,
            kind=kind,
            effects=(effect,),
            reason="",
            name=name,
            key=key,
            old=old,
            new=new,
            source="sacctmgr(1)",
        )

    kept = () if manages_qos(after) else RIGHTS
    for entity in {**before, **after}:
        old, new = before.get(entity), after.get(entity)
        if entity == ROOT_ACCOUNT:  # it is in every database
            old, new = ({"QOS": NORMAL, **(side or {})} for side in (old, new))
        if old is None or new is None:
            yield change(entity, "", None if old is None else _text(old), None if new is None else _text(new))
            continue
        for key in {**old, **new}:
            if old.get(key) != new.get(key) and (key not in kept or entity[0] == "qos"):
                yield change(entity, key, old.get(key), new.get(key))


def _behind(less: Narrower, by_place: Mapping[tuple[str, str, str], Change], after: Settings) -> Change | None:
    """The setting that an account or user may do less by: its own, or else that of an account above."""
    entity: Entity | None = less.entity
    seen: set[Entity] = set()
    while entity and entity not in seen:
        seen.add(entity)
        for key in (less.option, "Parent", ""):
            if change := by_place.get((*entity, key)):
                return change
        entity = parent_of(entity, after)
    return None


def _of_qos(change: Change, release: SlurmRelease, table: _Table) -> Iterator[AffectedJobs]:
    """Jobs beyond a limit of a QOS that is new or stricter, or of a QOS that is gone."""
    sides = limits(change.old or ""), limits(change.new or "")
    stricter = lower(*sides) if change.key.startswith(("Grp", "Max")) else ""
    word = "lowered" if stricter else "removed" if not change.key and change.new is None else ""
    if change.key.startswith("Min") and (stricter := higher(*sides)):
        word = "raised"
    if word:
        rows = table("accounts", change.key, release, change.kind, (word,))
        yield from _of(change.name, stricter, rows)


def _of(name: str, new: str, rows: Iterable[AffectedJobs]) -> Iterator[AffectedJobs]:
    return (row._replace(text=row.text.format(name=name, new=new), state=_reason(row.state, new)) for row in rows)


def _reason(reasons: str, new: str) -> str:
    """The reasons of the resources whose limits fell: `cpu=AssocGrpCpuLimit gres=AssocGrpGRES *=AssocGrpUnknown`."""
    if "=" not in reasons:
        return reasons
    by_resource = dict(word.split("=") for word in reasons.split())
    kinds = (name.lower().partition("/")[0] for name in limits(new))
    return ", ".join(dict.fromkeys(by_resource.get(kind, by_resource["*"]) for kind in kinds))


def _text(settings: Mapping[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


def settings_of(text: str) -> dict[Entity, dict[str, str]]:
    """All that the values state, by sacctmgr's names; users as `carol in vision`."""
    values = read(text)
    by_entity: dict[Entity, dict[str, str]] = {}

    def state(entity: Entity, settings: Mapping[str, str]) -> None:
        by_entity.setdefault(entity, {}).update({key: value for key, value in settings.items() if value})

    for account in values["accounts"]:
        parent = account["parent"] if account["name"] != ROOT else ""
        coordinators = ",".join(account["coordinators"] or ())
        stated = {"Parent": parent, **account["description"], "Coordinators": coordinators}
        state(("account", account["name"]), stated)
    for qos in values["qos"]:
        state(("qos", qos["name"]), {**qos["settings"], **qos["description"]})
    for account in values["accounts"]:
        for name in account["users"]:
            state(("user", f"{name} in {account['name']}"), {})
    for row in values["associations"]:
        user = ("user", f"{row['user']} in {row['account']}")
        state(user if row["user"] else ("account", row["account"]), row["settings"])
    for level, users in values["admin_levels"].items():
        for name in users if level != "None" else ():
            state(("user", name), {"AdminLevel": level})
    for name, account in values["default_accounts"].items():
        state(("user", name), {"DefaultAccount": account})
    return by_entity


def read(text: str) -> dict[str, Any]:
    """The values; of an empty text, those of a cluster without accounts."""
    lists = dict.fromkeys(("qos", "accounts", "associations"), ())
    return {"cluster": "", "admin_levels": {}, "default_accounts": {}, **lists, **json.loads(text or "{}")}
