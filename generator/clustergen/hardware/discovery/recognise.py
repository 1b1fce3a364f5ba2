"""Systems and GPUs of the catalogue, by what machines call them."""

from __future__ import annotations

import re

from clustergen.catalogue.hardware import gpus
from clustergen.catalogue.systems import System, system, system_ids, system_names
from clustergen.hardware.discovery.facts import NodeFacts


def gpu_id(name: str) -> str:
    """The catalogue's id of a GPU by its NVML name; empty for one that it lacks."""
    return next((gpu.id for gpu in gpus().values() if gpu.nvml_name == name), "")


def system_of(node: NodeFacts) -> System | None:
    """By the product name of the firmware, which has to fit the GPUs; else the one board with these GPUs."""
    names = {gpu_id(gpu.name) for gpu in node.gpus}
    by_name = {_letters(name): ident for name, ident in system_names().items()}
    words = node.product.split()
    for start in range(len(words)):
        ident = by_name.get(_letters("".join(words[start:])))
        made = system(ident) if ident else None
        if made and (not node.gpus or _fits(made, names, len(node.gpus))):
            return made
    boards = [made for ident in system_ids() if ident.startswith("hgx-") and (made := system(ident))]
    return next((made for made in boards if node.gpus and _fits(made, names, len(node.gpus))), None)


def _fits(made: System, names: set[str], count: int) -> bool:
    return made.gpu_count == count and names <= {made.gpu or "", *made.gpu_options}


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
