"""Files and directories that daemons write: their own, on every node that writes them, and kept over a boot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clustergen.catalogue.system_paths import is_below, is_listed, nearest, plain
from clustergen.cluster.contributions import Use, WrittenPath
from clustergen.cluster.directories import (
    CLOSED,
    COPIES,
    JOBS_LOG,
    LOG,
    MEASURED,
    PID,
    SCRATCH,
    SLURMD_LOG,
    SPOOL,
    STATE,
    has_node_name,
    log_of,
    of_slurm_user,
    paths_of,
    refusal,
    writers,
)
from clustergen.cluster.entry import Entry
from clustergen.cluster.exports import serves
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.named_rows import has_scratch_disk
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.keys.table import settings_of
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics import Finding
from clustergen.manifest.base import OptionValue

_OF_SLURM: Mapping[str, tuple[Use, str]] = {
    "statesavelocation": (STATE, ""),
    "slurmdspooldir": (SPOOL, ""),
    "slurmctldlogfile": (LOG, "slurmctld"),
    "slurmdlogfile": (SLURMD_LOG, "slurmd"),
    "slurmschedlogfile": (LOG, "the scheduler"),
    "slurmctldpidfile": (PID, "slurmctld"),
    "slurmdpidfile": (PID, "slurmd"),
    "jobcomploc": (JOBS_LOG, ""),
    "tmpfs": (MEASURED, ""),
    "bcastparameters": (COPIES, ""),
}
_OF_SLURMDBD: Mapping[str, tuple[Use, str]] = {"logfile": (LOG, "slurmdbd"), "pidfile": (PID, "slurmdbd")}


def written_paths(cluster: Cluster) -> Iterator[Finding]:
    for entry in paths_of(cluster):
        yield from _findings(entry)


def written_options(cluster: Cluster, slurm: Slurm) -> Iterator[Finding]:
    """The same of passthrough options. Directories that others use too are fine there: the tree does not own them."""
    for section, keys, options in (
        (("slurm", "options"), _OF_SLURM, slurm.options),
        (("slurm", "accounting", "options"), _OF_SLURMDBD, cluster.of(Accounting).options),
    ):
        for key, value in options.items():
            text = _path_in(key, value)
            if key.lower() in keys and text.startswith("/") and not _is_for_all(text):
                yield from _findings(WrittenPath((*section, key), text, *keys[key.lower()]))


def _path_in(key: str, value: OptionValue) -> str:
    """The path in an option's value: of a list of words, that of DestDir."""
    text = str(value)
    if key.lower() != "bcastparameters":
        return text
    words = (word.strip().partition("=") for word in text.split(","))
    return next((path for name, _, path in words if name.lower() == "destdir"), "")


def _is_for_all(path: str) -> bool:
    return is_listed(path) and nearest(path).kind not in CLOSED


def _findings(entry: WrittenPath) -> Iterator[Finding]:
    if reason := refusal(entry.use, entry.path, entry.name):
        yield Finding(reason.code, entry.at, reason.message, reason.hint)


def overlaps(cluster: Cluster) -> Iterator[Finding]:
    """Scratch and private directories are emptied after each job, and each program needs a directory of its own."""
    combined = any(group.has("slurm-controller") and group.has("slurm-compute") for group in cluster.groups)
    places = [*paths_of(cluster), *_defaults(cluster)]
    for number, place in enumerate(places):
        for other in (*places[:number], *places[number + 1 :]):
            is_private = place.use.is_of_jobs and other.use is not SCRATCH
            if place.use is SCRATCH or is_private or (place.use is SPOOL and combined and other.use is STATE):
                yield from _overlap(other, place)
        for other in places[:number]:
            if all(one.use.role == "slurm-compute" and not one.use.is_of_jobs for one in (place, other)):
                yield from _overlap(other, place)


_FOR_ROOT = {
    SLURMD_LOG: SLURMD_LOG.example.format(name="slurmd"),
    PID: "/run/slurmd/slurmd.pid",
    SPOOL: "/var/spool/slurmd",
}
"""Paths of slurmd in a directory of root."""


def path_of_slurm_user(cluster: Cluster, _: Slurm) -> Iterator[Finding]:
    """slurmd is root and follows links: SlurmUser could make it write to any file."""
    directories, state = sorted(of_slurm_user(cluster)), cluster.slurm.state_location
    for entry in _all_paths(cluster):
        use, name = entry.use, entry.name
        inside = next((directory for directory in directories if is_below(plain(entry.path), directory)), None)
        if use is SPOOL and inside == plain(state):
            continue  # path-overlap
        if inside and use in _FOR_ROOT and name in ("slurmd", ""):
            message = f"{use.noun.format(name=name)} is in {inside}, which belongs to SlurmUser"
            reason = "slurmd, as root, would follow a link that SlurmUser puts there"
            yield Finding(
                "path-of-slurm-user",
                entry.at,
                f"{message}: {reason}",
                f"write a path of its own, such as {_FOR_ROOT[use]}",
            )


def _all_paths(cluster: Cluster) -> Iterator[WrittenPath]:
    """The paths in fields, and in passthrough options of slurm.conf."""
    yield from paths_of(cluster)
    for place, row in settings_of(cluster, "slurm.conf").options():
        path, use = _path_in(row.key, row.value), _OF_SLURM.get(row.key.lower())
        if use and path.startswith("/"):
            yield WrittenPath(place, path, *use)


def _defaults(cluster: Cluster) -> Iterator[WrittenPath]:
    """Paths that the manifest leaves to clustergen."""
    if not cluster.has(Slurm):
        return
    slurm = cluster.slurm
    if not slurm.state_location_at:
        yield WrittenPath(("slurm",), slurm.state_location, STATE)
    for name, daemon in slurm.daemons.items():
        if not daemon.log_file_at:
            yield WrittenPath(("slurm",), daemon.log_file, log_of(name), name)


def _overlap(other: WrittenPath, inner: WrittenPath) -> Iterator[Finding]:
    """`inner` is the one that is reported."""
    use, inner_use, path = other.use, inner.use, inner.at
    place, inner_place = plain(other.path), plain(inner.path)
    noun, what = use.noun.format(name=other.name), inner_use.noun
    hint = f"write a path of its own, such as {inner_use.example}"
    if is_below(place, inner_place) and inner_use is SCRATCH:
        message = f"{noun}, at {place}, is in job scratch, where jobs write and the epilog deletes directories"
        yield Finding("path-overlap", path, message, hint)
    elif is_below(inner_place, place) and use.is_directory:
        yield Finding("path-overlap", path, f"{what} is in {place}, which holds {noun}", hint)
    elif is_below(place, inner_place):
        yield Finding("path-overlap", path, f"{noun}, at {place}, is in {what}", hint)


def mounted(cluster: Cluster) -> Iterator[Finding]:
    """Paths below a mount point: the nodes that write there mount it, in time, and do not share what is their own."""
    for place in _all_paths(cluster):
        path, use, name, text = place.at, place.use, place.name, place.path
        entries = {key: entry for key, entry in cluster.storage.items() if is_below(plain(text), plain(entry.mount))}
        role = writers(use, name)
        groups = cluster.with_role(role) if entries and role else ()
        noun = use.noun.format(name=name)
        lacking = [group for group in groups if not any(_has(cluster, group, entry) for entry in entries.values())]
        if lacking and (use is not STATE or len(cluster.slurm.controllers) == 1):  # of two: state-not-shared
            key, entry = next(iter(entries.items()))
            message = f"{noun} is below {entry.mount}, where {lacking[0].folded} does not mount '{key}'"
            yield Finding("path-not-mounted", path, message, _mount_hint(cluster, place, lacking, entry))
            continue
        hosts = sum(len(group.hosts) for group in groups)
        for key, entry in entries.items():
            if use.is_private and not entry.required and any(_has(cluster, group, entry) for group in groups):
                message = f"{noun} is below {entry.mount}, and slurmd may start before '{key}' is mounted there"
                yield Finding("path-not-mounted", path, message, f"remove required: false of storage.{key}")
            is_own = use.is_private or name == "slurmd"
            if is_own and entry.is_shared and hosts > 1 and not has_node_name(use, name, text):
                message = f"{noun} is on '{key}', a file system that {hosts} nodes share, and each needs its own"
                named = use.per_node or name == "slurmd"
                hint = "use a local path" + (", or add %n to it" if named else f", such as {use.example}")
                yield Finding("path-shared", path, message, hint)


def _mount_hint(cluster: Cluster, place: WrittenPath, lacking: Sequence[NodeGroup], entry: Entry) -> str:
    """Mounts it on the other nodes too, but for a disk that a node type among them does not list."""
    role = writers(place.use, place.name)
    if not entry.is_shared and not all(has_scratch_disk(cluster, group.type) for group in lacking):
        example = place.use.example.format(name=place.name)
        if is_below(example, entry.mount):
            example = "/srv/jobs" if place.use.is_of_jobs else "/tmp"
        return f"write a path that all its nodes have, such as {example}"
    if role not in entry.clients:
        return f"add {role} to storage.{entry.name}.clients"
    return f"add {', '.join(dict.fromkeys(group.type.name for group in lacking))} to storage.{entry.name}.node_types"


def _has(cluster: Cluster, group: NodeGroup, entry: Entry) -> bool:
    """True if the file system is mounted on these nodes, be it by its server itself."""
    return group.is_client(entry) or serves(cluster, group, entry)
