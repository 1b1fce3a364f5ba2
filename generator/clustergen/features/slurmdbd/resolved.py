"""Accounting as resolved."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import LOCAL, Accounting
from clustergen.features.slurmdbd.section import Accounting as Section
from clustergen.records import copied


def resolve(section: Section, cluster: Cluster) -> Accounting:
    is_local = section.database_host == LOCAL
    parts = section.database_host.split(":")
    has_port = len(parts) == 2  # more of them are an IPv6 address
    return copied(
        Accounting,
        section,
        enforce=() if cluster.slurm.bare and "enforce" not in section.model_fields_set else section.enforce,
        database_host=parts[0] if has_port else section.database_host,
        database_port=int(parts[1]) if has_port else None,
        database_is_local=is_local,
        has_password=not is_local if section.password is None else section.password,
        gather_frequency_s=section.gather_frequency,
    )


RECORDS = {Accounting: resolve}
