"""Keys of slurm.conf that need or exclude one another: times, numbers, plugins, lists."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.diagnostics import did_you_mean
from clustergen.lint.found import Found
from clustergen.lint.site import Site, bare, expanded, integer
from clustergen.slurmrules import Remark
from clustergen.slurmrules import combinations as rules


class _Given:
    """slurm.conf's keys as `slurmrules.combinations` asks for them."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._site.setting(key) is not None

    def text(self, key: str) -> str:
        found = self._site.setting(key)
        return found.text if found else ""

    def words(self, key: str) -> list[str]:
        return [part.strip().partition("=")[0].lower() for part in self.text(key).split(",")] if key in self else []


def combinations(site: Site) -> Iterator[Found]:
    """Words and keys that exclude or need each other: the same rules as a manifest's."""
    for key, remark in rules.combinations(_Given(site)):
        setting = site.setting(key)
        if setting is None:
            continue
        if key == "FastSchedule" and setting.text.strip() == "1":
            remark = Remark(
                remark.code,
                "FastSchedule=1 has no effect any more; Slurm logs an error for it",
                "delete it",
                remark.outcome,
                on_key=True,
                instead="delete",
            )
        if key == "SlurmdParameters" and not site.since("24.05"):
            continue
        yield from site.remarks(setting, [remark])


def timeouts(site: Site) -> Iterator[Found]:
    """Times that do not go together."""
    message, kill = integer(site.text("MessageTimeout")), site.setting("UnkillableStepTimeout")
    step = integer(kill.text) if kill else None
    if site.since("24.05") and kill and step is not None and message is not None and step < 5 * message:
        yield site.warning(
            "slurm-value-harmful",
            kill,
            f"nodes go down with 'Kill task failed' too early; Slurm wants 5 times MessageTimeout, {5 * message}",
            f"write {5 * message} or more, or leave it out",
        )
    program, every = site.setting("HealthCheckProgram"), site.setting("HealthCheckInterval")
    interval = integer(every.text) if every else None
    if program and (every is None or interval == 0):
        yield site.warning(
            "slurm-key-ignored",
            program,
            "the health check never runs: HealthCheckInterval is 0",
            "HealthCheckInterval=300",
            key=True,
        )
    if site.since("26.05") and every and interval:
        limit = integer(site.text("HealthCheckTimeout")) or 60
        if limit >= interval:
            yield site.warning(
                "slurm-value-harmful",
                every,
                f"a check may take {limit} s (HealthCheckTimeout), and the next one begins after {interval} s",
                "a longer interval, or a shorter HealthCheckTimeout",
            )
    suspend = site.setting("SuspendTime")
    saving = suspend and suspend.text.lower() not in ("-1", "infinite", "unlimited")
    if saving and suspend and site.setting("SuspendProgram") is None:
        yield site.warning(
            "slurm-key-ignored",
            suspend,
            "without SuspendProgram and ResumeProgram no node is ever suspended",
            "delete it, or name both programs",
            key=True,
        )


def numbers(site: Site) -> Iterator[Found]:
    """Numbers that exclude each other."""
    first, last = site.setting("FirstJobId"), site.setting("MaxJobId")
    one, other = integer(first.text if first else "1"), integer(last.text if last else None)
    if last and one is not None and other is not None and one > other:
        yield site.error("slurm-value-wrong", last, f"MaxJobId is below FirstJobId {one}, and no daemon starts")
    for kind in ("Def", "Max"):
        node, cpu = site.setting(f"{kind}MemPerNode"), site.setting(f"{kind}MemPerCPU")
        if node and cpu:
            yield site.warning(
                "slurm-key-ignored",
                cpu,
                f"{cpu.key} is ignored, since {node.key} is there; Slurm logs an error",
                "one of them",
                key=True,
            )
    most = site.setting("MaxNodeCount")
    count = integer(most.text) if most else None
    if most and count is not None and site.complete and len(site.hosts) > count:
        yield site.error(
            "slurm-value-wrong",
            most,
            f"there are {len(site.hosts)} nodes, and slurmctld does not start with more than this",
        )


def plugins(site: Site) -> Iterator[Found]:
    """Plugins that need a key, or exclude one."""
    select, parameters = site.setting("SelectType"), site.setting("SelectTypeParameters")
    kind = site.plugin("SelectType")
    if kind.startswith("cons") and parameters and parameters.text:
        words = site.words("SelectTypeParameters")
        if any(word in rules.UNITS for word in words) and not any(
            word in rules.UNITS and word != "cr_memory" for word in words
        ):
            yield site.error(
                "slurm-value-wrong",
                parameters,
                f"select/{kind} hands out CPUs, cores or sockets, and slurmctld does not start without one",
                "CR_Core_Memory",
            )
    if kind == "linear" and select and site.plugin("TopologyPlugin") == "tree" and site.since("24.05"):
        yield site.error(
            "slurm-value-wrong",
            select,
            "select/linear does not go with topology/tree, and no daemon starts",
            "select/cons_tres",
        )
    if kind != "cons_tres" and (most := site.setting("MaxNodeCount")) and site.since("24.05"):
        yield site.error(
            "slurm-value-wrong", most, "MaxNodeCount goes with select/cons_tres only, and no daemon starts", key=True
        )
    gather = site.setting("JobAcctGatherType")
    if gather and site.plugin("JobAcctGatherType") == "linux" and site.plugin("ProctrackType") == "pgid":
        message = "with proctrack/pgid the use of jobs is measured by a much slower way; Slurm warns of it"
        yield site.warning("slurm-value-harmful", gather, message, "ProctrackType=proctrack/cgroup")
    mcs = site.setting("MCSPlugin")
    if mcs and site.plugin("MCSPlugin") == "group" and site.setting("MCSParameters") is None:
        yield site.error(
            "slurm-value-wrong",
            mcs,
            "mcs/group needs MCSParameters, and no daemon starts without",
            "MCSParameters=enforced:group1|group2",
        )
    flags = site.words("PrologFlags")
    given = site.setting("PrologFlags")
    contains = {"contain", "x11"} & set(flags)
    track = site.plugin("ProctrackType")
    if given and "x11" in flags and track == "linuxproc":
        yield site.error(
            "slurm-value-wrong",
            given,
            "X11 does not go with proctrack/linuxproc, and no daemon starts",
            "proctrack/cgroup",
        )
    elif given and contains and track != "cgroup":
        yield site.warning(
            "slurm-value-harmful",
            given,
            "pam_slurm_adopt needs proctrack/cgroup for what Contain does; Slurm logs an error",
            "ProctrackType=proctrack/cgroup",
        )
    for key in ("JobContainerType", "NamespaceType"):
        spaces = site.setting(key)
        if spaces and site.plugin(key) not in ("", "none") and not contains:
            yield site.error(
                "slurm-value-wrong",
                spaces,
                f"{key} needs PrologFlags=Contain, and no daemon starts without",
                "PrologFlags=Contain",
            )
    stepmgr = site.setting("SlurmctldParameters")
    if stepmgr and "enable_stepmgr" in site.words("SlurmctldParameters") and not contains and site.since("24.05"):
        yield site.error(
            "slurm-value-wrong",
            stepmgr,
            "enable_stepmgr needs PrologFlags=Contain, and slurmctld does not start without",
            "PrologFlags=Contain",
        )
    tasks = [bare(word) for word in site.words("TaskPlugin")]
    params = site.setting("TaskPluginParam")
    for word in ("oomkillstep", "slurmdspecoverride"):
        if params and word in site.words("TaskPluginParam") and "cgroup" not in tasks and site.since("23.11"):
            yield site.error(
                "slurm-value-wrong",
                params,
                f"{word} needs task/cgroup, and no daemon starts without",
                "TaskPlugin=task/cgroup,task/affinity",
            )
    types = site.words("GresTypes")
    gres = site.setting("GresTypes")
    if gres and {"mps", "shard"} & set(types) and "gpu" not in types:
        yield site.error(
            "slurm-value-wrong",
            gres,
            "what shares GPUs needs gpu among the types, and slurmctld does not start without",
            f"GresTypes=gpu,{','.join(types)}",
        )
    elif gres and {"mps", "shard"} & set(types) and kind != "cons_tres":
        yield site.error(
            "slurm-value-wrong",
            gres,
            "mps and shard need select/cons_tres, and slurmctld does not start without",
            "SelectType=select/cons_tres",
        )


def lists(site: Site) -> Iterator[Found]:
    """Numbers of SchedulerParameters that do not go together."""
    given = site.setting("SchedulerParameters")
    if given is None:
        return
    values = dict(part.strip().lower().partition("=")[::2] for part in given.text.split(","))
    test = integer(values.get("bf_max_job_test")) or 500
    for word in ("bf_max_job_user", "bf_max_job_assoc", "bf_max_job_user_part", "bf_max_job_part"):
        number = integer(values.get(word))
        if number is not None and (number > test or (word == "bf_max_job_part" and number == test)):
            yield site.warning(
                "slurm-value-harmful", given, f"{word}={number} never counts: bf_max_job_test stops at {test} jobs"
            )
    if integer(values.get("bf_max_job_user")) and integer(values.get("bf_max_job_assoc")):
        yield site.warning("slurm-value-harmful", given, "bf_max_job_user is ignored, since bf_max_job_assoc is there")


def exclusions(site: Site) -> Iterator[Found]:
    """DownNodes and what power saving leaves alone name nodes and partitions."""
    if site.slurm is None or not site.complete:
        return
    for down in site.slurm.entries("DownNodes"):
        for host in expanded(down.names) or ():
            if host not in site.hosts:
                yield site.warning("node-unknown", down, f"no node is called '{host}'", did_you_mean(host, site.hosts))
                break
    nodes = site.setting("SuspendExcNodes")
    for host in (expanded(nodes.text) or ()) if nodes and ":" not in nodes.text else ():
        if nodes and host not in site.hosts and host not in site.node_sets:
            yield site.warning("node-unknown", nodes, f"no node is called '{host}'", did_you_mean(host, site.hosts))
            break
    parts = site.setting("SuspendExcParts")
    known = [partition.names for partition in site.partitions]
    for name in parts.text.split(",") if parts else ():
        if parts and name.strip() not in known:
            yield site.warning(
                "partition-unknown", parts, f"no partition is called '{name.strip()}'", did_you_mean(name, known)
            )


def requeue(site: Site) -> Iterator[Found]:
    """Where root's jobs and reboots are meant and not told how."""
    reboot = any((node.text("State") or "").upper().startswith("CLOUD") for node in site.nodes)
    if reboot and site.setting("ResumeProgram") is None:
        yield site.warning(
            "slurm-key-lacking",
            site.folder.main,
            "cloud nodes without ResumeProgram: nothing starts them",
            "ResumeProgram and SuspendProgram",
        )


CHECKS = (combinations, timeouts, numbers, plugins, lists, exclusions, requeue)
