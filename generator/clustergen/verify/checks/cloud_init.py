"""Cloud images: cloud-init reads our settings beside those of its package, and does what it does at every boot."""

from __future__ import annotations

from clustergen.verify.checks.base import Check, Reader, paths

# The schema command asks for the first line of user data. The module runs without the data of a cloud that this machine
# may be in.
_CLOUD_INIT = r"""
say() { "$@" >/tmp/said 2>&1 || { cat /tmp/said >&2; exit 1; }; }
{ echo '#cloud-config'; cat "$1"; } >/tmp/config
[ ! -e /var/lib/cloud ] || mv /var/lib/cloud /tmp/cloud
say "$program" schema --config-file /tmp/config
cp /etc/hosts /tmp/hosts
say "$program" single --name update_etc_hosts --frequency always
cmp -s /tmp/hosts /etc/hosts || { echo "cloud-init rewrites /etc/hosts" >&2; exit 1; }
"""

CHECKS = (
    Check(
        "cloud-init",
        "cloud images",
        "cloud-init",
        "cloud-init's schema has every key and value, and its module for /etc/hosts leaves the file alone with them. "
        "User data of a cloud win over this file.",
        paths("/etc/cloud/cloud.cfg.d/99-clustergen.cfg"),
        Reader("cloud-init", '"$program" --version', _CLOUD_INIT, newest=True),
    ),
)
