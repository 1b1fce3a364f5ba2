"""Programs of root that write into a directory of another account, all of them, raced by that account."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sysconfig
import zlib
from pathlib import Path
from typing import Any

import pytest

from clustergen.render.tree import Tree
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, HEAD, lay_out, manifest, node_files, tree_of

ROOT = Path(__file__).parents[2]
COLLECTION = ROOT / "playbooks/ansible_collections"
ANSIBLE = Path(sysconfig.get_paths()["purelib"]) / "ansible"
ROLES = ["slurm-controller", "slurm-accounting", "slurm-compute", "monitoring", "log-collector"]
ALL = {**HEAD, "type": "gpu", "roles": ROLES}
TEXTFILES = "/var/lib/prometheus/node-exporter"
SBIN = "/usr/local/sbin/clustergen-"
EVERYTHING: dict[str, Any] = {
    "nodes": [ALL, COMPUTE],
    "networks": {"management": {"cidr": "10.0.0.0/24"}, "fabric": {"type": "roce", "rate": "400Gb/s"}},
    "slurm": {"version": "24.11", "configless": True},
    "monitoring": {"smart": True, "dcgm": {"enabled": True, "job_label_limit": 0}},
    "backups": {"directory": "/srv/backups"},
    "reports": {},
    "drift": {"enabled": True, "directory": "/srv/cluster", "programs": "/usr/sbin"},
    "ansible": {"pull": {"repository": "file:///srv/repository", "programs": "/usr/sbin"}},
}
PROGRAMS = {  # in place of those that need daemons, hardware or a network
    "usr/bin/journalctl": "echo '-- cursor: s=1'",
    "usr/bin/timedatectl": "echo yes",
    "usr/bin/logger": "",
    "usr/bin/git": 'case "$*" in *rev-parse*) echo 0123abcd ;; *init*) mkdir -p "${@: -1}/objects/info" ;; esac',
    "usr/sbin/smartctl": """echo '{"devices": [{"name": "/dev/sda", "type": "sat"}]}'""",
    "usr/sbin/ansible-pull": "",
    "usr/sbin/ansible-playbook": "",
    "usr/sbin/clustergen": 'while [ "$1" != --metrics ]; do shift; done; echo x 1 >"$2"',
    **dict.fromkeys(("usr/bin/scontrol", "usr/bin/squeue", "usr/bin/sinfo", "usr/bin/sdiag"), "echo ' State=IDLE'"),
    **dict.fromkeys(("usr/bin/sacct", "usr/bin/sreport"), ""),
}
JOB = "SLURM_JOB_ID=7 SLURM_JOB_GPUS=0 SLURM_JOB_UID=1000 /etc/slurm/{}.d/40-job-map"
WRITERS = {  # script of the tree → the file of the exporter's account that it writes, and how it is run
    f"{SBIN}kernel-metrics": ("kernel", f"{SBIN}kernel-metrics"),
    f"{SBIN}disk-metrics": ("disks", f"{SBIN}disk-metrics"),
    f"{SBIN}roce-metrics": ("roce", f"{SBIN}roce-metrics"),
    f"{SBIN}slurm-metrics": ("slurm", f"{SBIN}slurm-metrics"),
    f"{SBIN}log-retention": ("logs", f"{SBIN}log-retention"),
    f"{SBIN}backup-state": ("clustergen-backup-state", f"{SBIN}backup-state --metrics"),
    f"{SBIN}backup-database": ("clustergen-backup-database", f"{SBIN}backup-database --metrics"),
    f"{SBIN}usage-report": ("usage", f"{SBIN}usage-report"),
    f"{SBIN}drift": ("clustergen-drift", f"{SBIN}drift"),
    f"{SBIN}pull": ("clustergen-pull", f"{SBIN}pull"),
    "/etc/slurm/prolog.d/40-job-map": ("gpu-jobs", JOB.format("prolog")),
    "/etc/slurm/epilog.d/40-job-map": ("gpu-jobs", JOB.format("epilog")),
}
KEY = {"path": "/etc/munge/munge.key", "owner": "munge", "mode": "0400"}
FILE = {"target": f"{TEXTFILES}/site.conf", "sha256": hashlib.sha256(b"text\n").hexdigest(), "mode": "0644",
        "owner": "root:root", "effect": "none"}  # fmt: skip
PACKED = base64.b64encode(zlib.compress(b"text\n")).decode()
MODULES: dict[str, dict[str, Any]] = {
    "the role secrets": {
        "target": KEY["path"], "mode": 0o400, "owner": 64042, "module": "node_secret",
        "arguments": {**KEY, "content": base64.b64encode(b"key" * 50).decode()},
    },
    "the role secrets, a new key": {
        "target": KEY["path"], "mode": 0o400, "owner": 64042, "module": "node_secret", "arguments": KEY,
    },
    "a file of the tree": {
        "target": FILE["target"], "module": "node_put",
        "arguments": {"files": [{**FILE, "content": PACKED}], "record": {}, "tree": "x"},
    },
}  # fmt: skip
SCENE = r"""
for account in munge prometheus; do
  sed -i "/^$account:/d" /etc/passwd /etc/group
  echo "$account:x:64042:64042::/:/bin/false" >>/etc/passwd; echo "$account:x:64042:" >>/etc/group
done
mount -t tmpfs -o mode=755 tmpfs /var/lib; mount -t tmpfs -o mode=755 tmpfs /srv; mkdir -p /etc/munge
mount -t tmpfs tmpfs /sys/class
mkdir -p /sys/class/infiniband/mlx5_0/ports/1/hw_counters; cd /sys/class/infiniband/mlx5_0/ports/1
echo Ethernet >link_layer; echo 5 >hw_counters/np_cnp_sent; cd /
mkdir -p /var/lib/clustergen-{kernel-metrics,drift,pull,reports} /var/lib/clustergen /srv/cluster/rendered
mkdir -p /srv/backups /run/dcgm-job-mapping /var/log/clustergen/c1/2020-01-01
for kind in state.tar database.sql; do touch "/srv/backups/small-${kind%.*}-20200101T000000Z.${kind#*.}.gz"; done
: >/opt/ansible/__init__.py
export PYTHONPATH=/opt
exec python3 /run/clustergen/write_races.py "$1" </run/clustergen/writers
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return tree_of(manifest(**EVERYTHING), tmp_path_factory.mktemp("tree"))


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("rounds", [9, pytest.param(200, marks=pytest.mark.long)])
def test_the_owner_of_a_directory_wins_no_race(rounds: int, tree: Tree, tmp_path: Path) -> None:
    """A third of the rounds each: names become a link to a file, names a link to a pipe, the directory a link.

    The pipe stands for a block device: bash opens both in the same way, and a pipe needs no device of this machine.
    """
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    place = lay_out(tree, "c1", lay_out(tree, "head", tmp_path / "node"))
    for name, text in PROGRAMS.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
        (place / name).chmod(0o755)
    modules = ((COLLECTION, "/opt/ansible_collections"), (ANSIBLE / "module_utils", "/opt/ansible/module_utils"))
    box = sandbox.Sandbox(root, files=((place, "/"), *modules), empty=("/opt",), hostname="head")
    scripts = {path: {"target": f"{TEXTFILES}/{name}.prom", "command": run} for path, (name, run) in WRITERS.items()}
    program = (Path(__file__).parent / "write_races.py").read_text(encoding="utf-8")
    notes = {"write_races.py": program, "writers": json.dumps({**scripts, **MODULES})}
    done = sandbox.run(box, ["/bin/bash", "-c", SCENE, "bash", str(rounds)], timeout=60 * rounds, notes=notes)
    assert done.code == 0, done
    assert json.loads(done.stdout) == {name: [] for name in (*scripts, *MODULES)}


@pytest.mark.slow
def test_every_file_in_the_exporters_directory_is_written_by_the_one_program(tree: Tree) -> None:
    """On every line of a script that names the directory, or the file that its values name."""
    files = {**node_files(tree, "c1"), **node_files(tree, "head")}
    texts = {path: file.content.decode() for path, file in files.items()}
    writers = set()
    for path, text in texts.items():
        if text.startswith("#!") and path != f"{SBIN}write":
            lines = [line for line in text.splitlines() if TEXTFILES in line and not line.startswith("METRICS =")]
            assert all(f"{SBIN}write" in line for line in lines), path
            places = tuple(re.findall(r"/etc/clustergen/[\w.-]+", text))  # `backup-` of /etc/clustergen/backup-$kind.sh
            values = "".join(values for name, values in texts.items() if name.startswith(places))
            if TEXTFILES in text or ("metrics_file" in text and TEXTFILES in values):
                writers.add(path)
                assert f"{SBIN}write" in text, path
                assert not re.search(r">\s*[\"']?\$\{?metrics_file", text), path
            assert not re.search(r"noclobber|O_EXCL|os\.(rename|replace)\(", text), path
    assert writers == WRITERS.keys()
