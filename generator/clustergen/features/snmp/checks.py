"""The SNMP exporter reads its arguments and modules."""

from __future__ import annotations

from clustergen.verify.check import Check, Reader, paths
from clustergen.verify.daemon import VERSION

COMPONENT = "monitoring"
# The credentials are not in the tree; where nobody has put them, the exporter's pattern only has the modules.
_DRY_RUN = r"""
set -f
. /etc/default/prometheus-snmp-exporter
"$program" --dry-run $ARGS >/tmp/log 2>&1 && exit 0
grep -E 'level=ERROR|error:' /tmp/log | head -1 >&2 || tail -3 /tmp/log >&2
exit 1
"""
CHECKS = (
    Check(
        name="SNMP exporter",
        what="SNMP exporter: its arguments and modules",
        parser="prometheus-snmp-exporter --dry-run",
        proves="The exporter accepts these arguments, every module and key. Credentials are not in the tree, and no"
        " device is asked. bash reads the file in place of systemd.",
        reads=paths("/etc/default/prometheus-snmp-exporter", "/etc/prometheus-exporters/snmp*.yml"),
        ask=Reader("prometheus-snmp-exporter", VERSION, _DRY_RUN),
    ),
)
