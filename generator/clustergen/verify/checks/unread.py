"""Files that no program can read here: reported and counted, so that no claim goes beyond what was read."""

from __future__ import annotations

from clustergen.verify.check import Check, no_parser, paths, unreadable

_is_table = paths("/etc/clustergen/*", "/etc/clustergen-network/interfaces")

CHECKS = (
    unreadable(
        "dcgm-exporter",
        "counters of dcgm-exporter",
        "dcgm-exporter",
        "NVIDIA's exporter is in no distribution and requires DCGM and GPUs to start.",
        "/etc/dcgm-exporter/*",
    ),
    unreadable(
        "enroot",
        "containers of jobs",
        "enroot",
        "enroot is in no distribution. Another row checks that its mount table has the form of an fstab.",
        "/etc/enroot/*",
    ),
    unreadable(
        "apptainer",
        "containers: Apptainer",
        "apptainer",
        "Debian has no package of Apptainer. The names of its settings are unconfirmed.",
        "/etc/apptainer/*",
    ),
    unreadable(
        "oci.conf",
        "Slurm: OCI jobs",
        "slurmstepd",
        "Slurm reads it when a job starts a container; slurmctld and slurmd start with any text in it. Jobs "
        "ran with it by hand in a lab, with Slurm 24.11 and crun.",
        "/etc/slurm/oci.conf",
    ),
    unreadable(
        "arguments",
        "arguments of Slurm daemons",
        "systemd",
        "Variables that systemd adds to a daemon's command line; only systemd reads them.",
        "/etc/default/slurm*",
        "/etc/default/sackd",
        "/etc/sysconfig/slurm*",
        "/etc/sysconfig/sackd",
    ),
    unreadable(
        "nhc",
        "checks for LBNL NHC",
        "nhc",
        "LBNL NHC is in no distribution. Release 1.4.3 was run with such a file by hand.",
        "/etc/nhc/*",
    ),
    Check(
        "own tables",
        "tables of clustergen's scripts",
        "clustergen's scripts",
        "Scripts of the tree read them on the node; the tests run these scripts.",
        lambda place, text: _is_table(place, text) and not place.endswith((".sh", ".json", ".nft")),
        no_parser,
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
