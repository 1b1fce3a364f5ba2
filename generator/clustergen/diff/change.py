"""One change of a file: what it was, what it is, and what that takes."""

from __future__ import annotations

from collections.abc import Iterable

from clustergen import hostlist
from clustergen.catalogue import slurm, slurm_effects, slurm_jobs
from clustergen.catalogue.slurm_jobs import AffectedJobs
from clustergen.catalogue.versions import SlurmRelease
from clustergen.hostlist import HostlistError, contains
from clustergen.records import record, replace
from clustergen.render.effects import NONE, Effect, read

KINDS = {
    "NodeName": "node",
    "PartitionName": "partition",
    "SwitchName": "switch",
    "BlockName": "block",
    "NodeSet": "node set",
    "DownNodes": "down nodes",
}
"""Key that opens a line → what the line is about."""


@record
class Change:
    """One difference of meaning between two files of the same path on a node."""

    file: str
    """The path on the node; an included file counts as the one that includes it."""
    kind: str
    """`key` for a line of its own, `node`, `partition`, `gres`, `switch`, `plugin` …; of files that are not Slurm's,
    `setting` for one of their settings and `file` for all of it; `packages`, `unit`.
    """
    effects: tuple[Effect, ...]
    """All that it takes; the first is what the change is called by."""
    reason: str
    name: str = ""
    """Which node (a folded host list), partition, gres …; empty for `key` and `file`."""
    key: str = ""
    """The key in the catalogue's spelling; empty: `name` as a whole was added or removed."""
    old: str | None = None
    """None where there was nothing; else the text, or the default that counted in its place."""
    new: str | None = None
    nodes: str | None = None
    """The nodes that it is about, folded; None for all."""
    everywhere: bool = False
    """True: every slurmd takes part in a restart, not only those of `nodes`."""
    source: str = ""
    row: str = ""
    """The row of slurm_effects.tsv that decides; empty where none does."""
    waiting: tuple[AffectedJobs, ...] = ()
    """Pending jobs that it leaves waiting."""
    running: tuple[AffectedJobs, ...] = ()
    """Running jobs that it may end, or treats otherwise from then on."""
    is_known: bool = True
    """False where nobody measured or documented what it does."""

    @property
    def is_beside_slurm(self) -> bool:
        """True if it is about packages, a unit, or a file that Slurm does not read as configuration."""
        return self.kind in ("file", "setting", "packages", "unit")

    @property
    def sign(self) -> str:
        """`+` for what comes, `-` for what goes, `~` for what is another one."""
        is_other = (self.old is None) == (self.new is None)
        return "~" if is_other else "+" if self.old is None else "-"

    @property
    def effect(self) -> Effect:
        return self.effects[0]

    @property
    def severity(self) -> int:
        """Larger is worse for running jobs."""
        return max(effect.severity for effect in self.effects)

    def touches(self, host: str) -> bool:
        """True if it is about that node."""
        if self.nodes is None:
            return True
        try:
            return contains(self.nodes, host)
        except HostlistError:  # a name that is no host's in a file that Slurm refuses
            return self.nodes == host


def changed(
    release: SlurmRelease,
    file: str,
    block: str,
    key: str,
    old: str | None,
    new: str | None,
    *,
    kind: str = "",
    name: str = "",
    nodes: str | None = None,
    what: Iterable[str] = (),
) -> Change:
    """The change with what the catalogue says about it. Of several words in `what` the worst counts."""
    base = file.rpartition("/")[2]
    kind = kind or KINDS.get(block, "key")
    row = slurm.key(base, key, block) if key else None
    without_effect = Change(
        file=file, kind=kind, effects=(NONE,), reason="", name=name, key=key, old=old, new=new, nodes=nodes
    )
    if row is not None and row.state(release) == "defunct":
        reason = f"the key has had no effect since Slurm {row.defunct}"
        return replace(without_effect, reason=reason, source=row.source)
    if row is not None and row.stops(release) and new is not None:
        reason = f"every daemon and command of Slurm {release} stops at this key: remove it"
        refused = (Effect("refuse"),)
        return replace(without_effect, effects=refused, reason=reason, everywhere=True, source=row.source)
    label = key if key or kind != "key" else block  # a line that its first key alone names
    what = tuple(what)
    words = [word for word in what if ">" not in word] or [""]  # OLD>NEW is for the tables of jobs
    effects_of_words = [slurm_effects.effect(base, key, release, block, word) for word in words]
    worst = max(effects_of_words, key=lambda effect: max(read(word).severity for word in effect.effect))
    effects = tuple(read(word.replace("{old}", old or "")) for word in worst.effect)
    waiting, running = (
        tuple(
            jobs._replace(text=jobs.text.format(name=name, old=old or "none", new=new or "none"))
            for jobs in affected(base, key, release, block, what)
        )
        for affected in (slurm_jobs.waiting, slurm_jobs.running)
    )
    return replace(
        without_effect,
        key=label,
        effects=effects,
        everywhere=worst.is_everywhere,
        reason=worst.note.replace("{old}", old or "").replace("{new}", new or ""),
        source=worst.page,
        row=worst.name,
        waiting=waiting,
        running=running,
        is_known=not key or worst.file != "*" or slurm_effects.how_known(base, key, release, block) != "unknown",
    )


def folded(names: Iterable[str]) -> str:
    """The names in natural order as one host list in the form of Slurm 23.11."""
    return hostlist.folded(names, suffixes=True)
