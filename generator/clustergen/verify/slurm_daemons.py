"""Lets real slurmctld, slurmdbd and slurmd read a directory of Slurm's files and passes on what they complain of.

There is no test flag in Slurm, so the daemons start, in a sandbox of their own: slurmctld with a real slurmdbd and
database until it says 'Running as primary controller'; then, for some nodes, `slurmd -G` lists the GRES, and a slurmd
with the sockets and cores that slurm.conf gives the node registers. The files are read as they are; for slurmd alone,
values that would ask this machine for cgroups or GPU drivers are exchanged.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from clustergen.catalogue.versions import SlurmRelease
from clustergen.records import record, replace
from clustergen.verify import sandbox
from clustergen.verify.registration import Registration
from clustergen.verify.simulated_hardware import (
    NVML_PLUGIN,
    Node,
    Settings,
    detected_lines,
    libraries,
    not_simulated,
    texts,
)
from clustergen.verify.slurm_roots import SlurmInstall
from clustergen.verify.slurm_surroundings import (
    Surroundings,
    invented_hosts,
    of_directory,
    own_addresses,
    stand_in_hosts,
)

_MOST_COMPLAINTS = 200
_COMPLAINT = re.compile(r"(?:^|\s)((?:fatal|error|warning|WARNING): .*)")
_GRES = re.compile(r"(?:^|\s)(Gres Name=.*)")

# What the daemons say about the sandbox, not about the files.
_OF_THE_SANDBOX = re.compile(
    "|".join(
        (
            r"state (?:save )?file|No fed_mgr state",  # no cluster ran here before: there is no state to recover
            r"Database settings not recommended values",  # the sandbox's database is small
            r"update cluster: Connection refused|find assoc \d+ on cluster",  # slurmctld registers while it starts
            r"appears to have a different slurm.conf",  # what was exchanged for slurmd
            r"_slurm_rpc_node_registration node=",  # follows the reason why, which stays
            r"Network is unreachable|Connection timed out",  # there are no other machines
            # the node's cores and control groups are not here either
            r"Resource spec: (?:unable to establish slurmd CPU affinity|core specialization disabled|Limited MemSpec)",
            r"Could not find configured group",  # nor the site's accounts
            r"_prepare_run_dir: /run/slurm exists but is owned by root",  # slurmd made it before it had slurm.conf
            r"High latency for \d+ calls to gettimeofday",  # the machine's clock
            # where hard limits of the caller are low
            r"Core limit is only \d+ KB|timer_create: Resource temporarily unavailable",
            r"_nvml_get_mem_freqs",  # nvml.c knows no frequencies
            r"sackd running as root instead of SlurmUser",
            r"attempt number",  # goes before the one line that counts
            # sacctmgr leaves without reading the last answer, and slurmdbd of 22.05 minds
            r"persistent connection for fd \d+ experienced error\[104\]",
            r"Abandon tree forward",  # the other nodes are not there
            r"Unable to set keepalive",  # said of auth/slurm's local socket wherever it runs
            r"MSR register problem|lseek of /dev/cpu/",  # nor its counters of energy
            r"ipmi_monitoring_\w+: |nvidia-caps-imex-channels major device not found",  # nor is their hardware
            r"Failed to initialize rsmi|System GPU detection failed",
        )
    )
)
_OF_THIS_MACHINE = re.compile(  # where no memory is simulated
    r",?\s*Low (?:RealMemory|TmpDisk) \([^)]*\)"
)
_NO_REASON_LEFT = re.compile(r"with reason:[\s,]*$")


@record
class SlurmReport:
    """The result of real Slurm for a directory.

    `started`: slurmctld reached 'Running as primary controller' and answered. `complaints`: each "daemon: fatal:
    words", in the order said. `gres`: by node, what slurmd lists, a line per GRES; "" where it listed nothing.
    `nodes`: by node, what `scontrol show node` prints of it on one line; `registered`: by node whose slurmd started.
    `jobs`: by script, what `sbatch --test-only` answers, with "passed" and the user who may submit it, or "failed"
    before it.
    `omitted`: what could not be asked, and why. `seconds` of wall time, `version` of the Slurm that was asked.
    """

    started: bool
    complaints: tuple[str, ...]
    gres: Mapping[str, str] = MappingProxyType({})
    nodes: Mapping[str, str] = MappingProxyType({})
    registered: Mapping[str, Registration] = MappingProxyType({})
    jobs: Mapping[str, str] = MappingProxyType({})
    omitted: tuple[str, ...] = ()
    seconds: float = 0.0
    version: str = ""

    @property
    def passed(self) -> bool:
        return self.started and not self.complaints and all(self.gres.values())


def read_config(
    install: SlurmInstall,
    conf_dir: Path,
    hosts: str | None = None,
    nodes_for_gres: Sequence[str] = (),
    *,
    simulated: Sequence[Node] = (),
    jobs: Sequence[str] = (),
    sackd: Sequence[str] = (),
    timeout: float = 120,
) -> SlurmReport:
    """Runs one Slurm on `conf_dir`: a directory with slurm.conf and related files, or a root as on the controller.

    `nodes_for_gres` are names of nodes with GRES, best one of each kind; more than a few take long.
    `simulated` are nodes that register on their hardware; of any other one, hwloc has what slurm.conf says.
    `sackd` are its options on a login node of a configless cluster; without any it is not started.
    `jobs` are paths of job scripts below `conf_dir`, if that is a root, as `/jobs/a.sh`.
    `hosts` is the text of /etc/hosts; without it the root's own, and without that every name gets an invented address.
    Takes about a second and may run several times at once. Raises SandboxError where programs cannot be run here, and
    OSError where the directory cannot be read.
    """
    began = time.monotonic()
    conf_dir = conf_dir.absolute()
    rooted = (conf_dir / "etc/slurm/slurm.conf").is_file()
    directory = conf_dir / "etc/slurm" if rooted else conf_dir
    started_nodes = (*nodes_for_gres, *(node.name for node in simulated))
    around = of_directory(directory, started_nodes)
    absent = [path for path in around.spank if not any((root / path[1:]).exists() for root in (install.path, conf_dir))]
    has_nvml = bool(simulated) and install.has_plugin(NVML_PLUGIN)
    omitted = list(_not_asked(directory, around, absent, has_nvml))
    if hosts is None and rooted and (conf_dir / "etc/hosts").is_file():
        hosts = (conf_dir / "etc/hosts").read_text(encoding="utf-8")
    elif hosts is None:
        hosts = invented_hosts(around.names)
        omitted.append("host names: there is no hosts file, so every name has a generated address")
    detecting = nodes_for_gres if around.autodetect else ()
    if around.autodetect and not around.devices and not simulated:
        nodes_for_gres = started_nodes = ()  # without the driver slurmd would list nothing, whatever the files say
    if around.accounting and not install.has_database:
        omitted.append(f"accounting: {install.path} has no database for slurmdbd, so slurmctld is checked without it")

    box = sandbox.Sandbox(
        root=install.path,
        files=((conf_dir, "/"),) if rooted else ((conf_dir, "/etc/slurm"),),
        empty=("/etc/slurm",),  # a package may have put files there that are not under test
        hosts=hosts + stand_in_hosts(around.services, hosts),
        hostname=around.controller,
        # A name service that knows only loopback gives no address at all, so there is always one more.
        addresses=own_addresses(around.own_names, hosts) or ("198.18.0.1",),
        devices=() if simulated else around.devices,
    )
    built = {} if not started_nodes or not_simulated() else libraries()
    outcome = sandbox.run(
        box,
        ["/bin/bash", "/run/clustergen/read_slurm.sh"],
        timeout=timeout,
        env={**_environment(install, around), "AUTODETECT": "nvml" if has_nvml else "off"},
        notes={
            **sandbox.scripts("read_slurm.sh", "surroundings.sh", "database.sh"),
            "surroundings": sandbox.lines(around.lines),
            "spare-slurmdbd.conf": spare_slurmdbd_conf(around),
            "qos": sandbox.lines(around.qos),
            "absent-spank": sandbox.lines(absent),
            "autodetect": sandbox.lines(detecting),
            "nodes": sandbox.lines(started_nodes),
            "conf-server": around.conf_server,
            "sackd": sandbox.lines(sackd),
            "jobs": sandbox.lines(jobs),
            **built,
            **dict(_hardware(directory, simulated, has_nvml)),
        },
    )
    report = _report(outcome, nodes_for_gres, started_nodes, jobs, has_memory=bool(built))
    if outcome.code is None:
        complaint = f"slurmctld: fatal: did not answer within {timeout:g} s"
        report = replace(report, complaints=(*report.complaints, complaint))
    seconds = round(time.monotonic() - began, 2)
    complaints = _cut(report.complaints)
    return replace(report, complaints=complaints, omitted=tuple(omitted), seconds=seconds, version=install.version)


def _report(
    outcome: sandbox.Outcome,
    with_gres: Sequence[str],
    registering: Sequence[str],
    jobs: Sequence[str],
    *,
    has_memory: bool,
) -> SlurmReport:
    """The answers in the files that read_slurm.sh left; of Slurm that did not start, its complaints alone."""
    logs = dict(outcome.files)
    # Of a configless cluster's second slurmctld, what comes after its start.
    logs["slurmctld.log"] = logs.get("slurmctld.log", "") + logs.get("conf-server.log", "").partition(" primary ")[2]
    nodes = dict(_nodes(logs.get("nodes.txt", "")))
    report = SlurmReport(
        started=logs.get("started", "") == "yes\n", complaints=tuple(_complaints(logs, has_memory)), nodes=nodes
    )
    if not report.started:
        return report
    return replace(
        report,
        gres={node: _gres(logs, node) for node in with_gres},
        registered=_registered(logs, nodes, has_memory, registering),
        jobs=_answers(logs.get("jobs.txt", ""), jobs),
    )


def _nodes(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if line.startswith("NodeName="):
            yield line.split(maxsplit=1)[0].partition("=")[2], line


def _registered(
    logs: Mapping[str, str], before: Mapping[str, str], has_memory: bool, names: Iterable[str]
) -> dict[str, Registration]:
    of_controller = list(_messages("slurmctld", logs.get("slurmctld.log", ""), has_memory))

    def messages(name: str) -> Iterator[str]:
        yield from _messages("slurmd", logs.get(f"slurmd.{name}.log", ""), has_memory)
        named = re.compile(rf"\bnode {re.escape(name)}(?![\w-])")
        yield from filter(named.search, of_controller)

    return {
        name: Registration(
            before.get(name, ""), logs.get(f"registered.{name}", "").strip(), tuple(dict.fromkeys(messages(name)))
        )
        for name in names
    }


def _answers(text: str, jobs: Sequence[str]) -> dict[str, str]:
    """By script; one without an answer failed."""
    answers = dict(line.strip().split(" ", 1) for line in text.splitlines() if " " in line)
    return {path: answers.get(path, "failed - no answer") for path in jobs}


def _environment(install: SlurmInstall, around: Surroundings) -> dict[str, str]:
    accounting = ("yes" if install.has_database else "left out") if around.accounting else "no"
    return {"ACCOUNTING": accounting, "CGROUP": cgroup_plugin(install.release), **around.environment}


def cgroup_plugin(release: str) -> str:
    """The plugin for a daemon that starts no job; v1 looks at nothing until then."""
    return "disabled" if SlurmRelease(release).has("cgroup-disabled") else "cgroup/v1"


def spare_slurmdbd_conf(around: Surroundings) -> str:
    return (
        f"DbdHost={around.dbd_host}\nDbdPort={around.dbd_port}\nSlurmUser={around.dbd_user}\n"
        "StorageType=accounting_storage/mysql\nStorageHost=localhost\nPidFile=/run/spare-slurmdbd.pid\n"
        f"StoragePort={around.database_port}\n"
    )


def _hardware(directory: Path, simulated: Sequence[Node], has_nvml: bool) -> Iterator[tuple[str, str]]:
    """The notes for read_slurm.sh; without the NVML plugin, gres.conf gets the lines that it would have made."""
    if not simulated:
        return
    gres_conf = directory / "gres.conf"
    text = gres_conf.read_text(encoding="utf-8", errors="replace") if gres_conf.is_file() else ""
    slurm_conf = (directory / "slurm.conf").read_text(encoding="utf-8", errors="replace")
    settings = Settings.read(slurm_conf, text)
    for node in simulated:
        yield from ((f"hardware.{node.name}.{name}", text) for name, text in texts(settings, node).items())
    if not has_nvml:
        yield "gres-lines", "".join(line for node in simulated for line in detected_lines(settings, node))


def _not_asked(directory: Path, around: Surroundings, absent_spank: Sequence[str], has_nvml: bool) -> Iterator[str]:
    for path in absent_spank:
        yield f"plugstack.conf: {path} is not in this root, so slurmd is checked without it"
    if around.accounting and not (directory / "slurmdbd.conf").is_file():
        yield "slurmdbd.conf: missing; slurmctld is checked with a slurmdbd with defaults"
    if around.autodetect and not has_nvml:
        left = "only its other lines are checked" if around.devices else "slurmd is not started"
        yield f"gres.conf: AutoDetect is omitted; {left}"


def _complaints(logs: Mapping[str, str], has_memory: bool) -> list[str]:
    complaints: dict[str, None] = {}
    for log in ("slurmdbd.log", "accounts.log", "slurmctld.log", "scontrol.log", "sackd.log"):
        complaints |= dict.fromkeys(_messages(log.partition(".")[0], logs.get(log, ""), has_memory))
    for log, text in logs.items():
        if log.startswith("slurmd."):
            complaints |= dict.fromkeys(_messages("slurmd", text, has_memory))
            if (
                log.endswith(".log")
                and "slurmd started on" not in text
                and not any(_messages("slurmd", text, has_memory))
            ):
                complaints[f"slurmd: fatal: did not start as {log[7:-4]}"] = None
    return list(complaints)


def _messages(daemon: str, log: str, has_memory: bool) -> Iterator[str]:
    for line in log.splitlines():
        match = _COMPLAINT.search(line)
        if match is None or _OF_THE_SANDBOX.search(line):
            continue
        words = match[1].rstrip() if has_memory else _OF_THIS_MACHINE.sub("", match[1]).rstrip()
        if not _NO_REASON_LEFT.search(words):
            yield f"{daemon}: {words}"


def _gres(logs: Mapping[str, str], node: str) -> str:
    """Releases differ in where slurmd lists them: on stderr, in its log file, or both."""
    text = logs.get(f"slurmd.{node}.gres", "") + logs.get(f"slurmd.{node}.file", "")
    return "\n".join(dict.fromkeys(match.group(1) for match in map(_GRES.search, text.splitlines()) if match))


def _cut(complaints: tuple[str, ...]) -> tuple[str, ...]:
    if len(complaints) <= _MOST_COMPLAINTS:
        return complaints
    left = len(complaints) - _MOST_COMPLAINTS
    return (*complaints[:_MOST_COMPLAINTS], f"and {left} more messages")
