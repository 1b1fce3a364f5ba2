"""UCX and Open MPI: names of UCX, and values that their files can contain."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.nccl import ucx_params
from clustergen.cluster.environment import unprintable
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.features.ucx.resolved import Ucx

LINE = 198  # characters of a line that UCX keeps; it takes the rest for another line


def ucx_env(cluster: Cluster) -> Iterator[Finding]:
    for name, value in cluster.of(Ucx).env.items():
        path: ManifestPath = ("ucx", "env", name)
        if not name.startswith("UCX_"):
            home = "nccl.env" if name.startswith("NCCL_") else None
            yield Finding(
                "ucx-name-unknown",
                path,
                f"'{name}' is not a UCX variable",
                f"set NCCL variables in {home}" if home else did_you_mean(f"UCX_{name}", ucx_params()),
                key=True,
            )
        elif wrong := unprintable(value) or _cut_by_ucx(name, value):
            yield Finding("ucx-value-wrong", path, wrong)
    for name, value in cluster.of(Ucx).mca.items():
        if wrong := unprintable(value):
            yield Finding("ucx-value-wrong", ("ucx", "mca", name), wrong)


def _cut_by_ucx(name: str, value: str) -> str | None:
    if " ;" in value:
        return "UCX reads a semicolon after a blank as the start of a comment"
    length = len(f"{name}={value}".encode())
    return f"UCX reads {LINE} characters of a line; this line has {length}" if length > LINE else None
