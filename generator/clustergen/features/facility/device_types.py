"""The products in the room with their ports and supplies, as an inventory of devices needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from clustergen.catalogue.hardware import Switch as SwitchModel
from clustergen.catalogue.netbox import interface_type
from clustergen.catalogue.systems import system
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.power import draw_w
from clustergen.facility.cabling import cables, port_name
from clustergen.facility.placement import fixtures, switches_of
from clustergen.records import record, replace

_MAKERS = ("NVIDIA", "Dell", "Supermicro")  # the first words of systems in the catalogue that name their maker
_GENERIC = "Generic"


@record
class Interface:
    """A port; `type` is NetBox's."""

    name: str
    type: str
    management: bool


@record
class DeviceType:
    """A product, or the servers of a node type of which nobody knows the product."""

    manufacturer: str
    model: str
    slug: str
    height: int = 1
    weight_kg: float | None = None
    supplies: int = 0
    inlet: str = ""  # C14 or C20; empty where nobody knows it
    supply_max_w: int | None = None  # of one supply while those that may fail have failed
    supply_usual_w: int | None = None
    interfaces: tuple[Interface, ...] = ()


@once_per_cluster
def device_types(cluster: Cluster) -> Mapping[str, DeviceType]:
    """Device → its type; types of equal devices are one object."""
    ports = _ports_used(cluster)
    hosts = {group.type.name: group.hosts for group in cluster.groups}
    several = [kind.title for kind in cluster.node_types if hosts.get(kind.name)]
    types: dict[str, DeviceType] = {}
    for kind in cluster.node_types:
        made = _of_nodes(kind, ports.get(f"type {kind.name}", {}), is_alone=several.count(kind.title) == 1)
        for group in cluster.of_type[kind.name]:
            types.update(dict.fromkeys(group.hosts, made))
    view = cluster.catalogue
    of_model: dict[str, DeviceType] = {}
    for switches in switches_of(cluster).values():
        for switch in switches:
            name = switch.model or ""
            if name not in of_model:
                model = view.switch(name) if name else None
                is_own = name in cluster.catalogue.own_switches
                of_model[name] = _of_switches(model, ports.get(f"switch {name}", {}), is_own=is_own)
            types[switch.name] = of_model[name]
    for parts in fixtures(cluster).values():
        types.update((part.name, _of_fixture(part.title, part.kind == "switch")) for part in parts)
    return _with_own_slugs(types)


@cache
def _of_fixture(title: str, is_switch: bool) -> DeviceType:
    """A part of a rack that is sold whole: the busbar feeds its switch trays, and no inlet of a shelf is NetBox's."""
    maker = _MAKERS[0] if is_switch else _GENERIC
    return DeviceType(maker, title, _slug(maker, title))


def _with_own_slugs(types: Mapping[str, DeviceType]) -> dict[str, DeviceType]:
    """The same, with a number where two models would have one slug: a--b and a-b."""
    taken: dict[str, DeviceType] = {}
    renamed: dict[int, DeviceType] = {}
    for kind in types.values():
        if id(kind) not in renamed:
            slug, number = kind.slug, 2
            while slug in taken:
                slug, number = f"{kind.slug}-{number}", number + 1
            renamed[id(kind)] = taken[slug] = kind if slug == kind.slug else replace(kind, slug=slug)
    return {name: renamed[id(kind)] for name, kind in types.items()}


_Used = dict[str, str]  # port → NetBox's type


def _ports_used(cluster: Cluster) -> dict[str, _Used]:
    """Ports that cables end in, by node type and by model of switch."""
    owner = {host: f"type {group.type.name}" for group in cluster.groups for host in group.hosts}
    for switches in switches_of(cluster).values():
        owner |= {switch.name: f"switch {switch.model or ''}" for switch in switches}
    ports: dict[str, _Used] = {}
    for cable in cables(cluster):
        for end in (cable.a, cable.b):
            of_owner = ports.setdefault(owner[end.device], {})
            if end.port not in of_owner:
                of_owner[end.port] = interface_type(end.connector, cable.technology, cable.gbit or 0)
    return ports


def _of_nodes(kind: NodeType, used: _Used, *, is_alone: bool) -> DeviceType:
    base = system(kind.system) if kind.system else None
    title = base.name if base else kind.title
    maker, _, rest = title.partition(" ")
    has_maker = base is not None and maker in _MAKERS
    names = dict(used)
    for port in (*kind.ports, *kind.bmc_ports):
        technology = "ethernet" if port.network in ("management", "bmc") else "infiniband"
        names.setdefault(port.label or port.device, interface_type(port.connector, technology, int(port.max_gbit or 0)))
    controllers = {"bmc", *(port.label for port in kind.bmc_ports)}
    model = (rest if has_maker else title) + ("" if is_alone else f" ({kind.name})")
    live = (kind.psus or 0) - (kind.psus_redundant or 0)
    draw = draw_w(kind)
    return DeviceType(
        manufacturer=maker if has_maker else _GENERIC,
        model=model,
        slug=_slug(maker if has_maker else _GENERIC, model),
        height=kind.rack_units,
        weight_kg=base.weight_kg if base else None,
        supplies=kind.psus or 0,
        inlet=base.psu.inlet if base and base.psu else "",
        supply_max_w=-(-draw // live) if draw and live > 0 else None,
        supply_usual_w=-(-draw // kind.psus) if draw and kind.psus else None,
        interfaces=tuple(Interface(name, kind_of, name in controllers) for name, kind_of in names.items()),
    )


def _of_switches(model: SwitchModel | None, used: _Used, *, is_own: bool) -> DeviceType:
    if model is None:
        interfaces = tuple(Interface(name, kind, management=False) for name, kind in used.items())
        return DeviceType(_GENERIC, "Switch", "generic-switch", interfaces=interfaces)
    maker = _GENERIC if is_own else _MAKERS[0]
    names = dict(used)
    for name, kind in _all_ports(model):
        if not any(other.startswith(f"{name}/") for other in used):
            names.setdefault(name, kind)
    count = model.psu_count or 0
    draw = model.power_max_w or model.power_typ_w
    return DeviceType(
        manufacturer=maker,
        model=model.model,
        slug=_slug(maker, model.model),
        height=model.rack_units or 1,
        weight_kg=model.weight_kg,
        supplies=count,
        inlet=model.inlet,
        supply_max_w=draw if count else None,
        supply_usual_w=-(-draw // count) if draw and count else None,
        interfaces=tuple(Interface(name, names[name], management=False) for name in sorted(names, key=_by_number)),
    )


def _all_ports(model: SwitchModel) -> Iterator[tuple[str, str]]:
    for number in range(1, model.ports + 1):
        _, name = port_name(model, number)
        yield name, interface_type(model.cage, model.fabric, model.port_gbit or 0)
    for number in range(model.ports + 1, model.ports + (model.uplink_ports or 0) + 1):
        _, name = port_name(model, number)
        yield name, interface_type(model.uplink_cage, model.fabric, model.uplink_gbit or 0)


def _by_number(name: str) -> tuple[int, ...]:
    return tuple(map(int, name.split("/")))


def _slug(maker: str, model: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", f"{maker} {model}".lower()).strip("-")
