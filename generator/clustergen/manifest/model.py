"""The manifest as written: one frozen model, a module per section."""

from typing import Annotated, Literal

from clustergen.catalogue.slurm import read_releases
from clustergen.manifest.accelerators import Gpu
from clustergen.manifest.ansible import Ansible
from clustergen.manifest.base import NOT_EMPTY, HostList, Name, Phrase, Section, field, section, text
from clustergen.manifest.catalogue_names import OsName
from clustergen.manifest.composition import Place, composed
from clustergen.manifest.hardware import Architecture, NodeType, OwnCatalogue, Rack
from clustergen.manifest.host import Host
from clustergen.manifest.monitoring import Monitoring
from clustergen.manifest.networks import Networks
from clustergen.manifest.nodes import Nodes
from clustergen.manifest.slurm import Slurm
from clustergen.manifest.storage import Storage

SitePath = Annotated[
    str, text(r"^[a-z0-9_]+(/[A-Za-z0-9_.@+-]+)+$", "write group and path, as slurm_node/etc/slurm/slurm.conf", 511)
]


class Site(Section):
    """Your own files, in `site/<group>/…` beside the manifest."""

    replaces: tuple[SitePath, ...] = field(
        (), "Rendered files that a site file replaces, as group/path: slurm_node/etc/slurm/cgroup.conf."
    )
    public: tuple[SitePath, ...] = field((), "Site files, as group/path, that are exempt from the check for secrets.")


@composed()
class Manifest(Section):
    """A cluster."""

    schema_version: Literal[1] = field(
        1, "Version of the manifest's schema; it increases when a field is removed or changes its meaning."
    )
    extends: Annotated[str, text(r"^[^\x00-\x1f]+$", "write a path as ../site.yaml", 4095)] | None = field(
        None,
        "File that several clusters share, relative to this one: its sections apply where this manifest has none."
        " Mappings merge by key, lists by `name`, null removes.",
    )
    name: Name = field(..., "Name of the cluster.", sample="my-cluster")
    description: Phrase | None = field(None, "Free-text description.")
    os: OsName = field(..., "Operating system of the nodes; a node type can override it.", sample="debian-13")
    arch: Architecture = field(
        "x86_64", "Processor architecture of service machines, and of node types that do not set one."
    )
    manage: tuple[Phrase, ...] | None = field(
        None,
        "Areas that clustergen configures, as [slurm, nccl]; `clustergen adopt --next` lists them. Nothing else"
        " is rendered or applied. Default: all.",
        min_length=1,
        sample="[slurm]",
    )
    networks: Networks = field(..., "Networks by traffic class.", examples=[{"management": {"cidr": "10.0.0.0/24"}}])
    node_types: dict[Name, NodeType] = field({}, "Hardware of the nodes.", examples=[{"gpu": {"system": "dgx-h100"}}])
    nodes: tuple[Nodes, ...] = field(
        ...,
        "The nodes.",
        min_length=1,
        examples=[[{"name": "gpu[1-4]", "type": "gpu", "address": "10.0.0.[11-14]"}]],
    )
    racks: dict[HostList, Rack] = field({}, "Racks.", examples=[{"R1": {"nodes": "gpu[1-4]"}}])
    facility: Place
    slurm: Annotated[Slurm | None, NOT_EMPTY] = field(
        None, "Slurm; without the section, the cluster has none.", examples=[{"version": str(max(read_releases()))}]
    )
    nccl: Place
    ucx: Place
    gpu: Gpu = section(Gpu, "GPU settings.")
    storage: dict[Name, Storage] = field(
        {},
        "File systems.",
        examples=[{"home": {"type": "nfs", "server": "10.0.0.20", "path": "/export/home", "mount": "/home"}}],
    )
    containers: Place
    monitoring: Monitoring = section(Monitoring, "Prometheus and exporters.")
    logs: Place
    ups: Place
    reports: Place
    backups: Place
    user_guide: Place
    notebooks: Place
    environment: Place
    health: Place
    acceptance: Place
    drift: Place
    identity: Place
    host: Host = section(Host, "Operating system settings.")
    ansible: Ansible = section(Ansible, "How to reach the nodes.")
    provisioning: Place
    site: Site = section(Site, "Site files.")
    catalogue: OwnCatalogue = section(OwnCatalogue, "Hardware that is not in the catalogue.")
