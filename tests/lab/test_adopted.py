"""A cluster that was started by hand from its admin's files: adopted without a change, then widened by monitoring."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clustergen.compile import validate
from clustergen.lab.model import Wish
from clustergen.lab.prepare import prepare
from strategies.lab_nodes import LabNodes

pytestmark = [pytest.mark.container, pytest.mark.slow, pytest.mark.long]

ORIGINALS = Path(__file__).parents[1] / "fixtures/hand_written"
HOSTS = {"head": "slurmctld", "birch01": "slurmd", "birch02": "slurmd"}
# As an admin does it: the files, one key for all, the units of the distribution.
START = """
install -d -o slurm -g slurm /var/log/slurm /var/lib/slurm /var/lib/slurm/slurmctld
install -d /var/lib/slurm/slurmd
echo {key} | base64 -d >/etc/munge/munge.key && chown munge: /etc/munge/munge.key && chmod 400 /etc/munge/munge.key
systemctl restart munge && systemctl -q enable {daemon} && systemctl restart {daemon}
"""
RUNS = "systemctl show -p InvocationID slurmctld slurmd munge"
# Everything that is configuration, with its text: what arrives must be what the manifest manages.
FILES = "find /etc /usr/local -type f -not -path '/etc/slurm/*' -not -name '*-' -exec md5sum {} + | sort -k2"
SHOWN = "scontrol show config | grep -vE 'as of|BOOT_TIME|HASH_VAL'; scontrol -o show partition"


class Cluster(LabNodes):
    """The lab of an adopted manifest, whose tree is applied as it is, without the lab's substitutions."""

    def clustergen(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "clustergen", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def site(self) -> str:
        """Output of `ansible-playbook site.yml` in the adopted tree."""
        prepare(validate(self.file), self.file, self.work.name, Wish.read(self.work.wish))  # what containers lack
        settings = self.work.settings.read_text(encoding="utf-8")
        tree = self.directory / "rendered"
        self.work.settings.write_text(settings.replace(f"{self.work.tree}/", f"{tree}/"), encoding="utf-8")
        try:
            return self.play(tree / "site.yml")
        finally:
            self.work.settings.write_text(settings, encoding="utf-8")

    def of_all(self, script: str) -> dict[str, str]:
        return {host: self.out(host, script) for host in HOSTS}


def overlays(tree: Path) -> list[Path]:
    """GROUP/PATH of the files of a tree that nodes get."""
    return [path.relative_to(tree / "overlays") for path in (tree / "overlays").rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The daemons run from the originals, and so does a job."""
    directory = tmp_path_factory.mktemp("adopted")
    made = Cluster(directory, "test-adopted", "")
    made.file.unlink()
    adopted = made.clustergen("adopt", ORIGINALS, "--slurm-version", "24.11", "--os", "debian-13", "-o", directory)
    assert adopted.returncode == 0, adopted.stdout + adopted.stderr
    assert "Plan: no value of these files changes, and no daemon restarts." in adopted.stdout
    text = made.file.read_text(encoding="utf-8")
    made.file.write_text(text.replace("management: {}", "management: {cidr: 10.89.207.0/24}"), encoding="utf-8")
    assert made.clustergen("render", made.file).returncode == 0
    try:
        made.verb("up", "--installed")
        key = made.out("head", "head -c 128 /dev/urandom | base64 -w0")
        for host, daemon in HOSTS.items():
            made.out(host, "mkdir -p /etc/slurm")
            for file in ORIGINALS.iterdir():
                made.out(host, f"cat >/etc/slurm/{file.name} <<'END'\n{file.read_text()}END")
            made.out(host, START.format(key=key, daemon=daemon))
        made.waits("head", "sinfo -h -N -o %T | sort -u", r"\Aidle\s*\Z")
        yield made
    finally:
        made.verb("down")


def test_services_keep_running_and_only_managed_files_arrive(cluster: Cluster) -> None:
    job = cluster.out("head", "cd /tmp && sbatch --parsable -p gpu --gpus a40:1 -o /dev/null --wrap 'sleep 3000'")
    state = f"squeue -h -j {job} -o '%T %N %S'"
    cluster.waits("head", state, "RUNNING birch01")
    running, daemons, files = cluster.out("head", state), cluster.of_all(RUNS), cluster.of_all(FILES)
    shown = cluster.out("head", SHOWN)

    answer = cluster.site()
    assert "failed=0" in answer
    # The text of both files is another; no unit is touched.
    assert set(re.findall(r"changed: (.*)", answer)) == {"2 files"}, answer
    assert (cluster.of_all(RUNS), cluster.out("head", state)) == (daemons, running)
    assert cluster.of_all(FILES) == files
    cluster.out("head", "scontrol reconfigure")  # the same to Slurm also when it reads the new text

    text = cluster.file.read_text(encoding="utf-8")
    cluster.file.write_text(
        text.replace("manage: [slurm]", "manage: [slurm, monitoring]").replace(
            "[slurm-controller]", "[slurm-controller, monitoring]"
        ),
        encoding="utf-8",
    )
    assert cluster.clustergen("render", cluster.file).returncode == 0
    cluster.site()
    assert (cluster.of_all(RUNS), cluster.out("head", state)) == (daemons, running)
    assert cluster.out("head", SHOWN) == shown
    targets = {f"/{'/'.join(path.parts[1:])}" for path in overlays(cluster.directory / "rendered")}
    after = cluster.of_all(FILES)
    for host, text in files.items():
        changed = set(after[host].splitlines()).symmetric_difference(text.splitlines())
        arrived = {line.split(maxsplit=1)[1] for line in changed}
        assert arrived <= targets, arrived - targets
        assert any("node-exporter" in path for path in arrived), arrived
    query = "http://localhost:9090/api/v1/query?query=sum(up{job=%22node%22})"
    up = f"python3 -c 'import urllib.request as web; print(web.urlopen(\"{query}\").read().decode())'"
    cluster.waits("head", up, r'"3"')
