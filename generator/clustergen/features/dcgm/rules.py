"""DCGM: fields, releases, and whether it manages any GPU."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.dcgm import LAST, dcgm_name_known, dcgm_names
from clustergen.catalogue.versions import DcgmVersion
from clustergen.cluster.dcgm import Dcgm as Managed
from clustergen.cluster.dcgm import dcgm_types
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, did_you_mean
from clustergen.features.dcgm.section import Dcgm
from clustergen.manifest.monitoring import Thresholds


def dcgm_field_unknown(_: Cluster, section: Dcgm) -> Iterator[Finding]:
    version = DcgmVersion(section.version)
    counter_names = [name for name in dcgm_names() if dcgm_name_known(name, version)] if section.counters else []
    for index, name in enumerate(section.counters):
        if not dcgm_name_known(name, version):
            yield Finding(
                "dcgm-field-unknown",
                ("monitoring", "dcgm", "counters", index),
                f"'{name}' is not a field of DCGM {version}, and dcgm-exporter does not start with it",
                did_you_mean(name, counter_names),
            )


def dcgm_release_unknown(_: Cluster, dcgm: Managed) -> Iterator[Finding]:
    if dcgm.node_types and dcgm.version > LAST:
        yield Finding(
            "dcgm-release-unknown",
            ("monitoring", "dcgm", "version"),
            f"DCGM {dcgm.version} is newer than {LAST}, the last release in the catalogue: fields may have different"
            " names or units, and alerts on them may not fire",
            f"install DCGM {LAST} or older with the matching dcgm-exporter, and pin both packages",
        )


def thresholds_order(_: Cluster, section: Thresholds) -> Iterator[Finding]:
    hot, very_hot = section.gpu_hot, section.gpu_very_hot
    if hot and very_hot and very_hot <= hot:
        yield Finding(
            "thresholds-order",
            ("monitoring", "thresholds", "gpu_very_hot"),
            f"the critical threshold {very_hot} °C (gpu_very_hot) is not above the warning threshold"
            f" {hot} °C (gpu_hot)",
        )


def unused(cluster: Cluster, section: Dcgm) -> Iterator[Finding]:
    if section.enabled is None and section.model_fields_set and not dcgm_types(cluster):
        yield Finding(
            "setting-unused",
            ("monitoring", "dcgm"),
            "dcgm has no effect: no node has data-centre or workstation GPUs",
            "set enabled: true if other GPUs are to be monitored" if cluster.gpu_types else "remove the section",
            key=True,
        )
