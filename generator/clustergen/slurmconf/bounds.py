"""Bounds on what one file stands for: a line of a few bytes can stand for 65,536 names, a DEFAULT line for every line
below it.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from clustergen.hostlist import MAX_HOSTS, MOST_NAMES, HostlistError, count
from clustergen.slurmconf.reading import MOST_BYTES

if TYPE_CHECKING:
    from clustergen.slurmconf.config import Config

MOST_INHERITED = 4 * MOST_BYTES
"""Characters of the values that all lines of one file have from DEFAULT lines. 65,536 nodes have 20 MB of them."""

OF_EACH_NODE = ("NodeAddr", "NodeHostname", "BcastAddr", "Port")
"""Keys of NodeName lines with a value for each node."""
_LISTS = {
    "nodename": OF_EACH_NODE,
    "partitionname": ("PartitionName", "Nodes"),
    "nodeset": ("Nodes",),
    "downnodes": ("DownNodes",),
    "switchname": ("Nodes", "Switches"),
    "blockname": ("Nodes",),
}
"""Block → the keys of its lines that hold a host list."""
_SEPARATORS = re.compile(r"[\s,]+")
_FILE = re.compile(r"(?:[^,\[\]]|\[[^\]]*\])+")
_SETTING = 20  # characters of a key, and what an object costs


def refuse_too_much(config: Config) -> None:
    """Counts what the lines of a file stand for, and expands nothing. OSError where that is too much.

    Names of nodes are not counted; of these MAX_HOSTS is the bound.
    """
    inherited = sum(_inherited(config))
    if inherited > MOST_INHERITED:
        raise OSError(errno.EFBIG, f"its DEFAULT lines set more than {MOST_INHERITED:,} characters of values")
    names = 0
    for number in _devices(config) if config.name == "gres.conf" else _lists(config):
        names += number
        if names > MOST_NAMES:
            raise OSError(errno.EFBIG, f"its host lists expand to more than {MOST_NAMES:,} names")


def refuse_too_many_nodes(config: Config) -> None:
    """OSError where a slurm.conf has more nodes than Slurm manages."""
    total = sum(entry.size() for entry in config.entries("NodeName"))
    if total > MAX_HOSTS:
        raise OSError(errno.EFBIG, f"it has {total:,} nodes, and Slurm manages at most {MAX_HOSTS:,}")


def _inherited(config: Config) -> Iterator[int]:
    """For each line that DEFAULT lines apply to, the size of what they set."""
    last, size = None, 0
    for block in ("NodeName", "PartitionName"):
        for entry in config.entries(block):
            if entry.inherited is not last:
                last = entry.inherited
                size = sum(_SETTING + len(setting.text) for setting in last.values())
            yield size


def _lists(config: Config) -> Iterator[int]:
    for block, keys in _LISTS.items():
        for entry in config.entries(block):
            yield from (names_in(text) for key in keys if (text := entry.text(key)))


def _devices(config: Config) -> Iterator[int]:
    """For each line of gres.conf its files, on each of its nodes."""
    for block in ("NodeName", "Name"):
        for entry in config.entries(block):
            texts = [text for key in ("File", "Files", "MultipleFiles") if (text := entry.text(key))]
            files = sum(names_in(part.rpartition("/")[2]) for text in texts for part in _FILE.findall(text))
            yield max(1, files) * (names_in(entry.names) if block == "NodeName" else 1)


@lru_cache(maxsize=8)
def names_in(text: str) -> int:
    """How many names a host list stands for; 1 for a text that is none, which nobody expands."""
    try:
        return count(_SEPARATORS.sub(",", text).strip(","))
    except HostlistError:
        return 1
