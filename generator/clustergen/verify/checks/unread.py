"""Files that no program can read here: reported and counted, so that no claim goes beyond what was read."""

from __future__ import annotations

from clustergen.verify.check import Check, no_parser, paths, unreadable

_is_table = paths("/etc/clustergen/*", "/etc/clustergen-network/interfaces")
_is_read = paths("*.sh", "*.json", "*.nft", "/etc/clustergen/nut/*")

CHECKS = (
    unreadable(
        "dcgm-exporter",
        "counters of dcgm-exporter",
        "dcgm-exporter",
        "NVIDIA's exporter is in no distribution and requires DCGM and GPUs to start.",
        "/etc/dcgm-exporter/*",
    ),
    unreadable(
        "arguments",
        "arguments of Slurm daemons",
        "systemd",
        "Variables that systemd adds to a daemon's command line; only systemd reads them.",
        "/etc/default/slurm*",
        "/etc/sysconfig/slurm*",
    ),
    Check(
        name="own tables",
        what="tables of clustergen's scripts",
        parser="clustergen's scripts",
        proves="Scripts of the tree read them on the node; the tests run these scripts.",
        reads=lambda place, text: _is_table(place, text) and not _is_read(place, text),
        ask=no_parser,
    ),
    unreadable(
        "ptm",
        "cabling for ptmd",
        "ptmd",
        "ptmd runs on switches with Cumulus Linux or SONiC.",
        "facility/topology.dot",
    ),
    unreadable(
        "overview",
        "overview for reviewers, guide for users",
        "(documentation)",
        "For people; no program reads it.",
        "*.md",
    ),
)
