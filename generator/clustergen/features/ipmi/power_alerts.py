"""Alerts on the power of racks: what their nodes' BMCs measure beside what the feeds may carry for hours."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.facility.power import capacity_w
from clustergen.features.ipmi.needs import POWER
from clustergen.features.ipmi.resolved import Ipmi
from clustergen.render.alerts import Alert, Topic, one_of

_SHARE = 80  # percent of what one side of the feeds may carry


def topic(cluster: Cluster) -> Topic | None:
    alerts = tuple(_feeds(cluster)) if cluster.has(Ipmi) else ()
    return (
        Topic(
            "power",
            "Power of racks.",
            (),
            alerts,
            look="Compare the rack with others, and with the time before.",
            page="power",
            works="all nodes; nothing is switched off",
            place=110,
        )
        if alerts
        else None
    )


def _feeds(cluster: Cluster) -> Iterator[Alert]:
    """An alert for all racks whose feeds may carry the same."""
    factor = cluster.of(Facility).power_factor
    by_capacity: dict[int, list[str]] = {}
    for rack in cluster.racks:
        if rack.hosts and rack.circuits:
            by_capacity.setdefault(int(capacity_w(rack, factor)), []).append(rack.name)
    for capacity, names in by_capacity.items():
        yield Alert(
            "RackFeedHigh",
            f"sum by (rack) ({POWER}{{rack{one_of(names)}}}) > {capacity * _SHARE // 100}",
            "15m", "warning",
            summary=f"Rack {{{{ $labels.rack }}}} draws {{{{ $value | humanize }}}}W, more than {_SHARE} % of its"
            " feeds",
            meaning=f"The feeds of the rack may carry {capacity} W for hours, one side alone if they are redundant. The"
            " BMCs measure nodes only: switches and losses come on top.",
            action="Cap the power of GPUs (`nvidia-smi -pl WATTS`), drain nodes of the rack, or move load to other"
            " racks.",
            labels=(("capacity", f"{capacity} W"),),
        )  # fmt: skip
