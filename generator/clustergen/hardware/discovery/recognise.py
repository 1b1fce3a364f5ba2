"""Systems, GPUs and NICs of the catalogue, by what machines call them."""

from __future__ import annotations

import re
from functools import lru_cache

from clustergen.catalogue.hardware import gpus, nics
from clustergen.catalogue.systems import System, system, system_ids, system_names
from clustergen.hardware.discovery.facts import NodeFacts


def gpu_id(name: str) -> str:
    """The catalogue's id of a GPU by its NVML name; empty for one that it lacks."""
    return next((gpu.id for gpu in gpus().values() if gpu.nvml_name == name), "")


def nic_id(hca_type: str) -> str:
    """The catalogue's id of an adapter by the type that ibstat prints; empty for one that it lacks."""
    return next((nic.id for nic in nics().values() if hca_type and nic.hca_type == hca_type), "")


def system_of(node: NodeFacts) -> System | None:
    """By the product name of the firmware, which has to fit the GPUs; else the one board with these GPUs."""
    names = {gpu_id(gpu.name) for gpu in node.gpus}
    made = named_system(node.product)
    if made and (not node.gpus or _fits(made, names, len(node.gpus))):
        return made
    boards = [made for ident in system_ids() if ident.startswith("hgx-") and (made := system(ident))]
    return next((made for made in boards if node.gpus and _fits(made, names, len(node.gpus))), None)


@lru_cache(maxsize=1024)
def named_system(product: str) -> System | None:
    """The system whose name ends the product name of the firmware."""
    by_name = {_letters(name): ident for name, ident in system_names().items()}
    words = product.split()
    idents = (by_name.get(_letters("".join(words[start:]))) for start in range(len(words)))
    return next((made for ident in idents if ident and (made := system(ident))), None)


def _fits(made: System, names: set[str], count: int) -> bool:
    return made.gpu_count == count and names <= {made.gpu or "", *made.gpu_options}


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
