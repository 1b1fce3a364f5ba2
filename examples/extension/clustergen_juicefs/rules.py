"""Cross-checks of JuiceFS."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen_juicefs.resolved import JuiceFs


def juicefs_port_twice(cluster: Cluster) -> Iterator[Finding]:
    """Each mount is a process of its own that serves metrics."""
    ports: dict[int, str] = {}
    for name, entry in cluster.storage.items():
        if isinstance(entry, JuiceFs) and (other := ports.setdefault(entry.port, name)) != name:
            yield Finding(
                "juicefs-port-twice",
                ("storage", name, "port"),
                f"the clients of {other} and {name} would both serve metrics on port {entry.port}",
                f"write another port, as {max(ports) + 1}",
            )
