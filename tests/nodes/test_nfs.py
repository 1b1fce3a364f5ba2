"""Exports as rendered, served by a real NFS server in user space: containers have no server in their kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Document, Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

SERVER = "login1"
PATH = "/mnt/lustre/home"  # the lab's directory there has file handles, which an overlay has not
INSTALL = """
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
trap 'rm /usr/sbin/policy-rc.d' EXIT
export DEBIAN_FRONTEND=noninteractive
apt-get update -q && apt-get install -q -y --no-install-recommends {packages}
"""


def with_home(document: Document, client: str) -> None:
    """A home directory from the login node, for compute01 only: by its address in the lab, and by the manifest's."""
    server = next(node for node in document["nodes"] if node["name"] == SERVER)
    server["roles"].append("nfs-server")
    export = {"networks": [f"{client}/32", "10.0.0.11/32"]}
    document["storage"]["home"] = {"type": "nfs", "server": SERVER, "path": PATH, "mount": "/home", "export": export}


def ganesha(exports: str) -> str:
    """Lines of exports(5) as a configuration of Ganesha's: the same paths, rights and clients."""
    blocks = []
    lines = [line.split() for line in exports.splitlines() if line and not line.startswith("#")]
    for number, (path, options, *clients) in enumerate(lines, 1):
        words = options.removeprefix("-").split(",")
        access = "RW" if "rw" in words else "RO"
        squash = {"no_root_squash": "No_Root_Squash", "all_squash": "All_Squash"}
        chosen = next((squash[word] for word in words if word in squash), "Root_Squash")
        blocks.append(
            f"EXPORT {{ Export_Id = {number}; Path = {path}; Pseudo = {path}; Protocols = 4; SecType = sys;\n"
            f"  Squash = {chosen}; Access_Type = None; FSAL {{ Name = VFS; }}\n"
            f"  CLIENT {{ Clients = {', '.join(clients)}; Access_Type = {access}; Protocols = 4; }} }}\n"
        )
    head = (
        "NFS_CORE_PARAM { Protocols = 4; Enable_NLM = false; Enable_RQUOTA = false;\n"
        "  allow_set_io_flusher_fail = true; }\n"
        "NFSv4 { Graceless = true; RecoveryBackend = fs; }\n"
    )
    return head + "".join(blocks)


@pytest.fixture
def url(lab: Lab) -> Iterator[str]:
    """The source of the clients' mount unit, as a URL of libnfs; the server runs."""
    lab.edit(lambda document: with_home(document, lab.addresses()["compute01"]))
    try:
        (exports,) = lab.tree.glob("overlays/*/etc/exports.d/*.exports")
        (unit,) = lab.tree.glob("overlays/mount_home/etc/systemd/system/home.mount")
        what = re.search(r"^What=([^:]+):(.+)$", unit.read_text(encoding="utf-8"), re.MULTILINE)
        assert what
        lab.out(SERVER, INSTALL.format(packages="nfs-ganesha nfs-ganesha-vfs"), timeout=600)
        for client in ("compute01", "compute02"):
            lab.out(client, INSTALL.format(packages="libnfs-utils"), timeout=600)
        config = ganesha(exports.read_text(encoding="utf-8"))
        lab.out(
            SERVER,
            f"mkdir -p {PATH}/all /run/nfs /var/run/ganesha; chmod 777 {PATH}/all; echo hello >{PATH}/greeting\n"
            f"cat >/run/nfs/conf <<'EOF'\n{config}EOF\n"
            "ganesha.nfsd -f /run/nfs/conf -L /run/nfs/log -p /run/nfs/pid",
        )
        lab.waits(SERVER, "ss -Hltn 'sport = :2049'", "2049")
        yield f"nfs://{what[1]}{what[2]}/{{}}?version=4"
    finally:
        lab.run(SERVER, f"kill $(cat /run/nfs/pid); rm -rf {PATH}")
        for host, packages in (
            (SERVER, "nfs-ganesha nfs-ganesha-vfs"),
            ("compute01", "libnfs-utils"),
            ("compute02", "libnfs-utils"),
        ):
            lab.run(host, f"apt-get purge -q -y --autoremove {packages}")
        lab.restore()


def test_named_clients_read_and_write_and_others_do_not(lab: Lab, url: str) -> None:
    read = f"timeout 10 nfs-cat '{url.format('greeting')}'"
    assert lab.waits("compute01", read, "hello") == "hello"
    lab.out("compute01", f"echo x >/tmp/x; timeout 10 nfs-cp /tmp/x '{url.format('all/x')}'")
    # Root of a client is nobody: it owns nothing here, and writes only where everybody may.
    assert lab.out(SERVER, f"cat {PATH}/all/x; [ $(stat -c %u {PATH}/all/x) != 0 ] && echo nobody") == "x\nnobody"
    assert "ACCES" in lab.run("compute01", f"timeout 10 nfs-cp /tmp/x '{url.format('x')}' 2>&1").stdout
    # Not in the list of the export.
    refused = lab.run("compute02", read)
    assert refused.returncode
    assert "hello" not in refused.stdout
