"""NodeName lines: an entry of `nodes` per run of lines that are alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from clustergen.adopt.devices import of_nvidia
from clustergen.adopt.draft import Draft, Origin, Value
from clustergen.adopt.node_types import Types
from clustergen.adopt.originals import Originals
from clustergen.adopt.settings import option_value
from clustergen.catalogue.slurm_meanings import spelled
from clustergen.catalogue.versions import SlurmRelease
from clustergen.hostlist import HostlistError, expand, fold
from clustergen.hostlist.addresses import address_of
from clustergen.slurmconf.folder import Entry

NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
"""Names of machines that slurmctld takes."""
_SUFFIXES = SlurmRelease("23.11")  # before, nothing may follow a bracket
_FEATURE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")
_STATES = ("UNKNOWN", "CLOUD", "FUTURE", "DRAIN", "DOWN")
_BY_NODE = ("NodeAddr", "NodeHostname", "BcastAddr", "Port")
"""Keys with a value per node of the line."""
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
        """Those of NodeName lines, in Slurm's order."""
        self.others: list[Machine] = []
        """Controllers and the like that run no jobs."""
        self._read: list[tuple[Machine, dict[str, str], list[Origin]]] = []
        """With the keys of their hardware, before they have a type."""
        words = (originals.conf.text("SlurmdParameters") or "").lower().split(",")
        self._types = Types(draft, numa_as_socket="numa_node_as_socket" in words, nvidia=partial(of_nvidia, originals))

    def take(self) -> None:
        """All NodeName lines of slurm.conf, with DEFAULT lines applied."""
        for entry in self.originals.conf.entries("NodeName"):
            try:
                hosts = entry.hosts()
            except HostlistError as err:
                place = self.originals.origin(entry.name, entry).place
                self.draft.note("left-out", f"NodeName={entry.names}: {err.message}", place, f"NodeName {entry.names}")
                continue
            wrong = next((host for host in hosts if not NAME.fullmatch(host)), None)
            if wrong is not None:
                place = self.originals.origin(entry.name, entry).place
                self.draft.note("left-out", f"NodeName={entry.names}: {wrong!r} is no name of a machine", place)
                continue
            self._line(entry, hosts)
        self._types.expect((machine.hosts, found) for machine, found, _ in self._read)
        for machine, found, origins in self._read:
            machine.kind = self._types.named(machine.hosts[0], found, origins)
            self.nodes.append(machine)

    def folded(self, texts: Iterable[str]) -> str:
        """As one list that the release can read."""
        return fold(texts, suffixes=self.originals.release >= _SUFFIXES)

    def everybody(self) -> list[Machine]:
        return [*self.others, *self.nodes]

    def named(self, host: str) -> Machine | None:
        return next((machine for machine in self.everybody() if host in machine.hosts), None)

    def alone(self, host: str) -> Machine | None:
        """The entry of one host by itself, which others of its line leave to it; their order stays."""
        for index, machine in enumerate(self.nodes):
            if host in machine.hosts and len(machine.hosts) > 1:
                at = machine.hosts.index(host)
                parts = [_part(machine, *span) for span in ((0, at), (at, at + 1), (at + 1, len(machine.hosts)))]
                self.nodes[index : index + 1] = [part for part in parts if part.hosts]
        return self.named(host)

    def write(self) -> None:
        """The entries into the draft, those alike as one."""
        missing = False
        for index, machine in enumerate(_merged(self.everybody(), self.draft)):
            here = ("nodes", index)
            origins = machine.origins
            self.draft.set((*here, "name"), self.folded(machine.hosts), origins, needed=True)
            self.draft.set((*here, "type"), machine.kind, origins, needed=True)
            by_node = {key: self.folded(texts) for key, texts in machine.by_node.items()}
            if machine.addresses:
                text = fold(machine.addresses)
                own = by_node.pop("NodeAddr", None)
                hatch = [((*here, "slurm_options", "NodeAddr"), text)] if own else []
                self.draft.set((*here, "address"), text, origins, hatch=hatch)
            elif machine.values.get("state") != "CLOUD":
                missing = True
            if machine.roles:
                self.draft.set((*here, "roles"), tuple(machine.roles), needed=True)
            for name, value in machine.values.items():
                self.draft.set((*here, name), value, origins)
            for key, text in {**machine.options, **by_node}.items():
                self.draft.set((*here, "slurm_options", key), option_value(text), origins)
        if missing:
            words = "slurm.conf gives no address for some machines: names are looked up, as today"
            self.draft.set(
                ("host", "hosts_file"), False, comments=[f"{words}; with an address for all, take this away."]
            )
            how = "with --hosts /etc/hosts they come from there"
            self.draft.note("choice", f"{words} ({how}); clustergen writes no /etc/hosts")

    def _line(self, entry: Entry, hosts: list[str]) -> None:
        found: dict[str, str] = {}
        came: dict[str, Origin] = {}
        for setting in entry.settings():
            for key in spelled("slurm.conf", "NodeName", setting.key):
                if key not in found:
                    found[key] = setting.text
                    came[key] = self.originals.origin(setting, entry)
        start = self.originals.origin(entry.name, entry)
        above = {origin.line: origin for origin in came.values() if origin.line != start.line}  # DEFAULT lines
        machine = Machine(hosts, "", [start, *above.values()])
        for key in _BY_NODE:
            if key in found:
                self._by_node(machine, key, found.pop(key), came[key])
        self._by_entry(machine, found)
        self._addresses(machine)
        self._read.append((machine, found, [start, *(came[key] for key in found)]))

    def _by_node(self, machine: Machine, key: str, text: str, origin: Origin) -> None:
        try:
            values = expand(text) if text else []
        except HostlistError:
            values = []
        if key == "Port" and len(values) == 1:
            machine.options[key] = text
        elif len(values) == len(machine.hosts):
            if values != machine.hosts or key == "BcastAddr":
                machine.by_node[key] = values
        elif text:
            machine.options[key] = text  # Slurm refuses it, and so will the check of the manifest
            self.draft.note("choice", f"{key}={text} does not fit {origin.name}", origin.place)

    def _by_entry(self, machine: Machine, found: dict[str, str]) -> None:
        feature, weight, state, reason = (found.pop(key, "") for key in _BY_ENTRY)
        features = tuple(dict.fromkeys(word.strip() for word in feature.split(",") if word.strip()))
        if features and all(_FEATURE.fullmatch(word) for word in features):
            machine.values["features"] = features
        elif features:
            machine.options["Feature"] = feature
        if weight.isascii() and weight.isdigit() and 1 <= int(weight) <= 4294967280:
            machine.values["weight"] = int(weight)
        elif weight:
            machine.options["Weight"] = weight
        if state.upper() in _STATES and state.upper() != "UNKNOWN":
            machine.values["state"] = state.upper()
        elif state and state.upper() != "UNKNOWN":
            machine.options["State"] = state
        if reason:
            machine.options["Reason"] = reason

    def _addresses(self, machine: Machine) -> None:
        given = machine.by_node.get("NodeAddr")
        if given is None:
            hosts = self.originals.hosts
            given = [hosts.get(host.lower(), "") for host in machine.hosts]
        if all(map(address_of, given)):
            machine.addresses = given


def _part(machine: Machine, start: int, end: int) -> Machine:
    return Machine(
        machine.hosts[start:end],
        machine.kind,
        machine.origins,
        dict(machine.values),
        dict(machine.options),
        {key: texts[start:end] for key, texts in machine.by_node.items()},
        machine.addresses[start:end],
        list(machine.roles),
    )


def _merged(machines: Iterable[Machine], draft: Draft) -> list[Machine]:
    """Neighbours that are alike as one entry, unless the file says something of the second."""
    found: list[Machine] = []
    for machine in machines:
        last = found[-1] if found else None
        said = any(draft.says(origin) for origin in machine.origins)
        if last is None or last.kind == "service" or said or not last.like(machine) or last.by_node.get("Port"):
            found.append(_part(machine, 0, len(machine.hosts)))
            continue
        last.hosts += machine.hosts
        last.addresses += machine.addresses
        last.origins = [*last.origins, *machine.origins]
        for key, texts in machine.by_node.items():
            last.by_node[key] = [*last.by_node[key], *texts]
    return found
