"""The drain and the resume of site.yml on a real slurmctld: the next run knows what a killed one has drained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ansible
import pytest

from ansible_collections.clustergen.cluster.plugins.module_utils.controller import SITE
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.many]

COLLECTION = Path(__file__).parents[2] / "playbooks/ansible_collections"
ANSIBLE = Path(ansible.__file__).parent
CONF = """\
ClusterName=c
SlurmctldHost=head
SlurmUser=root
StateSaveLocation=/var/spool/state
SlurmdSpoolDir=/var/spool/slurmd.%n
ProctrackType=proctrack/linuxproc
SlurmdParameters=config_overrides
SlurmdPidFile=/run/slurmd.%n.pid
NodeName=n[1-8] NodeAddr=head Port=[17001-17008] CPUs=1
PartitionName=all Nodes=ALL Default=YES
"""
SCRIPT = r"""
. /run/clustergen/surroundings.sh
exec 3>&1 >/dev/null 2>/run/clustergen/log
mkdir -p /var/spool/state; : >/opt/ansible/__init__.py; cd /run/clustergen; cp slurm.conf /etc/slurm/
case $(slurmctld -V) in *22.05*) plugin=cgroup/v1 ;; *) plugin=disabled ;; esac
echo CgroupPlugin=$plugin >/etc/slurm/cgroup.conf
module() { # module NAME WORDS: an answer in a line
  PYTHONPATH=/opt python3 -c "from ansible_collections.clustergen.cluster.plugins.modules import $1 as module
module.RETURNS_S = 3; module.main()" <$2 >&3 || exit 9
}
controller() {
  slurmctld -D & pid=$!
  for _ in {1..200}; do scontrol ping | grep -q 'is UP' && return; sleep 0.1; done; exit 8
}
registered() { # registered STATE: seven nodes have it
  for _ in {1..300}; do [ "$(scontrol -o show node | grep -c " State=$1 ")" = 7 ] && return; sleep 0.1; done; exit 7
}
controller
for n in 1 2 3 4 5 6 7; do slurmd -N n$n; done # n8 is dead
registered IDLE
scontrol update nodename=n3 state=drain reason='fan of mine'
scontrol update nodename=n4 state=drain reason='clustergen: gpu: one is lost'
module slurm_nodes by-a-person
module slurm_nodes by-a-run
kill $pid; wait $pid; controller; registered 'IDLE+DRAIN'
printf '#!/bin/sh\nexit 0\n' >/usr/bin/systemctl; chmod 755 /usr/bin/systemctl; module node_state asked
module slurm_nodes resumes
module slurm_nodes window
scontrol -o show node | sed -nE 's/^NodeName=(\S+) .* State=\S*DRAIN.* Reason=(.*) \[.*/\1 \2/p' >&3
"""
DEVICES = f"{SITE}its devices change"


def nodes(names: str, state: str, **more: Any) -> dict[str, Any]:
    return {"nodes": names.split(), "state": state, **more}


def test_the_next_run_resumes_what_a_run_drained_and_nothing_else(slurm: SlurmInstall) -> None:
    words = {
        "by-a-person": nodes("n5 n7", "drained", reason="new fans"),
        "by-a-run": nodes(
            "n1 n2 n3 n4 n5 n6 n8", "drained", reason=DEVICES, begins=SITE, reasons={"n6": "its State in slurm.conf"}
        ),
        "asked": {},
        "resumes": nodes("n1 n2 n3 n4 n5 n6 n7 n8", "resumed", begins=SITE),
        "window": nodes("n3 n5", "drained", reason=f"{SITE}window", begins=SITE, any_playbook=True),
    }
    notes = {name: json.dumps({"ANSIBLE_MODULE_ARGS": each}) for name, each in words.items()}
    box = sandbox.Sandbox(
        slurm.path,
        files=((COLLECTION, "/opt/ansible_collections"), (ANSIBLE / "module_utils", "/opt/ansible/module_utils")),
        empty=("/etc/slurm", "/opt"),
        hosts="10.0.0.1 head\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    notes |= {"slurm.conf": CONF, "surroundings": "", **sandbox.scripts("surroundings.sh")}
    done = sandbox.run(box, ["/bin/bash", "-c", SCRIPT], timeout=300, notes=notes)
    assert done.code == 0, f"{done.files.get('log')}{done.stdout}"
    lines = done.stdout.split("\n")
    by_person, by_run, asked, resumed, window = (json.loads(line) for line in lines if line.startswith("{"))
    assert by_person["drained"] == ["n5", "n7"]
    assert by_run["drained"] == ["n1", "n2", "n4", "n6", "n8"]
    assert by_run["others"] == {"n3": "fan of mine"}
    assert asked["drained"] == ["n1", "n2", "n4", "n8"]
    assert resumed["resumed"] == ["n1", "n2", "n4"]
    assert window["drained"] == ["n5"]
    assert [line for line in lines if line.startswith("n")] == [
        "n3 fan of mine",
        f"n5 clustergen playbook: {SITE}window",
        "n6 clustergen playbook: its State in slurm.conf",
        "n7 clustergen playbook: new fans",
        f"n8 clustergen playbook: {DEVICES}",
    ]
