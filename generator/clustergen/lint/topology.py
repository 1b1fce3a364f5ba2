"""topology.conf: a tree of switches, or blocks."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.diagnostics import Severity, did_you_mean
from clustergen.hostlist import fold
from clustergen.lint.found import Found
from clustergen.lint.hostlists import spot_of, unreadable
from clustergen.lint.site import Site, expanded, integer
from clustergen.slurmconf.folder import Config, Entry, Setting

_LONGEST = 64
_OTHER_LINES = ("ring", "torus3d")
"""Plugins that read a topology.conf of lines of their own."""


def conf(site: Site) -> Iterator[Found]:
    config = site.folder.config("topology.conf")
    plugin = site.plugin("TopologyPlugin") if site.slurm else ""
    yaml = site.folder.has("topology.yaml") and site.since("25.05")
    if config is None:
        setting = site.setting("TopologyPlugin")
        if setting and plugin in ("tree", "block") and not yaml:
            yield site.error(
                "slurm-key-lacking",
                setting,
                f"topology/{plugin} needs a topology.conf, and slurmctld does not start without",
                "topology.conf beside slurm.conf",
            )
        return
    name = config.name
    if yaml:
        yield site.warning(
            "topology-ignored",
            name,
            f"topology.yaml is there, so Slurm {site.release} does not read this file",
            "one of them",
        )
        return
    if plugin in _OTHER_LINES and config.entries("SwitchName") + config.entries("BlockName"):
        message = f"topology/{plugin} knows no switches and no blocks, and slurmctld does not start with these lines"
        yield site.error("topology-ignored", name, message, "TopologyPlugin=topology/tree, or topology/block")
        return
    if site.slurm and plugin not in ("tree", "block"):
        yield site.warning(
            "topology-ignored",
            name,
            "Slurm does not read this file: TopologyPlugin is " + (f"topology/{plugin}" if plugin else "not set"),
            "TopologyPlugin=topology/tree",
        )
        return
    if plugin == "block" or (not plugin and config.entries("BlockName")):
        yield from _blocks(site, config)
    else:
        yield from _tree(site, config)


def _tree(site: Site, config: Config) -> Iterator[Found]:
    switches: dict[str, Entry] = {}
    blocks = config.entries("BlockName")
    if blocks and not config.entries("SwitchName"):
        message = "these are blocks, and TopologyPlugin is topology/tree; slurmctld does not start"
        yield site.error("topology-without-switches", blocks[0], message, "TopologyPlugin=topology/block", key=True)
        return
    for entry in config.entries("SwitchName"):
        if entry.names in switches:
            yield site.error(
                "switch-duplicate",
                entry,
                f"'{entry.names}' is a switch by line {switches[entry.names].line.number} already; slurmctld stops",
            )
            continue
        switches[entry.names] = entry
        if len(entry.names) >= _LONGEST:
            yield site.error(
                "switch-name-too-long",
                entry,
                f"a switch's name has fewer than {_LONGEST} characters, and slurmctld does not start",
            )
    if not switches:
        severity = Severity.ERROR if site.since("25.11") else Severity.WARNING
        yield site.found(
            "topology-without-switches",
            severity,
            config.name,
            "no SwitchName: there is no tree",
            "SwitchName=s1 Nodes=…",
        )
        return
    yield from _cables(site, config, switches)


def _cables(site: Site, config: Config, switches: dict[str, Entry]) -> Iterator[Found]:
    """What hangs on each switch."""
    below: dict[str, list[str]] = {}
    leaf: dict[str, str] = {}
    for name, entry in switches.items():
        nodes, children = entry.own("Nodes"), entry.own("Switches")
        if nodes and children:
            yield site.error(
                "switch-node-unknown",
                children,
                f"'{name}' has both nodes and switches, and slurmctld does not start",
                "nodes hang on leaves",
                key=True,
            )
        elif not nodes and not children:
            severity = Severity.WARNING if site.since("25.05") else Severity.ERROR
            yield site.found(
                "switch-node-unknown",
                severity,
                entry,
                f"'{name}' has neither nodes nor switches",
                "Nodes=… or Switches=…",
            )
        if nodes:
            yield from _members(site, nodes, name, leaf)
        if children and expanded(children.text) is None:
            yield unreadable(site, children, f"the switches below '{name}' are no host list")
        for child in expanded(children.text) or () if children else ():
            below.setdefault(name, []).append(child)
            if children and child not in switches:
                yield site.error(
                    "switch-unknown",
                    spot_of(site, children, child),
                    f"no switch is called '{child}', and slurmctld does not start",
                    did_you_mean(child, switches),
                )
    yield from _shape(site, config, switches, below, leaf)


def _members(site: Site, nodes: Setting, name: str, leaf: dict[str, str]) -> Iterator[Found]:
    hosts = expanded(nodes.text)
    if hosts is None:
        yield unreadable(site, nodes, f"the nodes of '{name}' are no host list")
        return
    unknown = [host for host in hosts if site.slurm and site.complete and host not in site.hosts]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        hint = (
            "write the nodes; ALL means nothing here"
            if unknown[0].upper() == "ALL"
            else did_you_mean(unknown[0], list(site.hosts)[:2000])
        )
        yield site.warning(
            "switch-node-unknown",
            spot_of(site, nodes, unknown[0]),
            f"slurm.conf has no node '{unknown[0]}'{more}; Slurm logs an error",
            hint,
        )
    told = False
    for host in hosts:
        first = leaf.setdefault(host, name)
        if first != name and not told:
            told = True
            yield site.warning(
                "node-on-two-leaves",
                spot_of(site, nodes, host),
                f"'{host}' hangs on '{first}' already; Slurm warns of it",
            )


def _shape(
    site: Site, config: Config, switches: dict[str, Entry], below: dict[str, list[str]], leaf: dict[str, str]
) -> Iterator[Found]:
    parent: dict[str, str] = {}
    for name, children in below.items():
        for child in children:
            if child in parent and parent[child] != name:
                yield site.warning(
                    "switch-cycle", switches[name], f"'{child}' hangs on '{parent[child]}' already: this is no tree"
                )
            parent.setdefault(child, name)
    for name in below:
        at, seen = name, {name}
        while at in parent and parent[at] not in seen:
            at = parent[at]
            seen.add(at)
        if at in parent:
            yield site.error(
                "switch-cycle",
                switches[name],
                f"'{name}' is above itself: this is no tree, and slurmctld does not start",
            )
            return
    if site.slurm is None or not site.complete:
        return
    outside = [host for host in site.hosts if host not in leaf]
    if outside and len(outside) < len(site.hosts):
        shown = fold(outside[:2000], suffixes=True)
        yield site.warning(
            "node-without-switch",
            site.hosts[outside[0]],
            f"{shown} hang on no switch; jobs cannot span them and others",
            "name them on a leaf of topology.conf",
        )
    roots = [name for name in switches if name not in parent]
    if len(roots) > 1 or outside:
        place = switches[roots[1]] if len(roots) > 1 else config.name
        yield site.warning(
            "topology-not-joined",
            place,
            f"no switch reaches all nodes: {', '.join(sorted(roots)[:6])} are not joined, and no job spans them",
            "a switch above them, if cables join them",
        )


def _blocks(site: Site, config: Config) -> Iterator[Found]:
    seen: dict[str, Entry] = {}
    owner: dict[str, str] = {}
    sizes = config.value("BlockSizes")
    base = integer((sizes.text if sizes else "").split(",")[0])
    for entry in config.entries("BlockName"):
        if entry.names in seen:
            yield site.error(
                "block-node-twice",
                entry,
                f"'{entry.names}' is a block by line {seen[entry.names].line.number} already; slurmctld stops",
            )
            continue
        seen[entry.names] = entry
        nodes = entry.own("Nodes")
        hosts = expanded(nodes.text) or [] if nodes else []
        for host in hosts:
            if nodes and site.slurm and site.complete and host not in site.hosts:
                yield site.warning(
                    "block-node-unknown",
                    spot_of(site, nodes, host),
                    f"slurm.conf has no node '{host}'; Slurm logs an error",
                    did_you_mean(host, list(site.hosts)[:2000]),
                )
                break
        for host in hosts:
            if nodes and owner.setdefault(host, entry.names) != entry.names:
                yield site.warning(
                    "block-node-twice", spot_of(site, nodes, host), f"'{host}' is in block '{owner[host]}' already"
                )
                break
        if base and nodes and len(hosts) < base and not site.since("25.05"):
            yield site.error(
                "block-too-small",
                nodes,
                f"{len(hosts)} nodes, fewer than the base size {base}; slurmctld does not start",
            )
    yield from _block_sizes(site, sizes)
    if not seen:
        yield site.error(
            "topology-blocks-missing", config.name, "no BlockName: slurmctld does not start", "BlockName=b1 Nodes=…"
        )
    if site.slurm and site.complete and seen:
        outside = [host for host in site.hosts if host not in owner]
        if outside:
            yield site.warning(
                "node-without-block",
                site.hosts[outside[0]],
                f"{fold(outside[:2000], suffixes=True)} are in no block, and Slurm starts jobs on nodes of blocks only",
                "put every node into a block",
            )


def _block_sizes(site: Site, sizes: Setting | None) -> Iterator[Found]:
    items = sizes.text.split(",") if sizes else []
    base = integer(items[0]) if items else None
    start = 0
    for item in items:
        size = integer(item.strip())
        factor, rest = divmod(size, base) if size and base else (1, 0)
        if sizes and (size is None or size == 0 or rest or factor & (factor - 1) or factor > 1 << 15):
            message = f"{item.strip()} is not {base} times a power of two, and slurmctld does not start"
            yield site.error("block-size", site.part(sizes, start, len(item)), message)
        start += len(item) + 1


CHECKS = (conf,)
