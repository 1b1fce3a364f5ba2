"""The weights of Slurm's priority factors."""

from __future__ import annotations

from clustergen.manifest.model import Manifest

_BALANCE = {"age": 1000, "fairshare": 100000, "job_size": 1000, "partition": 10000, "qos": 50000, "assoc": 0}
"""Each factor is between 0 and 1, so the order of the weights decides."""


def priority_weights(manifest: Manifest) -> dict[str, int]:
    """By factor. Once one above 0 is stated, the others are Slurm's default of 0: a part of a balance says nothing."""
    weights = manifest.slurm.priority.weights
    stated = {name: weight for name in _BALANCE if (weight := getattr(weights, name)) is not None}
    return (dict.fromkeys(_BALANCE, 0) if any(stated.values()) else _BALANCE) | stated
