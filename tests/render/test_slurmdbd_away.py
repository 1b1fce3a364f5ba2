"""The first controller and slurmdbd on it never return: the second one serves, and its records arrive afterwards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.slurm_daemons import DAEMONS
from strategies.trees import lay_out, manifest, tree_of

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.many]

NODES = [
    {"name": "head1", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller", "slurm-accounting"]},
    {"name": "head2", "type": "service", "address": "10.0.0.2", "roles": ["slurm-controller"]},
    {"name": "n1", "type": "small", "address": "10.0.0.3"},
]
STATE = {"type": "nfs", "mount": "/srv/state", "server": "nfs", "path": "/state", "clients": ["slurm-controller"]}
SCRIPT = r"""
answers() { for _ in {1..400}; do eval "$1" && return; sleep 0.1; done; cat /run/clustergen/*.log; exit 8; }
mkdir -p /srv/state/slurm; chown -R slurm /srv/state
controller
pkill slurmctld # saves associations, as slurmctld does every five minutes
answers '[ -s /srv/state/slurm/assoc_mgr_state ] && ! pgrep slurmctld >/dev/null'
pkill -9 slurmdbd; pkill mariadbd; wait # the database of tests writes late
hostname head2; ip addr add 10.0.0.2/32 dev lo; ip addr del 10.0.0.1/32 dev lo
slurmctld -D >/run/clustergen/second.log 2>&1 &
answers 'timeout 5 sinfo -h 2>/dev/null >/run/nodes'
cat /run/nodes
job=$(sbatch --parsable --begin now+1hour --output /dev/null --wrap true)
scancel "$job"
ip addr add 10.0.0.1/32 dev lo
mariadbd --no-defaults --user=root --datadir=/run/db --socket=/run/mysqld/mysqld.sock --skip-grant-tables \
  --skip-networking --loose-innodb-snapshot-isolation=OFF --innodb-data-file-path=ibdata1:10M:autoextend \
  --innodb-log-file-size=4M --innodb-undo-tablespaces=0 >/run/clustergen/mariadbd.log 2>&1 &
until_log 'ready for connections' /run/clustergen/mariadbd.log
unshare --uts sh -c 'hostname head1; exec slurmdbd -D' >/run/clustergen/slurmdbd.log 2>&1 &
until_log 'slurmdbd version .* started' /run/clustergen/slurmdbd.log
$RECONNECT
answers 'sacct -n -X -S now-1hour -j $job -o State 2>/dev/null | grep -q CANCELLED'
echo "recorded $job"
"""


def test_the_second_controller_serves_and_keeps_records(slurm: SlurmInstall, tmp_path: Path) -> None:
    release = ".".join(slurm.version.split(".")[:2])
    kinds = {"small": {"cpu": {"sockets": 1, "cores_per_socket": 4}, "memory": "8GiB"}}
    section = {"version": release, "configless": True, "state_location": "/srv/state/slurm", "slurmctld_timeout": 10}
    tree = tree_of(manifest(nodes=NODES, node_types=kinds, slurm=section, storage={"state": STATE}), tmp_path)
    box = sandbox.Sandbox(
        slurm.path,
        files=((lay_out(tree, "head1", tmp_path / "root"), "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 head1\n10.0.0.2 head2\n10.0.0.3 n1\n",
        hostname="head1",
        addresses=("10.0.0.1",),
    )
    # slurmctld 26.05.5 that took over without slurmdbd never asks for it again; docs/outage.md has the command.
    script = SCRIPT.replace("$RECONNECT", "scontrol reconfigure" if release == "26.05" else "true")
    words = ["/bin/bash", "/run/clustergen/script"]
    done = sandbox.run(box, words, timeout=150, notes={"script": DAEMONS + script})
    assert done.code == 0, done
    assert re.search(r"(?m)^main\*.* n1$", done.stdout), done
    assert re.search(r"(?m)^recorded \d+$", done.stdout), done
