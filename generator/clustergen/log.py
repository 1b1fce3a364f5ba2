"""Log records of what a command does, for `-v`.

Importing Python's logging costs a noticeable part of a short command, so that happens when records are asked for; until
then `info` and `debug` do nothing. Records go to the logger of the module that is named, below `clustergen`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

_FORMAT = "%(relativeCreated)6d ms  %(name)s: %(message)s"
_write: Callable[..., None] | None = None


def enable(verbosity: int) -> None:
    """Sends records to stderr: steps (`info`) from 1 on, single files and commands (`debug`) from 2 on; 0 ends that."""
    global _write
    if not verbosity:
        _write = None
        return
    import logging

    logger = logging.getLogger("clustergen")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger.handlers = [handler]
    logger.setLevel(logging.DEBUG if verbosity > 1 else logging.INFO)
    levels = {"info": logging.INFO, "debug": logging.DEBUG}
    _write = lambda level, name, *message: logging.getLogger(name).log(levels[level], *message)  # noqa: E731


def info(name: str, message: str, *values: object) -> None:
    """A step of a command; `name` is the module's `__name__`, `values` fill the %s of `message`."""
    if _write:
        _write("info", name, message, *values)


def debug(name: str, message: str, *values: object) -> None:
    """A single file or program within a step."""
    if _write:
        _write("debug", name, message, *values)
