"""chrony's files before chronyd."""

from __future__ import annotations

from clustergen.verify.check import PROGRAM_VERSION, Check, Reader, paths

COMPONENT = "host"
CHECKS = (
    Check(
        "chrony",
        "clock",
        "chronyd -p",
        "chronyd accepts every directive and its values. It contacts no server.",
        paths("/etc/chrony/*", "/etc/chrony.conf", "/etc/chrony.d/*"),
        Reader(
            "chronyd",
            PROGRAM_VERSION,
            'main=/etc/chrony/chrony.conf; for file; do [ "$file" != /etc/chrony.conf ] || main=$file; done; '
            '"$program" -p -f $main',
        ),
    ),
)
