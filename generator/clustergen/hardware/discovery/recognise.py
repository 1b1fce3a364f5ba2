"""Systems, GPUs and NICs of the catalogue, by what machines call them."""

from __future__ import annotations

from functools import lru_cache

from clustergen.catalogue.hardware import gpus, nics
from clustergen.catalogue.products import letters, system_family
from clustergen.catalogue.systems import System, system, system_ids, system_names
from clustergen.hardware.discovery.facts import GpuFact, NodeFacts
from clustergen.records import replace


def gpu_id(name: str) -> str:
    """The catalogue's id of a GPU by its NVML name; empty for one that it lacks."""
    return next((gpu.id for gpu in gpus().values() if gpu.nvml_name == name), "")


def nic_id(hca_type: str) -> str:
    """The catalogue's id of an adapter by the type that ibstat prints; empty for one that it lacks."""
    return next((nic.id for nic in nics().values() if hca_type and nic.hca_type == hca_type), "")


def gpu_name(ident: str) -> str:
    """The driver's name of a GPU that the bus shows as `10de:26b9`; empty for one that the catalogue lacks."""
    vendor, _, device = ident.partition(":")
    names = (gpu.nvml_name for gpu in gpus().values() if vendor == "10de" and device.upper() in gpu.pci_ids)
    return next(names, "")


def with_other_gpus(node: NodeFacts) -> NodeFacts:
    """With the GPUs that lspci or the matrix of their links shows, where nothing else of nvidia-smi was recorded."""
    if node.gpus or node.gpu_failure:
        return node
    cards = [GpuFact(name, device.address) for device in node.pci if (name := gpu_name(device.ident))]
    places = node.nameless_gpus
    if len(cards) == len(places):
        pairs = zip(places, cards, strict=True)
        return replace(node, gpus=tuple(replace(place, name=card.name, pci=card.pci) for place, card in pairs))
    return replace(node, gpus=tuple(cards) or places)


def system_of(node: NodeFacts) -> System | None:
    """By the product name of the firmware, which has to fit the GPUs; else the one board with these GPUs."""
    names = {gpu_id(gpu.name) for gpu in node.gpus if gpu.name}
    named = [made for made in named_systems(node.product) if not node.gpus or _fits(made, names, len(node.gpus))]
    if named:
        return next((made for made in named if made.gpu in names), named[0])
    boards = [made for ident in system_ids() if (made := system(ident)) and is_board(made)]
    return next((made for made in boards if names and _fits(made, names, len(node.gpus))), None)


def is_board(made: System) -> bool:
    """True if its GPUs alone name it: a board of any maker's servers, or a tray of any maker's rack."""
    return made.id.startswith(("hgx-", "mgx-")) or (made.nvlink_domain_nodes > 1 and not made.id.startswith("dgx-"))


@lru_cache(maxsize=1024)
def named_systems(product: str) -> tuple[System, ...]:
    """The systems whose name is the longest part of the product name of the firmware.

    Makers add part numbers (`DGXA100 920-23687-2531-001`) and leave out what tells models of one system apart.
    """
    idents: dict[str, dict[str, None]] = {}
    for name, ident in system_names().items():
        for form in (name, system_family(ident)):
            idents.setdefault(letters(form), {})[ident] = None
    words = product.split()[:20]
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            matches = idents.get(letters("".join(words[start : start + length])), {})
            if systems := tuple(made for ident in matches if ident != "custom" and (made := system(ident))):
                return systems
    return ()


def _fits(made: System, names: set[str], count: int) -> bool:
    return made.gpu_count == count and names <= {made.gpu or "", *made.gpu_options}
