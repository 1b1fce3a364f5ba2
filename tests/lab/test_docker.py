"""A lab with docker: it is applied, runs jobs, and is removed completely."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clustergen import compile as compiler
from clustergen.lab import engine as engines
from clustergen.lab import images, namespace, node_images, run
from clustergen.lab.model import Wish
from clustergen.lab.prepare import prepare

pytestmark = [pytest.mark.container, pytest.mark.slow]

NAME = "test-docker"
HEAD = f"""\
name: {NAME}
os: debian-13
networks:
  management: {{cidr: 10.89.205.0/24, domain: lab.example.org}}
node_types:
  h100: {{system: dgx-h100}}
"""
MANIFEST = f"""\
{HEAD}nodes:
  - {{name: head1, type: service, address: 10.89.205.1, roles: [slurm-controller, slurm-accounting]}}
  - {{name: "compute[01-02]", type: h100, address: "10.89.205.[11-12]"}}
slurm:
  version: "24.11"
  mpi_default: pmi2
  partitions:
    gpu: {{nodes: "compute[01-02]", default: true, max_time: 1-0, default_time: 1:00:00}}
"""
SOLO = f"""\
{HEAD}nodes:
  - {{name: solo, type: h100, address: 10.89.205.1, roles: [slurm-controller, slurm-compute]}}
slurm: {{version: "24.11"}}
"""


class Docker:
    """A daemon of the test's own: it leaves the machine's firewall and routes alone, and other containers too."""

    def __init__(self, directory: Path) -> None:
        self.environment = {
            **os.environ,
            "DOCKER_HOST": f"unix://{directory}/socket",
            "CLUSTERGEN_LAB": f"{directory}/lab",
        }
        self.log = directory / "log"
        with self.log.open("wb") as log:
            self.daemon = subprocess.Popen(
                [
                    "dockerd", "--host", f"unix://{directory}/socket", "--data-root", f"{directory}/data",
                    "--exec-root", f"{directory}/run", "--pidfile", f"{directory}/pid", "--bridge", "none",
                    "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--log-level", "warn",
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def ready(self) -> None:
        until = time.monotonic() + 240
        while self.run("docker", "version").returncode:
            ended = self.daemon.poll() is not None or time.monotonic() > until
            assert not ended, self.log.read_text(encoding="utf-8", errors="replace")[-2000:]
            time.sleep(0.3)

    def take_image(self, manifest: Path, wish: Wish) -> None:
        """Imports the image of the lab as podman's labs of this machine have it, which `lab up` would build again."""
        engine = engines.find(None, run.store())
        lab = prepare(compiler.validate(manifest), manifest, NAME, wish)
        (image,) = node_images.images_of(lab, wish).values()
        shutil.rmtree(lab.work.directory)
        with namespace.in_use(engine.store):
            if not images.exists(engine, image):
                return
            archive = self.log.with_name("image.tar")
            container = engine.run("create", image, "true").stdout.strip()
            try:
                engine.run("export", "--output", str(archive), container, timeout=300)
            finally:
                engine.run("rm", container)
        done = self.run("docker", "import", str(archive), image)
        assert done.returncode == 0, done.stderr
        archive.unlink()

    def end(self) -> None:
        self.daemon.terminate()
        try:
            self.daemon.wait(30)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
        shutil.rmtree(self.log.parent, ignore_errors=True)

    def run(self, *command: str, timeout: int = 1200) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=timeout, check=False
        )

    def lab(self, verb: str, *arguments: str | Path) -> str:
        done = self.run(sys.executable, "-m", "clustergen", "lab", verb, *map(str, arguments))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    place = tmp_path / "manifest.yaml"
    place.write_text(MANIFEST, encoding="utf-8")
    return place


@pytest.fixture
def docker() -> Iterator[Docker]:
    made = Docker(Path(tempfile.mkdtemp(prefix="lab-")))  # a socket's path has 107 characters at most
    try:
        made.ready()
        yield made
    finally:
        made.end()


def test_docker_runs_nodes_with_their_devices(docker: Docker, manifest: Path) -> None:
    """Jobs on them are for `make long`. The image is the one of the labs of one node in other files."""
    manifest.write_text(SOLO, encoding="utf-8")
    docker.take_image(manifest, Wish())
    before = docker.run("docker", "network", "ls", "-q").stdout
    docker.lab("up", manifest, "--engine", "docker")
    try:
        config = f"{docker.environment['CLUSTERGEN_LAB']}/labs/{NAME}/ssh_config"
        done = docker.run("ssh", "-F", config, "solo", "systemctl is-system-running --wait; nvidia-smi -L")
        assert done.stdout.startswith("running\n"), done.stdout + done.stderr
        assert done.stdout.count("H100") == 8
    finally:
        docker.lab("down", manifest)
    assert docker.run("docker", "ps", "-aq").stdout == ""
    assert docker.run("docker", "network", "ls", "-q").stdout == before


@pytest.mark.long
def test_slurm_runs_jobs_on_docker_s_nodes(docker: Docker, manifest: Path) -> None:
    docker.take_image(manifest, Wish(installed=True))
    before = docker.run("docker", "network", "ls", "-q").stdout
    docker.lab("up", manifest, "--engine", "docker", "--installed")
    try:
        names = docker.run("docker", "ps", "--filter", f"label=clustergen.lab={NAME}", "--format", "{{.Names}}").stdout
        assert len(names.split()) == 3
        docker.lab("apply", manifest)
        assert docker.lab("apply", manifest).count("changed=0") >= 1

        def on_head(script: str) -> str:
            return docker.lab("shell", "--name", manifest, "head1", "--", "sh", "-c", script)

        until = time.monotonic() + 240
        while on_head("sinfo -h -o '%T %D'").split() != ["idle", "2"]:
            assert time.monotonic() < until, on_head("sinfo -N -l")
            time.sleep(1)
        hosts = on_head("timeout 60 srun -N2 --gpus-per-node=8 hostname -s").split()
        assert sorted(hosts) == ["compute01", "compute02"]
        opens = "for n in 0 1 2 3 4 5 6 7; do head -c0 /dev/nvidia$n 2>&1; done | grep -c permitted"
        assert on_head(f"timeout 60 srun -N1 --gpus=3 sh -c '{opens}'").strip() == "5"
    finally:
        docker.lab("down", manifest)
    assert docker.run("docker", "ps", "-aq").stdout == ""
    assert docker.run("docker", "network", "ls", "-q").stdout == before
