"""The table of Slurm's keys in effect: for each file the keys with their values, and where the manifest sets them.

What the release does not know is left out, by the catalogue's tables; what the manifest says in `options` takes the
place of a topic's value, or is added, and no key is in a file twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from operator import itemgetter

from clustergen.cluster.contributions import SlurmTopic
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.ground import StatedFields
from clustergen.cluster.slurm.keys import accounting, daemons, hooks, resources, scheduling
from clustergen.cluster.slurm.keys.line import Line
from clustergen.cluster.slurm.keys.row import Row, Value, knows
from clustergen.cluster.slurm.model import Options, Slurm
from clustergen.diagnostics import ManifestPath
from clustergen.feature import ExtensionError, items_of
from clustergen.records import record
from clustergen.slurmrules.field_table import FIELDS
from clustergen.slurmrules.fields import paths_of

OWN_VALUE = "set in the manifest"

TOPICS = (
    SlurmTopic("slurm.conf", "Cluster and controllers", daemons.controllers),
    SlurmTopic("slurm.conf", "Authentication, messages and timeouts", daemons.messages),
    SlurmTopic("slurm.conf", "Resources", resources.resources),
    SlurmTopic("slurm.conf", "Jobs", resources.jobs),
    SlurmTopic("slurm.conf", "Scheduler", scheduling.scheduler),
    SlurmTopic("slurm.conf", "Priority", scheduling.priority),
    SlurmTopic("slurm.conf", "Preemption", scheduling.preemption),
    SlurmTopic("slurm.conf", "Topology", scheduling.topology),
    SlurmTopic("slurm.conf", "Accounting", accounting.accounting),
    SlurmTopic("slurm.conf", "Prolog, epilog and health check", hooks.hooks),
    SlurmTopic("cgroup.conf", "Limits of jobs", resources.cgroup),
    SlurmTopic("acct_gather.conf", "Energy from the BMC", accounting.acct_gather),
    SlurmTopic("slurmdbd.conf", "Daemon", accounting.slurmdbd_daemon),
    SlurmTopic("slurmdbd.conf", "Database", accounting.slurmdbd_database),
    SlurmTopic("slurmdbd.conf", "Retention of records", accounting.slurmdbd_retention),
)
"""In the order of the rendered files; those that features contribute come behind."""
_LAST = (SlurmTopic("slurm.conf", "Logs and metrics", daemons.logging),)

OPTIONS: Mapping[str, tuple[ManifestPath, Callable[[Cluster], Options]]] = {
    "slurm.conf": (("slurm", "options"), lambda cluster: cluster.slurm.options),
    "cgroup.conf": (("slurm", "cgroup_options"), lambda cluster: cluster.slurm.cgroup_options),
    "mpi.conf": (("slurm", "mpi_options"), lambda cluster: cluster.slurm.mpi_options),
    "acct_gather.conf": (("slurm", "acct_gather_options"), lambda cluster: cluster.slurm.acct_gather_options),
    "slurmdbd.conf": (("slurm", "accounting", "options"), lambda cluster: cluster.of(Accounting).options),
}
"""File → passthrough options for its keys, with their place."""


@record
class Setting:
    """A key in effect."""

    key: str  # as Slurm names it
    value: str  # without quotes
    at: ManifestPath | None  # field or option of the manifest that sets it; None: it is a default, or derived
    is_option: bool  # passed through
    topic: str  # heading in the file
    reason: str = ""  # as printed behind it; empty: none


@record
class Settings:
    """Keys in effect in one file."""

    rows: tuple[Setting, ...]

    @cached_property
    def _by_key(self) -> Mapping[str, Setting]:
        return {row.key.lower(): row for row in reversed(self.rows)}

    def get(self, key: str) -> Setting | None:
        """The key of that name, in any case; the first of several."""
        return self._by_key.get(key.lower())

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.lower() in self._by_key

    def text(self, key: str) -> str:
        """Its value; empty where it is not in effect."""
        row = self.get(key)
        return row.value if row else ""

    def place(self, key: str, otherwise: ManifestPath = ("slurm",)) -> ManifestPath:
        """Where the manifest sets it."""
        row = self.get(key)
        return row.at if row and row.at else otherwise

    def stated(self) -> Iterator[tuple[ManifestPath, Setting]]:
        """The settings that the manifest states, with their places."""
        yield from ((row.at, row) for row in self.rows if row.at)

    def options(self) -> Iterator[tuple[ManifestPath, Setting]]:
        """The settings that are passed through, with their places."""
        yield from ((place, row) for place, row in self.stated() if row.is_option)


@record
class SlurmKeys:
    """Keys in effect, by the name of the file."""

    settings: Mapping[str, Mapping[str, tuple[Setting, ...]]]  # by key; only SlurmctldHost may be there twice
    lines: Mapping[str, tuple[Line, ...]]  # of several keys: of node sets, nodes, partitions, devices and switches


@once_per_cluster
def slurm_keys(cluster: Cluster) -> SlurmKeys:
    from clustergen.cluster.slurm.keys.lines import LINES  # which no rule needs

    settings: dict[str, dict[str, tuple[Setting, ...]]] = {}
    for file in OPTIONS:
        for row in settings_of(cluster, file).rows:
            rows = settings.setdefault(file, {})
            rows[row.key] = (*rows.get(row.key, ()), row)
    lines = {file: tuple(lines_of(cluster)) for file, lines_of in LINES.items()}
    return SlurmKeys(settings, {file: several for file, several in lines.items() if several})


@once_per_cluster
def settings_of(cluster: Cluster, file: str) -> Settings:
    """The keys in effect in one file: `settings_of(cluster, "slurm.conf").text("SlurmdTimeout")`."""
    return Settings(tuple(_settings(cluster, file)))


def switches_nodes_off(cluster: Cluster) -> bool:
    """True if slurmctld switches idle nodes off."""
    return "SuspendProgram" in settings_of(cluster, "slurm.conf")


def _settings(cluster: Cluster, file: str) -> Iterator[Setting]:
    if not cluster.has(Slurm) or (file == "slurmdbd.conf" and not cluster.slurm.accounting_hosts):
        return
    place, options = OPTIONS[file][0], OPTIONS[file][1](cluster)
    stated = {name.lower(): (name, str(value)) for name, value in options.items()}
    where = ".".join(map(str, place))
    titles: dict[str, str] = {}
    for topic in (*TOPICS, *cluster.needs(SlurmTopic), *_LAST):
        for setting in _of_topic(cluster, topic) if topic.file == file else ():
            name = setting.key.lower()
            is_first = name not in titles
            if (other := titles.setdefault(name, topic.title)) != topic.title:
                raise ExtensionError(f"'{other}' and '{topic.title}' both set {setting.key} in {file}")
            if name not in stated:
                yield setting
            elif is_first:
                key, value = stated[name]
                yield Setting(
                    key=setting.key,
                    value=value,
                    at=(*place, key),
                    is_option=True,
                    topic=topic.title,
                    reason=f"{OWN_VALUE}: {where}",
                )
    for name, (key, value) in stated.items():
        if name not in titles:
            yield Setting(key, value, (*place, key), True, f"Set in the manifest: {where}")


@once_per_cluster
def _of_topic(cluster: Cluster, topic: SlurmTopic) -> tuple[Setting, ...]:
    """The keys in effect, whatever the options say."""
    slurm, stated = cluster.slurm, cluster.of(StatedFields)
    others = _keys_of_lines(cluster) if topic.file == "slurm.conf" else frozenset()
    settings = []
    for row in _rows(cluster, topic, stated.values):
        if row.value in (None, "") or row.key.lower() in others or not knows(topic.file, row.key, slurm.release):
            continue
        paths = (path for path in paths_of(topic.file, row.key) if path in stated.names)
        at = next((tuple(path.split(".")) for path in paths), None)
        if row.always or at is not None or not slurm.bare:
            settings.append(
                Setting(key=row.key, value=str(row.value), at=at, is_option=False, topic=topic.title, reason=row.reason)
            )
    return tuple(settings)


def _rows(cluster: Cluster, topic: SlurmTopic, values: Mapping[str, Value | None]) -> list[Row]:
    """Rows of a topic, and of fields whose values are printed as they are, each behind the key before it in the table
    of fields.
    """
    places, plain = _of_fields(topic.file, topic.title)
    rows = [(places[key], Row(key, values[path], reason)) for key, path, reason in plain]
    place = 0
    for row in items_of(topic.rows, Row, cluster):
        place = max(place, places.get(row.key, 0))
        rows.append((place, row))
    return [row for _, row in sorted(rows, key=itemgetter(0))]


@cache
def _of_fields(file: str, title: str) -> tuple[Mapping[str, int], list[tuple[str, str, str]]]:
    """The place of each key in the table of fields; key, path and reason of those under a heading."""
    fields = FIELDS.get((file, ""), {})
    plain = [(key, field.path, field.reason) for key, field in fields.items() if field.topic == title]
    return {key: place for place, key in enumerate(fields)}, plain


@once_per_cluster
def _keys_of_lines(cluster: Cluster) -> frozenset[str]:
    return frozenset(key.lower() for line in cluster.slurm.lines for key in line)
