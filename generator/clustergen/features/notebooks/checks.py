"""What sudo allows JupyterHub, before visudo."""

from __future__ import annotations

from clustergen.verify.check import Check, Reader, paths

COMPONENT = "login"
CHECKS = (
    Check(
        "sudoers",
        "sudo: rules",
        "visudo -c",
        "visudo accepts every rule. Users and groups need not exist.",
        paths("/etc/sudoers.d/*"),
        Reader("visudo", '"$program" --version | head -1', 'for file; do "$program" -qcf "$file"; done', newest=True),
    ),
)
