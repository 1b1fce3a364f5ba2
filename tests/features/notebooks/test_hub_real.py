"""A user of the real JupyterHub logs in, gets a job of a real Slurm, runs a cell in it and stops it again.

The role installs all of it in a Debian of its own, which is kept for the next run.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from clustergen.catalogue.operating_systems import operating_systems
from clustergen.setup import parsers
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import parsers_directory
from strategies.trees import manifest, node_files, tree_of

pytestmark = [pytest.mark.long, pytest.mark.real]

ROOT = Path(__file__).parents[3]
COLLECTION = ROOT / "playbooks/ansible_collections"
ROLE = COLLECTION / "clustergen/cluster/roles/notebooks"
PACKAGES = "slurmctld,slurmd,slurm-client,munge,iproute2,procps,passwd,login,curl,ca-certificates,systemd"
PLAY = """
- hosts: notebook_hub
  connection: local
  gather_facts: false
  roles: [clustergen.cluster.notebooks]
"""
SLURM = """
ClusterName=small
SlurmctldHost=head(10.0.0.1)
SlurmUser=slurm
StateSaveLocation=/run/state
SlurmdSpoolDir=/run/spool
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SlurmctldLogFile=/run/clustergen/slurmctld.log
SlurmdLogFile=/run/clustergen/slurmd.log
NodeName=c1 NodeAddr=10.0.0.11 CPUs=4 RealMemory=8000
PartitionName=short Nodes=c1 Default=YES MaxTime=02:00:00
"""
START = r"""
set -eu
mkdir -p /run/state /run/spool /run/munge /etc/slurm; chown slurm /run/state; chown munge /run/munge
cp /run/clustergen/slurm.conf /etc/slurm/slurm.conf; echo CgroupPlugin=disabled >/etc/slurm/cgroup.conf
rm -f /etc/slurm/gres.conf /etc/slurm/plugstack.conf /etc/slurm/job_container.conf
head -c 64 /dev/urandom >/etc/munge/munge.key; chown munge /etc/munge/munge.key; chmod 400 /etc/munge/munge.key
setpriv --reuid munge --regid munge --clear-groups munged
slurmctld; slurmd -N c1
for _ in $(seq 300); do [ "$(sinfo -h -N -o %t 2>&1)" = idle ] && break; sleep 0.1; done
systemd-sysusers
chmod 440 /etc/sudoers.d/clustergen-jupyterhub
groupadd notebooks
for user in alice bob; do useradd -m -s /bin/bash $user; echo $user:pw-$user | chpasswd; done
usermod -aG notebooks alice
install -d -o jupyterhub -m 700 /var/lib/jupyterhub; cd /var/lib/jupyterhub
start=$(sed -n 's/^ExecStart=//p' /etc/systemd/system/jupyterhub.service)
hub() {
  setpriv --reuid jupyterhub --regid jupyterhub --init-groups env -i HOME=/var/lib/jupyterhub \
    PATH=/opt/jupyterhub/bin:/usr/local/bin:/usr/bin:/bin $start >>/run/clustergen/hub.log 2>&1 &
  for _ in $(seq 300); do curl -sfo /dev/null http://localhost:8000/hub/health && break; sleep 0.1; done
}
hub
/opt/jupyterhub/bin/python /run/clustergen/client.py || echo "client: status $?"
ps -o user= -C jupyterhub | sort -u >/run/clustergen/users
curl -s http://localhost:8081/hub/metrics | grep '^jupyterhub_server_spawn' >/run/clustergen/metrics
"""
CLIENT = r"""
import json, subprocess, time, uuid
import requests, websocket

HUB = "http://localhost:8000"
results = {}


def login(user, password):
    session = requests.Session()
    session.get(HUB + "/hub/login").raise_for_status()
    token = next(c.value for c in session.cookies if c.name == "_xsrf" and c.path == "/hub/")
    data = {"username": user, "password": password, "_xsrf": token}
    return session, session.post(HUB + "/hub/login", data=data, params={"next": ""}, allow_redirects=False).status_code


def squeue():
    command = ["squeue", "-h", "-o", "%u %P %j %T %l %C %m"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def until(condition):
    for _ in range(240):
        if condition():
            return True
        time.sleep(0.5)
    return False


results["wrong password"] = login("alice", "wrong")[1]
results["not in the group"] = login("bob", "pw-bob")[1]
session, results["login"] = login("alice", "pw-alice")
session.get(HUB + "/hub/home")
token = [c.value for c in session.cookies if c.name == "_xsrf" and c.path == "/hub/"][-1]
headers = {"X-XSRFToken": token, "Referer": HUB + "/hub/home"}
answer = session.post(HUB + "/hub/api/users/alice/tokens", json={"expires_in": 600}, headers=headers)
headers = {"Authorization": "token " + answer.json()["token"]}
server = HUB + "/hub/api/users/alice/server"
refused = requests.post(server, headers=headers, json={"prologue": "touch /run/evil"})
results["wider options"] = [refused.status_code, refused.json()["message"], squeue()]

begin = time.time()
started = requests.post(server, headers=headers, json={"resources": "short/0", "minutes": 120}).status_code
results["start"] = started in (201, 202)  # 202 where it takes longer than ten seconds
event = {}
for line in requests.get(server + "/progress", headers=headers, stream=True, timeout=180).iter_lines():
    if line.startswith(b"data:"):
        event = json.loads(line[5:])
        if event.get("ready") or event.get("failed"):
            break
results["ready"] = bool(event.get("ready"))
results["job"] = squeue()

base = HUB + "/user/alice/api/kernels"
kernel = requests.post(base, headers=headers, json={"name": "python3"}).json()["id"]
url = base.replace("http", "ws", 1) + f"/{kernel}/channels?session_id={uuid.uuid4().hex}"
socket = websocket.create_connection(url, header=[f"Authorization: {headers['Authorization']}"], timeout=60)
code = "import getpass, os; print(getpass.getuser(), 'SLURM_JOB_ID' in os.environ, '/bin' in os.environ['PATH'], 42)"
number = uuid.uuid4().hex
header = {"msg_id": number, "username": "alice", "session": number, "msg_type": "execute_request", "version": "5.3"}
content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
socket.send(json.dumps({"header": header, "parent_header": {}, "metadata": {}, "channel": "shell", "content": content}))
while "cell" not in results:
    message = json.loads(socket.recv())
    if message["parent_header"].get("msg_id") == number and message["msg_type"] in ("stream", "error"):
        results["cell"] = message["content"].get("text") or message["content"]
socket.close()
results["seconds"] = round(time.time() - begin, 1)
results["stop"] = requests.delete(server, headers=headers).status_code
results["no job left"] = until(lambda: not squeue())

# A job that ends by itself leaves no server behind.
requests.post(server, headers=headers, json={})
user = HUB + "/hub/api/users/alice"
until(lambda: requests.get(user, headers=headers).json()["servers"].get("", {}).get("ready"))
subprocess.run(["scancel", "--name=notebook"])
results["ended outside"] = until(lambda: not requests.get(user, headers=headers).json()["servers"])
open("/run/clustergen/results.json", "w").write(json.dumps(results))
"""


def _hub_root() -> Path:
    """A Debian 13 with Slurm, the packages of the hub's node, and what the role installs."""
    listed = f"{PACKAGES},{','.join(operating_systems()['debian-13'].packages('notebook_hub'))}"
    texts = [file.read_bytes() for file in sorted(ROLE.rglob("*")) if file.is_file()]
    digest = hashlib.sha256(b"\n".join([listed.encode(), *texts])).hexdigest()[:12]
    root = parsers_directory().parent / f"notebooks-{digest}"
    if root.is_dir():
        return root
    for old in root.parent.glob("notebooks-*"):
        shutil.rmtree(old)
    work = root.with_name("notebooks-new")
    options = ['--aptopt=Acquire::Check-Valid-Until "false"', '--aptopt=Acquire::Check-Date "false"']
    command = ["mmdebstrap", "--quiet", "--variant=apt", f"--include={listed}", *options, "trixie", str(work)]
    subprocess.run([*command, *filter(None, [parsers.mirror()])], check=True, timeout=900)
    for name in ("etc/resolv.conf", "etc/ssl/certs/ca-certificates.crt"):
        shutil.copyfile(f"/{name}", work / name)
    shutil.copytree(COLLECTION, work / "opt/collections/ansible_collections")
    (work / "opt/play.yml").write_text(PLAY, encoding="utf-8")
    (work / "opt/hosts").write_text("[notebook_hub]\nlocalhost\n[notebook_node]\nlocalhost\n", encoding="utf-8")
    passed = {name: text for name, text in os.environ.items() if name.lower().endswith(("_proxy", "index_url"))}
    certificates = {
        "PIP_CERT": "/etc/ssl/certs/ca-certificates.crt",
        "NODE_EXTRA_CA_CERTS": "/etc/ssl/certs/ca-certificates.crt",
    }
    places = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    script = (
        "mount -t proc proc /proc; python3 -m venv /opt/ansible && /opt/ansible/bin/pip install -q ansible-core==2.19.*"
        " && ANSIBLE_COLLECTIONS_PATH=/opt/collections /opt/ansible/bin/ansible-playbook -i /opt/hosts /opt/play.yml"
        " -e notebooks_directory=/opt/jupyterhub -e ansible_python_interpreter=/usr/bin/python3"
    )
    inside = ["unshare", "--mount", "--pid", "--fork", "chroot", str(work), "bash", "-c", script]
    subprocess.run(inside, env=places | certificates | passed, check=True, timeout=900)
    work.rename(root)
    return root


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> sandbox.Outcome:
    assert os.geteuid() == 0, "only root can use a root of its own"
    head = {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller", "login"]}
    data = manifest(
        nodes=[head, {"name": "c1", "type": "gpu", "address": "10.0.0.11"}],
        slurm={"version": "24.11", "partitions": {"short": {"nodes": "c1", "default": True, "max_time": 120}}},
        storage={
            "home": {
                "type": "nfs", "server": "10.0.0.20", "path": "/home", "mount": "/home",
                "clients": ["login", "slurm-compute"],
            }
        },
        notebooks={"group": "notebooks", "memory": "1GiB", "cpus": 1},
    )  # fmt: skip
    tree = tree_of(data, tmp_path_factory.mktemp("tree"))
    ours = (
        "/etc/jupyterhub/",
        "/etc/clustergen/notebooks",
        "/etc/pam.d/jupyterhub",
        "/etc/sudoers.d/",
        "/etc/sysusers.d/",
    )
    files = {
        place: file
        for place, file in node_files(tree, "head").items()
        if place.startswith(ours) or place.endswith("/jupyterhub.service")
    }
    directory = tmp_path_factory.mktemp("node")
    for place, file in files.items():
        copy = directory / place.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.content)
        copy.chmod(file.mode)
    addresses = {"head": "10.0.0.1", "c1": "10.0.0.11"}
    node = sandbox.Sandbox(
        root=_hub_root(),
        files=((directory, "/"),),
        hosts="127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in addresses.items()),
        hostname="head",
        addresses=tuple(addresses.values()),
    )
    notes = {"slurm.conf": SLURM, "start.sh": START, "client.py": CLIENT}
    return sandbox.run(node, ["/bin/bash", "/run/clustergen/start.sh"], timeout=400, notes=notes)


def test_a_user_runs_a_cell_in_a_job_and_stops_it(outcome: sandbox.Outcome) -> None:
    assert "results.json" in outcome.files, f"{outcome.stdout}{outcome.stderr}{outcome.files.get('hub.log')}"
    results: dict[str, Any] = json.loads(outcome.files["results.json"])
    assert results.pop("seconds") < 120
    assert results == {
        "wrong password": 403,
        "not in the group": 403,
        "login": 302,
        "wider options": [500, "there is no option 'prologue': only resources and minutes can be chosen", ""],
        "start": True,
        "ready": True,
        "job": "alice short notebook RUNNING 2:00:00 1 1G",
        "cell": "alice True True 42\n",
        "stop": 204,
        "no job left": True,
        "ended outside": True,
    }


def test_the_hub_is_no_root_and_counts_its_servers(outcome: sandbox.Outcome) -> None:
    assert set(outcome.files["users"].split()) == {"jupyterhub"} or outcome.files["users"].split() == ["jupyter+"]
    assert 'status="success"} 2.0' in outcome.files["metrics"]
