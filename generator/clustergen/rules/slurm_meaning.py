"""Values of Slurm's keys that its parser takes and that do not fit together, or do not fit this cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from clustergen.catalogue import slurm
from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.nodes import own_slurm_lines
from clustergen.cluster.slurm.keys.table import OPTIONS, settings_of
from clustergen.cluster.slurm.model import Options
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.hostlist import names_of
from clustergen.manifest.base import OptionValue
from clustergen.records import replace
from clustergen.rules.slurm_values import findings
from clustergen.slurmrules import Outcome, plugins
from clustergen.slurmrules import combinations as shared
from clustergen.slurmrules.conf import Conf, bare
from clustergen.slurmrules.fields import field_of, fields_of

REQUIRES = "slurm"

_NOTATION = re.compile(r"\b([A-Z][A-Za-z]+)=([^\s;]*[^\s.,;])")
"""A key with its value, as the hints of the shared rules have it."""
_NAME = re.compile(r"\b[A-Z][A-Za-z]+\b")


class _Rendered(Conf):
    """Slurm's files as they will be rendered."""

    def __init__(self, cluster: Cluster, is_beside: Callable[[str], bool] = lambda _: True) -> None:
        self.release = cluster.slurm.release
        self._cluster, self._is_beside = cluster, is_beside

    @property
    def has_gpus(self) -> bool:
        return bool(self._cluster.gpu_count)

    def stated(self, key: str, file: str = "slurm.conf") -> str | None:
        row = settings_of(self._cluster, file).get(key)
        if row is None and file == "slurm.conf":
            return self._lines.get(key.lower(), ("", None))[0] or None
        return row.value if row else None

    @cached_property
    def _lines(self) -> dict[str, tuple[str, ManifestPath]]:
        """Keys with lines of their own among those of the manifest, with their places."""
        lines = [(next(iter(line.keys)), line) for line in own_slurm_lines(self._cluster) if len(line.keys) == 1]
        return {key.lower(): (line.keys[key], line.options[key]) for key, line in lines}

    def place(self, file: str, *keys: str) -> ManifestPath:
        """Of the first of these keys that the manifest sets, wherever it does."""
        for key in keys:
            for each in dict.fromkeys((file, *OPTIONS)):
                row = settings_of(self._cluster, each).get(key)
                if row is not None and row.at:
                    return row.at
            if key.lower() in self._lines:
                return self._lines[key.lower()][1]
        return ("slurm", "defaults") if self._cluster.slurm.bare else ("slurm",)

    def is_beside(self, name: str) -> bool:
        return self._is_beside(name)


def combinations(cluster: Cluster) -> Iterator[Finding]:
    """Words and keys that exclude or need each other, whatever the cluster."""
    conf = _Rendered(cluster)
    for key, remark, file in shared.combinations(conf):
        if remark.outcome is not Outcome.ADVICE:
            hint = remark.hint and _NOTATION.sub(_in_manifest, remark.hint)
            if remark.between:
                hint = _which(cluster, remark.between) or hint
            place = conf.place(file, key, *_NAME.findall(f"{remark.message} {remark.hint or ''}"))
            yield from findings(place, [replace(remark, hint=hint)])


def _which(cluster: Cluster, keys: Iterable[str]) -> str | None:
    """The hint to remove the only one of these keys that the manifest sets: others are clustergen's own."""
    settings = settings_of(cluster, "slurm.conf")
    stated = [key for key in keys if (row := settings.get(key)) is not None and row.at]
    return f"remove {stated[0]}" if len(stated) == 1 else None


def plugin_files(cluster: Cluster, has_site_file: Callable[[str], bool]) -> Iterator[Finding]:
    """Plugins that an option names and whose own file is not in the site's directory; a field brings its own."""
    if not cluster.meets(REQUIRES):
        return
    for key, name, does in plugins.missing_files(_Rendered(cluster, has_site_file)):
        row = settings_of(cluster, "slurm.conf").get(key)
        if row is not None and row.at and row.is_option:
            message = f"'{row.value}' requires {name}; {does} without it"
            field = field_of("slurm.conf", "", key)
            hint = f"add site/slurm_node/etc/slurm/{name}" + (f", or write {field} instead" if field else "")
            yield Finding("slurm-key-lacking", row.at, message, hint)


def _in_manifest(match: re.Match[str]) -> str:
    """`slurm.slurmd_timeout: 300` for SlurmdTimeout=300."""
    key, value = match.groups()
    file = next((file for file in OPTIONS if slurm.key(file, key) is not None), "slurm.conf")
    row = next(iter(fields_of(file, "", key)), None)
    if row is None or not row.form:  # a field of another form
        return f"{key}: {value} under {'.'.join(map(str, OPTIONS[file][0]))}"
    names = [bare(word) for word in value.split(",")] if row.form.startswith("plugin") else value.split(",")
    listed = row.form in ("plugins", "words")
    return f"{row.path}: [{', '.join(names)}]" if listed else f"{row.path}: {names[0]}"


def lacking(cluster: Cluster) -> Iterator[Finding]:
    """Words that this cluster needs and that a value of the manifest's own leaves out: it takes the place of ours."""
    settings, conf = settings_of(cluster, "slurm.conf"), _Rendered(cluster)
    numa = next((group.type.name for group in cluster.compute if group.type.numa_as_socket), None)
    has_namespaces = any(conf.plugin(key) in ("tmpfs", "linux") for key in ("JobContainerType", "NamespaceType"))
    adopts = cluster.of(NodeLogins).needs_job and not has_namespaces
    for key, word, why in (
        (
            "SlurmdParameters",
            "numa_node_as_socket",
            f"nodes of type '{numa}', which are described by NUMA nodes, would be drained" if numa else None,
        ),
        ("PrologFlags", "Contain", "ssh sessions cannot be moved into their job" if adopts else None),
    ):
        # X11 brings Contain along.
        if (
            why
            and key in settings
            and word.lower() not in conf.words(key)
            and not (word == "Contain" and "x11" in conf.words(key))
        ):
            yield Finding("slurm-value-wrong", settings.place(key), f"without {word}, {why}", f"add {word}")


def select(cluster: Cluster) -> Iterator[Finding]:
    """Whole nodes, where GPUs or switches are to be allocated."""
    conf = settings_of(cluster, "slurm.conf")
    if conf.text("SelectType").lower().endswith("linear") and (cluster.gpu_count or cluster.slurm.topology == "tree"):
        yield Finding(
            "slurm-value-wrong",
            conf.place("SelectType"),
            "select/linear allocates whole nodes and supports neither GPUs nor switches",
            "remove it to use the default, cons_tres",
        )


def cloud_without_power_saving(cluster: Cluster) -> Iterator[Finding]:
    """Nodes that slurmctld has to start need its power saving, which is off unless three keys are set."""
    group = next((group for group in cluster.compute if group.state == "CLOUD"), None)
    if group is None or "poweraction" in _keys_of_lines(cluster):
        return
    times = [
        str(value)
        for one in cluster.slurm.partitions
        for key, value in one.options.items()
        if key.lower() == "suspendtime"
    ]
    missing = shared.power_saving_lacks(settings_of(cluster, "slurm.conf").text, times)
    if missing:
        yield Finding(
            "cloud-without-power-saving",
            ("nodes", group.index, "state"),
            f"without {' and '.join(missing)} slurmctld never starts {group.folded}, and jobs there stay CONFIGURING",
            f"set slurm.power_saving, or {', '.join(missing)} in slurm.options",
        )


def never_suspended(cluster: Cluster) -> Iterator[Finding]:
    """A time after which nodes would be suspended, and no program that does it."""
    conf = settings_of(cluster, "slurm.conf")
    places: dict[ManifestPath, Options] = {("slurm", "options"): cluster.slurm.options}
    places |= {("slurm", "partitions", one.name, "options"): one.options for one in cluster.slurm.partitions}
    for place, options in places.items():
        for key, value in options.items():
            is_time = key.lower() == "suspendtime" and str(value).lower() not in ("-1", "infinite")
            missing = [name for name in ("SuspendProgram", "ResumeProgram") if not conf.text(name)]
            if is_time and missing and "poweraction" not in _keys_of_lines(cluster):
                message = f"without {' and '.join(missing)} no node is ever suspended"
                hint = "write slurm.power_saving" + (f", or add {missing[0]}" if len(missing) == 1 else "")
                yield Finding("slurm-key-ignored", (*place, key), message, hint, key=True)


def excluded(cluster: Cluster) -> Iterator[Finding]:
    """Nodes and partitions that options and lines name."""
    hosts, names = {*cluster.hosts()}, {one.name for one in cluster.slurm.partitions}
    for line in own_slurm_lines(cluster):
        for host in names_of(line.keys.get("DownNodes", "")):
            if host not in hosts:
                yield Finding("node-unknown", line.options["DownNodes"], f"node '{host}' is not defined")
                break
    lists: dict[ManifestPath, OptionValue] = {
        ("slurm", "options", key): value
        for key, value in cluster.slurm.options.items()
        if key.lower() == "suspendexcparts"
    }
    for partition in cluster.slurm.partitions:
        place = ("slurm", "partitions", partition.name, "options")
        lists |= {(*place, key): value for key, value in partition.options.items() if key.lower() == "alternate"}
    for path, value in lists.items():
        for name in map(str.strip, str(value).split(",")):
            if name not in names:
                message = f"partition '{name}' is not defined"
                yield Finding("partition-unknown", path, message, did_you_mean(name, names))


def _keys_of_lines(cluster: Cluster) -> set[str]:
    return {key.lower() for line in cluster.slurm.lines for key in line}


def hashes(cluster: Cluster) -> Iterator[Finding]:
    conf, slurmdbd = settings_of(cluster, "slurm.conf"), settings_of(cluster, "slurmdbd.conf")
    name = conf.text("HashPlugin")
    if cluster.slurm.accounting_hosts and shared.slurmdbd_lacks_hash(name, slurmdbd.text("HashPlugin")):
        yield Finding(
            "slurm-value-harmful",
            conf.place("HashPlugin"),
            f"slurmdbd does not load {name}, so slurmctld and sacctmgr cannot connect to it",
            f"add HashPlugin: {name} to slurm.accounting.options",
        )
