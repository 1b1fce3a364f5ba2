"""A topology.yaml as YAML nodes, within bounds: libyaml itself crashes on deep nesting, and Slurm refuses aliases."""

from __future__ import annotations

import yaml
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, NodeEvent, ScalarEvent

from clustergen.hostlist import MOST_NAMES
from clustergen.slurmconf.bounds import names_in

_MOST_CHARACTERS = 4 << 20
_MOST_NODES = 400_000
_DEEPEST = 50


class YamlNodesError(Exception):
    """Why a text has no nodes. `line` and `column` count from 1; `is_depth` where it is nested too deeply, `is_bound`
    where it is too large for clustergen, and perhaps not for Slurm.
    """

    def __init__(
        self, message: str, line: int = 1, column: int = 1, *, is_depth: bool = False, is_bound: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.is_depth = is_depth
        self.is_bound = is_bound


def compose(text: str) -> yaml.Node | None:
    """The root node of a text; None for an empty one. YamlNodesError for what Slurm's reader refuses, or too much."""
    if len(text) > _MOST_CHARACTERS:
        raise YamlNodesError(f"it is larger than {_MOST_CHARACTERS >> 20} MiB", is_bound=True)
    text = text.encode("utf-8", "replace").decode()
    try:
        _bound(text)
        return yaml.compose(text, Loader=_loader())
    except yaml.YAMLError as err:
        mark = getattr(err, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise YamlNodesError(getattr(err, "problem", None) or "this is not valid YAML", line, column) from None


def _bound(text: str) -> None:
    """Reads the events alone, which no depth or number can crash."""
    depth = nodes = names = 0
    for event in yaml.parse(text, Loader=_loader()):
        mark = event.start_mark
        where = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        if isinstance(event, AliasEvent):
            raise YamlNodesError("Slurm's YAML reader does not support aliases", *where)
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        nodes += isinstance(event, NodeEvent)
        if depth > _DEEPEST:
            raise YamlNodesError("it has too many nested levels", *where, is_depth=True)
        if nodes > _MOST_NODES:
            raise YamlNodesError(f"it has more than {_MOST_NODES:,} values", *where, is_bound=True)
        if isinstance(event, ScalarEvent) and "[" in event.value:
            names += names_in(event.value)
        if names > MOST_NAMES:
            raise YamlNodesError(f"its host lists expand to more than {MOST_NAMES:,} names", *where, is_bound=True)


def _loader() -> type[yaml.SafeLoader]:
    """libyaml's parser where PyYAML has it: seven times as fast."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)
