"""The firewall, as written."""

from typing import Literal

from clustergen.manifest.base import field

PLACES = {
    "host.firewall": (
        bool | Literal["nftables"],
        field(
            True,
            "true: on systems with firewalld, allow the cluster's networks access to every port of its nodes; nftables:"
            " in addition, on all systems, drop packets to ports that no service of the cluster uses.",
        ),
    )
}
