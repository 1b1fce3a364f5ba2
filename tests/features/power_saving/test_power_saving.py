"""Power saving: real slurmctld switches a node off and on, and OpenIPMI's simulated BMC obeys the programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.render.tree import Tree
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall, root_with
from strategies.slurm_daemons import DAEMONS
from strategies.slurm_trees import CPU, cluster, roles, settings
from strategies.trees import lay_out

HEAD = roles("slurm-controller", "slurm-accounting", "monitoring", name="head", address="10.0.0.1")
NODES = {"name": "n[1-2]", "type": "cpu", "address": "10.0.0.[11-12]", "addresses": {"bmc": "10.0.9.[11-12]"}}
RENTED = {"name": "c1", "type": "cpu", "address": "10.0.0.13", "state": "CLOUD"}


def saving(
    directory: Path, release: str = "24.11", protocol: str = "redfish", nodes: tuple[Any, ...] = (NODES,), **fields: Any
) -> Tree:
    networks = {"management": {"cidr": "10.0.0.0/24"}, "bmc": {"cidr": "10.0.9.0/24", "protocol": protocol}}
    slurm = {"mpi_default": "none", "power_saving": {"suspend_time": 600, **fields}}
    return cluster(directory, release, networks=networks, node_types={"cpu": CPU}, nodes=[HEAD, *nodes], slurm=slurm)


ASLEEP = 'clustergen_slurm_node_asleep{node="n1"} 1'


# The power button is a file, since slurmctld's programs may not start a daemon of root's. A few seconds stand for the
# minutes that a manifest states.
MACHINE = r"""
cd /etc/slurm
sed -i -E 's#^ProctrackType=.*#ProctrackType=proctrack/linuxproc#; s#^TaskPlugin=.*#TaskPlugin=task/none#
  s#^JobAcctGatherType=.*#JobAcctGatherType=jobacct_gather/none#; s/^(TaskProlog|Prolog|Epilog|Health).*//
  s/^SuspendTime=[0-9]*/SuspendTime=2/; s/^SuspendTimeout=[0-9]*/SuspendTimeout=12/
  s/^ResumeTimeout=[0-9]*/ResumeTimeout=15/; s/^SlurmdTimeout=[0-9]*/SlurmdTimeout=10/
  /^SlurmdPidFile/d; s/^NodeName=c1 /&Port=6828 /; s#^SlurmdSpoolDir=.*#SlurmdSpoolDir=/var/lib/slurm/slurmd-%n#
  s/^SlurmctldParameters=\S+/&,power_save_interval=1/' slurm.conf
printf '%s\n' SlurmdParameters=config_overrides SlurmdPidFile=/run/slurmd-%n.pid >>slurm.conf
case $(slurmd -V) in *22.05*) echo CgroupPlugin=cgroup/v1 ;; *) echo CgroupPlugin=disabled ;; esac >cgroup.conf
mkdir -p /var/lib/slurm/slurmd-{n1,c1} /run/lock /run/button /opt; chown slurm /run/button
printf '#!/bin/bash\necho "$1 $2" >>/run/button/log\n' >/opt/switch
echo '[ -e /run/dead ] || echo "$1" >"/run/button/$2"' >>/opt/switch
echo 'until [ "$1" = on ] || [ -e /run/go ]; do sleep 0.1; done' >>/opt/switch # slurmctld must not wait for it
chmod 755 /opt/switch
# slurmctld takes a node for booted if by its uptime it started after the request.
boot() {
  sleep 3
  unshare --time --boottime=-$(($(cut -d. -f1 /proc/uptime) - 1)) --fork --kill-child \
    slurmd -D -N $1 >/run/clustergen/slurmd-$1.log 2>&1 &
}
power() {
  local daemon=
  while sleep 0.2; do
    case $(cat /run/button/$1) in
      on) [ -n "$daemon" ] || { boot $1; daemon=$!; } ;;
      off | lost) # a slurmd that read its files again is no child of unshare any more
        [ -z "$daemon" ] || { kill -9 $daemon $(cat /run/slurmd-$1.pid); wait $daemon; daemon=; } ;;
    esac
  done
}
state() { # state PATTERN [NODE]
  for _ in {1..600}; do sinfo -h -N -n ${2:-n1} -o %T | grep -qE "$1" && break; sleep 0.1; done
  sinfo -h -N -n ${2:-n1} -o %T
}
echo on >/run/button/n1; echo off >/run/button/c1; chown slurm /run/button/*; controller; power n1 & power c1 &
"""


def played(slurm: SlurmInstall, tree: Tree, directory: Path, script: str) -> sandbox.Outcome:
    box = sandbox.Sandbox(
        slurm.path,
        files=((lay_out(tree, "head", directory / "root"), "/"),),
        empty=("/etc/slurm", "/opt"),
        hosts="10.0.0.1 head\n10.0.0.11 n1\n10.0.0.12 n2\n10.0.0.13 c1\n",
        hostname="head",
        addresses=("10.0.0.1", "10.0.0.11", "10.0.0.12", "10.0.0.13"),
    )
    return sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=400, notes={"script": DAEMONS + script})


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.many
def test_an_idle_node_goes_down_a_job_wakes_it_and_a_dead_one_is_switched_off(
    slurm: SlurmInstall, tmp_path: Path
) -> None:
    release = ".".join(slurm.version.split(".")[:2])
    tree = saving(tmp_path, release, command="/opt/switch", except_nodes="n2")
    steps = r"""
state '^idle$'; state '^idle%$'
timeout 60 scontrol reconfigure || echo slurmctld waits for its program; touch /run/go
state '^idle~$'; uniq /run/button/log # slurmctld may repeat a request after it was configured anew
mkdir -p /var/lib/prometheus/node-exporter; clustergen-slurm-metrics
grep -h ^clustergen.*asleep /var/lib/prometheus/*/*
timeout 90 srun -w n1 echo woken; uniq /run/button/log | head -n 2 # it goes down again soon
state '^idle~$'; touch /run/dead; >/run/button/log; sbatch -Q -w n1 -o /dev/null --wrap true; state '^down'
for _ in {1..600}; do grep -q off /run/button/log && break; sleep 0.1; done; cat /run/button/log
"""
    done = played(slurm, tree, tmp_path, MACHINE + steps)
    expected = ["idle", "idle%", "idle~", "off n1", ASLEEP, "woken", "off n1", "on n1"]
    expected += ["idle~", "down~", "on n1", "off n1"]
    assert done.stdout.split("\n")[:-1] == expected, done.stdout + done.stderr + str(done.files)[-3000:]


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.many
def test_a_lost_node_of_a_cloud_is_made_anew_and_one_of_the_site_waits(slurm: SlurmInstall, tmp_path: Path) -> None:
    release = ".".join(slurm.version.split(".")[:2])
    tree = saving(tmp_path, release, nodes=({**NODES, "addresses": {}}, RENTED), command="/opt/switch")
    fast = MACHINE.replace("SuspendTimeout=12", "SuspendTimeout=4")
    if release == "22.05":  # without SuspendExcStates, it would switch off what waits for somebody
        fast = fast.replace("/SuspendTime=2/", "/SuspendTime=600/")
    steps = r"""
touch /run/go
for node in n1 c1; do sbatch -Q --no-requeue -w $node -o /dev/null --wrap 'sleep 900'; done
for node in n1 c1; do state '^(mixed|allocated)$' $node >/dev/null; done
for node in n1 c1; do echo lost >/run/button/$node; done
state '^down[*]$'; state '^down[*]$' c1; clustergen-cloud-nodes; sinfo -h -N -n c1 -o %T
sed -i 's/"wait_s": 900/"wait_s": 0/' /etc/clustergen/cloud-nodes.json
clustergen-cloud-nodes; state '^idle~$' c1; sinfo -h -N -n n1 -o %T
touch /run/dead; scontrol update NodeName=c1 State=POWER_UP; state '^down~$' c1
clustergen-cloud-nodes; state '^idle~$' c1; rm /run/dead
scontrol update NodeName=c1 State=DRAIN Reason=image; clustergen-cloud-nodes; scontrol update NodeName=c1 State=RESUME
echo on >/run/button/n1; state '^down$'; sinfo -h -n n1 -o %E; timeout 90 srun -w c1 echo anew
"""
    done = played(slurm, tree, tmp_path, fast + steps)
    expected = [*["down*"] * 3, "idle~", "down*", "down~", "idle~"]
    expected += ["down", "Node unexpectedly rebooted", "anew"]
    assert done.stdout.split("\n")[:-1] == expected, done.stdout + done.stderr + str(done.files)[-3000:]
    assert done.stderr.count("powered down, a job may start it anew") == 2, done.stderr


@pytest.mark.parametrize(("nodes", "is_first"), [((NODES,), False), ((NODES, RENTED), True)], ids=["site", "cloud"])
def test_the_playbook_switches_by_bmc_beside_nodes_of_a_cloud(
    nodes: tuple[Any, ...], tmp_path: Path, *, is_first: bool
) -> None:
    tree = saving(tmp_path, nodes=nodes, command="/opt/switch")
    variables = tree.files["inventory/group_vars/all.yml"].content
    assert b"power_command: /opt/switch" in variables
    assert (b"power_bmc_first: true" in variables) == is_first


def test_a_compute_node_with_another_role_stays_on(tmp_path: Path) -> None:
    served = {"name": "n2", "type": "cpu", "address": "10.0.0.12", "roles": ["slurm-compute", "login"]}
    tree = saving(
        tmp_path, nodes=({"name": "n1", "type": "cpu", "address": "10.0.0.11"}, served), command="/opt/switch"
    )
    assert settings(tree)["SuspendExcNodes"] == "n2"


COLLECTION = Path(__file__).parents[3] / "playbooks/ansible_collections/clustergen/cluster"
MODULE = COLLECTION / "plugins/module_utils/redfish.py"
LIBRARY = "/usr/local/lib/clustergen/redfish.py"
OFF, ON = "/usr/local/sbin/clustergen-power-off --wait", "/usr/local/sbin/clustergen-power-on --wait"
# A BMC of OpenIPMI whose power is a file; `soft` turns it off unless the system hangs.
IPMI = r"""
mkdir -p /tmp/bmc /etc/clustergen; cd /tmp/bmc; echo 0 >power; printf 'secret\n' >/etc/clustergen/bmc-password
printf '10.0.0.11 n1\n' >>/etc/hosts
cat >control <<'END'
#!/bin/bash
echo "${*:2}" >>/tmp/bmc/log
case "${*:2}" in
  'get power') echo "power:$(cat /tmp/bmc/power)" ;;
  'set power '*) echo $4 >/tmp/bmc/power ;;
  'set shutdown'*) [ -e /tmp/bmc/hangs ] || echo 0 >/tmp/bmc/power ;;
esac
END
chmod 755 control
cat >lan.conf <<'END'
name "n1"
set_working_mc 0x20
  startlan 1
    addr 10.0.9.11 623
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "/tmp/bmc/control 0x20"
  user 1 true "" "test" user 10 none md2 md5 straight
  user 2 true "clustergen" "secret" admin 10 none md2 md5 straight
END
cat >bmc.emu <<'END'
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
mc_enable 0x20
END
ipmi_sim -c lan.conf -f bmc.emu -s /tmp/bmc -n >sim.log 2>&1 &
for _ in {1..600}; do
  ipmitool -I lanplus -H 10.0.9.11 -U clustergen -P secret chassis power status >/dev/null 2>&1 && break; sleep 0.1
done
"""


@pytest.mark.real
def test_a_simulated_bmc_switches_its_node(tmp_path: Path) -> None:
    root = root_with("ipmi_sim")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    tree = saving(tmp_path, "24.11", "ipmi", (NODES, RENTED), suspend_timeout=60, command="/tmp/bmc/cloud")
    node = lay_out(tree, "head", tmp_path / "node")
    steps = f"""
        printf '#!/bin/sh\\necho "$@" >>/tmp/bmc/rented\\n' >cloud; chmod 755 cloud; {ON} c1; {OFF} c1; cat rented
        {ON} n1; echo on $? $(cat power); {OFF} n1; echo off $? $(cat power); {OFF} n1; echo again $?
        {ON} n1; {ON} n1; echo still $? $(grep -c "^set reset" log)
        sed -E '/^PATIENCE = /s/30, 30/56, 4/; s/^POLL = .*/POLL = 1/' {OFF.split()[0]} >test-off
        touch hangs; python3 test-off --wait n1; echo cut $? $(cat power); {ON} n2; echo nobody $?
    """
    box = sandbox.Sandbox(root, files=((node / "usr", "/usr"), (node / "etc", "/etc")), addresses=("10.0.9.11",))
    done = sandbox.run(box, ["/bin/bash", "-c", IPMI + steps], timeout=300)
    assert done.stdout.splitlines() == [
        "on c1",
        "off c1",
        "on 0 1",
        "off 0 0",
        "again 0",
        "still 0 1",
        "cut 1 0",
        "nobody 1",
    ], done.stdout + done.stderr
    assert "n1: did not shut down in 4 s: its power was cut" in done.stderr


# BMCs by Redfish. The first does not answer its second and third poll, and its node hangs; the others answer with
# something else.
BMCS = r"""
mkdir -p /tmp/bmc /etc/clustergen; cd /tmp/bmc; printf 'secret\n' >/etc/clustergen/bmc-password
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key -out cert -days 2 -subj /CN=bmc \
  -addext subjectAltName=IP:10.0.9.11,IP:10.0.9.12,IP:10.0.9.13 2>/dev/null
export SSL_CERT_FILE=$PWD/cert
cat >bmc.py <<'END'
import json, socketserver, ssl, sys
CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
CONTEXT.load_cert_chain("cert", "key")
SYSTEMS = {"/redfish/v1/Systems": {"Members": [{"@odata.id": "/redfish/v1/Systems/1"}]}}
polls = 0
def hanging(path, body):
    global polls
    if body:
        with open("pressed", "a") as file:
            print(json.loads(body)["ResetType"], file=file)
    polls += path.endswith("/1")
    if path.endswith("/1") and polls in (2, 3):
        raise OSError
    return json.dumps(SYSTEMS.get(path, {"PowerState": "On"})).encode()
BMCS = {"10.0.9.11": hanging, "10.0.9.12": lambda path, body: b"[1]", "10.0.9.13": None}
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            with CONTEXT.wrap_socket(self.request, server_side=True) as peer:
                head, _, body = peer.recv(4096).partition(b"\r\n\r\n")
                answer = BMCS[self.server.server_address[0]]
                if answer is None:
                    peer.sendall(b"\x00\x01\r\n\r\n")
                else:
                    if b"POST" in head and not body:
                        body = peer.recv(4096)
                    text = answer(head.split()[1].decode(), body)
                    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
        except OSError:
            pass
class Server(socketserver.TCPServer):
    allow_reuse_address = True
Server((sys.argv[1], 443), Handler).serve_forever()
END
for last in 11 12 13; do
  python3 bmc.py 10.0.9.$last &
  for _ in {1..600}; do (: </dev/tcp/10.0.9.$last/443) 2>/dev/null && break; sleep 0.1; done
done
"""


@pytest.mark.real
def test_failed_polls_and_odd_bmcs_leave_no_node_on_and_no_message_out(tmp_path: Path) -> None:
    """The program asks again, cuts the power in the end, and names each node whose BMC answers with something else."""
    root = root_with("ipmi_sim")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    nodes = {**NODES, "name": "n[1-3]", "address": "10.0.0.[11-13]", "addresses": {"bmc": "10.0.9.[11-13]"}}
    node = lay_out(saving(tmp_path, nodes=(nodes,)), "head", tmp_path / "node")
    steps = rf"""
        printf '#!/bin/sh\nprintf "n1\nn2\nn3\n"\n' >scontrol; chmod 755 scontrol; export PATH=$PWD:$PATH
        sed -E 's/^PATIENCE = .*/PATIENCE = 4/; s/^POLL = .*/POLL = 1/' {OFF.split()[0]} >test-off
        python3 test-off --wait 'n[1-3]'; echo off $?; cat pressed; python3 {ON} 'n[1-3]'; echo on $?; kill $(jobs -p)
    """
    addresses = tuple(f"10.0.9.{last}" for last in (11, 12, 13))
    box = sandbox.Sandbox(root, files=((node / "usr", "/usr"), (node / "etc", "/etc")), addresses=addresses)
    done = sandbox.run(box, ["/bin/bash", "-c", BMCS + steps], timeout=300)
    assert done.stdout.split() == ["off", "1", "GracefulShutdown", "ForceOff", "on", "1"], done.stdout + done.stderr
    assert "n1: did not shut down in 4 s: its power was cut" in done.stderr
    assert "n2: /redfish/v1/Systems is no resource of Redfish" in done.stderr
    assert "n3: ??" in done.stderr
    assert "Traceback" not in done.stderr


# BMCs by the last number of their address. Port 81 is another host, 82 the proxy of the environment: both record what
# arrives.
HOSTILE = r"""
mkdir -p /tmp/bmc /etc/clustergen; cd /tmp/bmc; printf 'secret\n' >/etc/clustergen/bmc-password
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key -out cert -days 2 -subj /CN=bmc \
  2>/dev/null
cat >bmc.py <<'END'
import socketserver, ssl, threading, time
CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
CONTEXT.load_cert_chain("cert", "key")
def to(status, place):
    return lambda path: iter([b"HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (status, place)])
def body(part, times, pause=0):
    def answer(path):
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        for _ in range(times):
            yield part
            time.sleep(pause)
    return answer
def head(path):
    yield b"HTTP/1.1 200 OK\r\n"
    while True:
        yield b"X: y\r\n"
        time.sleep(0.1)
def good(path):
    if path == "/old":
        text = b'{"Members": [{"@odata.id": "/redfish/v1/Systems/1"}]}'
    elif path.endswith("Systems"):
        yield from to(301, b"https://10.0.9.19:443/old")(path)
        return
    elif path.endswith("Reset"):
        yield from to(307, b"/other")(path)
        return
    else:
        text = b'{"PowerState": "Off"}'
    yield b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)
BMCS = {
    11: to(302, b"http://127.0.0.1:81/redfish/v1/"), 12: to(307, b"https://10.0.9.13/"), 13: to(301, b"/redfish/v1/x"),
    14: to(303, b"https://[::1/"), 15: body(b"[" * 100_000, 1), 16: body(b"x" * 100_000, 1000),
    17: body(b" ", 10_000, 0.1), 18: head, 19: good,
}
class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            with CONTEXT.wrap_socket(self.request, server_side=True) as peer:
                for part in BMCS[int(self.server.server_address[0][-2:])](peer.recv(4096).split()[1].decode()):
                    peer.sendall(part)
        except OSError:
            pass
class Other(socketserver.BaseRequestHandler):
    def handle(self):
        print(self.server.server_address, self.request.recv(4096), file=open("arrived", "a"))
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 100
servers = [Server((f"10.0.9.{last}", 443), Handler) for last in BMCS]
servers += [Server(("127.0.0.1", port), Other) for port in (81, 82)]
for server in servers:
    threading.Thread(target=server.serve_forever).start()
open("ready", "w")
END
python3 bmc.py &
until [ -e ready ]; do sleep 0.05; done
export https_proxy=http://127.0.0.1:82 http_proxy=http://127.0.0.1:82 all_proxy=http://127.0.0.1:82
"""


@pytest.mark.real
@pytest.mark.slow
def test_a_bmc_gets_its_password_alone_and_ends_no_program(tmp_path: Path) -> None:
    """The program has the text of the playbooks' module, so that both refuse the same."""
    root = root_with("ipmi_sim")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    bmcs = {**NODES, "name": "n[1-9]", "address": "10.0.0.[11-19]", "addresses": {"bmc": "10.0.9.[11-19]"}}
    node = lay_out(saving(tmp_path, nodes=(bmcs,), check_certificates=False), "head", tmp_path / "node")
    assert MODULE.read_text(encoding="utf-8") in (node / LIBRARY.lstrip("/")).read_text(encoding="utf-8")
    steps = rf"""
        printf '#!/bin/sh\nseq -f n%%g 9\n' >scontrol; chmod 755 scontrol; export PATH=$PWD:$PATH
        sed -E 's/^ANSWER = .*/ANSWER = 5/' {ON.split()[0]} >test-on
        SECONDS=0; python3 test-on --wait 'n[1-9]'; echo on $? $((SECONDS < 60)); cat arrived; kill $(jobs -p)
    """
    box = sandbox.Sandbox(
        root,
        files=((node / "usr", "/usr"), (node / "etc", "/etc")),
        addresses=tuple(f"10.0.9.{last}" for last in range(11, 20)),
    )
    done = sandbox.run(box, ["/bin/bash", "-c", HOSTILE + steps], timeout=300)
    assert done.stdout.splitlines() == ["on 1 1"], done.stdout + done.stderr
    assert [line for line in done.stderr.splitlines() if re.match(r"n\d: ", line)] == [
        "n1: it redirects to another host",
        "n2: it redirects to another host",
        "n3: it redirects more than 5 times",
        "n4: it redirects to another host",
        "n5: /redfish/v1/Systems is no resource of Redfish",
        "n6: the answer has more than 1048576 bytes",
        "n7: no answer in 5 s",
        "n8: no answer in 5 s",
        "n9: it redirects a POST request",
    ]
    assert "Traceback" not in done.stderr
