"""A tree of switches, whichever file says it: its names, what hangs on each, and whether it is one tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from clustergen.diagnostics import Severity, did_you_mean
from clustergen.hostlist import compress
from clustergen.lint.finding import LintFinding
from clustergen.lint.hostlists import members, not_defined, spot_of, unreadable
from clustergen.lint.site import Site, expanded
from clustergen.slurmconf.config import Setting

_LONGEST = 64
_UNKNOWN, _TWICE = "switch-node-unknown", ("node-on-two-leaves", "is already connected to '{}'; Slurm logs a warning")


class Switch(NamedTuple):
    """One switch: its nodes, or the switches below it. Both are host lists."""

    name: Setting
    nodes: Setting | None
    children: Setting | None

    def below(self) -> list[str]:
        """The names of the switches below it; empty for a list that cannot be read."""
        return expanded(self.children.text) or [] if self.children else []


Switches = Mapping[str, Switch]


def tree(site: Site, listed: list[Switch], file: str) -> Iterator[LintFinding]:
    """Everything about the switches of one tree; `file` is where they stand."""
    switches: dict[str, Switch] = {}
    for switch in listed:
        first = switches.setdefault(switch.name.text, switch)
        if first is not switch:
            where = f"line {first.name.key_at.line}"
            message = f"switch '{switch.name.text}' is already defined on {where}; slurmctld does not start"
            yield site.error("switch-duplicate", switch.name, message)
    leaf: dict[str, str] = {}
    for name, switch in switches.items():
        yield from _ports(site, name, switch)
        yield from _children(site, name, switch, switches)
        if switch.nodes:
            yield from members(site, switch.nodes, name, leaf, _UNKNOWN, _TWICE)
    parent: dict[str, str] = {}
    yield from _twice_below(site, switches, parent)
    circle = _above_itself(switches, parent)
    if circle is not None:
        message = f"the switches above '{circle}' form a cycle; slurmctld does not start"
        yield site.error("switch-cycle", switches[circle].name, message)
    elif site.complete and all(map(_readable, switches.values())):
        yield from _reach(site, [switch for name, switch in switches.items() if name not in parent], leaf, file)


def _ports(site: Site, name: str, switch: Switch) -> Iterator[LintFinding]:
    """A name that is short enough, and either nodes or switches."""
    if len(name) >= _LONGEST:
        message = f"the switch name has {len(name)} characters; slurmctld does not start with more than {_LONGEST - 1}"
        yield site.error("switch-name-too-long", switch.name, message)
    if switch.nodes and switch.children:
        message = f"switch '{name}' has both Nodes and Switches; slurmctld does not start"
        yield site.error(
            "switch-node-unknown",
            switch.children,
            message,
            "remove Nodes, or remove Switches: only leaf switches have nodes",
            key=True,
        )
    elif not switch.nodes and not switch.children:
        severity = Severity.WARNING if site.has("empty-switches") else Severity.ERROR
        message = f"switch '{name}' has neither Nodes nor Switches"
        yield site.finding(
            "switch-node-unknown", severity, switch.name, message, "add Nodes, or Switches with the switches below it"
        )


def _children(site: Site, name: str, switch: Switch, switches: Switches) -> Iterator[LintFinding]:
    children = switch.children
    if children is None:
        return
    if expanded(children.text) is None:
        yield unreadable(site, children, f"Switches of '{name}' is not a host list")
    missing = [child for child in switch.below() if child not in switches]
    if missing:
        message = f"{not_defined('switch', missing)}; slurmctld does not start"
        hint = did_you_mean(missing[0], islice(switches, 2000))
        yield site.error("switch-unknown", spot_of(site, children, missing[0]), message, hint)


def _twice_below(site: Site, switches: Switches, parent: dict[str, str]) -> Iterator[LintFinding]:
    """Switches with two above them. `parent`: child → the first one above it, which this fills."""
    for name, switch in switches.items():
        for child in switch.below():
            if parent.setdefault(child, name) != name:
                message = f"switch '{child}' is already connected to '{parent[child]}', so the switches form no tree"
                yield site.warning("switch-cycle", switch.name, message)


def _readable(switch: Switch) -> bool:
    return all(text is None or expanded(text.text) is not None for text in (switch.nodes, switch.children))


def _above_itself(names: Iterable[str], parent: Mapping[str, str]) -> str | None:
    """The first switch that leads to itself or to a circle above it; None where all lead to a root."""
    good: set[str] = set()
    for name in names:
        way = [name]
        while way[-1] in parent and way[-1] not in good:
            way.append(parent[way[-1]])
            if len(way) > len(parent) + 1:
                return name
        good.update(way)
    return None


def _reach(site: Site, roots: list[Switch], leaf: Mapping[str, str], file: str) -> Iterator[LintFinding]:
    """True if a job can have any nodes together."""
    outside = [host for host in site.hosts if host not in leaf]
    if outside and len(outside) < len(site.hosts):
        are = "is" if len(outside) == 1 else "are"
        message = (
            f"{compress(outside[:2000], suffixes=True)} {are} not connected to any switch; jobs cannot span them"
            " and others"
        )
        yield site.warning(
            "node-without-switch", site.hosts[outside[0]], message, f"add them to a leaf switch in {file}"
        )
    if len(roots) > 1 or outside:
        names = ", ".join(sorted(root.name.text for root in roots)[:6])
        message = f"no switch connects all nodes: {names} are separate, and no job can span them"
        place = roots[1].name if len(roots) > 1 else file
        yield site.warning("topology-not-joined", place, message, "add a switch above them if they are cabled")
