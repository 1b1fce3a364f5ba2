"""NodeName lines: names and addresses."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.diagnostics import Severity
from clustergen.hostlist import MAX_HOSTS, HostlistError, count, expand
from clustergen.lint.finding import LintFinding
from clustergen.lint.hostlists import node_names
from clustergen.lint.site import Site, hosts_of, without_extra_commas
from clustergen.slurmconf.bounds import OF_EACH_NODE
from clustergen.slurmconf.config import Entry, Setting
from clustergen.slurmconf.grammar import Line

_NOT_ON_DEFAULT = ("NodeHostname", "NodeAddr", "BcastAddr")


def too_many(site: Site) -> LintFinding | None:
    """More nodes than any slurmctld starts with. They are counted and not expanded, as they may be billions."""
    total = 0
    passing = None
    for node in site.nodes:
        total += node.size()
        if total > MAX_HOSTS and passing is None:
            passing = node
    if passing is None:
        return None
    hint = "split them into several clusters; clustergen checks nothing else here"
    return site.error("too-many-nodes", passing, f"{total:,} nodes; Slurm manages at most {MAX_HOSTS:,}", hint)


def exist(site: Site) -> Iterator[LintFinding]:
    """Nodes at all; from 23.02 on they may come by themselves."""
    if site.slurm is None or site.nodes or not site.complete:
        return
    message = (
        "no NodeName line: slurmctld does not start without a node"
        if not site.has("starts-without-nodes")
        else "no NodeName line, so no node runs jobs"
    )
    if site.setting("MaxNodeCount") is None:
        severity = Severity.WARNING if site.has("starts-without-nodes") else Severity.ERROR
        hint = "run slurmd -C on a node and add the line that it prints"
        yield site.finding("compute-missing", severity, site.directory.main, message, hint)


def default_lines(site: Site) -> Iterator[LintFinding]:
    for line in site.slurm.default_lines("NodeName") if site.slurm else ():
        for key in _NOT_ON_DEFAULT:
            pair = line.pair(key)
            if pair is not None:
                message = f"{pair.key} is not allowed on NodeName=DEFAULT; no daemon starts"
                yield site.error("slurm-value-wrong", Setting(line.file, pair), message, key=True)


def names(site: Site) -> Iterator[LintFinding]:
    """Host lists that can be read, and every node once."""
    owner: dict[str, Entry] = {}
    for node in site.nodes:
        if node.names.upper() in ("ALL", "DEFAULT"):
            continue
        wrong = node_names(site, node.name)
        if wrong is not None:
            yield wrong
        hosts = hosts_of(node) or []
        is_reported = False
        for host in hosts:
            first = owner.setdefault(host, node)
            if first is not node and not is_reported:
                is_reported = True
                where = _where(first.line, node.line)
                message = f"node '{host}' is already defined on {where}; no daemon starts"
                yield site.error("host-duplicate", node, message, "list each node on one line")
        if len(set(hosts)) < len(hosts) and not is_reported:
            twice = next(host for index, host in enumerate(hosts) if host in hosts[:index])
            yield site.error("host-duplicate", node, f"node '{twice}' is listed twice; no daemon starts")


def _where(line: Line, other: Line) -> str:
    return f"line {line.number}" + (f" of {line.file}" if line.file != other.file else "")


def counts(site: Site) -> Iterator[LintFinding]:
    """One address, host name or port for each node, or one for all."""
    for node in site.nodes:
        hosts = hosts_of(node)
        if hosts is None:
            continue
        for key in OF_EACH_NODE:
            setting = node.own_value(key)
            if setting is None or ("[" not in setting.text and "," not in setting.text):
                continue
            try:
                number = count(without_extra_commas(setting.text))
            except HostlistError as err:
                if key != "Port":
                    yield site.error(
                        "hostlist-syntax", site.part(setting, err.offset, err.length), err.message, err.hint
                    )
                continue
            if number not in (1, len(hosts)):
                stops = key != "NodeHostname" or site.has("address-lists-of-host-names")
                severity = Severity.ERROR if stops else Severity.WARNING
                message = f"{number} in {key} for {len(hosts)} nodes; slurmctld does not start"
                yield site.finding("address-count", severity, setting, message, "list one per node, in the same order")


def addresses(site: Site) -> Iterator[LintFinding]:
    """One address for two nodes: slurmctld talks to the wrong one."""
    owner: dict[str, str] = {}
    for node in site.nodes:
        setting = node.own_value("NodeAddr")
        hosts = hosts_of(node)
        if setting is None or hosts is None:
            continue
        try:
            listed = expand(without_extra_commas(setting.text))
        except HostlistError:
            continue
        if len(listed) == 1 and len(hosts) > 1 and node.value("Port") is None:
            message = (
                f"one address for {len(hosts)} nodes; slurmctld reaches only one of them unless each has its own Port"
            )
            yield site.warning("address-duplicate", setting, message)
            continue
        if node.value("Port") is not None or len(listed) != len(hosts):
            continue
        for host, address in zip(hosts, listed, strict=True):
            first = owner.setdefault(address, host)
            if first != host:
                yield site.warning(
                    "address-duplicate",
                    setting,
                    f"{address} is already the address of '{first}'",
                    f"use another address for '{host}'",
                )
                break
