"""topology.conf: a tree of switches, or blocks."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.diagnostics import Severity
from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site
from clustergen.lint.topology_blocks import Block, Size, blocks
from clustergen.lint.topology_tree import Switch, tree
from clustergen.slurmconf.config import Config

_NEEDS_FILE = ("tree", "block")
_OTHER_LINES = ("ring", "torus3d")
"""Plugins that read a topology.conf of lines of their own."""


def conf(site: Site) -> Iterator[LintFinding]:
    """The file's value, where Slurm reads it."""
    config = site.directory.config("topology.conf")
    plugin = site.plugin("TopologyPlugin") if site.slurm else ""
    if config is None:
        yield from _no_file(site, plugin)
        return
    unread = _not_read(site, config, plugin)
    if unread is not None:
        yield unread
    elif plugin == "block" or (not plugin and config.entries("BlockName")):
        yield from _blocks(site, config)
    else:
        yield from _tree(site, config)


def _yaml_instead(site: Site) -> bool:
    return site.directory.has("topology.yaml") and site.has("topology-yaml")


def _no_file(site: Site, plugin: str) -> Iterator[LintFinding]:
    setting = site.setting("TopologyPlugin")
    if setting and plugin in _NEEDS_FILE and not _yaml_instead(site):
        message = f"topology/{plugin} requires topology.conf; slurmctld does not start without it"
        yield site.error("slurm-key-lacking", setting, message, "add topology.conf next to slurm.conf")


def _not_read(site: Site, config: Config, plugin: str) -> LintFinding | None:
    """Why Slurm makes nothing of the file; None where it does."""
    if _yaml_instead(site):
        message = f"topology.yaml exists, so Slurm {site.release} does not read this file"
        return site.warning("topology-ignored", config.name, message, "remove one of them")
    if plugin in _OTHER_LINES and config.entries("SwitchName") + config.entries("BlockName"):
        message = f"topology/{plugin} has neither switches nor blocks; slurmctld does not start with these lines"
        hint = "write TopologyPlugin=topology/tree or TopologyPlugin=topology/block"
        return site.error("topology-ignored", config.name, message, hint)
    if site.slurm and plugin not in _NEEDS_FILE:
        is_set = f"topology/{plugin}" if plugin else "not set"
        message = f"Slurm does not read this file: TopologyPlugin is {is_set}"
        return site.warning("topology-ignored", config.name, message, "write TopologyPlugin=topology/tree")
    return None


def _tree(site: Site, config: Config) -> Iterator[LintFinding]:
    entries = config.entries("SwitchName")
    listed = config.entries("BlockName")
    if entries:
        switches = [Switch(entry.name, entry.own_value("Nodes"), entry.own_value("Switches")) for entry in entries]
        yield from tree(site, switches, config.name)
    elif listed:
        message = "this file defines blocks, but TopologyPlugin is topology/tree; slurmctld does not start"
        yield site.error(
            "topology-without-switches", listed[0], message, "write TopologyPlugin=topology/block", key=True
        )
    else:
        severity = Severity.ERROR if site.has("tree-needs-switches") else Severity.WARNING
        message = "no SwitchName line, so there is no tree"
        yield site.finding("topology-without-switches", severity, config.name, message, "add SwitchName=s1 Nodes=…")


def _blocks(site: Site, config: Config) -> Iterator[LintFinding]:
    listed = [Block(entry.name, entry.own_value("Nodes")) for entry in config.entries("BlockName")]
    yield from blocks(site, listed, _sizes(site, config))
    if not listed:
        message = "no BlockName line; slurmctld does not start"
        yield site.error("topology-blocks-missing", config.name, message, "add BlockName=b1 Nodes=…")


def _sizes(site: Site, config: Config) -> list[Size]:
    setting = config.value("BlockSizes")
    sizes = []
    start = 0
    for item in setting.text.split(",") if setting else ():
        if setting:
            sizes.append(Size(item.strip(), site.part(setting, start, len(item))))
        start += len(item) + 1
    return sizes
