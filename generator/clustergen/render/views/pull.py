"""Compute nodes that bring themselves to the tree: ansible-pull from git, by a timer."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, restart
from clustergen.render.file import File
from clustergen.render.formats import SHELL
from clustergen.render.views.alerts.pull import TEXTFILE
from clustergen.render.views.exporters import node_exporter
from clustergen.render.views.fixed import Fixed

SECRETS = "/etc/clustergen/secrets.yml"
"""Variables of a node that no repository holds: `secrets_given`."""
_SCRIPT = "/usr/local/sbin/clustergen-pull"
_SIGNERS = "/etc/clustergen/pull-signers"
_STATE = "clustergen-pull"


@record
class PullRun:
    """The script. `signers`: file of keys, empty without; `max_age`: seconds; `metrics`: empty without an exporter."""

    url: str
    branch: str
    directory: str
    library: str
    programs: str
    state: str
    secrets: str
    signers: str
    max_age: int
    metrics: str


@record
class PullUnit:
    """`interval` and `delay` in seconds."""

    script: str
    state: str
    interval: int
    delay: int


@record
class Signers:
    keys: tuple[str, ...]


def script(cluster: Cluster, os: OperatingSystem) -> PullRun | None:
    spec = cluster.manifest.ansible.pull
    if spec is None:
        return None
    textfiles = os.fact("node_exporter_textfile_dir") if node_exporter(cluster, os) else ""
    return PullRun(
        url=spec.repository,
        branch=spec.branch,
        directory=spec.directory,
        library=spec.library,
        programs=spec.programs,
        state=f"/var/lib/{_STATE}",
        secrets=SECRETS,
        signers=_SIGNERS if spec.signers else "",
        max_age=spec.max_age,
        metrics=f"{textfiles}/{TEXTFILE}" if textfiles else "",
    )


def unit(cluster: Cluster) -> PullUnit | None:
    spec = cluster.manifest.ansible.pull
    return PullUnit(_SCRIPT, _STATE, spec.interval, spec.interval // 2) if spec else None


def signers(cluster: Cluster) -> Signers | None:
    spec = cluster.manifest.ansible.pull
    return Signers(spec.signers) if spec and spec.signers else None


def playbook(cluster: Cluster) -> Fixed | None:
    return Fixed() if cluster.manifest.ansible.pull else None


_UNIT = "pull_node/etc/systemd/system/clustergen-pull"
FILES = (
    File(f"pull_node{_SCRIPT}", script, mode=0o755, per="os", format=SHELL),
    File(f"pull_node{_SIGNERS}", signers),
    File(f"{_UNIT}.service", unit, DAEMON_RELOAD),
    File(f"{_UNIT}.timer", unit, restart("clustergen-pull.timer")),
    File("tree/pull.yml", playbook),
)
TARGETS = tuple(f"/{file.path}" for file in FILES if file.scope == "pull_node")
"""What a node needs for its first run."""
