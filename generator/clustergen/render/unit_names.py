"""systemd's names for paths: `/mnt/my-data` is `mnt-my\\x2ddata.mount`."""

from __future__ import annotations

import posixpath
import re

from clustergen.render.formats import Safe

_ALLOWED = re.compile(r"[A-Za-z0-9:_]")


def escape_path(path: str) -> str:
    """An absolute path as `systemd-escape --path` writes it. ValueError where the path leads out of itself by `..`."""
    if not path.startswith("/") or ".." in path.split("/"):
        raise ValueError(f"{path!r} is no plain absolute path")
    inner = posixpath.normpath(path).strip("/")
    if not inner:
        return "-"
    return "".join(_escaped(byte, first=not index) for index, byte in enumerate(inner.encode()))


def _escaped(byte: int, *, first: bool) -> str:
    text = chr(byte)
    if text == "/":
        return "-"
    if _ALLOWED.match(text) or (text == "." and not first):
        return text
    return f"\\x{byte:02x}"


def mount_unit(path: str) -> Safe:
    """The name of the mount unit of a path; its backslashes are part of it, and units take them as they are."""
    return Safe(escape_path(path) + ".mount")
