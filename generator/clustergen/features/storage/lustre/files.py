"""Lustre clients: the mount, client parameters, default layouts of directories."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.storage.lustre import servers
from clustergen.features.storage.lustre.resolved import Component, Lustre, Striping
from clustergen.records import record
from clustergen.render.effects import Effect, run
from clustergen.render.file import Context, File, sbin
from clustergen.render.formats import Safe
from clustergen.render.mounts import MountUnit, Source, remote_mount
from clustergen.render.unit_names import mount_unit
from clustergen.units import Bytes


def mount_units(_: Cluster, entry: Lustre, __: NodeType) -> dict[str, MountUnit]:
    """One node of the MGS's failover group per colon; commas join the NIDs of one node."""
    return remote_mount(
        entry,
        Source(
            what=f"{':'.join(entry.mgs)}:/{entry.fsname}{entry.subdirectory.rstrip('/')}",
            kind="lustre",
            options=["flock", "noatime"],
            requires=["lnet.service"],
            timeout="5min",
            note="LNet cannot stop under a mounted client, so stopping it unmounts this file system first.",
        ),
    )


@record
class Parameters:
    """A oneshot that sets client parameters after each mount."""

    unit: str
    title: str
    mount: Safe
    settings: tuple[str, ...]  # NAME=VALUE


def parameters(_: Cluster, entry: Lustre) -> dict[str, Parameters] | None:
    if not entry.parameters:
        return None
    # max_mod_rpcs_in_flight must stay below max_rpcs_in_flight, which is therefore set before it.
    ordered = sorted(entry.parameters.items(), key=lambda item: item[0].endswith("max_mod_rpcs_in_flight"))
    settings = tuple(f"{key}={value}" for key, value in ordered)
    unit = f"clustergen-lustre-{entry.name}.service"
    title = f"Lustre client parameters of {entry.name}"
    return {entry.name: Parameters(unit, title, mount_unit(entry.mount), settings)}


def _run_parameters(view: Parameters) -> Effect:
    return run(view.unit)


@record
class Layout:
    """The default layout of a directory: words for `lfs setstripe`, and what `lfs getstripe` says of it then."""

    directory: str
    expected: str  # a part per component, with `;` between: end, stripes, stripe size, pool; `-` where left open
    words: str


def _size(size: Bytes) -> str:
    """A size as lfs takes it: its K, M and G are powers of 1024, and a bare number is bytes."""
    for letter, shift in (("G", 30), ("M", 20), ("K", 10)):
        if not size.value & ((1 << shift) - 1):
            return f"{size.value >> shift}{letter}"
    return str(size.value)


def _words(part: Component) -> list[str]:
    words = ["-E", _size(part.end) if part.end else "-1", "-c", str(part.stripes)]
    if part.stripe_size is not None:
        words += ["-S", _size(part.stripe_size)]
    if part.pool is not None:
        words += ["-p", part.pool]
    return words


def _expected(part: Component) -> str:
    end = str(part.end.value) if part.end else "EOF"
    size = str(part.stripe_size.value) if part.stripe_size is not None else "-"
    return f"{end} {part.stripes} {size} {part.pool or '-'}"


def _layout(striping: Striping) -> Layout:
    return Layout(
        directory=striping.directory,
        expected=";".join(map(_expected, striping.components)),
        words=" ".join(word for part in striping.components for word in _words(part)),
    )


def striping(_: Cluster, entry: Lustre) -> dict[str, Context] | None:
    """The values of clustergen-striping, which an administrator runs once."""
    if not entry.striping:
        return None
    return {entry.name: {"mount": entry.mount, "layouts": tuple(map(_layout, entry.striping))}}


def striping_program(cluster: Cluster) -> bool:
    return any(entry.striping for entry in cluster.entries(Lustre).values())


FILES: tuple[File, ...] = (
    *servers.FILES,
    File("mount/etc/systemd/system/clustergen-lustre-{name}.service", parameters, _run_parameters),
    sbin("lustre_client", "storage/clustergen-striping.sh", striping_program),
    File("mount/etc/clustergen/striping-{name}.sh", striping, values=True),
)
