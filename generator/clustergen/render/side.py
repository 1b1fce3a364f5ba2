"""One side of a diff as features see it, and the steps that they add to a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from clustergen.records import record
from clustergen.render.effects import Effect


@record
class NodeFile:
    """A file of the tree that goes on nodes."""

    target: str
    group: str
    mode: str
    owner: str
    effect: Effect
    sha256: str
    content: Callable[[], bytes]

    @property
    def text(self) -> str:
        return self.content().decode("utf-8", "surrogateescape")

    @property
    def same_as(self) -> tuple[str, str, str]:
        """Equal for files that are equal on a node."""
        return self.sha256, self.mode, self.owner


class Side(Protocol):
    """A tree: the name of its cluster, its files that go on nodes, and texts of others, by path in the tree."""

    @property
    def cluster(self) -> str: ...
    @property
    def files(self) -> Mapping[str, NodeFile]: ...
    @property
    def texts(self) -> Mapping[str, str]: ...


@record
class ManualStep:
    """A step after `site.yml`, or before it where it `is_first`, that no play of it does. `below`: directory of nodes
    whose changed files require it, each on its nodes; empty: it is done in one place for all.
    """

    text: str
    below: str = ""
    is_first: bool = False
