"""The script of metrics asks a real slurmctld of each release."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.features.slurm_metrics.needs import SCRIPT_METRICS
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.trees import COMPUTE, HEAD, lay_out, manifest, tree_of

pytestmark = [pytest.mark.real, pytest.mark.slow]

MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
SCRIPT = r"""
set -eu
cat >/etc/slurm/slurm.conf <<'END'
ClusterName=small
SlurmctldHost=head
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
StateSaveLocation=/run/state
SlurmctldPidFile=/run/slurmctld.pid
NodeName=c[1-4] CPUs=4 RealMemory=1000
PartitionName=a Nodes=ALL Default=YES
PartitionName=b Nodes=ALL
END
echo CgroupPlugin=disabled >/etc/slurm/cgroup.conf
case $(slurmctld -V) in *22.05*) echo CgroupPlugin=cgroup/v1 >/etc/slurm/cgroup.conf ;; esac
mkdir -p /run/munge /etc/munge /var/log/munge /var/lib/munge /run/state /var/lib/prometheus/node-exporter
head -c 128 /dev/urandom >/etc/munge/munge.key
chmod 700 /etc/munge /var/log/munge; chmod 400 /etc/munge/munge.key; chmod 755 /run/munge
chown -R munge /run/munge /etc/munge /var/log/munge /var/lib/munge
setpriv --reuid "$(id -u munge)" --clear-groups munged
slurmctld -D >/run/clustergen/slurmctld.log 2>&1 &
for _ in {1..3000}; do grep -q 'Running as primary controller' /run/clustergen/slurmctld.log && break; sleep 0.02; done
scontrol update nodename=c1 state=drain reason='Prolog "a" \ b | c'
scontrol update nodename=c2 state=down reason='no power'
/usr/local/sbin/clustergen-slurm-metrics
cat /var/lib/prometheus/node-exporter/slurm.prom
"""


def test_reasons_of_nodes_are_exported(slurm: SlurmInstall, tmp_path: Path) -> None:
    release = ".".join(slurm.version.split(".")[:2])
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE], slurm={"version": release}), tmp_path)
    box = sandbox.Sandbox(
        slurm.path,
        files=((lay_out(tree, "head", tmp_path / "root"), "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 head\n" + "".join(f"10.0.0.1{number} c{number}\n" for number in range(1, 5)),
        hostname="head",
        addresses=("10.0.0.1",),
    )
    done = sandbox.run(box, ["/bin/bash", "-c", SCRIPT], timeout=200)
    assert done.code == 0, done
    lines = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    drained = (
        'clustergen_slurm_node_drained{node="c1",state="drained%s",user="root",reason="Prolog \\"a\\" \\\\ b | c"} 1'
    )
    assert drained % "" in lines or drained % "*" in lines, lines
    assert any(line.startswith('clustergen_slurm_node_drained{node="c2",state="down') for line in lines)
    assert "clustergen_slurm_completing_seconds 0" in lines
    assert sum("_drained{" in line for line in lines) == 2
    names = {line.partition("{")[0].partition(" ")[0] for line in lines}
    assert names >= set(SCRIPT_METRICS) or release == "26.05"
