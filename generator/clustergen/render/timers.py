"""Programs of ours that a timer of their nodes runs."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster, asked
from clustergen.render.effects import DAEMON_RELOAD, restart
from clustergen.render.file import Context, File, View


def timed(group: str, program: str, values: View, unit: View | None = None) -> Iterator[File]:
    """The rows of a program of `programs/`, its values per operating system, and the timer that runs it.

    `unit`: view of service and timer, where they have more than the path of the program.
    """
    name, _, kind = program.rpartition("/")[2].partition(".")
    script, units = f"/usr/local/sbin/{name}", f"{group}/etc/systemd/system/{name}"
    data = f"{name.removeprefix('clustergen-')}.{'json' if kind == 'py' else 'sh'}"

    def usual(cluster: Cluster) -> Context | None:
        return {"script": script} if asked(values, cluster, cluster.os) else None

    unit = unit or usual
    yield File(f"{group}{script}", unit, mode=0o755, program=program)
    yield File(f"{group}/etc/clustergen/{data}", values, values=True, per="os")
    yield File(f"{units}.service", unit, DAEMON_RELOAD)
    yield File(f"{units}.timer", unit, restart(f"{name}.timer"))
