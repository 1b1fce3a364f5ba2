"""The nodes' own interfaces: files in the form of the operating system, and the program that activates them."""

from __future__ import annotations

from functools import partial

from clustergen.cluster.interfaces import NETWORKS
from clustergen.features.interfaces.forms import connections, ifupdown, netplan, table, unit, values
from clustergen.render.effects import DAEMON_RELOAD
from clustergen.render.file import File, View
from clustergen.render.formats import CONF, YAML, Format

DIRECTORY = "all/etc/clustergen-network"


def _per_network(path: str, view: View, source: str, form: Format) -> tuple[File, ...]:
    """A row for each network; `{}` in the path is its name. NetworkManager and netplan ask for files of mode 0600."""
    return tuple(
        File(
            f"{DIRECTORY}/{network}/{path.replace('{}', network)}",
            partial(view, network=network),
            mode=0o600,
            per="type",
            format=form,
            source=f"{DIRECTORY}/{source}",
        )
        for network in NETWORKS
    )


FILES: tuple[File, ...] = (
    File(f"{DIRECTORY}/interfaces", table, per="type", format=CONF),
    *_per_network("60-clustergen-{}.yaml", netplan, "netplan.yaml", YAML),
    *_per_network("clustergen-{}", ifupdown, "ifupdown", CONF),
    *_per_network("clustergen-{}-{name}.nmconnection", connections, "nmconnection", CONF),
    File("all/etc/systemd/system/clustergen-network-rollback.service", unit, DAEMON_RELOAD),
    File("all/usr/local/sbin/clustergen-network", unit, mode=0o755, program="network/clustergen-network.sh"),
    File("all/etc/clustergen/network.sh", values, values=True, per="os"),
)
