"""Free values that the file of another program has no way to hold."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding


def opensm(cluster: Cluster) -> Iterator[Finding]:
    fabric = cluster.manifest.networks.fabric
    for key, value in (fabric.opensm_options if fabric else {}).items():
        text = str(value)
        why = "an empty value" if not text else "blanks around a value" if text != text.strip() else ""
        why = why or ("'#', which starts a comment" if "#" in text else "")
        if why:
            yield Finding(
                "value-unprintable",
                ("networks", "fabric", "opensm_options", key),
                f"opensm.conf has no way to hold {why}",
            )


def modprobe(cluster: Cluster) -> Iterator[Finding]:
    for key, value in cluster.manifest.gpu.modprobe.items():
        text = str(value)
        wrong = next((sign for sign in text if sign in "\"'\\" or not sign.isascii() or not sign.isprintable()), None)
        if wrong is not None:
            yield Finding(
                "value-unprintable",
                ("gpu", "modprobe", key),
                f"the kernel reads options of a module without quotes of their own: {wrong} cannot be in one",
                at=(text.index(wrong), 1),
            )


RULES = (opensm, modprobe)
