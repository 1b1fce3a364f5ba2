"""CephFS: what Ceph's library makes of ceph.conf."""

from __future__ import annotations

from clustergen.verify.check import Check, Reader, paths

_READ = """exec python3 - "$@" <<'END'
import sys
import yaml
from ceph.deployment.hostspec import HostSpec
from ceph.deployment.service_spec import ServiceSpec
status = 0
for name in sys.argv[1:]:
    for document in yaml.safe_load_all(open(name, encoding="utf-8")):
        try:
            kind = HostSpec if document.get("service_type") == "host" else ServiceSpec
            specification = kind.from_json(document)
            specification.validate()
        except Exception as error:
            print("%s: %s: %s" % (name, document.get("service_type"), error))
            status = 1
sys.exit(status)
END
"""

CHECKS = (
    Check(
        name="ceph specification",
        what="Ceph: services for cephadm",
        parser="python3-ceph-common",
        proves="Ceph's own classes HostSpec, ServiceSpec and DriveGroupSpec accept every document. No orchestrator is"
        " run.",
        reads=paths("/etc/ceph/*.spec.yaml"),
        ask=Reader("ceph", "ceph-conf --version", _READ, newest=True),
    ),
    Check(
        name="ceph",
        what="CephFS client",
        parser="ceph-conf",
        proves="Ceph's library parses the file. It silently accepts unknown names, and contacts no monitor.",
        reads=paths("/etc/ceph/*.conf"),
        ask=Reader(
            "ceph-conf",
            "$program --version",
            'for file; do "$program" -c "$file" --lookup mon_host || exit 1; done',
            newest=True,
        ),
    ),
)
