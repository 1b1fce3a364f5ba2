"""The escape hatches for Slurm's own keys, checked by release: is there such a key, and may it stand here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.base import OptionValue
from clustergen.rules.slurm_managed import NEVER_THERE, derived_from, field_of
from clustergen.rules.slurm_values import value

Hatch = tuple[ManifestPath, str, str, Mapping[str, OptionValue]]

# (file, block) → where its keys go.
_HATCH_OF = {
    ("slurm.conf", ""): "slurm.options",
    ("slurm.conf", "NodeName"): "slurm_options of a node type",
    ("slurm.conf", "PartitionName"): "options of a partition",
    ("cgroup.conf", ""): "slurm.cgroup_options",
    ("gres.conf", "NodeName"): "slurm.gres_options",
    ("mpi.conf", ""): "slurm.mpi_options",
    ("slurmdbd.conf", ""): "slurm.accounting.options",
}


def hatches(cluster: Cluster) -> Iterator[Hatch]:
    """Path, file, block and options of each hatch."""
    written = cluster.manifest.slurm
    yield ("slurm", "options"), "slurm.conf", "", written.options
    yield ("slurm", "cgroup_options"), "cgroup.conf", "", written.cgroup_options
    yield ("slurm", "gres_options"), "gres.conf", "NodeName", written.gres_options
    yield ("slurm", "mpi_options"), "mpi.conf", "", written.mpi_options
    yield ("slurm", "accounting", "options"), "slurmdbd.conf", "", written.accounting.options
    for name, partition in written.partitions.items():
        yield ("slurm", "partitions", name, "options"), "slurm.conf", "PartitionName", partition.options
    for name, kind in cluster.manifest.node_types.items():
        yield ("node_types", name, "slurm_options"), "slurm.conf", "NodeName", kind.slurm_options


def options(cluster: Cluster) -> Iterator[Finding]:
    for path, file, block, given in hatches(cluster):
        seen: dict[str, str] = {}
        for name, text in given.items():
            where: ManifestPath = (*path, name)
            if name.lower() in seen:
                yield Finding(
                    "slurm-key-twice",
                    where,
                    f"'{name}' and '{seen[name.lower()]}' are one key to Slurm, which does not mind the case",
                    key=True,
                )
                continue
            seen[name.lower()] = name
            yield from _option(cluster.release, where, file, block, name, text)


def _option(
    release: SlurmRelease, path: ManifestPath, file: str, block: str, name: str, text: OptionValue
) -> Iterator[Finding]:
    known = slurm.key(file, name, block)
    if known is None:
        yield _unknown(path, file, block, name)
    elif field := field_of(file, block, name):
        yield Finding(
            "slurm-key-managed", path, f"the manifest has a field for '{known.key}'", f"write {field}", key=True
        )
    elif origin := derived_from(file, block, name):
        yield Finding(
            "slurm-key-managed", path, f"'{known.key}' is written by clustergen", f"it follows from {origin}", key=True
        )
    elif (state := known.state(release)) != "known":
        yield _gone(path, known, release, state)
    else:
        yield from value(release, path, known, text)


def _unknown(path: ManifestPath, file: str, block: str, name: str) -> Finding:
    what = f"a {block} line of {file}" if block else file
    hint = NEVER_THERE.get(name.lower()) or did_you_mean(name, [key.key for key in slurm.keys(file, block)])
    if hint is None:
        homes = [(f, b) for f, b in _HATCH_OF if slurm.key(f, name, b) is not None]
        if homes:
            place = field_of(*homes[0], name) or _HATCH_OF[homes[0]]
            hint = f"it is a key of {'a ' + homes[0][1] + ' line' if homes[0][1] else homes[0][0]}: write {place}"
    return Finding(
        "slurm-key-unknown",
        path,
        f"{what} has no key '{name}' in any release, and no daemon or command of Slurm starts with it",
        hint,
        key=True,
    )


def _gone(path: ManifestPath, known: slurm.SlurmKey, release: SlurmRelease, state: str) -> Finding:
    if state == "too-new":
        return Finding(
            "slurm-key-too-new",
            path,
            f"'{known.key}' exists from Slurm {known.since} on; {release} does not start with it",
            key=True,
        )
    if state == "defunct":
        return Finding(
            "slurm-key-defunct",
            path,
            f"'{known.key}' has had no effect since Slurm {known.defunct}; {release} logs an error for it",
            _instead(known),
            key=True,
        )
    since = known.refused if state == "refused" else known.removed
    return Finding(
        "slurm-key-removed",
        path,
        f"'{known.key}' was removed in Slurm {since}; {release} does not start with it",
        _instead(known),
        key=True,
    )


def _instead(known: slurm.SlurmKey) -> str:
    """What took the place of a key that is gone."""
    if known.note and "=" in known.note:
        return f"write {known.note}"
    if known.instead:
        return f"write {known.instead}"
    return known.note or "delete it"


RULES = (options,)
