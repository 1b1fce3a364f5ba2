"""Files that somebody wrote by hand: the site's own, and those of Slurm."""

from __future__ import annotations

from clustergen.diagnostics.codes.model import ERROR, INFO, WARNING, Code

FILES: tuple[str | Code, ...] = (
    "Site files and the output tree",
    Code("value-unprintable", ERROR, "A value that the file format cannot contain"),
    Code("path-in-two-groups", ERROR, "A node would get a file from two groups"),
    Code("site-group-unknown", ERROR, "Site files for a group without nodes"),
    Code("site-file-unreadable", ERROR, "A site file cannot be read"),
    Code("site-file-secret", ERROR, "A site file contains a secret"),
    Code("site-file-clash", ERROR, "A site file that would replace a rendered file"),
    Code("site-replaces-nothing", ERROR, "A replacement for a file that does not exist"),
    Code("site-template-fails", ERROR, "A site template that cannot be rendered"),
    "Existing Slurm files",
    Code("conf-syntax", ERROR, "A line that Slurm cannot read"),
    Code("conf-include", ERROR, "An Include that Slurm cannot follow"),
    Code("conf-misread", WARNING, "A line that Slurm reads differently than it looks"),
    Code("slurm-key-lacking", ERROR, "A required key is not set"),
    Code("slurm-key-ignored", WARNING, "A key without effect because of another one"),
    Code("slurm-key-old-name", INFO, "An old name of a key"),
    Code("slurm-directory-unsafe", WARNING, "A directory where state or jobs get lost"),
    Code("slurm-secret-readable", WARNING, "A file with a password that other users can read"),
    Code("node-cpus-mismatch", WARNING, "CPUs does not match sockets, cores and threads"),
    Code("node-memory-missing", WARNING, "A node without memory for jobs"),
    Code("node-memory-installed", WARNING, "RealMemory equals the installed memory"),
    Code("node-registration", WARNING, "A node that slurmctld refuses"),
    Code("partition-twice", ERROR, "A partition is defined twice"),
    Code("partition-unknown", WARNING, "A partition is not defined"),
    Code("gres-undeclared", WARNING, "A GRES that is not in GresTypes"),
    Code("gres-mismatch", WARNING, "The GRES of slurm.conf and gres.conf do not match"),
    Code("gres-without-constraint", WARNING, "GPUs that every job can open"),
    Code("topology-ignored", WARNING, "A topology file that Slurm does not read"),
    Code("topology-unknown", ERROR, "A topology is not defined"),
    Code("plugstack-line", WARNING, "A line of plugstack.conf that Slurm skips"),
)
