"""What sudo allows JupyterHub, before visudo."""

from __future__ import annotations

from clustergen.verify.check import Check, Reader, paths

COMPONENT = "login"
_READ = 'status=0; for file; do "$program" -cf "$file" >/dev/null || status=1; done; exit "$status"'
CHECKS = (
    Check(
        "sudoers",
        "sudo: rules",
        "visudo -c",
        "visudo accepts every rule. Users and groups need not exist.",
        paths("/etc/sudoers.d/*"),
        Reader("visudo", '"$program" --version | head -1', _READ, newest=True),
    ),
)
