"""The shapes of a resolved cluster.

Nodes are kept as groups: one `NodeGroup` per entry of the manifest, with plain strings per host, so that 10,000 nodes
cost what 10,000 strings cost. Memory is in MiB, power in watts, rates in Gb/s, times in minutes, as field names say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property, wraps
from importlib import import_module
from types import FunctionType
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.annotations import FITTED, INTERNAL, Hosts, Wording
from clustergen.cluster.catalogue_view import CatalogueView
from clustergen.cluster.entry import Entry
from clustergen.cluster.gpu_set import GpuSet, gpus_of
from clustergen.cluster.networks import Networks
from clustergen.cluster.slurm.model import Slurm
from clustergen.cluster.storage import Storage
from clustergen.cluster.tracing import made, used
from clustergen.feature import Attributed, area, claim, extension_of, items_of, modules, requirement, wording
from clustergen.hostlist import compress
from clustergen.manifest.mount import Mount
from clustergen.records import record
from clustergen.units import Watts

T = TypeVar("T")
FittedInt = Annotated[int, FITTED]
E = TypeVar("E", bound=Entry)
_REQUIRED: Mapping[str, type] = {"slurm": Slurm}
P = ParamSpec("P")


@record
class Port:
    """A network port of a node."""

    device: str  # RDMA device, or the interface where there is none
    interface: str | None  # None: it has none, as a BMC
    network: str  # fabric, storage, management or bmc
    rail: int | None  # of fabric ports
    numa: int | None  # node of the adapter; None where nobody knows it
    pci: str | None  # address; None where nobody knows it
    max_gbit: float | None  # of the adapter; None where nobody knows it
    label: str = ""  # as printed on the machine; empty where nobody knows it
    cage: str = ""  # two ports may share one
    connector: str = ""  # as osfp; empty where nobody knows it
    connector_options: tuple[str, ...] = ()  # others that the adapter is sold with, where nobody says which
    driver: str = ""  # kernel module; empty where nobody knows the adapter
    model: str = ""  # of the adapter, in the catalogue


@record
class Gres:
    """A generic resource of a node that is no GPU."""

    SECTIONS = ("Gres",)
    name: str  # in slurm.conf
    count: str  # as Slurm writes it: 4, or 900G
    files: str  # empty: it is only counted
    type: str  # empty: it has none
    flags: tuple[str, ...]


@record
class NodeType:
    """Hardware of some nodes, with Slurm's view of it."""

    SECTIONS = ("Cpu", "NodeType")
    name: str  # in the manifest; of nodes that override fields, their type with what differs, as h100-mig-slices
    like: str | None
    os: OperatingSystem  # printed by its id, as debian-13
    system: str | None  # row of the catalogue; None: described in the manifest
    title: str  # for people
    is_builtin: bool  # `service`, where the manifest defines no type of that name
    is_resolved: bool  # False for `service`, and where an error kept it from being resolved
    stated: frozenset[str]  # of memory, real_memory, nics and some others: those that the manifest gives
    cpu_model: Annotated[str, FITTED]  # as lscpu names it
    sockets: FittedInt
    cores_per_socket: FittedInt
    threads_per_core: FittedInt
    numa_per_socket: FittedInt  # NUMA nodes
    memory_mib: FittedInt  # fitted
    stated_memory_mib: int | None  # RealMemory, where the manifest says it
    names_gpus: bool  # the manifest does; `gpus` is None where they cannot be resolved
    gpus: GpuSet | None  # None: a node has none
    ports: tuple[Port, ...]  # of fabric, storage and management
    bmc_ports: tuple[Port, ...]  # not in `ports`: the operating system has no device for them
    psus: int | None  # power supplies
    psu_w: int | None  # of each
    psus_redundant: int | None  # that may fail
    power_max_w: int | None  # maximum wall power of a node
    rack_units: int
    depth_mm: int | None  # None where nobody knows it
    cpu_numbering: Annotated[str, FITTED]  # how Linux numbers CPUs: sockets, alternating or siblings
    reserved_cores: FittedInt  # of the system, and of storage clients that poll
    polling: Mapping[str, tuple[int, ...]]  # storage entry → cores of its client
    reserved_mib: FittedInt  # kept from jobs
    features: tuple[str, ...]  # Slurm features of its nodes
    weight: int | None  # of Slurm; None: not stated
    numa_as_socket: bool  # Slurm counts each NUMA node as a socket
    group: str  # Ansible group of its nodes: type_<name>
    gres: tuple[Gres, ...]
    slurm_options: Mapping[str, str | int | float]

    @property
    def cores(self) -> FittedInt:
        """Of a node."""
        return self.sockets * self.cores_per_socket

    @property
    def cpus(self) -> FittedInt:
        """Of a node: its hardware threads."""
        return self.cores * self.threads_per_core

    @property
    def slurm_sockets(self) -> FittedInt:
        """Sockets as Slurm counts them."""
        return self.sockets * self.numa_per_socket if self.numa_as_socket else self.sockets

    @property
    def slurm_cores_per_socket(self) -> FittedInt:
        """Cores of each of these."""
        return self.cores // self.slurm_sockets

    @property
    def real_memory_mib(self) -> FittedInt:
        """RealMemory: 97 % of what is fitted, as firmware and kernel keep some; a node that reports less is invalid."""
        return self.stated_memory_mib or self.memory_mib * 97 // 100

    @property
    def job_memory_mib(self) -> FittedInt:
        """Memory that jobs may use."""
        return self.real_memory_mib - self.reserved_mib

    @property
    def job_cores(self) -> FittedInt:
        """Cores that jobs may use."""
        return self.cores - self.reserved_cores

    def data_ports(self) -> tuple[Port, ...]:
        """Of the fabric and of the storage network."""
        return tuple(port for port in self.ports if port.network in ("fabric", "storage"))

    def fabric_ports(self) -> tuple[Port, ...]:
        return tuple(port for port in self.ports if port.network == "fabric")


@record
class NodeGroup:
    """One entry of the manifest's `nodes`."""

    SECTIONS = ("Nodes",)
    index: Annotated[int, INTERNAL]  # in the manifest
    entry: Wording  # host list of the names
    hosts: Hosts  # names
    folded: Annotated[str, INTERNAL]  # the same in Slurm's canonical form
    type: NodeType  # printed by its name
    is_type_known: bool  # False where the manifest names a type that it does not define
    roles: tuple[str, ...]
    addresses: Hosts  # management, by host; empty where none are given
    bmc: Hosts  # addresses, by host; empty where none are given
    storage: Hosts  # addresses, by host; empty where none are given
    fabric: tuple[Hosts, ...]  # by rail, then by host
    macs: Hosts  # of the port that boots, by host; empty where none are given
    features: tuple[str, ...]  # beside those of the type
    weight: int | None  # None: that of the type
    state: str  # State in slurm.conf
    in_no_partition: bool  # as the manifest confirms
    slurm_options: Mapping[str, str | int | float]

    @property
    def is_dynamic(self) -> bool:
        """True if the machines exist only when Slurm or somebody starts them, so that nobody can expect an answer."""
        return self.state in ("CLOUD", "FUTURE")

    def has(self, role: str) -> bool:
        return role in self.roles

    def is_client(self, entry: Entry | Mount) -> bool:
        """True if the manifest has these nodes mount a storage entry; its server may be one of them."""
        return any(map(self.has, entry.clients)) and (not entry.node_types or self.type.name in entry.node_types)


@record
class Switch:
    """One switch of the fabric."""

    name: str
    index: Annotated[int | None, INTERNAL]  # of its entry in the manifest; None where the plan has it
    entry: Wording  # host list of the names; empty where the plan has it
    entry_nodes: Wording  # host list of the nodes
    rack: str | None  # None: nobody knows it
    model: str | None  # row of the catalogue; None: not stated
    ports: int | None  # cages, each for one cable
    nics_per_port: int  # 2 where the fabric's rate splits a port between two nodes
    port_gbit: float | None  # of a port; None where nobody knows it
    power_w: int | None  # maximum; None where nobody knows it
    rack_units: int  # height
    nodes: Hosts  # that are connected to it
    rails: tuple[int, ...]  # that it serves; empty: all
    uplinks: Mapping[str, int]  # switch above → cables
    free_ports: int = 0  # that a plan leaves for devices that are not nodes, beside reserved ones

    @property
    def is_leaf(self) -> bool:
        """True if it has ports for nodes or other devices, and not for switches alone."""
        return bool(self.nodes or self.free_ports)

    @property
    def rail(self) -> int | None:
        """The rail that it serves; null: several, or all."""
        return self.rails[0] if len(self.rails) == 1 else None


@record
class Circuit:
    """Feeds of one kind of a rack. `derate`: the fraction of its rating that a continuous load may use."""

    volts: int
    amps: int  # of a feed
    phases: int
    count: int  # feeds
    derate: float
    pdu: str | None  # model of the rack PDU
    outlets: Mapping[str, int]  # of the PDU by type; empty: those of its model


@record
class Rack:
    """One rack; `entry` is its name in the manifest, which may stand for several."""

    name: str  # of one rack
    entry: str  # its name in the manifest, which may stand for several
    entry_nodes: Wording  # host list of the nodes of all racks of the entry
    hosts: Hosts  # nodes in it
    units: int  # height
    depth_mm: int | None  # None: nothing is stated
    row: str  # empty where the manifest names none
    row_number: int  # from 0, in order of the manifest
    position: int  # in the row, from 1
    places: Mapping[str, int]  # host list of nodes or switches → lowest unit
    power: Watts | None  # limit
    cooling: Watts | None  # heat that the room removes, besides that of a loop
    airflow_cfm: float | None  # cooling air that the room supplies
    weight_kg: float | None  # limit, without the rack itself
    circuits: tuple[Circuit, ...]
    redundant_feeds: bool  # half of the feeds must carry the whole load


def once_per_cluster(function: Callable[Concatenate[Cluster, P], T]) -> Callable[Concatenate[Cluster, P], T]:
    """A function of the whole cluster, and perhaps of a name, that many views ask: worked out once for each name.

    A cache of any other kind hides from `explain` what was read for the answer.
    """

    @wraps(function)
    def answer(cluster: Cluster, /, *names: P.args, **_: P.kwargs) -> T:
        part = (function, *names)
        answers = cluster.__dict__.setdefault("_answers", {})
        if part not in answers:
            answers[part] = made(part, lambda: function(cluster, *names, **_))
        used(part)
        value: T = answers[part]
        return value

    return answer


@record
class Cluster:
    """A whole cluster. Frozen; the lists are tuples in manifest order, which is Slurm's node order."""

    name: str  # of the manifest; Slurm may have another
    os: OperatingSystem  # of nodes whose type states no other
    catalogue: CatalogueView  # what the manifest adds to it
    node_types: tuple[NodeType, ...]  # those in use
    groups: tuple[NodeGroup, ...]  # entries of `nodes`, in the manifest's order, which is Slurm's
    switches: tuple[Switch, ...]  # of the fabric
    racks: tuple[Rack, ...]  # in order of the manifest
    other_switches: Mapping[str, tuple[Switch, ...]]  # by network, of those with a plan that are not the fabric
    managed: tuple[str, ...] | None  # areas (`AREA` of features); None: all
    _records: Mapping[type, object]  # all others, by their type; those that the cluster does not have are absent
    _derived: Mapping[type, Callable[[Cluster], object]]  # those that are worked out when somebody asks

    def of(self, record: type[T]) -> T:
        """The record of this type. LookupError if the cluster does not have it."""
        if (resolved := self.get(record)) is None:
            raise LookupError(f"the cluster has no {record.__name__}")
        return resolved

    def get(self, record: type[T]) -> T | None:
        """The record of this type; None if the cluster does not have it."""
        used(record)
        derive = self._derived.get(record)
        if derive:
            return derive(self) if self.meets(requirement(record.__module__)) else None  # type: ignore[return-value]
        return self._records.get(record)  # type: ignore[return-value]

    def has(self, record: type) -> bool:
        """True if the cluster has a record of this type."""
        used(record)
        return record in self._records or (record in self._derived and self.meets(requirement(record.__module__)))

    def meets(self, required: str) -> bool:
        """True if the cluster has what a module requires (`requirement`): `slurm`, or nothing."""
        return not required or self.has(_REQUIRED[required])

    def manages(self, area: str) -> bool:
        """True if an area is managed; a module without one always is."""
        return not area or self.managed is None or area in self.managed

    def asks(self, module: str) -> bool:
        """True if a module applies to the cluster: it has what the module requires, and manages its area."""
        return self.meets(requirement(module)) and self.manages(area(module))

    @once_per_cluster
    def needs(self, kind: type[T]) -> tuple[T, ...]:
        """Contributions of all features of one kind (`cluster.contributions`), in their order. ExtensionError where two
        features claim the same.
        """
        return tuple(_contributed(self, kind))

    @once_per_cluster
    def needs_by_type(self, kind: type[T]) -> Mapping[str, list[T]]:
        """The same by the name of their node type."""
        by_type: dict[str, list[T]] = {}
        for item in self.needs(kind):
            by_type.setdefault(item.node_type, []).append(item)  # type: ignore[attr-defined]
        return by_type

    @property
    def record_types(self) -> tuple[type, ...]:
        """Types of all records that the cluster has, in order."""
        used("record_types")
        return (*self._records, *filter(self.has, self._derived))

    @property
    def storage(self) -> Mapping[str, Entry]:
        """File systems by the name of their entry."""
        return self.of(Storage).entries

    def entries(self, kind: type[E]) -> dict[str, E]:
        """File systems of one kind, by the name of their entry."""
        return {name: entry for name, entry in self.storage.items() if isinstance(entry, kind)}

    def hosts(self, *roles: str) -> list[str]:
        """Host names that have one of the roles, or all, in manifest order."""
        return [host for group in self.groups if not roles or any(map(group.has, roles)) for host in group.hosts]

    def folded(self, *roles: str) -> str:
        """The same, folded; empty where there is none."""
        return compress(hosts) if (hosts := self.hosts(*roles)) else ""

    def with_role(self, role: str) -> tuple[NodeGroup, ...]:
        return tuple(group for group in self.groups if group.has(role))

    @cached_property
    def networks(self) -> Networks:
        return Networks(self)

    @property
    @once_per_cluster
    def compute(self) -> tuple[NodeGroup, ...]:
        return self.with_role("slurm-compute")

    @property
    @once_per_cluster
    def of_type(self) -> Mapping[str, tuple[NodeGroup, ...]]:
        """Entries by the name of their node type."""
        groups_of_type: dict[str, list[NodeGroup]] = {node_type.name: [] for node_type in self.node_types}
        for group in self.groups:
            groups_of_type[group.type.name].append(group)
        return {name: tuple(groups) for name, groups in groups_of_type.items()}

    @property
    def slurm(self) -> Slurm:
        return self.of(Slurm)

    @property
    @once_per_cluster
    def address(self) -> Mapping[str, str]:
        """Management address by host name; hosts without one are absent."""
        return {host: ip for group in self.groups for host, ip in zip(group.hosts, group.addresses, strict=False)}

    @property
    @once_per_cluster
    def host_count(self) -> int:
        return sum(len(group.hosts) for group in self.groups)

    @property
    @once_per_cluster
    def gpu_count(self) -> int:
        """GPUs that jobs can use: those of nodes that run slurmd, and all in a cluster without Slurm."""
        groups = self.compute if self.has(Slurm) else self.groups
        return sum(len(group.hosts) * gpus_of(group) for group in groups)

    @property
    @once_per_cluster
    def gpu_types(self) -> tuple[NodeType, ...]:
        """Node types in use on compute nodes that have GPUs."""
        used = {group.type.name for group in self.compute}
        return tuple(node_type for node_type in self.node_types if node_type.gpus and node_type.name in used)


_GROUND_NEEDS = ("clustergen.cluster.needs", "clustergen.cluster.storage_needs")
_IN_SLURMS_FILES = {
    f"Iterator[{name}]" for name in ("SlurmTopic", "SpankPlugin", "PrivateDirectories", "UserDirectory")
}


def _contributed(cluster: Cluster, kind: type[T]) -> Iterator[T]:
    owners: dict[str, str] = {}
    what = f"contribute the {kind.__name__.removesuffix('s').lower()} {{}}"
    for contribute in contributors_of(cluster, f"Iterator[{kind.__name__}]"):
        for item in items_of(contribute, kind, cluster):
            claimed = getattr(item, getattr(kind, "CLAIMED", ""), ())
            for name in (claimed,) if isinstance(claimed, str) else claimed:
                claim(owners, name, contribute.__module__, what)
            yield item


def contributors_of(cluster: Cluster, returned: str) -> Iterator[Callable[[Cluster], Iterator[Any]]]:
    """The contributors that return a type and apply to a cluster."""
    functions = contributors().get(returned, ())
    if returned in _IN_SLURMS_FILES:  # these keep their keys, even if the area of the feature is not managed
        return (function for function in functions if cluster.meets(requirement(function.__module__)))
    return (function for function in functions if cluster.asks(function.__module__))


@cache
def contributors() -> Mapping[str, list[Callable[[Cluster], Iterator[Any]]]]:
    """Public functions of the modules `needs` of the ground and of features, by what they return: Iterator[Package].

    Their arguments are the cluster, or records of it by their type: `daemons(logs: Logs)` is asked where it has them.
    """
    functions: dict[str, list[Callable[[Cluster], Iterator[Any]]]] = {}
    for module in (*map(import_module, _GROUND_NEEDS), *modules("needs")):
        for name, value in vars(module).items():
            if name[0] != "_" and isinstance(value, FunctionType):
                returned = wording(value.__annotations__.get("return", ""))
                functions.setdefault(returned, []).append(with_records(value, ()))
                if value.__module__ == module.__name__ and extension_of(module.__name__):
                    with Attributed(module.__name__):
                        _check_contribution(value, returned)
    return functions


def with_records(function: FunctionType, absent: Any = None) -> Callable[[Cluster], Any]:
    """The function with the cluster alone as argument, and `absent` as result where it lacks a record of the others."""

    @wraps(function)
    def of_cluster(cluster: Cluster) -> Any:
        arguments = arguments_for(function, cluster)
        return absent if arguments is None else function(*arguments)

    return function if argument_types(function) == (Cluster,) else of_cluster


def arguments_for(function: Callable[..., Any], cluster: Cluster, first: int = 0) -> list[Any] | None:
    """Arguments of a function from the `first` on, by their types: the cluster, and records that it may have. None
    where it lacks one. TypeError for an argument that is neither.
    """
    arguments = [cluster if kind is Cluster else cluster.get(kind) for kind in _records_asked(function, first)]
    return None if any(each is None for each in arguments) else arguments


@cache
def _records_asked(function: Callable[..., Any], first: int) -> tuple[Any, ...]:
    kinds = argument_types(function)[first:]
    if not all(hasattr(kind, "__record_fields__") for kind in kinds):
        raise TypeError(f"{function.__name__}: its arguments are cluster: Cluster, or records of the cluster")
    return kinds


def asked(function: Callable[..., Any], cluster: Cluster, *others: object) -> Any:
    """Result of a function of the cluster, `others`, and records of the cluster; None where it lacks one of these."""
    records = arguments_for(function, cluster, 1 + len(others))
    return None if records is None else function(cluster, *others, *records)


@cache
def argument_types(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The types of a function's arguments, None for unknown ones; `Cluster` needs no import for type checkers alone."""
    if not isinstance(function, FunctionType):
        return ()
    arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
    names = (wording(function.__annotations__.get(argument, "Cluster")) for argument in arguments)
    return tuple(Cluster if name == "Cluster" else _named(name, function.__globals__) for name in names)


def _named(name: str, namespace: Mapping[str, Any]) -> Any:
    """The value of a name with dots, as `resolved.Logs`; None for an unknown one."""
    module, _, attribute = name.rpartition(".")
    return getattr(namespace.get(module), attribute, None) if module else namespace.get(name)


def _check_contribution(function: FunctionType, returned: str) -> None:
    """TypeError for a public function that nobody would ask; one that yields other records serves one that is asked."""
    kind = returned.removeprefix("Iterator[").removesuffix("]")
    contributions = vars(import_module("clustergen.cluster.contributions"))
    if returned != f"Iterator[{kind}]" or kind not in {**function.__globals__, **contributions}:
        form = "write -> Iterator[KIND] with a record of clustergen.cluster.contributions, or begin its name with _"
        raise TypeError(f"needs: {function.__name__} returns {returned or 'what it does not state'}: {form}")
