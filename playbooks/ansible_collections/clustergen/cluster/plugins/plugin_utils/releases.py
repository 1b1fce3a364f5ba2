"""May the Slurm that is installed become the one that the tree is for, and on which nodes does it have to?"""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.plugin_utils.hosts import folded


def mpi_of(tree):
    """MpiDefault as the slurm.conf of a tree has it; `none` where it says nothing of it."""
    from clustergen.slurmconf import decode, parse

    for path, entry in tree.files.items():
        if entry.get("target") == "/etc/slurm/slurm.conf":
            lines = parse(decode(tree.content(path)), path)
            values = [pair.value for line in lines for pair in line.pairs[:1] if pair.key.lower() == "mpidefault"]
            return values[-1] if values else "none"
    return "none"


class Judgement:
    """wrong: why it must not be, one text per reason. behind: hosts with an older release. bare: hosts without Slurm.
    old: the releases that are left, in text.
    """

    def __init__(self):
        self.wrong = []
        self.behind = []
        self.bare = []
        self.old = []


def judge(versions, target, mixed_ok=False):
    """The judgement on `versions`, host → program → version, for the release `target` (`26.05`)."""
    from clustergen.catalogue import slurm
    from clustergen.catalogue.versions import SlurmRelease
    from clustergen.diff.release import path_between

    new = SlurmRelease(str(target))
    result = Judgement()
    by_release, unread = {}, []
    for host, programs in versions.items():
        if not programs:
            result.bare.append(host)
        for program, version in programs.items():
            try:
                by_release.setdefault(SlurmRelease(version), {}).setdefault(host, []).append(program)
            except ValueError:
                unread.append(f"{program} on {host}")
    if unread:
        result.wrong.append(f"no version could be read from {', '.join(unread[:5])}")
    for release, hosts in sorted(by_release.items()):
        where = f"Slurm {release} is on {folded(hosts)}"
        if release == new:
            continue
        if release > new:
            result.wrong.append(
                f"{where}, and the tree is for {new}: daemons of an older release read neither the state nor the database that a newer "
                f"one wrote. Set slurm.version to {release}, or restore both from before the upgrade"
            )
            continue
        result.behind += [host for host in hosts if host not in result.behind]
        result.old.append(str(release))
        if not slurm.accepts(new, release):
            way = path_between(release, new)
            through = (
                f"Upgrade through {', then '.join(str(step) for step in way[:-1])}: render and upgrade for each, then for {new}"
                if len(way) > 1
                else "No upgrade path is known"
            )
            takes = sorted(slurm.releases().get(new, frozenset()) - {new})
            messages = (
                f"it takes those of {' and '.join([', '.join(map(str, takes[:-1])), str(takes[-1])])}"
                if len(takes) > 1
                else ""
            )
            result.wrong.append(
                f"{where}, and {new} takes neither its messages, nor its state, nor its database ({messages or 'it is too old'}). {through}"
            )
    if len(result.old) > 1 and not mixed_ok and not result.wrong:
        hosts = "; ".join(f"{r} on {folded(h)}" for r, h in sorted(by_release.items()) if r != new)
        result.wrong.append(
            f"the nodes have several releases older than {new}: {hosts}. Upgrade them to one release first, or set -e cluster_mixed_ok=true"
        )
    return result
