"""Compute nodes that bring themselves to the tree: ansible-pull from git, by a timer."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import textfile
from clustergen.features.pull.resolved import GROUP, TEXTFILE, Pull
from clustergen.records import copied, record
from clustergen.render.file import Context, File
from clustergen.render.timers import timed

_SCRIPT = "/usr/local/sbin/clustergen-pull"
_SIGNERS = "/etc/clustergen/pull-signers"
_STATE = "clustergen-pull"


@record
class Values:
    """The program's. `signed`: only signed commits are accepted; `metrics_file`: empty without an exporter."""

    url: str
    branch: str
    directory: str
    library: str
    programs: str
    signed: bool
    max_age_seconds: int
    metrics_file: str


@record
class PullUnit:
    """`interval` and `delay` in seconds."""

    script: str
    state: str
    interval: int
    delay: int


def values(cluster: Cluster, os: OperatingSystem, pull: Pull) -> Values:
    return copied(
        Values,
        pull,
        url=pull.repository,
        signed=bool(pull.signers),
        metrics_file=textfile(cluster, os, TEXTFILE),
        max_age_seconds=pull.max_age_s,
    )


def unit(_: Cluster, pull: Pull) -> PullUnit:
    interval = pull.interval_s
    return PullUnit(_SCRIPT, _STATE, interval, interval // 2)


def signers(cluster: Cluster) -> Context | None:
    return {"keys": keys} if cluster.has(Pull) and (keys := cluster.of(Pull).signers) else None


def playbook(cluster: Cluster) -> bool:
    return cluster.has(Pull)


FILES = (
    *timed(GROUP, "pull/clustergen-pull.sh", values, unit),
    File(f"{GROUP}{_SIGNERS}", signers),
    File("tree/pull.yml", playbook),
)
TARGETS = tuple(f"/{file.path}" for file in FILES if file.scope == GROUP)
"""Files that a node needs for its first run."""
