"""A file server that answers with errors, and one that does not answer: node_exporter has what StorageHangs reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, HEAD, lay_out, manifest, text_of, tree_of

MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
HOME = {"type": "nfs", "server": "nfs.example.org", "path": "/home", "mount": "/home", "clients": ["slurm-compute"]}
# A file system whose server is this program: once it is mounted, it refuses all requests, or answers none.
SERVER = r"""
import ctypes, errno, os, struct, sys
os.mknod("/dev/fuse", 0o20600, os.makedev(10, 229))
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0"
if ctypes.CDLL(None, use_errno=True).mount(b"nfs", b"/home", b"fuse", 0, options.encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
while True:
    _, operation, number = struct.unpack_from("<IIQ", os.read(device, 1 << 17))
    if operation == 26:  # the first one asks for the version
        os.write(device, struct.pack("<IiQ", 80, 0, number) + struct.pack("<4I", 7, 31, 0, 0) + bytes(48))
        print("mounted", flush=True)
    elif sys.argv[1] == "refuses":
        os.write(device, struct.pack("<IiQ", 16, -errno.ESTALE, number))
"""
# The scrape that finds a server silent does not end; the next one does.
SCRIPT = r"""
mkdir -p /home /var/lib/prometheus/node-exporter
python3 /run/clustergen/server "$1" >/tmp/server 2>&1 &
for _ in $(seq 1200); do grep -q mounted /tmp/server && break; sleep 0.05; done
cat /tmp/server
. /etc/default/prometheus-node-exporter
prometheus-node-exporter $ARGS --collector.filesystem.mount-timeout=1s >/tmp/log 2>&1 &
ask='import urllib.request as u; print(u.urlopen("http://localhost:9100/metrics", timeout=2).read().decode())'
for _ in $(seq 60); do
  python3 -c "$ask" 2>/dev/null >/tmp/metrics && break
  sleep 0.2
done
grep 'mountpoint="/home"' /tmp/metrics || cat /tmp/log
"""


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("server", ["refuses", "is-silent"])
def test_a_file_that_a_server_does_not_serve_is_an_error_of_the_device(server: str, tmp_path: Path) -> None:
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE], storage={"home": HOME}), tmp_path)
    rules = text_of(tree, "mon", "/etc/prometheus/rules/storage.yml")
    assert 'node_filesystem_device_error{mountpoint="/home"} == 1' in rules
    root = root_with("prometheus-node-exporter")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    box = sandbox.Sandbox(root, files=((lay_out(tree, "c1", tmp_path / "node"), "/"),))
    words = ["/bin/bash", "-c", SCRIPT, "script", server]
    done = sandbox.run(box, words, timeout=300, notes={"server": SERVER})
    values = re.findall(r'(?m)^node_filesystem_device_error\{.*mountpoint="/home"\} (\d)$', done.stdout)
    assert values == ["1"], done
