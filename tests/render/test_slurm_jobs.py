"""A job from srun to epilog, with real daemons of three releases and the rendered scripts in their places."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.verify import sandbox
from clustergen.verify.sandbox import Outcome
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.slurm_daemons import DAEMONS
from strategies.slurm_trees import cluster, roles
from strategies.trees import lay_out

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.many]

# A machine without cgroups stands for the node; all else is as rendered.
NODE = """
cd /etc/slurm
sed -i -E 's#^ProctrackType=.*#ProctrackType=proctrack/linuxproc#; s#^TaskPlugin=.*#TaskPlugin=task/none#
  s#^JobAcctGatherType=.*#JobAcctGatherType=jobacct_gather/linux#; s/^PrologFlags=.*/PrologFlags=Alloc/' slurm.conf
echo SlurmdParameters=config_overrides >>slurm.conf
case $(slurmd -V) in *22.05*) echo CgroupPlugin=cgroup/v1 ;; *) echo CgroupPlugin=disabled ;; esac >cgroup.conf
cat >/usr/bin/nvidia-smi <<'E'
#!/bin/bash
gpus=$(cat /run/clustergen/gpus)
case "$*" in
  *index,uuid*) for n in $gpus; do echo "$n, GPU-$n"; done ;;
  *query-gpu=index\\ *) printf '%s\\n' $gpus ;;
esac
E
printf '#!/bin/bash\\nprintf "%%s\\\\n" "${@: -1}" >>/run/clustergen/journal\\n' >/usr/bin/logger
printf '#!/bin/bash\\nenv | grep -E "^(SLURM_JOB_GPUS|SLURM_JOB_USER|PATH)=" | sort\\n' >prolog.d/60-site
chmod 755 /usr/bin/nvidia-smi /usr/bin/logger prolog.d/60-site
mkdir -p /scratch /var/lib/slurm/slurmd /run/lock
echo alice:x:1000:1000::/tmp:/bin/bash >>/etc/passwd
echo NCCL_DEBUG=WARN >/etc/nccl.conf
clustergen-accounts names >/dev/null; controller; clustergen-accounts >/dev/null
slurmd -D -N titan >/run/clustergen/slurmd.log 2>&1 &
said() { sinfo -h -o '%T %E' | tr -d '*'; }
state() { for _ in {1..600}; do said | grep -qE "$1" && break; sleep 0.1; done; said; }
as_alice() { (cd /tmp && setpriv --reuid 1000 --regid 1000 --clear-groups timeout -k 1 20 "$@"); }
state 'idle|drained' >/dev/null
"""


def run(install: SlurmInstall, directory: Path, script: str, gpus: str = "0 1 2 3", others: Any = ()) -> Outcome:
    release = ".".join(install.version.split(".")[:2])
    machine = roles("slurm-controller", "slurm-accounting", "slurm-compute", name="titan")
    slurm: dict[str, Any] = {
        "mpi_default": "none",
        "scripts": {"tmpdir": "/scratch"},
        "accounts": {"home": {"users": ["alice"]}},
    }
    kind = {"server": {"system": "ws-4x3090"}}
    nodes = [{**machine, "type": "server"}, *({**node, "type": "server"} for node in others)]
    networks = {"management": {"cidr": "10.0.0.0/24"}}
    tree = cluster(directory, release, networks=networks, node_types=kind, nodes=nodes, slurm=slurm)
    box = sandbox.Sandbox(
        install.path,
        files=((lay_out(tree, "titan", directory / "root"), "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 titan\n",
        hostname="titan",
        addresses=("10.0.0.1",),
        devices=tuple(f"/dev/nvidia{n}" for n in range(4)),
    )
    notes = {"script": DAEMONS + NODE + script, "gpus": gpus}
    return sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=300, notes=notes)


def test_a_job_has_its_gpus_its_scratch_and_its_settings(slurm: SlurmInstall, tmp_path: Path) -> None:
    script = """
as_alice srun --gpus=2 --cpus-per-task=4 bash -c 'touch $TMPDIR/mine; ls -d $TMPDIR/mine; env'
state 'idle none'; ls -A /scratch /scratch/.removing"""
    done = run(slurm, tmp_path, script)
    lines = done.stdout.splitlines()
    assert {"CUDA_VISIBLE_DEVICES=0,1", "NCCL_DEBUG=WARN", "TMPDIR=/scratch/1", "/scratch/1/mine"} <= set(lines), done
    # Variables of other makers would make some programs give up.
    assert not [line for line in lines if line.startswith(("ROCR_VISIBLE", "ZE_AFFINITY", "GPU_DEVICE_ORDINAL"))]
    assert lines[-5:] == [
        "idle none",
        "/scratch:",
        ".removing",
        "",
        "/scratch/.removing:",
    ]  # the job's directory is gone
    journal = done.files["journal"]
    assert "SLURM_JOB_GPUS=0,1" in journal
    assert "SLURM_JOB_USER=alice" in journal
    assert "PATH=/usr/sbin:/usr/bin:/sbin:/bin" in journal


def test_jobs_without_gpus_leave_memory_to_those_with_gpus(slurm: SlurmInstall, tmp_path: Path) -> None:
    script = """
given() { as_alice srun "$@" sh -c 'scontrol show job $SLURM_JOB_ID' | grep -oE 'mem=[0-9]+[MG]' | tail -1; }
as_alice srun --gpus=1 bash -c 'until [ -e /tmp/go ]; do sleep 0.1; done' &
until squeue -h -t running -o %i | grep -q .; do sleep 0.1; done
timeout 15 bash -c "$(declare -f as_alice given); given -c 2"; touch /tmp/go
given --gpus=1; given --gpus=1 --mem=3G"""
    done = run(slurm, tmp_path, script)
    text = (tmp_path / "root/etc/slurm/slurm.conf").read_text(encoding="utf-8")
    defaults = dict(re.findall(r"DefMemPer(GPU|CPU)=(\d+)", text))
    per_gpu, per_cpu = int(defaults["GPU"]), int(defaults["CPU"])
    assert done.stdout.splitlines()[-3:] == [f"mem={2 * per_cpu}M", f"mem={per_gpu}M", "mem=3G"], done


def test_a_gpu_that_does_not_answer_drains_the_node_before_the_job_starts(slurm: SlurmInstall, tmp_path: Path) -> None:
    script = "echo 0 >/run/clustergen/gpus; as_alice srun --gpus=3 echo started\nstate 'drain.* Prolog'"
    done = run(slurm, tmp_path, script)
    assert "started" not in done.stdout
    assert done.stdout.splitlines()[-1] in ("drained Prolog error", "draining Prolog error")
    assert "job 1: 30-gpu failed (1): GPU 1 does not respond" in done.files["journal"].splitlines()


def test_the_health_check_drains_a_node_and_takes_it_back(slurm: SlurmInstall, tmp_path: Path) -> None:
    script = """state drained
echo 0 1 2 3 >/run/clustergen/gpus
env -i SLURMD_NODENAME=titan /etc/slurm/health; state idle
scontrol update nodename=titan state=drain reason='new fan'
rm /run/clustergen-health; env -i SLURMD_NODENAME=titan /etc/slurm/health; state drained"""
    done = run(slurm, tmp_path, script, gpus="0")
    reasons = ["drained clustergen: 1 of 4 GPUs respond (10-gpu-count)", "idle none", "drained new fan"]
    assert done.stdout.splitlines()[-3:] == reasons
