"""GPUs that are split by MIG, from the types of their instances: which GPU, and how each was probably split."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clustergen.catalogue import hardware as parts
from clustergen.catalogue.mig import mig_layout_valid, mig_profiles, mig_slurm_type
from clustergen.records import record

Layout = Mapping[str, int]
"""Profile → instances of it on one GPU."""
PROFILE = re.compile(r"[0-9]g\.[0-9]+gb")
"""The profile within the type of an instance."""
_TYPE = re.compile(r"(?:(.*)_)?([0-9]g\.[0-9]+gb.*)")
_MOST_GPUS = 16


@record
class Instances:
    """The MIG instances of a node."""

    models: tuple[parts.Gpu, ...]
    """GPUs of the catalogue that have instances of these types."""
    profiles: Layout
    """Profile → how many on all GPUs together."""
    prefix: str | None
    """Prefix of the profile in their types; None: all that Slurm detects."""


def instances_of(types: Mapping[str, int]) -> Instances | None:
    """Of types → count: `nvidia_a100_1g.5gb` as Slurm detects it, or an end of that, as `a100_1g.5gb` and `1g.5gb`.

    None where no GPU has them all, or they are shortened in several ways.
    """
    parts_of = [match.groups() for node_type in types if (match := _TYPE.fullmatch(node_type))]
    prefixes = {prefix or "" for prefix, _ in parts_of}
    if len(parts_of) < len(types) or len(prefixes) != 1:
        return None
    prefix = prefixes.pop()
    profiles = dict(zip((profile for _, profile in parts_of), types.values(), strict=True))
    models = [
        model
        for model in parts.gpus().values()
        if profiles.keys() <= {profile.profile for profile in mig_profiles(model.mig_family)}
    ]
    whole = tuple(model for model in models if _stem(model) == prefix)
    if whole:
        return Instances(whole, profiles, None)
    shortened = tuple(model for model in models if not prefix or _stem(model).endswith(prefix))
    return Instances(shortened, profiles, prefix) if shortened else None


def _stem(model: parts.Gpu) -> str:
    """The common prefix of the types of its instances."""
    return mig_slurm_type(model.slurm_type, "").removesuffix("_")


def layouts_of(family: str, profiles: Layout, gpus: int | None) -> tuple[Layout, ...]:
    """A layout per GPU that has these instances: all GPUs alike, else full ones of a profile each. Empty where neither
    comes out even. `gpus`: how many there are; None: as few as can be.
    """
    for number in [gpus] if gpus is not None else range(1, _MOST_GPUS + 1):
        each = {profile: count // number for profile, count in profiles.items()} if number else {}
        even = bool(each) and all(each[profile] * number == count for profile, count in profiles.items())
        if even and mig_layout_valid(family, each):
            return (each,) * number
    most = {profile.profile: profile.max_count for profile in mig_profiles(family)}
    full: list[Layout] = []
    for profile, count in profiles.items():
        number, rest = divmod(count, most[profile])
        if rest:
            return ()
        full += [{profile: most[profile]}] * number
    return tuple(full) if gpus in (None, len(full)) and len(full) <= _MOST_GPUS else ()


def plan_name(layout: Layout) -> str:
    """`mig-7x1g-10gb`."""
    words = (f"{count}x{profile}" for profile, count in layout.items())
    text = "-".join(["mig", *words]).replace("+", "-").replace(".", "-")
    return text[:60].rstrip("-")
