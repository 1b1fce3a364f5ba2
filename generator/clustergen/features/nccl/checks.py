"""NCCL: libnccl's own list of names, and well-formed XML."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Sequence

from clustergen.features.nccl.library import NcclNames, nccl_names
from clustergen.verify.check import Check, Trial, paths, settings, unreadable
from clustergen.verify.files import Entry
from clustergen.verify.rows import Row
from clustergen.verify.well_formed import read_by, xml

COMPONENT = "fabric"


def _nccl(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    release = str(trial.tree.variables.get("nccl_release", ""))
    lists = nccl_names()
    if not lists:
        why = "no names of libnccl are installed: run clustergen setup nccl, or set CLUSTERGEN_LIBNCCL"
        yield check.row("not run", entries, [why])
        return
    exact = [one for one in lists if one.release == release]
    chosen = exact[0] if exact else _nearest(lists, release)
    unknown = sorted({name for entry in entries for name, _ in settings([entry]) if name not in chosen.names})
    words = [f"{name}: libnccl {chosen.version} does not contain this name" for name in unknown]
    if words and not exact:
        note = f"the tree requires NCCL {release}, which is not available"
        yield check.row("not run", entries, [note, *words], version=chosen.version)
    else:
        note = f"the tree requires NCCL {release}; checked with the nearest release that is available"
        yield check.judged(entries, words, () if exact else [note], chosen.version)


def _nearest(lists: Sequence[NcclNames], release: str) -> NcclNames:
    """The first release from the wanted one on, else the newest."""
    target = tuple(map(int, re.findall(r"\d+", release)))
    later = [one for one in lists if one.key >= target]
    return min(later, key=lambda one: one.key) if later else max(lists, key=lambda one: one.key)


CHECKS = (
    Check(
        name="nccl",
        what="NCCL: nccl.conf",
        parser="libnccl",
        proves="The strings of libnccl.so.2 contain every name. The library is not loaded; the catalogue checks the"
        " values.",
        reads=paths("/etc/nccl.conf"),
        ask=_nccl,
    ),
    Check(
        name="xml",
        what="topology for NCCL",
        parser="Python's expat",
        proves="Well-formed XML. NCCL is not run: it reads a topology only on a machine with these GPUs.",
        reads=paths("/etc/nccl-topo*.xml"),
        ask=read_by(platform.python_version(), xml),
    ),
    unreadable(
        "nccl topology",
        "topology for NCCL",
        "libnccl",
        "NCCL reads it only on a machine with these GPUs.",
        "/etc/nccl-topo*.xml",
    ),
)
