"""Another user of the machine attacks the servers of job templates: real Dask, Ray and Jupyter from PyPI."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from strategies.job_templates import guided, runnable_jobs

pytestmark = [pytest.mark.long, pytest.mark.real]

OWNER, OTHER = 53001, 53002
PACKAGES = ("distributed", "ray[default]>=2.52", "jupyterlab")
PORT = 24711

# The program of a job: works, and then waits until the attacks are over.
DASK_PROGRAM = """
import os, time, distributed
client = distributed.Client(scheduler_file=os.environ["DASK_SCHEDULER_FILE"], timeout=60)
client.wait_for_workers(1, timeout=60)
print("owner:", client.submit(os.getuid).result(), client.scheduler.address, flush=True)
print("pages:", client.scheduler_info()["services"], flush=True)
time.sleep(600)
"""
DASK_ATTACK = """
import os, sys, distributed
for scheme in "tls", "tcp":
    try:
        client = distributed.Client(scheme + "://" + sys.argv[1], timeout=5)
        print("code runs as", client.submit(os.getuid).result(timeout=20))
        break
    except Exception as error:
        print("refused:", type(error).__name__)
sys.stdout.flush()
os._exit(0)
"""
RAY_PROGRAM = """
import os, time, ray
ray.init(log_to_driver=False)
print("owner:", ray.get(ray.remote(lambda: os.getuid()).remote()), flush=True)
time.sleep(600)
"""
# By Ray's client, and by a call to each of its services, at every port that the owner has open.
RAY_ATTACK = """
import os, sys, grpc, ray
from ray.core.generated import (core_worker_pb2, core_worker_pb2_grpc, gcs_service_pb2, gcs_service_pb2_grpc,
                                node_manager_pb2, node_manager_pb2_grpc)
for port in sys.argv[2:]:
    channel = grpc.insecure_channel("127.0.0.1:" + port)
    for stub, method, request in (
        (gcs_service_pb2_grpc.NodeInfoGcsServiceStub, "GetAllNodeInfo", gcs_service_pb2.GetAllNodeInfoRequest()),
        (node_manager_pb2_grpc.NodeManagerServiceStub, "GetNodeStats", node_manager_pb2.GetNodeStatsRequest()),
        (core_worker_pb2_grpc.CoreWorkerServiceStub, "GetCoreWorkerStats", core_worker_pb2.GetCoreWorkerStatsRequest()),
    ):
        try:
            getattr(stub(channel), method)(request, timeout=3)
            print("answered:", method)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.UNAUTHENTICATED:
                print("refused:", method)
try:
    ray.init("ray://127.0.0.1:" + sys.argv[1], log_to_driver=False)
    print("code runs as", ray.get(ray.remote(lambda: os.getuid()).remote(), timeout=30))
except Exception as error:
    print("refused: client")
sys.stdout.flush()
os._exit(0)
"""
STAND_INS = {"srun": 'while [[ $1 == -* ]]; do shift; done\nexec "$@"', "scontrol": "echo localhost"}


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A directory with a virtual environment that all users can read, and a home directory for each of both."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="servers-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        subprocess.run(["/usr/bin/python3", "-m", "venv", directory / "venv"], timeout=300, check=True)
        pip = [directory / "venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES], timeout=900, check=True)
        for program, body in STAND_INS.items():
            (directory / program).write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
            (directory / program).chmod(0o755)
        for uid in (OWNER, OTHER):
            (directory / str(uid)).mkdir(mode=0o700)
            os.chown(directory / str(uid), uid, uid)
        yield directory


@pytest.fixture(scope="module")
def scripts(place: Path) -> dict[str, str]:
    """Of a cluster without GPUs, as is this machine."""
    data = guided(user_guide={"templates": ["ray", "dask", "jupyter"]})
    data["node_types"]["gpu"] = {key: data["node_types"]["gpu"][key] for key in ("cpu", "memory")}
    return runnable_jobs(data, place)


def command(place: Path, uid: int, *words: str | Path, **variables: str) -> list[str]:
    paths = f"PATH={place}:{place}/venv/bin:/usr/bin:/bin"
    settings = [f"{name}={value}" for name, value in variables.items()]
    user = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    return [*user, "env", "-i", f"HOME={place / str(uid)}", paths, *settings, *map(str, words)]


class Job:
    """A job script that runs as its owner, and ends with the context."""

    def __init__(self, place: Path, script: str, program: str = "") -> None:
        self.place, self.home = place, place / str(OWNER)
        shutil.rmtree(self.home)
        self.home.mkdir(mode=0o700)
        (self.home / "job.sh").write_text(script, encoding="utf-8")
        (self.home / "program.py").write_text(program, encoding="utf-8")
        for file in (self.home, *self.home.iterdir()):
            os.chown(file, OWNER, OWNER)
        self.output = self.home / "output"

    def __enter__(self) -> Job:
        job = {"SLURM_JOB_ID": str(PORT - 20000), "SLURM_JOB_NODELIST": "localhost", "SLURM_NNODES": "1"}
        job |= {
            "SLURM_CPUS_PER_TASK": "2",
            "SLURMD_NODENAME": "localhost",
            "USER": "ada",
            "VENV": str(self.place / "venv"),
        }
        words = command(self.place, OWNER, "bash", "job.sh", "program.py", **job)
        with self.output.open("w", encoding="utf-8") as output:
            # In a PID namespace, which ends with its first process: Ray's daemons leave the group of their parent.
            words = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", *words]
            self.process = subprocess.Popen(words, cwd=self.home, stdout=output, stderr=output)
        return self

    def __exit__(self, *_: object) -> None:
        """End the job like Slurm: SIGTERM to all its processes, then SIGKILL."""
        namespace = Path(f"/proc/{self.process.pid}/ns/pid_for_children").readlink()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "ns/pid").readlink() == namespace:
                    os.kill(int(process.name), signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=10)
        self.process.kill()
        self.process.wait(timeout=10)

    def waits_for(self, text: str) -> str:
        """The rest of the line of the output that has this text."""
        until = time.monotonic() + 240
        while time.monotonic() < until:
            if match := re.search(rf"{text}(.*)\n", self.output.read_text(encoding="utf-8", errors="replace")):
                return match[1].strip()
            time.sleep(0.5)
        pytest.fail(self.output.read_text(encoding="utf-8", errors="replace"))

    def attack(self, program: str, *arguments: str) -> str:
        """Output of another user's program."""
        file = self.place / "attack.py"
        file.write_text(program, encoding="utf-8")
        words = command(self.place, OTHER, "python", file, *arguments)
        done = subprocess.run(
            words, cwd=self.place / str(OTHER), capture_output=True, text=True, timeout=180, check=False
        )
        return done.stdout + done.stderr


def open_ports() -> list[str]:
    """TCP ports at which the owner's processes listen."""
    ports = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[7] == str(OWNER):
                ports.add(str(int(fields[1].rpartition(":")[2], 16)))
    return sorted(ports)


def http(port: str, path: str) -> str:
    """The first line of the answer at localhost or at the machine's address, or nothing."""
    for address in ("127.0.0.1", socket.gethostbyname(socket.gethostname())):
        with suppress(OSError), socket.create_connection((address, int(port)), timeout=5) as connection:
            connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            if line := connection.recv(4096).decode("latin-1").partition("\r\n")[0]:
                return line
    return ""


@pytest.mark.parametrize("protected", [True, False])
def test_dask_runs_code_of_its_owner_alone(place: Path, scripts: dict[str, str], protected: bool) -> None:
    shared = place / f"shared-{protected}"
    shared.mkdir(mode=0o777)
    shared.chmod(0o1777)
    spilled = shared / "dask-scratch-space"  # the name that workers use; they unpickle what is in it
    subprocess.run(command(place, OTHER, "mkdir", "--mode=777", spilled), check=True, timeout=20)
    script = scripts["jobs/dask.sh"].replace("\n\n", f"\n\nexport TMPDIR={shared}\n\n", 1)
    if not protected:  # the attack works where nothing stops it
        script = re.sub(r"^ *export .*DASK_DISTRIBUTED.*$", ":", script, flags=re.MULTILINE)
        script = script.replace("temporary=$(mktemp -u ", "temporary=$TMPDIR; each=(:) # ")
    with Job(place, script, DASK_PROGRAM) as job:
        uid, address = job.waits_for("owner: ").split()
        assert bool(list(spilled.iterdir())) is not protected
        assert uid == str(OWNER)
        answer = job.attack(DASK_ATTACK, address.partition("://")[2])
        pages = [http(port, path) for port in open_ports() for path in ("/info/main/workers.html", "/metrics")]
    if protected:
        assert address.startswith("tls://")
        assert answer.count("refused") == 2, answer
        assert "HTTP/1.1 404 Not Found" in pages
        assert not [page for page in pages if " 200 " in page]
        assert not list(job.home.glob(".dask*")), "keys are left after the end of the job"
    else:
        assert f"code runs as {OWNER}" in answer
        assert [page for page in pages if " 200 " in page]


@pytest.mark.parametrize("protected", [True, False])
def test_ray_runs_code_of_its_owner_alone(place: Path, scripts: dict[str, str], protected: bool) -> None:
    script = scripts["jobs/ray.sh"]
    # One node here: the head is all of the cluster.
    script = re.sub(r"(?m)^srun --nodes=\$\(\(SLURM_NNODES - 1\)\)(.*\\\n)+.*$", ":", script)
    if not protected:
        script = script.replace("RAY_AUTH_MODE=token", "RAY_AUTH_MODE=disabled")
    with Job(place, script, RAY_PROGRAM) as job:
        assert job.waits_for("owner: ") == str(OWNER)
        client = str(20000 + (PORT + 5000) % 10000)
        answer = job.attack(RAY_ATTACK, client, *open_ports())
        agent = [http(port, "/get_runtime_envs_info") for port in open_ports()]
    if protected:
        services = ("GetAllNodeInfo", "GetNodeStats", "GetCoreWorkerStats", "client")
        assert {f"refused: {name}" in answer for name in services} == {True}, answer
        assert "answered" not in answer
        assert [line for line in agent if " 401 " in line]
        assert not list(job.home.glob(".ray*"))
    else:
        assert f"code runs as {OWNER}" in answer
        assert answer.count("answered") >= 3


@pytest.mark.parametrize("protected", [True, False])
def test_jupyter_opens_with_the_token_alone_and_kernels_hide_their_output(
    place: Path, scripts: dict[str, str], protected: bool
) -> None:
    script = scripts["jobs/jupyter.sh"]
    if not protected:
        script = script.replace(" --KernelManager.transport=ipc", "")
    with Job(place, script) as job:
        file = job.waits_for("cat (?=/)")
        job.waits_for("is running at:")
        token = Path(file).read_text(encoding="utf-8")
        assert token not in job.output.read_text(encoding="utf-8")
        start = ["curl", "-sS", "-X", "POST", "-H", f"Authorization: token {token}"]
        words = command(place, OWNER, *start, f"http://localhost:{PORT}/api/kernels")
        kernel = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout
        assert '"execution_state"' in kernel, job.output.read_text(encoding="utf-8")
        time.sleep(5)
        answers = [http(str(PORT), path) for path in ("/api/contents", "/api/kernels", "/api/terminals")]
        read = subprocess.run(command(place, OTHER, "cat", file), capture_output=True, timeout=10, check=False)
        ports = open_ports()
    assert [line.split()[1] for line in answers] == ["403"] * 3
    assert b"Permission denied" in read.stderr
    if protected:
        assert len(ports) <= 2  # one is ipykernel's for output of child processes, which must state a secret
        assert not list(job.home.glob(".jupyter-*"))
    else:
        assert len(ports) > 4
