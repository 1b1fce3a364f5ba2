"""Jinja's own objects, which refuse to become text: Python's contains an address, which differs with each process."""

from __future__ import annotations

from typing import Any

from jinja2 import runtime, utils
from jinja2.sandbox import safe_range

from clustergen.render.formats import RenderError


def _no_text(kind: str) -> RenderError:
    return RenderError(f"a {kind} is no value that can be printed or become a text")


class Cycler(utils.Cycler):
    def __repr__(self) -> str:
        raise _no_text("cycler")


class Joiner(utils.Joiner):
    def __repr__(self) -> str:
        raise _no_text("joiner")


class Range:
    """The function `range` of templates, with at most 100,000 numbers."""

    def __call__(self, *arguments: int) -> range:
        return safe_range(*arguments)

    def __repr__(self) -> str:
        raise _no_text("range")


class BlockReference(runtime.BlockReference):
    @property
    def super(self) -> Any:
        return without_text(super().super)

    def __repr__(self) -> str:
        raise _no_text("block")


class Context(runtime.Context):
    def super(self, name: str, current: Any) -> Any:
        return without_text(super().super(name, current))


def without_text(value: Any) -> Any:
    """Jinja's reference to a block as ours; anything else as it is."""
    if type(value) is runtime.BlockReference:
        return BlockReference(value.name, value._context, value._stack, value._depth)
    return value
