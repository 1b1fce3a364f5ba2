"""NodeName lines: an entry of `nodes` per run of lines that are alike."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from itertools import groupby

from clustergen.catalogue.slurm_meanings import spelled
from clustergen.hostlist import HostlistError, compress, is_node_name, names_of
from clustergen.hostlist.addresses import address_of
from clustergen.importer.devices import Devices
from clustergen.importer.draft import Draft, Origin, Value
from clustergen.importer.forms import value_of
from clustergen.importer.node_types import Types
from clustergen.importer.originals import Originals
from clustergen.importer.settings import option_value
from clustergen.manifest.nodes import Nodes
from clustergen.slurmconf.bounds import OF_EACH_NODE
from clustergen.slurmconf.config import Entry
from clustergen.slurmrules.fields import fields_of

_BY_ENTRY = ("Feature", "Weight", "State", "Reason")


@dataclass(slots=True)
class Machine:
    """An entry of `nodes`: hosts that one NodeName line names, or several alike."""

    hosts: list[str]
    kind: str
    origins: list[Origin]
    values: dict[str, Value] = field(default_factory=dict)
    """Fields of the entry."""
    options: dict[str, str] = field(default_factory=dict)
    by_node: dict[str, list[str]] = field(default_factory=dict)
    addresses: list[str] = field(default_factory=list)
    """By host; empty where one of them is not known."""
    roles: list[str] = field(default_factory=list)

    def like(self, other: Machine) -> bool:
        return (
            (self.kind, self.values, self.options, self.roles) == (other.kind, other.values, other.options, other.roles)
            and self.by_node.keys() == other.by_node.keys()
            and bool(self.addresses) == bool(other.addresses)
            and self.by_node.get("Port") == other.by_node.get("Port")
        )


class Machines:
    """The machines of the cluster, in the order of the manifest."""

    def __init__(self, draft: Draft, originals: Originals) -> None:
        self.draft = draft
        self.originals = originals
        self.nodes: list[Machine] = []
        """Nodes of NodeName lines, in Slurm's order."""
        self.others: list[Machine] = []
        """Controllers and the like that run no jobs."""
        self._read: list[tuple[Machine, dict[str, str], list[Origin]]] = []
        """With the keys of their hardware, before they have a type."""
        words = (originals.conf.text("SlurmdParameters") or "").lower().split(",")
        self.devices = Devices(originals)
        self._types = Types(draft, numa_as_socket="numa_node_as_socket" in words, nvidia=self.devices.are_nvidias)

    def take(self) -> None:
        """All NodeName lines of slurm.conf, with DEFAULT lines applied."""
        for entry in self.originals.conf.entries("NodeName"):
            try:
                hosts = entry.hosts()
            except HostlistError as err:
                place = self.originals.origin(entry.name, entry).place
                self.draft.note("left-out", f"NodeName={entry.names}: {err.message}", place, f"NodeName {entry.names}")
                continue
            wrong = next((host for host in hosts if not is_node_name(host)), None)
            if wrong is not None:
                place = self.originals.origin(entry.name, entry).place
                self.draft.note("left-out", f"NodeName={entry.names}: {wrong!r} is not a valid host name", place)
                continue
            self._line(entry, hosts)
        self._types.expect((machine.hosts, hardware) for machine, hardware, _ in self._read)
        for machine, hardware, origins in self._read:
            machine.kind = self._types.named(machine.hosts[0], hardware, origins)
            self.nodes.append(machine)

    def folded(self, texts: Iterable[str]) -> str:
        """One list that the release can read."""
        return compress(texts, suffixes=self.originals.release.has("hostlist-suffix"))

    def all(self) -> list[Machine]:
        return [*self.others, *self.nodes]

    def named(self, host: str) -> Machine | None:
        return next((machine for machine in self.all() if host in machine.hosts), None)

    def alone(self, host: str) -> Machine | None:
        """The entry of one host by itself, which others of its line leave to it; their order stays."""
        for index, machine in enumerate(self.nodes):
            if host in machine.hosts and len(machine.hosts) > 1:
                at = machine.hosts.index(host)
                parts = [_part(machine, *span) for span in ((0, at), (at, at + 1), (at + 1, len(machine.hosts)))]
                self.nodes[index : index + 1] = [part for part in parts if part.hosts]
        return self.named(host)

    def mark_outside(self, inside: Set[str]) -> None:
        """Entries of their own, in the same order, for the nodes that no partition has."""
        parts: list[Machine] = []
        for machine in self.nodes:
            start = 0
            for is_inside, hosts in groupby(machine.hosts, inside.__contains__):
                end = start + sum(1 for _ in hosts)
                parts.append(_part(machine, start, end))
                start = end
                if not is_inside and ("slurm-compute" in machine.roles or not machine.roles):
                    parts[-1].values["in_no_partition"] = True
        self.nodes = parts

    def write(self) -> None:
        """The entries into the draft, those alike as one."""
        missing = False
        for index, machine in enumerate(_merged(self.all(), self.draft)):
            path = ("nodes", index)
            origins = machine.origins
            self.draft.set((*path, "name"), self.folded(machine.hosts), origins, needed=True)
            self.draft.set((*path, "type"), machine.kind, origins, needed=True)
            by_node = {key: self.folded(texts) for key, texts in machine.by_node.items()}
            if machine.addresses:
                text = compress(machine.addresses)
                addresses = by_node.pop("NodeAddr", None)
                passthrough = [((*path, "slurm_options", "NodeAddr"), text)] if addresses else []
                self.draft.set((*path, "address"), text, origins, passthrough=passthrough)
            elif machine.values.get("state") != "CLOUD":
                missing = True
            if machine.roles:
                self.draft.set((*path, "roles"), tuple(machine.roles), needed=True)
            for name, value in machine.values.items():
                self.draft.set((*path, name), value, origins)
            for key, text in {**machine.options, **by_node}.items():
                self.draft.set((*path, "slurm_options", key), option_value(text), origins)
        if missing:
            words = "slurm.conf has no address for some hosts: their names are resolved, as today"
            self.draft.set(
                ("host", "hosts_file"), False, comments=[f"{words}; remove this line once every node has an address."]
            )
            how = "pass --hosts /etc/hosts to read them from there"
            self.draft.note("choice", f"{words} ({how}); clustergen does not write /etc/hosts")

    def _line(self, entry: Entry, hosts: list[str]) -> None:
        hardware: dict[str, str] = {}
        came: dict[str, Origin] = {}
        for setting in entry.settings():
            for key in spelled("slurm.conf", "NodeName", setting.key):
                if key not in hardware:
                    hardware[key] = setting.text
                    came[key] = self.originals.origin(setting, entry)
        start = self.originals.origin(entry.name, entry)
        above = {origin.line: origin for origin in came.values() if origin.line != start.line}  # DEFAULT lines
        machine = Machine(hosts, "", [start, *above.values()])
        for key in OF_EACH_NODE:
            if key in hardware:
                self._by_node(machine, key, hardware.pop(key), came[key])
        self._by_entry(machine, hardware)
        self._addresses(machine)
        self._read.append((machine, hardware, [start, *(came[key] for key in hardware)]))

    def _by_node(self, machine: Machine, key: str, text: str, origin: Origin) -> None:
        values = names_of(text)
        if key == "Port" and len(values) == 1:
            machine.options[key] = text
        elif len(values) == len(machine.hosts):
            if values != machine.hosts or key == "BcastAddr":
                machine.by_node[key] = values
        elif text:
            machine.options[key] = text  # Slurm refuses it, and so will the check of the manifest
            self.draft.note("choice", f"{key}={text} does not match {origin.name}", origin.place)

    def _by_entry(self, machine: Machine, hardware: dict[str, str]) -> None:
        for key in _BY_ENTRY:
            text = hardware.pop(key, "")
            row = next(iter(fields_of("slurm.conf", "NodeName", key)), None)
            value = value_of(row, text, Nodes) if row and text else None
            if row is None or value is None:
                machine.options |= {key: text} if text else {}
            elif value != Nodes.model_fields[row.path].default:
                machine.values[row.path] = value

    def _addresses(self, machine: Machine) -> None:
        origins_of_hosts = machine.by_node.get("NodeAddr")
        if origins_of_hosts is None:
            hosts = self.originals.hosts
            origins_of_hosts = [hosts.get(host.lower(), "") for host in machine.hosts]
        if all(map(address_of, origins_of_hosts)):
            machine.addresses = origins_of_hosts


def _part(machine: Machine, start: int, end: int) -> Machine:
    return Machine(
        hosts=machine.hosts[start:end],
        kind=machine.kind,
        origins=machine.origins,
        values=dict(machine.values),
        options=dict(machine.options),
        by_node={key: texts[start:end] for key, texts in machine.by_node.items()},
        addresses=machine.addresses[start:end],
        roles=list(machine.roles),
    )


def _merged(machines: Iterable[Machine], draft: Draft) -> list[Machine]:
    """Neighbours that are alike as one entry, unless the file says something of the second."""
    merged_machines: list[Machine] = []
    for machine in machines:
        last = merged_machines[-1] if merged_machines else None
        has_comment = any(draft.has_comment(origin) for origin in machine.origins)
        if last is None or last.kind == "service" or has_comment or not last.like(machine) or last.by_node.get("Port"):
            merged_machines.append(_part(machine, 0, len(machine.hosts)))
            continue
        last.hosts += machine.hosts
        last.addresses += machine.addresses
        last.origins = [*last.origins, *machine.origins]
        for key, texts in machine.by_node.items():
            last.by_node[key] = [*last.by_node[key], *texts]
    return merged_machines
