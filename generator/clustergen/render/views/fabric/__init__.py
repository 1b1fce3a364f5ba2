"""The fabric on the hosts: RDMA modules and names, interfaces, lossless Ethernet, and the InfiniBand subnet manager."""

from __future__ import annotations

from clustergen.render.effects import DAEMON_RELOAD, REBOOT, Effect, reload, restart, run
from clustergen.render.file import File
from clustergen.render.formats import CONF
from clustergen.render.views.fabric.interfaces import network_manager, networkd, script, table
from clustergen.render.views.fabric.rdma import modules, names
from clustergen.render.views.fabric.roce import roce_ports, roce_qos
from clustergen.render.views.fabric.subnet_manager import Opensm, Partitions, guard, marker, opensm, partitions

_INTERFACES = run("clustergen-fabric-interfaces.service")
_ROCE = run("clustergen-roce-qos.service")
_UNITS = "fabric_node/etc/systemd/system"


def _restart_opensm(view: Opensm | Partitions) -> Effect:
    return restart(view.unit)


FILES: tuple[File, ...] = (
    File("fabric_node/etc/modules-load.d/clustergen-rdma.conf", modules, run("systemd-modules-load.service")),
    File("fabric_node/etc/udev/rules.d/60-rdma-persistent-naming.rules", names, REBOOT, per="type"),
    File("fabric_node/etc/clustergen/fabric-interfaces", table, _INTERFACES, per="type"),
    File("fabric_node/etc/clustergen/fabric-interfaces.sh", script, _INTERFACES, values=True),
    File("fabric_node/usr/local/lib/clustergen/fabric.sh", script, _INTERFACES, program="fabric/fabric.sh"),
    File(
        "fabric_node/usr/local/sbin/clustergen-fabric-interfaces",
        script,
        _INTERFACES,
        mode=0o755,
        program="fabric/clustergen-fabric-interfaces.sh",
    ),
    File(f"{_UNITS}/clustergen-fabric-interfaces.service", script, DAEMON_RELOAD),
    File(
        "fabric_node/etc/NetworkManager/conf.d/50-clustergen-fabric.conf",
        network_manager,
        reload("NetworkManager.service"),
        per="type",
    ),
    File("fabric_node/etc/systemd/networkd.conf.d/50-clustergen.conf", networkd, per="os"),
    File("fabric_node/etc/clustergen/roce-ports", roce_ports, _ROCE, per="type"),
    File("fabric_node/etc/clustergen/roce-qos.sh", roce_qos, _ROCE, values=True),
    File(
        "fabric_node/usr/local/sbin/clustergen-roce-qos",
        roce_qos,
        _ROCE,
        mode=0o755,
        program="fabric/clustergen-roce-qos.sh",
    ),
    File(f"{_UNITS}/clustergen-roce-qos.service", roce_qos, DAEMON_RELOAD),
    File(
        "subnet_manager/{os.opensm_conf}",
        opensm,
        _restart_opensm,
        per="os",
        source="subnet_manager/etc/opensm/opensm.conf",
    ),
    File(
        "subnet_manager/{os.opensm_partitions}",
        partitions,
        _restart_opensm,
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
