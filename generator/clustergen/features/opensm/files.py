"""opensm: on the nodes that shall run it, and on no other."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import SubnetManager
from clustergen.features.opensm.resolved import OpensmSettings
from clustergen.records import record
from clustergen.render.arguments import restarts
from clustergen.render.effects import DAEMON_RELOAD
from clustergen.render.file import File
from clustergen.render.formats import CONF, RenderError

_FULL_MEMBER = 0x8000
_DEFAULT_KEY = 0x7FFF


@record
class Option:
    key: str
    value: str
    why: str


@record
class Opensm:
    """opensm.conf, and the unit to restart."""

    options: tuple[Option, ...]
    width: int
    unit: str


@record
class Partitions:
    job_key: str  # of the partition that jobs use, without the membership bit; empty: the default partition
    unit: str


def opensm(cluster: Cluster, os: OperatingSystem, settings: OpensmSettings) -> Opensm | None:
    if (fabric := cluster.networks.fabric) is None:
        return None
    ours = [
        Option(
            "routing_engine",
            settings.routing,
            "the first engine that fits the fabric is used, minhop as the fallback",
        ),
        Option("partition_config_file", os.fact("opensm_partitions"), "which ports may communicate"),
        Option("use_ucast_cache", "TRUE", "a rebooting node does not trigger new routes for the whole fabric"),
        Option("sm_priority", "14", "above a switch's own subnet manager, so that a forgotten one does not take over"),
        Option("log_max_size", "64", "MB"),
    ]
    if fabric.service_level:
        ours.append(
            Option("qos", "TRUE", f"service level {fabric.service_level} of NCCL's traffic gets a lane of its own")
        )
    stated = {key: _plain(key, value) for key, value in settings.options.items()}
    options = [
        Option(option.key, stated.pop(option.key), "stated in the manifest") if option.key in stated else option
        for option in ours
    ]
    options += [Option(key, value, "stated in the manifest") for key, value in stated.items()]
    return Opensm(tuple(options), max(len(option.key) for option in options), os.fact("opensm_unit"))


def _plain(key: str, value: str | int) -> str:
    text = str(value)
    if not text or text != text.strip() or "#" in text:
        raise RenderError(f"networks.fabric.opensm_options: {key}: opensm cannot read {text!r}")
    return text


def partitions(cluster: Cluster, os: OperatingSystem, _: OpensmSettings) -> Partitions:
    key = int(cluster.of(SubnetManager).pkey or "0x7fff", 16) & ~_FULL_MEMBER
    return Partitions("" if key == _DEFAULT_KEY else f"0x{key:04x}", os.fact("opensm_unit"))


def marker(cluster: Cluster) -> bool:
    """On the nodes with the role; only there opensm starts."""
    return cluster.has(OpensmSettings)


def guard(cluster: Cluster) -> bool:
    """On all nodes with ports in an InfiniBand fabric: the package starts a subnet manager on every port it finds."""
    return cluster.has(SubnetManager)


_UNITS = "fabric_node/etc/systemd/system"
FILES: tuple[File, ...] = (
    File(
        "subnet_manager/{os.opensm_conf}",
        opensm,
        restarts,
        per="os",
        source="subnet_manager/etc/opensm/opensm.conf",
    ),
    File(
        "subnet_manager/{os.opensm_partitions}",
        partitions,
        restarts,
        per="os",
        source="subnet_manager/etc/opensm/partitions.conf",
    ),
    File("subnet_manager/etc/clustergen/subnet-manager", marker, DAEMON_RELOAD, format=CONF),
    File(f"{_UNITS}/opensm.service.d/50-clustergen.conf", guard, DAEMON_RELOAD),
    File(
        f"{_UNITS}/opensmd.service.d/50-clustergen.conf",
        guard,
        DAEMON_RELOAD,
        source=f"{_UNITS}/opensm.service.d/50-clustergen.conf",
    ),
)
