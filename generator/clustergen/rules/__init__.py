"""Cross-checks of a resolved cluster: a topic per module, one function per code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding

Rule = Callable[[Cluster], Iterator[Finding]]


def rules() -> tuple[Rule, ...]:
    """All rules, topic by topic."""
    from clustergen.filesystems import parts
    from clustergen.rules import (
        access,
        accounts,
        addresses,
        cabling,
        containers,
        durations,
        fabric,
        hardware,
        imex,
        interfaces,
        logs,
        monitoring,
        names,
        nccl,
        nics,
        outlets,
        partitions,
        paths,
        plans,
        ports,
        power,
        power_saving,
        prices,
        private_tmp,
        provisioning,
        pull,
        quotas,
        racks,
        rates,
        reach,
        rights,
        scheduling,
        slurm_builds,
        slurm_daemons,
        slurm_keys,
        slurm_meaning,
        slurm_programs,
        slurm_values,
        stated_hardware,
        stated_sizes,
        storage,
        topology,
        tuning,
        user_guide,
    )

    topics = (
        names,
        addresses,
        interfaces,
        access,
        hardware,
        imex,
        nics,
        stated_hardware,
        stated_sizes,
        fabric,
        rates,
        topology,
        power,
        racks,
        tuning,
        outlets,
        cabling,
        prices,
        quotas,
        partitions,
        slurm_daemons,
        slurm_builds,
        paths,
        private_tmp,
        plans,
        ports,
        slurm_keys,
        slurm_values,
        slurm_meaning,
        slurm_programs,
        scheduling,
        power_saving,
        durations,
        accounts,
        rights,
        nccl,
        storage,
        *parts("rules"),
        reach,
        monitoring,
        logs,
        containers,
        pull,
        provisioning,
        user_guide,
    )
    return tuple(rule for topic in topics for rule in topic.RULES)


def check(cluster: Cluster) -> list[Finding]:
    """What all rules report of a cluster."""
    from clustergen.rules.consequences import causes_only

    return list(causes_only(finding for rule in rules() for finding in rule(cluster)))
