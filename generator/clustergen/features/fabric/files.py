"""Files of the fabric on the hosts."""

from __future__ import annotations

from clustergen.features.fabric.interfaces import network_manager, networkd, script, table
from clustergen.features.fabric.rdma import modules, names
from clustergen.render.effects import DAEMON_RELOAD, REBOOT, reload, run
from clustergen.render.file import File

_INTERFACES = run("clustergen-fabric-interfaces.service")
_UNITS = "fabric_node/etc/systemd/system"


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
)
