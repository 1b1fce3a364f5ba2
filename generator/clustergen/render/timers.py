"""Programs of ours that a timer of their nodes runs."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster, asked
from clustergen.render.effects import DAEMON_RELOAD, restart
from clustergen.render.file import Context, File, View


def timed(group: str, program: str, values: View) -> Iterator[File]:
    """The rows of a program of `programs/`, its values per operating system, and the timer that runs it."""
    name, _, kind = program.rpartition("/")[2].partition(".")
    script, units = f"/usr/local/sbin/{name}", f"{group}/etc/systemd/system/{name}"
    data = f"{name.removeprefix('clustergen-')}.{'json' if kind == 'py' else 'sh'}"

    def unit(cluster: Cluster) -> Context | None:
        return {"script": script} if asked(values, cluster, cluster.os) else None

    yield File(f"{group}{script}", unit, mode=0o755, program=program)
    yield File(f"{group}/etc/clustergen/{data}", values, values=True, per="os")
    yield File(f"{units}.service", unit, DAEMON_RELOAD)
    yield File(f"{units}.timer", unit, restart(f"{name}.timer"))
