"""Contributions of features to files of others: functions of their modules `needs` yield these records.

    def daemons(logs: Logs) -> Iterator[Daemon]: …

A public function is found by its type and asked where the cluster has the records that are its arguments.
`cluster.needs(Daemon)` returns what all of them yield: those of the ground (`cluster/needs.py`), then those of features
in their order. No two of them may yield the same in the field that `CLAIMED` names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from clustergen.cluster.listener import Listener
from clustergen.diagnostics import ManifestPath
from clustergen.records import record, replace

if TYPE_CHECKING:
    from clustergen.catalogue.firmware import FirmwareAttribute, FirmwareSetting
    from clustergen.cluster.model import Cluster, NodeGroup
    from clustergen.cluster.slurm.keys.row import Row

Source = Literal["cluster", "compute", "controllers", "anyone"]
Value = str | int | bool | float | list[str] | dict[str, str] | None


@record
class Daemon(Listener):
    """A daemon that listens on a port: for the firewall, and for the rule that no two daemons want one port."""

    name: str
    group: str  # of the nodes on which it runs
    source: Source | None = "cluster"  # of its connections; None: the firewall has no rule for it
    members: tuple[NodeGroup, ...] | None = None  # of the group; None: all
    protocols: tuple[str, ...] = ("tcp",)
    ports: str = ""  # a range that it listens in, from `port` on, and that others may be in
    networks: tuple[str, ...] = ()  # that reach it in addition


def range_of_ports(name: str, group: str, span: str, source: Source = "cluster") -> Daemon:
    return Daemon(int(span.partition("-")[0]), None, name, group, source, ports=span)


def ports_of_jobs(cluster: Cluster, title: str) -> Daemon:
    """Jobs listen on ports that nobody knows before: those of compute nodes are open to compute nodes."""
    source: Source = "compute" if all(group.addresses for group in cluster.compute) else "cluster"
    return replace(range_of_ports(title, "slurm_compute", "1024-65535", source), protocols=("tcp", "udp"))


@record
class Notifier:
    """A daemon on the monitoring nodes that sends alerts, with the interface of Alertmanager."""

    port: int


@record
class DashboardSite:
    """A daemon that shows dashboards. `address`: where browsers reach it, without a slash at its end."""

    address: str


@record
class JobPeer:
    """Nodes from which users reach the ports of their jobs, as compute nodes do."""

    group: str


@record
class GuidePart:
    """A section of the guide for users: sentences, then commands, then sentences below these. Text between backquotes
    is code.
    """

    title: str
    sentences: tuple[str, ...]
    commands: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@record
class Fact:
    """A row of the table in the tree's README that describes the whole cluster."""

    title: str
    text: str


@record
class Requisite:
    """Something that the site supplies before a tree is applied, for the tree's README."""

    what: str
    groups: tuple[str, ...]  # of the nodes that need it
    supply: str  # where to put it


@record
class Picture:
    """A picture in the tree that its README.md shows. `path` is relative to the tree."""

    title: str
    path: str


@record
class Certificate:
    """A file with a certificate that a daemon of some nodes reads; an alert reports that it expires."""

    path: str


@record
class Exported:
    """Metrics that a program of ours writes for the node exporter."""

    metrics: tuple[str, ...]


@record
class Package:
    """A package of a group's nodes, by its purpose: the files of operating systems turn it into names."""

    group: str
    purpose: str


@record
class Repository:
    """A repository of packages without a public address: nobody hosts it, or each site has its own."""

    name: str  # as the files of operating systems have it


@record
class PackageOf:
    """A package, by its purpose, of nodes that run a unit or have a file."""

    item: str  # name of the unit, or path of the file
    purpose: str


@record
class Unit:
    """A systemd unit that runs on a group's nodes although no file of the tree changes it."""

    group: str
    name: str


@record
class Service:
    """A service that has to be active on a group's nodes, beside those of `Unit`: an alert reports where it is not."""

    group: str
    name: str  # regular expression: some have another name on another system
    fact: str = ""  # of the system, with the unit's name there; empty: `name` is that of all


@record
class NodePath:
    """A path that a role creates on a group's nodes, neither of a package nor of the tree: a node without is behind."""

    group: str
    path: str


@record
class Secret:
    """A file that nodes need and the tree never holds. `origin`: made at random when the tree is applied, or given by
    the site (Ansible Vault). `form`: the file's text around a given secret; `effect`: that of another one, as in the
    lock file.
    """

    name: str
    path: str
    groups: tuple[str, ...]
    owner: str
    mode: str
    origin: Literal["made", "given"]
    form: str = "{}"
    effect: str = "none"
    CLAIMED = "path"


@record
class Variables:
    """Variables of the inventory, below a title that others may share; those that are None are left out."""

    title: str
    values: Mapping[str, Value]
    CLAIMED = "values"


@record
class VariableRows:
    """A variable of the inventory that is a list of rows, with a comment that describes it."""

    name: str
    comment: str
    rows: tuple[Mapping[str, Value], ...]
    CLAIMED = "name"


@record
class PrivateDirectories:
    """Directories of which each job has its own, by a plugin that needs PrologFlags=Contain. `section`: of the
    manifest; `store`: of root on compute nodes, which holds those of running jobs.
    """

    paths: tuple[str, ...]
    section: str
    store: str

    @property
    def text(self) -> str:
        """`/tmp and /dev/shm`."""
        *others, last = (path.rstrip("/") for path in self.paths)
        return f"{', '.join(others)} and {last}" if others else last


@record
class NodeLibrary:
    """Files of compute nodes that programs of several features read, which are there if one of them asks."""

    name: Literal["user-processes", "mounts"]


@record
class CleanedDirectories:
    """Directories of compute nodes in which files of users without a job there may be deleted."""

    paths: tuple[str, ...]


@record
class NeedsPortNames:
    """Something that a node type goes without while the device names of its fabric ports are a guess."""

    what: str
    node_type: str = ""  # empty: nodes of all types


@record
class SpankPlugin:
    """A plugin of srun and slurmd, which a line of plugstack.conf loads. Without it no step starts, rather than a step
    outside its container.
    """

    path: str
    arguments: tuple[str, ...] = ()


@record
class JobRuntime:
    """A container runtime that jobs can use. `maps_ids`: users in its containers are subordinate IDs of the user."""

    name: str
    maps_ids: bool = False


@record
class JobImage:
    """A container image of record that job templates use. `purpose`: pytorch or triton."""

    purpose: str
    address: str  # as Podman writes it: registry/name:tag


@record
class PythonOf:
    """A Python interpreter on compute nodes that has a package."""

    package: str  # its name on the index, in lower case
    path: str


@record
class AddressPool:
    """Addresses that a program of the nodes hands out, so that no network may have them."""

    name: str
    at: ManifestPath
    cidr: str


@record
class DeviceAddress:
    """The address of a device that is no node, which no node may have; it may be a host name."""

    device: str
    address: str
    at: ManifestPath


@record
class Substitution:
    """Replacement, in the containers of a lab, of something that they cannot provide. `edit` changes the manifest's
    document; `variables` go to Ansible.
    """

    what: str
    why: str
    edit: Callable[[dict[str, Any]], object] | None = None
    variables: Mapping[str, list[str]] = MappingProxyType({})


@record
class BmcAccount:
    """The account of the BMCs that programs of the cluster use."""

    user: str
    check_certificates: bool


@record
class Sysctl:
    """A kernel setting of all nodes, below a title that others may share. `family`: of systems; empty: of all."""

    title: str
    key: str
    value: str
    why: str
    family: str = ""
    CLAIMED = "key"


@record
class UserDirectory:
    """A directory of root in which the prolog creates one for the user of a job. One below /run is a tmpfs."""

    directory: str
    name: str  # of the user's directory, with UID and USER in place of the user's own; empty: there is none
    options: str = "size=64m,nr_inodes=16k"  # of the tmpfs
    group: str = "slurm_compute"  # Ansible group of the nodes


@record
class TaskVariable:
    """A variable of jobs, unless the user has set it, with UID in place of the user's own."""

    name: str
    value: str
    group: str = "slurm_compute"  # Ansible group of the nodes
    CLAIMED = "name"


@record
class ContainerFile:
    """A file of nodes of a type that containers need at the same place."""

    node_type: str
    path: str


@record
class PortErrors:
    """A counter of errors of fabric ports, for the table of those with most."""

    title: str
    metric: str


@record
class FirmwareValue:
    """Value that a setting of firmware must have on nodes of a type. `expect`: its name in the catalogue."""

    node_type: str
    expect: str
    is_on: bool


@record
class AdapterSetting:
    """A setting of the firmware of an adapter of nodes of a type. `value`: its word or number, as IB or 44."""

    node_type: str
    device: str
    name: str
    value: str
    why: str

    def differs(self, shown: str) -> bool:
        """True if a value as mstconfig prints it, `IB(1)`, is another one."""
        word, _, number = shown.partition("(")
        return self.value.lower() not in (shown.lower(), word.lower(), number.rstrip(")").lower())


@record
class FirmwareItem:
    """A setting of firmware of nodes of a type. `expected`: on, off or a number; empty if the site decides.
    `attribute`, by which a BMC shows it: None if it is not known.
    """

    node_type: str
    setting: FirmwareSetting
    attribute: FirmwareAttribute | None
    expected: str

    @property
    def value(self) -> str:
        """The attribute's value for it; empty where the catalogue has none."""
        if self.attribute is None:
            return ""
        is_text = self.is_stated and self.expected not in ("on", "off")
        return self.attribute.values.get(self.expected, self.expected if is_text else "")

    @property
    def is_stated(self) -> bool:
        """True if the manifest states the value, which may then be one that the catalogue does not know."""
        return self.setting.expect == "site" and self.expected != ""

    def differs(self, value: str) -> bool:
        """True if a value of the attribute has another meaning; one that the catalogue does not know has none."""
        if self.is_stated:
            return value != self.value
        meaning = self.attribute.meaning(value) if self.attribute else ""
        return bool(meaning and self.value) and meaning != self.expected


@record
class GpuUnit:
    """A unit of nodes of a type that has to run before slurmd counts their GPUs. `makes_devices`: without it, the
    GPUs are not those that Slurm knows.
    """

    node_type: str
    name: str
    makes_devices: bool = False


@record
class Group:
    """A group of nodes by what they are, beside those of roles and of storage entries. `before`: the one of the ground
    that it is listed before; empty: behind them.
    """

    name: str
    members: tuple[NodeGroup, ...]
    before: Literal["cloud", "gpu_node", ""] = ""
    CLAIMED = "name"


@record
class FirstBoot:
    """User data of cloud-init that is in the tree, by which nodes of a group install themselves."""

    group: str
    systems: tuple[str, ...]  # keys of operating systems that have it


@record
class SafeWriter:
    """A program that runs as root and writes where another account may, so that it needs clustergen-write."""

    name: str


@record
class Use:
    """The access that a daemon needs to a path."""

    noun: str
    """The contents, as a noun for messages."""
    example: str
    """A path that suits it: the default, where clustergen has one."""
    lost: str = ""
    """The consequence when it disappears or belongs to another user; empty: none."""
    outlives_boot: bool = True
    is_directory: bool = True
    of_administrator: bool = False
    """True: it may be in a subdirectory of /etc."""
    role: str = ""
    """Of the nodes that write there; empty: of slurmctld, slurmd or slurmdbd, by the name."""
    per_node: bool = False
    """True: Slurm replaces %n and %h by the node's name."""
    is_private: bool = False
    """True: each node needs one that no other node uses."""
    is_of_jobs: bool = False
    """True: jobs write there, so that nothing else may."""


@record
class WrittenPath:
    """A path of the manifest that a daemon or program writes. `name`: of the daemon or entry, for the words."""

    at: ManifestPath
    path: str
    use: Use
    name: str = ""


@record
class SlurmTopic:
    """Keys that one of Slurm's files has under one heading; no other topic may set them."""

    file: str  # slurm.conf
    title: str
    rows: Callable[[Cluster], Iterable[Row]]


@record
class Targets:
    """Addresses that Prometheus reads, and labels of their metrics beside those of the cluster."""

    addresses: tuple[str, ...]
    labels: tuple[tuple[str, str], ...] = ()


@record
class ScrapeJob:
    """Exporters of one kind that Prometheus reads: at `port` of the hosts of `members`, and at `others`.

    `interval_s`: None for the general one. `has_hosts`: targets are hosts, whose bare name is the label `instance`.
    `prober`: address of an exporter beside Prometheus that asks the targets, all by its `module` or by labels.
    """

    name: str
    members: tuple[NodeGroup, ...] = ()
    port: int = 0
    path: str | None = None
    interval_s: int | None = None
    suffix: str = ""  # of the hosts' names
    others: tuple[Targets, ...] = ()
    has_hosts: bool = True
    module: str | None = None
    prober: str = ""
    CLAIMED = "name"


@record
class Sampling:
    """An exporter whose samples are further apart than Prometheus reads those of others."""

    interval_s: int


@record
class BootOption:
    """An option of the kernel's command line on nodes of a type, with its reason."""

    node_type: str
    text: str
    why: str


@record
class BootKernel:
    """The flavour of the kernel that nodes of a type boot, where several are installed, with its reason."""

    node_type: str
    flavour: str  # what follows the version in the name of the kernel
    why: str
