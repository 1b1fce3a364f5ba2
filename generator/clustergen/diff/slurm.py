"""Slurm's files of one host, before and after: what differs in meaning, and what is to be done for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from posixpath import dirname, join, normpath

from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.change import Change
from clustergen.diff.conditions import Conditions
from clustergen.diff.documents import plugins, scripts, whole_file, yaml_file
from clustergen.diff.gres import gres
from clustergen.diff.lines import Sides
from clustergen.diff.nodes import Nodes, nodes
from clustergen.diff.partitions import partitions
from clustergen.diff.plain import plain
from clustergen.diff.topology import topology
from clustergen.records import replace
from clustergen.regular_file import reason_of
from clustergen.render.effects import NONE, Effect
from clustergen.slurmconf import read_config
from clustergen.slurmconf.bounds import refuse_too_many_nodes, refuse_too_much
from clustergen.slurmconf.config import Config

_WHOLE = ("/slurm.conf", "/slurmdbd.conf")
"""Where one of these comes or goes, the host begins or ends to be something; the lines of it say no more."""


def slurm_changes(
    old: Mapping[str, str],
    new: Mapping[str, str],
    release: SlurmRelease,
    *,
    old_release: SlurmRelease | None = None,
) -> tuple[Change, ...]:
    """Differences in meaning, the worst first. Never raises for the contents of the files.

    `old` and `new`: path on the node (`/etc/slurm/slurm.conf`) → text, of one host; a file that is not there is not in
    the mapping. `release` is that of the new files, and of the old ones too where `old_release` is not given.
    """
    before, after = _Host(old, old_release or release), _Host(new, release)
    changes: list[Change] = []
    mains = dict.fromkeys(path for path in (*before.mains(), *after.mains()))
    for path in mains:
        if before.serves(path) == after.serves(path) or path.endswith(_WHOLE):
            changes += _compared(path, before, after)
    included = before.included | after.included
    rest: dict[str, tuple[str | None, str | None]] = {}
    for path in sorted({*old, *new}):
        if path in mains or normpath(path) in included or old.get(path) == new.get(path):
            continue
        name = path.rpartition("/")[2]
        previous, current = old.get(path), new.get(path)
        if name == "plugstack.conf" or "/plugstack.conf.d/" in path:
            changes += plugins(path, previous or "", current or "", release)
        elif name in ("topology.yaml", "namespace.yaml"):
            changes += yaml_file(path, previous or "", current or "", release)
        else:
            rest[path] = previous, current
    changes += scripts(rest)
    return tuple(sorted(changes, key=lambda change: -change.severity))


def conditions_of(files: Mapping[str, str], release: SlurmRelease) -> Conditions:
    """Of the slurm.conf among the files of a host, as `slurm_changes` takes them."""
    host = _Host(files, release)
    main = next((path for path in host.mains() if path.endswith("/slurm.conf")), "slurm.conf")
    return Conditions(host.config(main), release)


class _Host:
    """The files of one side; `included` fills as they are read."""

    def __init__(self, files: Mapping[str, str], release: SlurmRelease) -> None:
        self.files = {normpath(path): text for path, text in files.items()}
        self.release = release
        self.included: set[str] = set()
        self.unread: dict[str, tuple[str, ...]] = {}
        """Main file → what of it nobody could read, as Slurm would not."""
        self._configs: dict[str, Config] = {}
        self._nodes: dict[str, Nodes] = {}

    def mains(self) -> Iterator[str]:
        """Files with keys of the catalogue; slurm.conf first, since it says which files are included."""
        paths = [path for path in sorted(self.files) if slurm.key_tables(path.rpartition("/")[2]) is not None]
        yield from sorted(paths, key=lambda path: not path.endswith("/slurm.conf"))

    def serves(self, path: str) -> bool:
        """True if a slurm.conf stands beside it; where that comes or goes, its neighbours say no more."""
        return join(dirname(path), "slurm.conf") in self.files

    def config(self, path: str) -> Config:
        if path not in self._configs:
            self._configs[path] = self._read(path)
        return self._configs[path]

    def nodes(self, path: str) -> Nodes:
        if path not in self._nodes:
            self._nodes[path] = Nodes(self.config(path))
        return self._nodes[path]

    def _read(self, path: str) -> Config:
        name = path.rpartition("/")[2]
        if path not in self.files:
            return Config(name, [])
        directory = dirname(path)

        def read(include: str) -> bytes:
            place = normpath(join(directory, include))
            if place not in self.files:
                raise FileNotFoundError(2, "there is no such file")
            if place != path:
                self.included.add(place)
            return self.files[place].encode("utf-8", "surrogateescape")

        tables = slurm.key_tables(name)
        relative = self.release.has("include-beside-includer")
        try:
            config = Config(name, read_config(path, read, key_tables=tables, beside_includer=relative))
            refuse_too_much(config)
            if name == "slurm.conf":
                refuse_too_many_nodes(config)
        except OSError as err:  # too much to compare by meaning, so the texts decide whether it is the same
            self.unread[path] = (reason_of(err), *(self.files[one] for one in sorted({path, *self.included})))
            return Config(name, [])
        wrong = (problem.message for line in config.lines for problem in line.problems if problem.kind.fatal)
        self.unread[path] = tuple(wrong)
        return config


def _compared(path: str, before: _Host, after: _Host) -> Iterator[Change]:
    name = path.rpartition("/")[2]
    previous, current = before.files.get(path), after.files.get(path)
    if path.endswith(_WHOLE) and (previous is None or current is None):
        yield whole_file(path, previous, current, after.release, what="added" if previous is None else "removed")
        before.config(path), after.config(path)  # what they include is part of them
        return
    sides = Sides(path, before.config(path), after.config(path), before.release, after.release)
    if before.unread.get(path, ()) != after.unread.get(path, ()):
        yield whole_file(path, previous, current, after.release)
    if name == "slurm.conf":
        old, new = before.nodes(path), after.nodes(path)
        conditions = Conditions(after.config(path), after.release)
        for changes in (
            plain(sides, leave=frozenset(("nodename", "partitionname"))),
            nodes(sides, old, new),
            partitions(sides, old, new, conditions.words("ReconfigFlags")),
        ):
            for change in changes:
                yield replace(change, running=conditions.of(change.running)) if change.running else change
    elif name == "gres.conf":
        beside = join(dirname(path), "slurm.conf")
        common_nodes = None
        if beside in before.files and beside in after.files:
            current_nodes = after.nodes(beside).line_of
            common_nodes = [node for node in before.nodes(beside).line_of if node in current_nodes]
        yield from gres(sides, common_nodes)
    elif name == "topology.conf":
        yield from plain(sides, leave=frozenset(("switchname", "blockname")))
        yield from topology(sides)
    else:
        yield from plain(sides)


_CONTROLLER, _COMPUTE, _ACCOUNTING = "slurm_controller", "slurm_compute", "slurm_accounting"
_OF_DAEMONS: Mapping[str, Collection[str]] = {
    "reconfigure": (_CONTROLLER,),  # only one of them has to act
    "cancel-jobs": (_CONTROLLER,),
    "restart-slurmctld": (_CONTROLLER,),
    "new-cluster-id": (_CONTROLLER,),
    "move-state": (_CONTROLLER,),
    "restart-slurmdbd": (_ACCOUNTING,),
    "refuse": (_CONTROLLER, _COMPUTE, _ACCOUNTING),
}
"""Groups whose hosts have an effect, whichever nodes a change is about."""
_OF_NODES = ("restart-slurmd", "drain", "vacate")
"""Effects on compute nodes alone, of those that a change is about."""
_BOTH = (Effect("restart-slurmctld"), Effect("restart-slurmd"))


def effects_on(changes: Collection[Change], host: str, roles: Collection[str]) -> tuple[Effect, ...]:
    """The effects of the changes on one host, in order of harm, each once.

    `roles`: the host's roles, or groups of the inventory. Where all daemons restart anyway, none has to reconfigure.
    In a configless cluster the changes are those of the controller's files, for all hosts.
    """
    groups = {role.replace("-", "_") for role in roles}
    effects = {
        part
        for change in changes
        for effect in change.effects
        for part in (_BOTH if effect.kind == "restart-slurm" else (effect,))
        if _reaches(change, part.kind, host, groups)
    }
    effects.discard(NONE)
    if any(change.everywhere and Effect("restart-slurm") in change.effects for change in changes):
        effects.discard(Effect("reconfigure"))
    return tuple(sorted(effects, key=lambda effect: effect.severity))


def _reaches(change: Change, kind: str, host: str, groups: Set[str]) -> bool:
    if of_daemons := _OF_DAEMONS.get(kind):
        return not groups.isdisjoint(of_daemons)
    if kind in _OF_NODES and _COMPUTE not in groups:
        return False
    return change.touches(host) or (kind == "restart-slurmd" and change.everywhere)
