"""NodeName lines: names and addresses."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.diagnostics import Severity
from clustergen.hostlist import HostlistError, count, expand
from clustergen.lint.found import Found
from clustergen.lint.hostlists import node_names
from clustergen.lint.site import Site, hosts_of, without_extra_commas
from clustergen.slurmconf.folder import Entry, Setting
from clustergen.slurmconf.grammar import Line

_NOT_ON_DEFAULT = ("NodeHostname", "NodeAddr", "BcastAddr")
_MOST = 65_536


def there(site: Site) -> Iterator[Found]:
    """Nodes at all; from 23.02 on they may come by themselves."""
    if site.slurm is None or site.nodes or not site.complete:
        return
    message = (
        "no NodeName: slurmctld does not start without a node"
        if not site.since("23.02")
        else "no NodeName: no node runs jobs"
    )
    if site.setting("MaxNodeCount") is None:
        severity = Severity.WARNING if site.since("23.02") else Severity.ERROR
        hint = "slurmd -C on a node prints its line"
        yield site.found("compute-missing", severity, site.folder.main, message, hint)


def default_lines(site: Site) -> Iterator[Found]:
    for line in site.slurm.default_lines("NodeName") if site.slurm else ():
        for key in _NOT_ON_DEFAULT:
            pair = line.pair(key)
            if pair is not None:
                message = f"{pair.key} cannot stand on NodeName=DEFAULT, and no daemon starts"
                yield site.error("slurm-value-wrong", Setting(line.file, pair), message, key=True)


def names(site: Site) -> Iterator[Found]:
    """Host lists that can be read, and every node once."""
    owner: dict[str, Entry] = {}
    total = 0
    for node in site.nodes:
        if node.names.upper() in ("ALL", "DEFAULT"):
            continue
        wrong = node_names(site, node.name)
        if wrong is not None:
            yield wrong
        hosts = hosts_of(node) or []
        total += len(hosts)
        told = False
        for host in hosts:
            first = owner.setdefault(host, node)
            if first is not node and not told:
                told = True
                where = _where(first.line, node.line)
                message = f"'{host}' is a node already, by {where}; no daemon starts"
                yield site.error("host-duplicate", node, message, "every node stands on one line")
        if len(set(hosts)) < len(hosts) and not told:
            twice = next(host for index, host in enumerate(hosts) if host in hosts[:index])
            yield site.error("host-duplicate", node, f"'{twice}' stands twice in this list; no daemon starts")
    if total > _MOST:
        yield site.error("too-many-nodes", site.nodes[-1], f"{total:,} nodes; Slurm takes at most {_MOST:,}")


def _where(line: Line, other: Line) -> str:
    return f"line {line.number}" + (f" of {line.file}" if line.file != other.file else "")


def counts(site: Site) -> Iterator[Found]:
    """As many addresses, host names and ports as nodes, or one."""
    for node in site.nodes:
        hosts = hosts_of(node)
        if hosts is None:
            continue
        for key, since in (("NodeAddr", "22.05"), ("NodeHostname", "24.11"), ("Port", "22.05"), ("BcastAddr", "22.05")):
            found = node.own(key)
            if found is None or ("[" not in found.text and "," not in found.text):
                continue
            try:
                given = count(without_extra_commas(found.text))
            except HostlistError as err:
                if key != "Port":
                    yield site.error("hostlist-syntax", site.part(found, err.offset, err.length), err.message, err.hint)
                continue
            if given not in (1, len(hosts)):
                severity = Severity.ERROR if site.since(since) else Severity.WARNING
                message = f"{given} in {key} for {len(hosts)} nodes; slurmctld does not start"
                yield site.found("address-count", severity, found, message, "one for each node, in the same order")


def addresses(site: Site) -> Iterator[Found]:
    """One address for two nodes: slurmctld talks to the wrong one."""
    owner: dict[str, str] = {}
    for node in site.nodes:
        found = node.own("NodeAddr")
        hosts = hosts_of(node)
        if found is None or hosts is None:
            continue
        try:
            given = expand(without_extra_commas(found.text))
        except HostlistError:
            continue
        if len(given) == 1 and len(hosts) > 1 and node.value("Port") is None:
            message = f"one address for {len(hosts)} nodes; without a Port for each only one of them is reached"
            yield site.warning("address-duplicate", found, message)
            continue
        if node.value("Port") is not None or len(given) != len(hosts):
            continue
        for host, address in zip(hosts, given, strict=True):
            first = owner.setdefault(address, host)
            if first != host:
                yield site.warning(
                    "address-duplicate",
                    found,
                    f"{address} is the address of '{first}' already",
                    f"'{host}' needs its own",
                )
                break


CHECKS = (there, default_lines, names, counts, addresses)
