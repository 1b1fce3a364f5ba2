"""A cluster as plain values, for the site's templates: mappings by name, tuples, texts, numbers, booleans and None."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache, cached_property
from types import FunctionType
from typing import Any, get_args

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.roles import Role
from clustergen.catalogue.versions import Release
from clustergen.cluster.document import Field, fields, is_row, printed, value_of
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.networks import Networks
from clustergen.cluster.resolve import record_types, section_name
from clustergen.cluster.slurm.model import Slurm
from clustergen.hostlist import natural_key

ROLES: tuple[str, ...] = get_args(Role)
_TAKES_MORE = 0x0C  # of a code object's flags: *args, **kwargs


class Values(Mapping[Any, object]):
    """A read-only mapping whose values are computed when they are first read: a template reads few of them.

    `kind` is what messages call it.
    """

    def __init__(self, kind: str, names: Iterable[object], read: Callable[[Any], object]) -> None:
        self.kind = kind
        self._names = dict.fromkeys(names)
        self._read = read
        self._values: dict[object, object] = {}

    def __getitem__(self, name: object) -> object:
        if name not in self._values:
            if name not in self._names:
                raise KeyError(name)
            self._values[name] = plain(self._read(name))
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[Any]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))


def plain(value: object) -> object:
    """The value without its type: what a template may see of it."""
    if value is None or type(value) in (bool, int, float, str, Values):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        keys = {plain(key): key for key in value}
        return Values("mapping", keys, lambda name: value[keys[name]])
    if hasattr(value, "__record_fields__"):
        return _members(value)
    if isinstance(value, set | frozenset):
        return tuple(sorted(map(plain, value), key=lambda item: natural_key(str(item))))
    if isinstance(value, list | tuple) and not isinstance(value, Release):
        return tuple(map(plain, value))
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    return str.__str__(value) if isinstance(value, str) else str(value)  # text: releases, addresses, paths, dates


def _members(source: object) -> Values:
    kind: type = type(source)
    if isinstance(source, Cluster):
        return _members_of_cluster(source)
    lookups, quantities = _lookups(source), _quantities(kind)

    def read(name: str) -> object:
        if name in lookups:
            return lookups[name]
        if name in quantities:
            return value_of(source, quantities[name])
        value = getattr(source, name)
        return value() if name in _methods(kind) else value

    return Values(kind.__name__, [*_names(kind), *lookups], read)


def _members_of_cluster(cluster: Cluster) -> Values:
    """Its fields, and the record of each section; None where the cluster does not have it."""
    lookups, records = _lookups(cluster), _records()

    def read(name: str) -> object:
        if name in lookups:
            return lookups[name]
        if name in _names(Cluster):
            return getattr(cluster, name)
        return cluster.of(records[name]) if cluster.has(records[name]) else None

    return Values("Cluster", [*_names(Cluster), *lookups, *records], read)


def names_of_cluster() -> tuple[str, ...]:
    return (*_names(Cluster), "hosts", "folded", "with_role", *_records())


@cache
def _records() -> Mapping[str, type]:
    """Records of clusters, by the name of their section."""
    return {section_name(record): record for record in printed(record_types())}


def names_of_slurm() -> tuple[str, ...]:
    return _names(Slurm)


def _lookups(source: object) -> dict[str, Values]:
    """Methods that have one argument, as mappings by that argument."""
    match source:
        case Cluster():
            roles = ("all", *ROLES)
            return {
                "hosts": Values("cluster.hosts", roles, lambda role: source.hosts(*_role(role))),
                "folded": Values("cluster.folded", roles, lambda role: source.folded(*_role(role))),
                "with_role": Values("cluster.with_role", ROLES, source.with_role),
            }
        case NodeGroup():
            return {"has": Values("group.has", ROLES, source.has)}
        case OperatingSystem(facts=facts):
            switches = [name for name, text in facts.items() if text in ("yes", "no")]
            packages = [name.removeprefix("package_") for name in facts if name.startswith("package_")]
            return {
                "fact": Values("fact", facts, source.fact),
                "yes": Values("yes", switches, source.yes),
                "packages": Values("packages", packages, source.packages),
            }
    return {}


def _role(name: str) -> tuple[str, ...]:
    return () if name == "all" else (name,)


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Public fields, properties, and methods without an argument."""
    members = getattr(kind, "__record_fields__", None) or getattr(kind, "__dataclass_fields__", None)
    computed = [name for name, member in _computed(kind).items() if isinstance(member, property | cached_property)]
    printed_as = {field.attribute: name for name, field in _quantities(kind).items()}
    names = dict.fromkeys([*(printed_as.get(name, name) for name in members or ()), *computed, *_methods(kind)])
    return tuple(name for name in names if name[0] != "_" and name != "record_types")  # those are Python's


@cache
def _quantities(kind: type) -> Mapping[str, Field]:
    """Fields that hold quantities, by their printed name: `power_w`."""
    is_of_model = hasattr(kind, "__record_fields__") and not is_row(kind) and kind is not Networks
    return {name: field for name, field in fields(kind).items() if field.unit is not None} if is_of_model else {}


@cache
def _methods(kind: type) -> frozenset[str]:
    """Public methods that have no argument."""
    return frozenset(
        name
        for name, member in _computed(kind).items()
        if isinstance(member, FunctionType)
        and member.__code__.co_argcount == 1
        and not member.__code__.co_kwonlyargcount
        and not member.__code__.co_flags & _TAKES_MORE
    )


def _computed(kind: type) -> dict[str, object]:
    """Public attributes that the class and its bases define."""
    members = {name: member for base in reversed(kind.__mro__) for name, member in vars(base).items()}
    return {name: member for name, member in members.items() if name[0] != "_"}
