"""Who may log in to a compute node."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.groups import membership
from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.manifest.host import Host
from clustergen.rules.slurm_daemons import place_of_os


def ssh_adopt_selinux(cluster: Cluster, section: Host) -> Iterator[Finding]:
    """No policy that ships with a system lets sshd ask slurmstepd, and Slurm's own documents have an example only."""
    if not cluster.of(NodeLogins).needs_job or "ssh_adopt" in section.model_fields_set or cluster.slurm.bare:
        return
    reported = set()
    for group in membership(cluster).get("compute_only", ()):
        os = group.type.os
        if os.yes("selinux") and os.id not in reported:
            reported.add(os.id)
            yield Finding(
                "ssh-adopt-selinux",
                place_of_os(group),
                f"SELinux on {os.id} blocks pam_slurm_adopt from connecting to slurmstepd, so users cannot ssh to the"
                " nodes of their jobs",
                "load a policy module (clustergen explain ssh-adopt-selinux) and set host: {ssh_adopt: true}, or"
                " set host: {ssh_adopt: false} to let every user ssh to the nodes",
            )
