"""Asks real Slurm which nodes of a directory it accepts: slurmctld, and slurmd for one node of each NodeName line."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.lint.finding import LintFinding
from clustergen.lint.run import Report
from clustergen.lint.site import Site
from clustergen.records import replace
from clustergen.slurmconf.config import Entry
from clustergen.verify.registration import refusals
from clustergen.verify.sandbox import SandboxError
from clustergen.verify.simulated_hardware import not_simulated
from clustergen.verify.slurm_daemons import SlurmReport, read_config
from clustergen.verify.slurm_roots import for_release, installs

_MOST_NODES = 100
_TIMEOUT = 60
_KIND = (
    *("CPUs", "Procs", "Boards", "Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore", "RealMemory"),
    *("TmpDisk", "CoreSpecCount", "CpuSpecList", "MemSpecLimit", "State"),
)
_HINT = "correct the line, or run slurmd -C and slurmd -G on a node of it and compare"


def registered(report: Report) -> tuple[Report, tuple[str, ...]]:
    """The report with a finding for each line whose node is refused, and remarks on what was not asked.

    A node has the hardware that its line and the device files of gres.conf claim, so only what contradicts itself is
    found.
    """
    site = Site(report.directory, report.release)
    install = for_release(str(report.release))
    if site.slurm is None or report.directory.shown("slurm.conf").rpartition("/")[2] != "slurm.conf":
        return report, ("registration: requires a slurm.conf of that name.",)
    if install is None:
        versions = ", ".join(one.version for one in installs())
        advice = f"installed: {versions}" if versions else "run clustergen setup parsers"
        return report, (f"registration: Slurm {report.release} is not here; {advice}.",)
    if why := not_simulated():
        return report, (f"registration: {why}.",)
    nodes, left = _nodes(site)
    try:
        answer = read_config(install, report.directory.path, None, tuple(nodes), timeout=_TIMEOUT)
    except (SandboxError, OSError) as error:
        return report, (f"registration: {error}.",)
    if not answer.started:
        stops = [words for words in answer.complaints if "fatal: " in words]
        first = next(iter(stops or answer.complaints), "slurmctld does not start")
        return report, (f"registration: no node was asked, {first}.",)
    refused = dict.fromkeys(_findings(site, nodes, answer))
    shown = [one._replace(diagnostic=report.redactions.diagnostic(one.diagnostic)) for one in refused]
    kinds = f"{len(answer.registered)} of {len(nodes) + left}"
    remark = f"registration: Slurm {install.version} was asked about {kinds} kinds of NodeName lines."
    return replace(report, findings=(*report.findings, *shown)), (remark,)


def _nodes(site: Site) -> tuple[dict[str, Entry], int]:
    """A node of each kind of line, and how many kinds are left out; with GRES, each line is one, as in gres.conf."""
    gres = site.directory.config("gres.conf")
    detects = any((line.get("AutoDetect") or "off").lower() != "off" for line in gres.lines) if gres else False
    nodes: dict[str, Entry] = {}
    seen: set[tuple[object, ...]] = set()
    left = 0
    for host, entry in site.hosts.items():
        kind = (id(entry) if entry.text("Gres") else 0, *map(entry.text, _KIND))
        if kind in seen:
            continue
        seen.add(kind)
        is_cloud = (entry.text("State") or "").upper() == "CLOUD"  # which slurmctld 22.05 does not show
        # Without a driver here, nothing is detected that slurm.conf could be compared with.
        if is_cloud or (detects and entry.text("Gres")) or len(nodes) == _MOST_NODES:
            left += 1
        else:
            nodes[host] = entry
    return nodes, left


def _findings(site: Site, nodes: dict[str, Entry], answer: SlurmReport) -> Iterator[LintFinding]:
    for host, registration in answer.registered.items():
        fatal = [words for words in registration.messages if "fatal: " in words]
        for words in fatal or refusals(host, registration):
            yield site.warning("node-registration", nodes[host], words, _HINT)
