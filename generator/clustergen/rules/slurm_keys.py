"""The escape hatches for Slurm's own keys, checked by release: is there such a key, and may it stand here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue import slurm, slurm_traps
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.base import OptionValue
from clustergen.rules.slurm_managed import NOT_FREE, derived_from, field_of
from clustergen.rules.slurm_values import findings, value
from clustergen.slurmrules import keys

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
    ("acct_gather.conf", ""): "slurm.acct_gather_options",
}


def hatches(cluster: Cluster) -> Iterator[Hatch]:
    """Path, file, block and options of each hatch."""
    written = cluster.manifest.slurm
    yield ("slurm", "options"), "slurm.conf", "", written.options
    yield ("slurm", "cgroup_options"), "cgroup.conf", "", written.cgroup_options
    yield ("slurm", "gres_options"), "gres.conf", "NodeName", written.gres_options
    yield ("slurm", "mpi_options"), "mpi.conf", "", written.mpi_options
    yield ("slurm", "acct_gather_options"), "acct_gather.conf", "", written.acct_gather_options
    yield ("slurm", "accounting", "options"), "slurmdbd.conf", "", written.accounting.options
    for name, partition in written.partitions.items():
        yield ("slurm", "partitions", name, "options"), "slurm.conf", "PartitionName", partition.options
    for name, kind in cluster.manifest.node_types.items():
        yield ("node_types", name, "slurm_options"), "slurm.conf", "NodeName", kind.slurm_options
    for index, entry in enumerate(cluster.manifest.nodes):
        yield ("nodes", index, "slurm_options"), "slurm.conf", "NodeName", entry.slurm_options


def own_lines(cluster: Cluster) -> Iterator[Finding]:
    """Lines that stand as the manifest gives them: the first key says what the others may be."""
    written = cluster.manifest.slurm
    places: tuple[tuple[ManifestPath, str, tuple[Mapping[str, OptionValue], ...]], ...] = (
        (("slurm", "lines"), "slurm.conf", written.lines),
        (("slurm", "gres_lines"), "gres.conf", written.gres_lines or ()),
        (("slurm", "topology", "lines"), "topology.conf", written.topology.lines),
    )
    for path, file, lines in places:
        for index, line in enumerate(lines):
            opening = next(iter(line), "")
            block = next((name for name in slurm.files()[file] if name.lower() == opening.lower()), None)
            if file == "gres.conf":
                block = "NodeName"
            for name, text in line.items():
                where: ManifestPath = (*path, index, name)
                known = slurm.key(file, name, "" if name == opening or block is None else block)
                if known is None:
                    yield _unknown(where, file, block or "", name)
                elif known.state(cluster.release) != "known":
                    yield from findings(where, keys.state(known, cluster.release))
                elif name != opening or block is None:
                    yield from value(cluster.release, where, known, text)


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
            yield from _option(cluster, where, file, block, name, text)


def _option(
    cluster: Cluster, path: ManifestPath, file: str, block: str, name: str, text: OptionValue
) -> Iterator[Finding]:
    release = cluster.release
    known = slurm.key(file, name, block)
    free = cluster.bare and (known is None or known.key not in NOT_FREE)  # slurm.defaults: slurm
    if known is None:
        yield _unknown(path, file, block, name)
    elif (field := field_of(file, block, name)) and not free:
        yield Finding(
            "slurm-key-managed", path, f"the manifest has a field for '{known.key}'", f"write {field}", key=True
        )
    elif (origin := derived_from(file, block, name)) and not free:
        yield Finding(
            "slurm-key-managed", path, f"'{known.key}' is written by clustergen", f"it follows from {origin}", key=True
        )
    elif known.state(release) != "known":
        yield from findings(path, keys.state(known, release))
    else:
        yield from value(release, path, known, text)


def _unknown(path: ManifestPath, file: str, block: str, name: str) -> Finding:
    never = slurm_traps.never_there(name)
    hint = never.manifest if never else did_you_mean(name, [key.key for key in slurm.keys(file, block)])
    if hint is None:
        homes = [(f, b) for f, b in _HATCH_OF if slurm.key(f, name, b) is not None]
        if homes:
            place = field_of(*homes[0], name) or _HATCH_OF[homes[0]]
            hint = f"it is a key of {'a ' + homes[0][1] + ' line' if homes[0][1] else homes[0][0]}: write {place}"
    return next(findings(path, [keys.unknown(file, block, name, hint)]))


RULES = (options, own_lines)
