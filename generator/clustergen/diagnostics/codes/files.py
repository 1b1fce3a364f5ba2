"""Files that somebody wrote by hand: the site's own, comments that suppress findings, and Slurm's files."""

from __future__ import annotations

from clustergen.diagnostics.codes.model import ERROR, INFO, WARNING, Code

FILES: tuple[str | Code, ...] = (
    "Site files and the output tree",
    Code("value-unprintable", ERROR, "A value cannot stand in the file that it is for"),
    Code("path-in-two-groups", ERROR, "A node would get a file from two groups"),
    Code("site-group-unknown", ERROR, "Site files for a group without nodes"),
    Code("site-file-unreadable", ERROR, "A site file cannot be read"),
    Code("site-file-secret", ERROR, "A site file contains a secret"),
    Code("site-file-clash", ERROR, "A site file would replace one of ours"),
    Code("site-replaces-nothing", ERROR, "A replacement that is not there"),
    Code("site-template-fails", ERROR, "A site template cannot be printed"),
    "Comments that suppress findings",
    Code("suppression-invalid", WARNING, "A comment that cannot suppress anything"),
    Code("suppression-unused", INFO, "A comment that suppresses nothing"),
    "Existing Slurm configuration files",
    Code("conf-syntax", ERROR, "A line that Slurm cannot read"),
    Code("conf-include", ERROR, "An Include that Slurm cannot follow"),
    Code("conf-misread", WARNING, "A line that Slurm reads otherwise than it looks"),
    Code("slurm-key-lacking", ERROR, "A key without which a daemon does not start"),
    Code("slurm-key-ignored", WARNING, "A key that another one leaves without effect"),
    Code("slurm-key-old-name", INFO, "An old name of a key"),
    Code("slurm-folder-unsafe", WARNING, "A folder where state or jobs get lost"),
    Code("slurm-secret-readable", WARNING, "A file with a password that others may read"),
    Code("node-cpus-mismatch", WARNING, "CPUs that do not fit sockets, cores and threads"),
    Code("node-memory-missing", WARNING, "A node without memory for jobs"),
    Code("node-memory-installed", WARNING, "RealMemory equals the installed memory"),
    Code("partition-twice", ERROR, "A partition stands twice"),
    Code("partition-unknown", WARNING, "A partition that is not there"),
    Code("gres-undeclared", WARNING, "A GRES that GresTypes does not name"),
    Code("gres-mismatch", WARNING, "The GRES of slurm.conf and gres.conf do not agree"),
    Code("gres-without-constraint", WARNING, "GPUs that every job can open"),
    Code("topology-ignored", WARNING, "A topology file that Slurm does not read"),
    Code("topology-unknown", ERROR, "A topology that is not there"),
    Code("plugstack-line", WARNING, "A line of plugstack.conf that Slurm skips"),
)
