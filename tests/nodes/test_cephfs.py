"""A real CephFS that the lab's nodes mount with ceph-fuse: jobs share files, and quotas hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    from tests.nodes.conftest import Document, Lab

pytestmark = [pytest.mark.container, pytest.mark.slow, pytest.mark.long]

MANIFEST = """\
name: test-ceph
os: debian-13
networks:
  management: {cidr: 10.89.107.0/28, domain: ceph.example.org}
node_types:
  small: {cpu: {sockets: 1, cores_per_socket: 4}, memory: 8GiB}
nodes:
  - {name: head, type: service, address: 10.89.107.1, roles: [slurm-controller]}
  - {name: n1, type: small, address: 10.89.107.3}
  - {name: n2, type: small, address: 10.89.107.4}
slurm: {version: "24.11"}
storage:
  data:
    type: cephfs
    mounter: fuse
    mount: /mnt/data
    path: /shared
    monitors: [10.89.107.1]
    fsid: 3c1a0b86-6f5e-4c59-9d0f-0d4f1f0a8f11
    user: cluster
    clients: [slurm-compute]
    quotas: [{directory: /mnt/data/vision, space: 8MiB}]
"""
INSTALL = """
printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
trap 'rm /usr/sbin/policy-rc.d' EXIT
export DEBIAN_FRONTEND=noninteractive
apt-get update -q && apt-get install -q -y --no-install-recommends ceph-mon ceph-mgr ceph-osd ceph-mds ceph-common
"""
FILL = """\
for i in $(seq 300); do
  dd if=/dev/zero of=/mnt/data/vision/part-$i bs=1M count=1 conv=fsync status=none || exit 3
  sleep 0.2
done
"""


@pytest.fixture(scope="module")
def ceph(tmp_path_factory: pytest.TempPathFactory, lab_class: type[Lab]) -> Iterator[Lab]:
    """A controller with Ceph's daemons, and two nodes that mount its file system, applied."""
    document = yaml.safe_load(MANIFEST)
    entry = document["storage"]["data"]
    made = lab_class(tmp_path_factory.mktemp("ceph"), document["name"], document)
    try:
        made.up("--installed", "--mount", "data")
        for host in ("head", "n1", "n2"):
            made.out(host, "useradd -u 2001 -m ada")
        made.out("head", INSTALL, timeout=900)
        made.engine("cp", str(Path(__file__).with_name("ceph-cluster.sh")), "{head}:/root/ceph-cluster.sh")
        script = f"/root/ceph-cluster.sh {entry['monitors'][0]} {entry['fsid']} {entry['user']}"
        key = made.out("head", script, timeout=900).splitlines()[-1]
        made.first = made.apply("-e", json.dumps({"secrets_given": {"data": key}}))
        assert made.first.rc == 0, made.first.stdout + made.first.stderr
        made.waits("head", "sinfo -h -N -o %T | sort -u", r"\Aidle\s*\Z")
        yield made
    finally:
        made.verb("down")


def job(lab: Lab, node: str, script: str) -> tuple[int, str]:
    """Output of a job of ada's on a node, and its status."""
    done = lab.run(
        "head", f"cd /tmp; runuser -u ada -- timeout 280 srun -w {node} bash -c '{script}' 2>&1", timeout=300
    )
    return done.returncode, done.stdout.strip()


def test_a_job_reads_what_another_node_wrote(ceph: Lab) -> None:
    mounted = ceph.out("n1", "findmnt --noheadings --output FSTYPE,OPTIONS --mountpoint /mnt/data")
    assert mounted.startswith("fuse.ceph-fuse ")
    assert {"nosuid", "nodev", "noatime"} <= set(mounted.split()[1].split(","))
    assert job(ceph, "n1", "umask 077; echo weights >/mnt/data/vision/model") == (0, "")
    assert job(ceph, "n2", "stat -c %U /mnt/data/vision/model; cat /mnt/data/vision/model") == (0, "ada\nweights")
    assert ceph.out("n2", "bash /etc/slurm/health.d/30-mount-data && echo healthy") == "healthy"
    assert "changed=0" in ceph.apply("--check", "--limit", "n2").stdout


def test_a_quota_ends_writing_and_a_larger_one_lets_it_go_on(ceph: Lab) -> None:
    status, output = job(ceph, "n2", FILL)
    assert status == 3, output
    assert "Disk quota exceeded" in output
    size = int(ceph.out("n1", "du -s --apparent-size --block-size=1M /mnt/data/vision").split()[0])
    assert size < 64, "nothing held the job back for long after 8 MiB"

    def larger(document: Document) -> None:
        entry = document["storage"]["data"]
        entry["quotas"][0]["space"] = "1GiB"
        entry["options"] = ["ceph.client_oc_size=67108864"]

    ceph.edit(larger)
    applied = ceph.apply()
    assert applied.rc == 0, applied.stdout + applied.stderr
    assert ceph.out("n1", "clustergen-quota data check") == ""
    ceph.waits("head", "sinfo -h -N -o %T | sort -u", r"\Aidle\s*\Z")
    # The client before it stays: in a container, mounts of services such as logind do not follow those of the node.
    command = ceph.out("n2", "pgrep -a -n -x ceph-fuse")
    assert "--client_oc_size=67108864" in command, "a changed option mounts it again"
    assert job(ceph, "n2", "head -c 16777216 /dev/zero >/mnt/data/vision/more && echo written") == (0, "written")


def test_a_client_that_dies_fails_the_health_check(ceph: Lab) -> None:
    check = "timeout 60 bash /etc/slurm/health.d/30-mount-data"
    ceph.out("n2", "pkill -9 -x ceph-fuse")
    failed = ceph.run("n2", check)
    assert failed.returncode == 1, failed
    assert "/mnt/data" in failed.stdout
    ceph.out("n2", f"systemctl restart mnt-data.mount && {check} && cat /mnt/data/vision/model", timeout=120)
