"""CephFS: what Ceph's library makes of ceph.conf."""

from __future__ import annotations

from clustergen.verify.checks.base import Check, Reader, paths

CHECKS = (
    Check(
        "ceph",
        "CephFS client",
        "ceph-conf",
        "Ceph's library parses the file. It silently accepts unknown names, and contacts no monitor.",
        paths("/etc/ceph/*.conf"),
        Reader(
            "ceph-conf",
            "$program --version",
            'for file; do "$program" -c "$file" --lookup mon_host || exit 1; done',
            newest=True,
        ),
    ),
)
