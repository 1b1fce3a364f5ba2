"""The names that NCCL reads, out of the library itself: they are strings in libnccl.so.2.

`clustergen setup nccl` keeps them as lists, a file per release, because the library has hundreds of MiB. A library that
CLUSTERGEN_LIBNCCL names, or that is installed for this Python, is searched itself.
"""

from __future__ import annotations

import importlib.util
import mmap
import os
import re
from collections.abc import Iterator
from pathlib import Path

from clustergen.records import record
from clustergen.verify.slurm_roots import parsers_directory

DIRECTORY = "libnccl"
# The first string of a section has the end of the data before it in front, which may look like letters.
_NAME = re.compile(rb"\0[^\0 ]{0,7}?(NCCL_[A-Z0-9_]+)(?=\0)")
_BANNER = re.compile(rb"NCCL version (\d+\.\d+\.\d+)")


@record
class NcclNames:
    """All names of one release: `version` "2.27.7"."""

    version: str
    names: frozenset[str]

    @property
    def key(self) -> tuple[int, ...]:
        return tuple(map(int, re.findall(r"\d+", self.version)))

    @property
    def release(self) -> str:
        return ".".join(self.version.split(".")[:2])


def nccl_names() -> list[NcclNames]:
    """Every list that is here, the library that the user named first."""
    libraries = [read_library(path) for path in _libraries()]
    libraries += [
        NcclNames(path.stem, frozenset(path.read_text(encoding="utf-8").split()))
        for path in sorted((parsers_directory() / DIRECTORY).glob("*.names"))
    ]
    return libraries


def _libraries() -> Iterator[Path]:
    if named := os.environ.get("CLUSTERGEN_LIBNCCL"):
        yield Path(named)
        return
    try:
        spec = importlib.util.find_spec("nvidia.nccl")
    except ModuleNotFoundError:
        return
    for place in spec.submodule_search_locations or () if spec else ():
        yield from Path(place).glob("lib/libnccl.so.2")


def read_library(path: Path) -> NcclNames:
    """Raises OSError where the library cannot be read."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        banner = _BANNER.search(content)
        version = banner[1].decode() if banner else "of unknown version"
        return NcclNames(version, frozenset(match[1].decode() for match in _NAME.finditer(content)))
