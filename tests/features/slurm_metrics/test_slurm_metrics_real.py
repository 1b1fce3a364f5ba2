"""The script of metrics asks a real slurmctld of each release."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.catalogue.metrics import slurm_metrics
from clustergen.features.slurm_metrics.needs import SCRIPT_METRICS
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall
from render.test_slurm_jobs import run
from strategies.trees import COMPUTE, HEAD, lay_out, manifest, tree_of

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.many]

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
SlurmdTimeout=15
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
for _ in {1..200}; do [ "$(scontrol --oneliner show nodes | grep -c NOT_RESPONDING)" = 4 ] && break; sleep 0.2; done
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
    if release != "26.05":
        assert {"slurm_nodes 4", "slurm_nodes_noresp 4", "slurm_nodes_down 1", "slurm_nodes_drain 1"} <= set(lines)


def test_the_script_counts_as_slurmctld_does(slurm: SlurmInstall, tmp_path: Path) -> None:
    """A running, a failed and waiting jobs; slurmctld of 26.05 serves the same names itself."""
    script = r"""
sed -i s/counts=false/counts=true/ /etc/clustergen/slurm-metrics.sh
as_alice sbatch --wrap 'exit 1' -o /dev/null >/dev/null; state 'idle none' >/dev/null
for request in --gpus=2 --gpus=4 '--array=1-3 --gpus=4'; do
  as_alice sbatch $request --wrap 'sleep 60' -o /dev/null
done
state mixed
for _ in {1..300}; do [ "$(squeue -ht F | wc -l)$(squeue -ht R | wc -l)" = 11 ] && break; sleep 0.2; done
mkdir -p /var/lib/prometheus/node-exporter; clustergen-slurm-metrics
grep -h ^slurm /var/lib/prometheus/node-exporter/slurm.prom; echo ==
for page in $PAGES; do
  exec 3<>/dev/tcp/titan/6817 && printf 'GET %s HTTP/1.0\r\n\r\n' "$page" >&3 && timeout 20 cat <&3
done | grep ^slurm"""
    script = script.replace("$PAGES", " ".join({metric.endpoint for metric in slurm_metrics().values()}))
    done = run(slurm, tmp_path, script, others=({**MONITOR, "in_no_partition": True},))
    parts = done.stdout.split("==")
    ours, theirs = ([line for line in part.splitlines() if line.startswith("slurm_")] for part in parts)
    assert {line.partition(" ")[0].partition("{")[0] for line in ours} == set(SCRIPT_METRICS), done
    assert {
        "slurm_jobs_running 1", "slurm_jobs_pending 4", "slurm_jobs_failed 1", "slurm_nodes_mixed 1",
        'slurm_partition_gpus{partition="main"} 4', 'slurm_partition_jobs_gpus_alloc{partition="main"} 2',
        'slurm_user_jobs_pending{username="alice"} 4', 'slurm_account_jobs_gpus_alloc{account="home"} 2',
    } <= set(ours)  # fmt: skip
    if slurm.version.startswith("26.05"):
        assert theirs, done
        assert {line for line in ours if "_thread_cnt" not in line} <= set(theirs)
