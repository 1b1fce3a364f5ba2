"""The playbook `power`: emulated BMCs, Wake-on-LAN, a node of a cloud and real Slurm; each node by what it has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clustergen.render.write import write
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from features.power_saving.test_power_saving import COLLECTION, IPMI
from playbooks.test_firmware import CONF, SLURM, ansible
from strategies import redfish_bmc
from strategies.trees import GPU, HEAD, manifest, tree_of

# systemctl is a substitute in this mount namespace: it must not end the machine of the test.
PREPARATION = r"""
printf '#!/bin/sh\necho "systemctl $*" >>%s/log\n' "$PLACE" >bin/systemctl; chmod 755 bin/systemctl
[ ! -e /usr/bin/systemctl ] || mount --bind bin/systemctl /usr/bin/systemctl
python3 - "$PLACE/log" <<'END' &
import socket, sys
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", 9))
packet = receiver.recv(200)
assert packet == b"\xff" * 6 + packet[6:12] * 16
print("woken", packet[6:12].hex(":"), file=open(sys.argv[1], "a"))
END
grep -v good3 bmcs.ini >some.ini; mv some.ini bmcs.ini
printf '[cloud]\nburst1\n[slurm_compute]\nburst1\n' >>bmcs.ini
chroot $ROOT slurmd -D -N burst1 >burst1.log 2>&1 &
"""
CLOUD = """
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=36000
NodeName=burst1 NodeHostname={host} NodeAddr=127.0.0.1 Port=17324 State=CLOUD
"""
NODES = "-e nodes=good[1-3],burst1"
STATUS = {"good1": "on, by its BMC", "good3": "off, by Wake-on-LAN to 02:00:00:00:00:03", "burst1": "by slurmctld"}


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "all"])
def test_each_node_is_switched_by_what_it_has(tmp_path: Path, *, is_whole: bool) -> None:
    root = root_with("slurmctld")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    machines = [
        {"name": "good[1-2]", "address": "10.0.0.[11-12]", "addresses": {"bmc": "10.0.9.[11-12]"}},
        {"name": "good3", "address": "10.0.0.13", "macs": ["02:00:00:00:00:03"]},
    ]
    nodes = [HEAD, *({**machine, "type": "gpu"} for machine in machines)]
    networks = {**manifest()["networks"], "bmc": {"cidr": "10.0.9.0/24", "protocol": "redfish"}}
    write(tree_of(manifest(nodes=nodes, node_types={"gpu": GPU}, networks=networks), tmp_path), tmp_path / "rendered")
    redfish_bmc.describe(tmp_path, dict.fromkeys(("good1", "good2", "good3"), ("", {})))
    host = os.uname().nodename
    (tmp_path / "slurm.conf").write_text((CONF + CLOUD).format(host=host), encoding="ascii")
    (tmp_path / "secrets.yml").write_text(
        "secrets_given: {bmc: pass word}\nwake_broadcast: 127.255.255.255\n", encoding="ascii"
    )
    environment = {**ansible(tmp_path), "PLACE": str(tmp_path), "PYTHON": sys.executable, "ROOT": str(root)}
    job = "chroot $ROOT sbatch -Q -w good2 -o /dev/null --wrap 'sleep 600'; for _ in {1..600}; do"
    job += " squeue -h -w good2 -t running -o %i | grep -q . && break; sleep 0.1; done"
    some = [f"play {NODES}", job, f"play {NODES} -e power=off -e force=true", f"play {NODES} -e power=on"]
    more = [
        "play -e nodes=good2 -e power=off -e cluster_drain_timeout=1",
        "chroot $ROOT scancel -f -w good2; sleep 2",
        "play -e nodes=good[1-2] -e power=cycle",
        "play -e nodes=good1,head -e power=off",
        "play -e nodes=good1 -e power=reboot",
    ]
    # Beside nodes of a cloud, the command is for those without a BMC.
    beside = "play -e nodes=good[1,3] -e power_command=/opt/cloud/switch -e power_bmc_first=true"
    steps = "\n".join([PREPARATION, *some, *(more if is_whole else []), beside])
    mapped = () if os.geteuid() == 0 else ("--map-root-user",)
    isolated = ["unshare", *mapped, "--mount", "--net", "--pid", "--fork", "--kill-child"]
    script = SLURM.replace("cluster.firmware", "cluster.power") + steps
    command = [*isolated, "bash", "-c", script, "bash", *redfish_bmc.command(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, env=environment)
    assert "pass word" not in done.stdout + done.stderr
    shown = [" ".join(text.split()) for text in done.stdout.split("== play")[1:]]
    for node, words in STATUS.items():
        assert words in shown[0], (node, done.stdout + done.stderr)
    off = "rc 0 good1 ForceOff good2 ForceOff systemctl --no-block poweroff burst1 "
    assert off in shown[1], done.stdout + done.stderr
    assert "good1 IDLE+DRAIN" in shown[1]
    assert "rc 0 good1 On good2 On woken 02:00:00:00:00:03 burst1" in shown[2], done.stdout + done.stderr
    assert "good1 IDLE good2 ALLOCATED good3 IDLE" in shown[2]
    assert "by its BMC" in shown[-1], done.stdout + done.stderr
    assert "by /opt/cloud/switch" in shown[-1]
    if is_whole:
        assert "still 1 job" in shown[3]
        assert "rc 0 good1 GracefulShutdown good1 On good2 GracefulShutdown good2 On" in shown[4]
        assert "nothing switches it" in shown[5]
        assert "power=reboot: write status, on, off or cycle" in shown[6]


@pytest.mark.real
def test_a_bmc_by_ipmi_obeys() -> None:
    root = root_with("ipmi_sim")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    script = """
import sys
sys.path.insert(0, "/col")
from ansible_collections.clustergen.cluster.plugins.module_utils import machine_power as power
power._INTERVAL = 0.1
login = {"address": "10.0.9.11", "user": "clustergen", "password": "secret", "privilege": "OPERATOR"}
machine = power.power_of({**login, "protocol": "ipmi"})
print(machine.state())
power.switch_on(machine, 10)
print(machine.state())
power.switch_off(machine, 10)
print(machine.state())
power.switch_on(machine, 10)
open("hangs", "w")
power.switch_off(machine, 1)
print(machine.state())
"""
    box = sandbox.Sandbox(root, files=((COLLECTION.parents[2], "/col"),), addresses=("10.0.9.11",))
    steps = f"{IPMI}python3 - <<'END'\n{script}END\ngrep -c 'set shutdown' log"
    done = sandbox.run(box, ["/bin/bash", "-c", steps], timeout=120)
    assert done.stdout.split() == ["off", "on", "off", "off", "2"], done.stdout + done.stderr
