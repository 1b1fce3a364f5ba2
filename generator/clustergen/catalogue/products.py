"""Systems by the product names that their makers write."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clustergen.catalogue.hardware import gpu, nic, switch
from clustergen.catalogue.systems import System, system, system_ids, system_names
from clustergen.catalogue.tables import normal

_MOST_UNGROUPED = 6
_LONGEST_NAME = 100


def product_system(product: str) -> str | None:
    """The id of the system whose product name, without its maker or size, is in a text: NVIDIA DGX H200."""
    plain = letters(product)
    names = {letters(name): ident for name, ident in system_names().items()}
    within = [name for name in names if name in plain]
    around = [name for name in names if len(plain) > 5 and plain in name]
    best = max(within, key=len, default="") or min(around, key=len, default="")
    return names.get(best)


def is_product(text: str) -> bool:
    """True if a text is a name of the catalogue, or begins with one: h100-sxm-80gb. Products are no secrets."""
    parts = normal(text).split("-") if len(text) <= _LONGEST_NAME else []
    names = ("-".join(parts[:end]) for end in range(len(parts), 0, -1))
    return any(gpu(name) or nic(name) or switch(name) or name in system_names() for name in names)


def system_family(identifier: str) -> str:
    """The id without the number that tells the models of one product apart: dgx-a100 of dgx-a100-40."""
    return re.sub(r"-\d+$", "", identifier)


def system_variants(name: str) -> list[System]:
    """Other systems that a name may mean: for `dgx-a100` the one with GPUs of 40 GB. None for an id or a full name."""
    meant = system_names().get(normal(name))
    others = [ident for ident in system_ids() if ident != meant and system_family(ident) == normal(name)]
    return [made for ident in others if meant != normal(name) and (made := system(ident))]


def systems_like(text: str) -> list[str]:
    """The ids that begin with an incomplete name, as dgx; else of the systems with that word in their product name or
    GPU: supermicro, h100.
    """
    plain = re.sub(r"[\s_]+", "-", text.strip().lower())
    if not plain:
        return []
    if names := [name for name in system_ids() if name.startswith(plain)]:
        return names
    return [name for name in system_ids() if plain in _words(name)]


def systems_hint(names: Sequence[str]) -> str:
    """The hint to use one of several systems; many by their GPU: `A100 (dgx-a100-40, dgx-a100-80), B200 (dgx-b200)`."""
    if len(names) <= _MOST_UNGROUPED:
        return f"use one of {', '.join(names)}"
    by_gpu: dict[str, list[str]] = {}
    for name in names:
        row = system(name)
        model = gpu(row.gpu) if row and row.gpu else None
        by_gpu.setdefault((model.gres_type.upper() if model else "") or "other", []).append(name)
    return "use one of, by GPU: " + ", ".join(f"{title} ({', '.join(group)})" for title, group in by_gpu.items())


def board_hint(text: str) -> str | None:
    """The hint for the name of a GPU in place of a system's, where no system has it."""
    model = gpu(text)
    return f"state cpu, memory and gpus: {{model: {model.id}, count: …}}: {model.id} is a GPU" if model else None


def _words(name: str) -> set[str]:
    row = system(name)
    texts = (row.id, row.name, row.gpu or "") if row else ()
    return {word for text in texts for word in re.findall(r"[a-z0-9]+", text.lower())}


def letters(text: str) -> str:
    """The lower-case letters and digits of a product's name, which makers write with other signs between them."""
    return re.sub(r"[^a-z0-9]", "", text.lower())
