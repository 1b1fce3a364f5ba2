"""Where accounts and users may do less than before, with what they inherit, as associations in Slurm do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from clustergen.cluster.slurm.rights import NORMAL, ROOT
from clustergen.records import record, replace
from clustergen.units import Duration, UnitError

Entity = tuple[str, str]
"""`qos`, `account` or `user`, and its name."""
Settings = Mapping[Entity, Mapping[str, str]]
Limits = dict[str, dict[str, str]]
"""Option → resource → limit; the resource is empty where the option has but one value. Of QOS, their names."""

_TOP: Limits = {"QOS": {NORMAL: ""}}
ROOT_ACCOUNT: Entity = ("account", ROOT)


@record
class Narrower:
    """An option in which an account or user may do less; `new` is all that is left, of limits those that fell."""

    entity: Entity
    option: str
    new: str
    word: str
    """`lowered` or `lost`, as in slurm_waiting.tsv."""
    heirs: tuple[str, ...] = ()
    """Accounts below that may do less by inheriting it."""


def narrower(old: Settings, new: Settings) -> Iterator[Narrower]:
    """Each once: an account or user that loses just what the account above loses is not named again."""
    before, after = _in_effect(old), _in_effect(new)
    heirs: dict[tuple[Entity, str], list[str]] = {}
    changes: list[Narrower] = []
    for entity, rights in after.items():
        if entity not in before:
            continue
        above = parent_of(entity, new)
        for option in {**before[entity], **rights}:
            sides = before[entity].get(option, {}), rights.get(option, {})
            if above and sides == (before.get(above, {}).get(option, {}), after.get(above, {}).get(option, {})):
                if (above, option) in heirs and entity[0] == "account":
                    heirs[entity, option] = heirs[above, option]
                    heirs[entity, option].append(entity[1])
                continue
            if option == "QOS":
                less = ",".join(sides[1]) if manages_qos(new) and set(sides[0]) - set(sides[1]) else ""
            else:
                less = lower(*sides)
            if less:
                changes.append(Narrower(entity, option, less, "lost" if option == "QOS" else "lowered"))
                heirs[entity, option] = []
    for change in changes:  # a limit of a group is one for all below it
        inherits = () if change.option.startswith("Grp") else tuple(heirs[change.entity, change.option])
        yield replace(change, heirs=inherits)


def manages_qos(settings: Settings) -> bool:
    """True if the script brings the lists of QOS to what the manifest says; otherwise the database keeps its own."""
    return any("QOS" in stated for stated in settings.values())


def parent_of(entity: Entity, settings: Settings) -> Entity | None:
    kind, name = entity
    if entity == ROOT_ACCOUNT or kind == "qos":
        return None
    if kind == "user":
        return "account", name.rpartition(" in ")[2]
    return "account", settings.get(entity, {}).get("Parent", ROOT)


def limits(text: str) -> dict[str, str]:
    """`cpu=4,gres/gpu=2` by resource; of `4` the resource is empty."""
    return dict(item.rpartition("=")[::2] for item in text.split(",")) if text else {}


def lower(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """The limits that are new or lower, as sacctmgr writes them."""
    return _listed({name: text for name, text in new.items() if _size(text) < _size(old.get(name, ""))})


def higher(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """The minima that are new or higher, as sacctmgr writes them."""
    return _listed({name: text for name, text in new.items() if _size(text) > _size(old.get(name, "0"))})


def _listed(of: Mapping[str, str]) -> str:
    return ",".join(f"{name}={text}" if name else text for name, text in of.items())


def _in_effect(settings: Settings) -> dict[Entity, Limits]:
    """Of all accounts, and of the users in them; the settings name parents before their children."""
    rights: dict[Entity, Limits] = {ROOT_ACCOUNT: _below(_TOP, settings.get(ROOT_ACCOUNT, {}))}
    for kind in ("account", "user"):
        for entity, stated in settings.items():
            above = parent_of(entity, settings)
            if entity[0] == kind and above and (kind == "account" or " in " in entity[1]):
                rights[entity] = _below(rights.get(above, rights[ROOT_ACCOUNT]), stated)
    return rights


def _below(above: Limits, stated: Mapping[str, str]) -> Limits:
    """A list of QOS replaces the inherited one, a limit that of the same resource. Limits of a group (Grp…) hold for
    all below it, whatever these state.
    """
    rights = dict(above)
    for option, text in stated.items():
        if option == "QOS":
            rights[option] = dict.fromkeys(text.split(","), "")
        elif option.startswith(("Grp", "Max")):
            inherited, stricter = above.get(option, {}), limits(text)
            if option.startswith("Grp"):
                stricter = {name: min(text, inherited.get(name, ""), key=_size) for name, text in stricter.items()}
            rights[option] = {**inherited, **stricter}
    return rights


def _size(limit: str) -> float:
    """A number or seconds; infinite where it is no limit."""
    if limit.isdecimal():
        return int(limit)
    try:
        return float(Duration.parse(limit).value)
    except (UnitError, ValueError):
        return math.inf
