"""What a changed clustergen-accounts means: settings of QOS, accounts and users, each with its old and new value."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping

from clustergen.catalogue import slurm_jobs
from clustergen.catalogue.slurm_jobs import AffectedJobs
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.rights import NORMAL
from clustergen.diff.narrower import (
    ROOT_ACCOUNT,
    Entity,
    Narrower,
    Settings,
    limits,
    lower,
    manages_qos,
    narrower,
    parent_of,
)
from clustergen.diff.preemption import preemptible
from clustergen.records import record, replace

SCRIPT = "/usr/local/sbin/clustergen-accounts"
RIGHTS = ("QOS", "DefaultQOS")
"""What accounts and users keep where the manifest says nothing about QOS."""
_Table = Callable[[str, str, SlurmRelease, str, tuple[str, ...]], tuple[AffectedJobs, ...]]
_VERBS = frozenset(
    ("name_account", "qos", "association", "users", "coordinators", "admin_level", "defaults_to", "describe")
)


@record
class PolicyChange:
    """A setting, or an account, user or QOS as a whole."""

    kind: str
    name: str
    key: str
    """sacctmgr's option; empty where it is about the whole."""
    old: str | None
    new: str | None
    waiting: tuple[AffectedJobs, ...] = ()
    """Pending jobs that wait because of it."""
    running: tuple[AffectedJobs, ...] = ()
    """Running jobs that may end early because of it."""


def policy_changes(old: str, new: str, release: SlurmRelease) -> Iterator[PolicyChange]:
    """What differs between two texts of the script."""
    before, after = settings_of(old), settings_of(new)
    changes = list(_stated(before, after))
    waiting: dict[PolicyChange, list[AffectedJobs]] = {}
    ending: dict[PolicyChange, list[AffectedJobs]] = {}
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
        yield replace(change, waiting=tuple(waiting.get(change, ())), running=tuple(ending.get(change, ())))


def _stated(before: Settings, after: Settings) -> Iterator[PolicyChange]:
    kept = () if manages_qos(after) else RIGHTS
    for entity in {**before, **after}:
        old, new = before.get(entity), after.get(entity)
        if entity == ROOT_ACCOUNT:  # it is in every database
            old, new = ({"QOS": NORMAL, **(side or {})} for side in (old, new))
        if old is None or new is None:
            yield PolicyChange(*entity, "", None if old is None else _text(old), None if new is None else _text(new))
            continue
        for key in {**old, **new}:
            if old.get(key) != new.get(key) and (key not in kept or entity[0] == "qos"):
                yield PolicyChange(*entity, key, old.get(key), new.get(key))


def _behind(
    less: Narrower, by_place: Mapping[tuple[str, str, str], PolicyChange], after: Settings
) -> PolicyChange | None:
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


def _of_qos(change: PolicyChange, release: SlurmRelease, table: _Table) -> Iterator[AffectedJobs]:
    """Jobs beyond a limit of a QOS that is new or lower, or of a QOS that is gone."""
    fallen = lower(limits(change.old or ""), limits(change.new or "")) if _is_limit(change.key) else ""
    word = "lowered" if fallen else "removed" if not change.key and change.new is None else ""
    if word:
        rows = table("accounts", change.key, release, change.kind, (word,))
        yield from _of(change.name, fallen, rows)


def _is_limit(key: str) -> bool:
    return key.startswith(("Grp", "Max"))


def _of(name: str, new: str, rows: Iterable[AffectedJobs]) -> Iterator[AffectedJobs]:
    return (row._replace(text=row.text.format(name=name, new=new), state=_reason(row.state, new)) for row in rows)


def _reason(reasons: str, new: str) -> str:
    """Those of the resources whose limits fell: `cpu=AssocGrpCpuLimit gres=AssocGrpGRES *=AssocGrpUnknown`."""
    if "=" not in reasons:
        return reasons
    by_resource = dict(word.split("=") for word in reasons.split())
    kinds = (name.lower().partition("/")[0] for name in limits(new))
    return ", ".join(dict.fromkeys(by_resource.get(kind, by_resource["*"]) for kind in kinds))


def _text(settings: Mapping[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


def settings_of(script: str) -> dict[Entity, dict[str, str]]:
    """All that a text of the script states, by sacctmgr's names; users as `carol in vision`."""
    by_entity: dict[Entity, dict[str, str]] = {}
    for line in script.splitlines():
        verb = line.strip().partition(" ")[0]
        if verb not in _VERBS or line.startswith((f"{verb}() ", f"  {verb}()")):
            continue
        words = shlex.split(line, comments=True)[1:]
        if words and words[0].startswith("$"):  # within a function of the script
            continue
        if verb == "name_account":
            by_entity.setdefault(("account", words[0]), {})["Parent"] = words[1]
        elif verb == "qos":
            by_entity.setdefault(("qos", words[0]), {}).update(_pairs(words[1:]))
        elif verb == "describe":
            kind = "qos" if words[0] == "qos" else "account"
            by_entity.setdefault((kind, words[1]), {}).update(_pairs(words[2:]))
        elif verb == "association":
            account, user, *rest = words
            entity = ("user", f"{user} in {account}") if user else ("account", account)
            by_entity.setdefault(entity, {}).update(_pairs(word for word in rest if word != "only"))
        elif verb == "users":
            for user in words[1:]:
                by_entity.setdefault(("user", f"{user} in {words[0]}"), {})
        elif verb == "coordinators" and words[1:]:
            by_entity.setdefault(("account", words[0]), {})["Coordinators"] = ",".join(words[1:])
        elif verb == "admin_level" and words[0] != "None":
            for user in words[1:]:
                by_entity.setdefault(("user", user), {})["AdminLevel"] = words[0]
        elif verb == "defaults_to":
            by_entity.setdefault(("user", words[1]), {})["DefaultAccount"] = words[0]
    return by_entity


def _pairs(words: Iterator[str] | list[str]) -> dict[str, str]:
    pairs = (word.partition("=") for word in words)
    return {key: value for key, _, value in pairs if value}
