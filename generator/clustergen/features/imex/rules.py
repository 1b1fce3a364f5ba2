"""Channels of IMEX: jobs that share GPU memory across the nodes of an NVLink domain do it by one of their own."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.slurm_values import plugin
from clustergen.cluster.gpu_settings import DriverModule
from clustergen.cluster.model import Cluster
from clustergen.cluster.nvlink import IMEX, domain_nodes
from clustergen.cluster.slurm.builds import offers
from clustergen.cluster.slurm.keys.table import settings_of
from clustergen.diagnostics import Finding

REQUIRES = "slurm"

_CHANNEL_0 = "NVreg_CreateImexChannel0"


def channels(cluster: Cluster) -> Iterator[Finding]:
    spanning = [group.type for group in cluster.compute if domain_nodes(group.type) > 1]
    if not spanning:
        return
    conf = settings_of(cluster, "slurm.conf")
    makes = "imex" in conf.text("SwitchType")
    if cluster.of(DriverModule).options.get(_CHANNEL_0, "0") != "0":
        yield Finding(
            "imex-channel-shared",
            ("gpu", "modprobe", _CHANNEL_0),
            "every user of an NVLink domain could import the GPU memory that others export by channel 0",
            "remove it: Slurm gives each job a channel of its own" if makes else f"remove it, and {_instead(cluster)}",
        )
    elif not makes:
        yield Finding(
            "imex-channels-missing",
            conf.place("SwitchType", otherwise=("slurm", "version")),
            "jobs get no IMEX channel, so that they cannot share GPU memory across the nodes of an NVLink domain",
            f"{_instead(cluster)}; if all users trust each other, set gpu.modprobe.{_CHANNEL_0}: 1",
        )


def nvlink_domain_mixed(cluster: Cluster) -> Iterator[Finding]:
    """The NVLink switches of a rack join the trays of one system."""
    systems = {
        host: group.type.system for group in cluster.compute for host in group.hosts if domain_nodes(group.type) > 1
    }
    for rack in cluster.racks:
        kinds = sorted({system for host in rack.hosts if (system := systems.get(host))})
        if len(kinds) > 1:
            yield Finding(
                "nvlink-domain-mixed",
                ("racks", rack.entry, "nodes"),
                f"rack '{rack.name}' has trays of {' and '.join(kinds)}, which no NVLink switches join",
                "write a rack for the trays of each system",
            )
            return


def _instead(cluster: Cluster) -> str:
    row = plugin("SwitchType", IMEX)
    if row is not None and row.state(cluster.slurm.release) != "known":
        return f"use Slurm {row.since} or newer, which gives each job its own"
    if not all(offers(cluster, group.type.os, "slurm_nvidia_imex") for group in cluster.compute):
        return "set slurm.build: schedmd, since the distribution's packages do not include it"
    return f"set slurm.options.SwitchType: {IMEX}"
