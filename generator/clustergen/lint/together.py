"""Keys of slurm.conf that need or exclude one another: times, numbers, lists, names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clustergen.catalogue import slurm
from clustergen.diagnostics import did_you_mean
from clustergen.lint.finding import LintFinding
from clustergen.lint.hostlists import near_node
from clustergen.lint.site import Site, expanded, integer
from clustergen.slurmrules import Remark
from clustergen.slurmrules import combinations as rules

_SHORTEST = 60  # seconds; a busy node or switch may miss its pings for this long


def _knows(site: Site, name: str) -> bool:
    """True if the release reads the key of slurm.conf."""
    key = slurm.key("slurm.conf", name)
    return key is not None and key.state(site.release) == "known"


class _SiteSettings:
    """slurm.conf's keys as `slurmrules.combinations` asks for them."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._site.setting(key) is not None

    def text(self, key: str) -> str:
        setting = self._site.setting(key)
        return setting.text if setting else ""


def combinations(site: Site) -> Iterator[LintFinding]:
    """Words and keys that exclude or need each other: the same rules as a manifest's."""
    for key, remark in rules.combinations(_SiteSettings(site)):
        setting = site.setting(key)
        if setting is None:
            continue
        if key == "FastSchedule" and setting.text.strip() == "1":
            remark = Remark(
                remark.code,
                "FastSchedule=1 no longer has an effect; Slurm logs an error for it",
                "delete it",
                remark.outcome,
                on_key=True,
                instead="delete",
            )
        if key == "SlurmdParameters" and not site.has("slurmd-words-exclude"):
            continue
        yield from site.remarks(setting, [remark])


def timeouts(site: Site) -> Iterator[LintFinding]:
    """Times that do not go together."""
    silent = site.setting("SlurmdTimeout")
    limit = integer(silent.text) if silent else None
    if silent and limit is not None and 0 < limit < _SHORTEST:
        text = f"a node that does not answer for {limit} s is set DOWN, and its jobs are killed"
        yield site.warning("slurm-value-harmful", silent, text, "write 300, the default")
    message, kill = integer(site.text("MessageTimeout")), site.setting("UnkillableStepTimeout")
    step = integer(kill.text) if kill else None
    if (
        site.has("unkillable-timeout-checked")
        and kill
        and step is not None
        and message is not None
        and step < 5 * message
    ):
        yield site.warning(
            "slurm-value-harmful",
            kill,
            f"nodes drain with 'Kill task failed' too early; Slurm requires 5 times MessageTimeout, {5 * message}",
            f"write {5 * message} or more, or remove it",
        )
    program, every = site.setting("HealthCheckProgram"), site.setting("HealthCheckInterval")
    interval = integer(every.text) if every else None
    if program and (every is None or interval == 0):
        yield site.warning(
            "slurm-key-ignored",
            program,
            "the health check never runs: HealthCheckInterval is 0",
            "write HealthCheckInterval=300",
            key=True,
        )
    if _knows(site, "HealthCheckTimeout") and every and interval:
        limit = integer(site.text("HealthCheckTimeout")) or 60
        if limit >= interval:
            yield site.warning(
                "slurm-value-harmful",
                every,
                f"a health check may take {limit} s (HealthCheckTimeout), but the next one starts after {interval} s",
                "raise HealthCheckInterval, or lower HealthCheckTimeout",
            )


def suspending(site: Site) -> Iterator[LintFinding]:
    """Power saving that is asked for and has no program."""
    if site.slurm is None or site.setting("SuspendProgram") is not None or site.slurm.settings("PowerAction"):
        return
    times = [site.setting("SuspendTime"), *(part.own_value("SuspendTime") for part in site.partitions)]
    for suspend in times:
        if suspend and suspend.text.lower() not in ("-1", "infinite"):
            yield site.warning(
                "slurm-key-ignored",
                suspend,
                "without SuspendProgram and ResumeProgram no node is ever suspended",
                "delete it, or set both programs",
                key=True,
            )
            return


def numbers(site: Site) -> Iterator[LintFinding]:
    """Numbers that exclude each other."""
    first, last = site.setting("FirstJobId"), site.setting("MaxJobId")
    one, other = integer(first.text if first else "1"), integer(last.text if last else None)
    if last and one is not None and other is not None and one > other:
        yield site.error("slurm-value-wrong", last, f"MaxJobId is below FirstJobId {one}; no daemon starts")
    array, jobs = site.setting("MaxArraySize"), integer(site.text("MaxJobCount"))
    size = integer(array.text) if array else None
    if array and size is not None and jobs is not None and size > jobs:
        message = f"no array of {size} jobs can be submitted: slurmctld keeps {jobs} jobs (MaxJobCount)"
        yield site.warning("slurm-value-harmful", array, message, f"write {jobs} or less, or raise MaxJobCount")
    for kind in ("Def", "Max"):
        node, cpu = site.setting(f"{kind}MemPerNode"), site.setting(f"{kind}MemPerCPU")
        if node and cpu:
            yield site.warning(
                "slurm-key-ignored",
                cpu,
                f"{cpu.key} is ignored because {node.key} is set; Slurm logs an error",
                "remove one of them",
                key=True,
            )
    most = site.setting("MaxNodeCount")
    count = integer(most.text) if most else None
    if most and count and site.complete and len(site.hosts) > count:
        yield site.error(
            "slurm-value-wrong",
            most,
            f"the cluster has {len(site.hosts)} nodes; slurmctld does not start with more than MaxNodeCount",
        )


def lists(site: Site) -> Iterator[LintFinding]:
    """Numbers of SchedulerParameters that do not go together."""
    words = site.setting("SchedulerParameters")
    if words is None:
        return
    values = dict(part.strip().lower().partition("=")[::2] for part in words.text.split(","))
    test = integer(values.get("bf_max_job_test")) or 500
    for word in ("bf_max_job_user", "bf_max_job_assoc", "bf_max_job_user_part", "bf_max_job_part"):
        number = integer(values.get(word))
        if number is not None and (number > test or (word == "bf_max_job_part" and number == test)):
            yield site.warning(
                "slurm-value-harmful", words, f"{word}={number} has no effect: bf_max_job_test is {test}"
            )
    if integer(values.get("bf_max_job_user")) and integer(values.get("bf_max_job_assoc")):
        yield site.warning("slurm-value-harmful", words, "bf_max_job_user is ignored because bf_max_job_assoc is set")


def exclusions(site: Site) -> Iterator[LintFinding]:
    """DownNodes and what power saving leaves alone name nodes and partitions."""
    if site.slurm is None or not site.complete:
        return
    for down in site.slurm.entries("DownNodes"):
        for host in expanded(down.names) or ():
            if host not in site.hosts:
                yield site.warning("node-unknown", down, f"node '{host}' is not defined", near_node(site, host))
                break
    nodes = site.setting("SuspendExcNodes")
    for host in (expanded(nodes.text) or ()) if nodes and ":" not in nodes.text else ():
        if nodes and host not in site.hosts and host not in site.node_sets:
            yield site.warning("node-unknown", nodes, f"node '{host}' is not defined", near_node(site, host))
            break
    parts = site.setting("SuspendExcParts")
    names = dict.fromkeys(partition.names for partition in site.partitions)
    for name in parts.text.split(",") if parts else ():
        if parts and name.strip() not in names:
            hint = did_you_mean(name, islice(names, 2000))
            yield site.warning("partition-unknown", parts, f"partition '{name.strip()}' is not defined", hint)


def limits(site: Site) -> Iterator[LintFinding]:
    """The limits that go along with a job: a list of those, or of all others."""
    setting, others = site.setting("PropagateResourceLimits"), site.setting("PropagateResourceLimitsExcept")
    if setting and others:
        message = "PropagateResourceLimits is ignored because PropagateResourceLimitsExcept is set"
        yield site.warning("slurm-key-ignored", setting, message, "remove one of them", key=True)


def cloud(site: Site) -> Iterator[LintFinding]:
    """Nodes that something has to start."""
    elsewhere = any((node.text("State") or "").upper().startswith("CLOUD") for node in site.nodes)
    if not elsewhere or site.slurm is None or site.slurm.settings("PowerAction"):
        return
    lacking = rules.power_saving_lacks(
        _SiteSettings(site).text, [part.text("SuspendTime") or "" for part in site.partitions]
    )
    if lacking:
        yield site.warning(
            "cloud-without-power-saving",
            site.directory.main,
            f"without {' and '.join(lacking)} slurmctld never starts cloud nodes, and their jobs stay CONFIGURING",
            f"set {', '.join(lacking)}",
        )


CHECKS = (combinations, timeouts, suspending, numbers, lists, exclusions, limits, cloud)
