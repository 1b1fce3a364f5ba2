"""Files of Network UPS Tools, without their passwords, and the program that completes them on the node."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.features.ups.needs import CLIENT, SERVER, SERVICE, UNIT
from clustergen.features.ups.resolved import UpsDevice, UpsShutdown
from clustergen.records import record
from clustergen.render.effects import restart, run
from clustergen.render.file import Context, File, View

_STOP = 120  # seconds in which a node stops
_PROGRAM = "/usr/local/sbin/clustergen-ups"


@record
class Values:
    """Values of the program. `directory`: of NUT's files; `feeds`: hosts by UPS; `minimum`: UPS that a host needs, if
    more than one; `compute`: compute nodes.
    """

    port: int
    directory: str
    feeds: Mapping[str, tuple[str, ...]]
    minimum: Mapping[str, int]
    compute: tuple[str, ...]


@record
class Monitor:
    """upsmon.conf. `final_delay_s`: time between the order and the shutdown; `host_sync_s`: 0 but on the server."""

    host: str
    port: int
    devices: tuple[str, ...]
    final_delay_s: int
    host_sync_s: int


@record
class Server:
    """Files of the server."""

    port: int
    devices: Mapping[str, UpsDevice]
    after_s: int
    program: str


def unit(_: Cluster, __: UpsShutdown) -> Context:
    return {"program": _PROGRAM}


def values(cluster: Cluster, os: OperatingSystem, shutdown: UpsShutdown) -> Values:
    feeds = {name: device.feeds for name, device in shutdown.devices.items()}
    compute = tuple(cluster.hosts("slurm-compute"))
    return Values(shutdown.port, os.fact("nut_dir"), feeds, shutdown.minimum, compute)


def server(_: Cluster, shutdown: UpsShutdown) -> Server:
    return Server(shutdown.port, shutdown.devices, shutdown.after_s, _PROGRAM)


def _monitor(group: str) -> View:
    def view(_: Cluster, shutdown: UpsShutdown) -> Monitor:
        names, services = tuple(shutdown.devices), shutdown.grace_s + _STOP
        if group == SERVER:
            return Monitor("localhost", shutdown.port, names, _STOP, services + _STOP)
        return Monitor(shutdown.server, shutdown.port, names, shutdown.grace_s if group == CLIENT else services, 0)

    return view


def _rows(group: str) -> tuple[File, ...]:
    system, source = f"{group}/etc/systemd/system", "ups_client/etc/systemd/system"
    drop_in = "nut-monitor.service.d/50-clustergen.conf"
    return (
        File(f"{group}{_PROGRAM}", unit, mode=0o755, program="ups/clustergen-ups.py"),
        File(f"{group}/etc/clustergen/ups.json", values, restart(UNIT), values=True, per="os"),
        File(
            f"{group}/etc/clustergen/nut/upsmon.conf",
            _monitor(group),
            restart(UNIT),
            source="ups_client/etc/clustergen/nut/upsmon.conf",
        ),
        File(f"{system}/{UNIT}", unit, restart(UNIT), source=f"{source}/{UNIT}"),
        File(f"{system}/{drop_in}", unit, restart("nut-monitor.service"), source=f"{source}/{drop_in}"),
    )


_SERVER = f"{SERVER}/etc/clustergen/nut"
FILES = (
    *_rows(CLIENT),
    *_rows(SERVICE),
    *_rows(SERVER),
    *(File(f"{_SERVER}/{name}", server, restart(UNIT)) for name in ("ups.conf", "upsd.conf", "upsd.users")),
    File(f"{_SERVER}/upssched.conf", server, restart(UNIT)),
    File(f"{SERVER}/etc/systemd/system/nut-server.service.d/50-clustergen.conf", unit, restart("nut-server.service")),
    File(f"{SERVER}/etc/systemd/system/clustergen-ups-resume.service", unit, run("clustergen-ups-resume.service")),
)
