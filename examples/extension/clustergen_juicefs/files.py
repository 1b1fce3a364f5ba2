"""Files of JuiceFS clients: the mount, and the password of the metadata engine."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.records import record
from clustergen.render.effects import Effect, remount
from clustergen.render.file import File
from clustergen.render.mounts import MountUnit, Source, remote_mount
from clustergen.render.unit_names import mount_unit
from clustergen_juicefs.resolved import JuiceFs


def mount_units(_: Cluster, entry: JuiceFs, __: NodeType) -> dict[str, MountUnit]:
    options = [f"cache-dir={entry.cache}", f"cache-size={entry.cache_mib}", f"metrics=0.0.0.0:{entry.port}"]
    return remote_mount(entry, Source(what=entry.metadata, kind="juicefs", options=options))


@record
class Environment:
    """Drop-in of a mount unit: the file with META_PASSWORD."""

    unit: str
    file: str


def environment(_: Cluster, entry: JuiceFs) -> dict[str, Environment] | None:
    if entry.secret is None:
        return None
    unit = str(mount_unit(entry.mount))
    return {unit.removesuffix(".mount"): Environment(unit, entry.secret.path)}


def _remount(view: Environment) -> Effect:
    return remount(view.unit)


FILES = (File("mount/etc/systemd/system/{unit}.mount.d/50-juicefs.conf", environment, _remount),)
