"""chrony's files before chronyd."""

from __future__ import annotations

from clustergen.verify.check import PROGRAM_VERSION, Check, Reader, paths

COMPONENT = "host"
CHECKS = (
    Check(
        name="chrony",
        what="clock",
        parser="chronyd -p",
        proves="chronyd accepts every directive and its values. It contacts no server.",
        reads=paths("/etc/chrony/*", "/etc/chrony.conf", "/etc/chrony.d/*"),
        ask=Reader(
            "chronyd",
            PROGRAM_VERSION,
            'main=/etc/chrony/chrony.conf; for file; do [ "$file" != /etc/chrony.conf ] || main=$file; done; '
            '"$program" -p -f $main',
        ),
    ),
)
