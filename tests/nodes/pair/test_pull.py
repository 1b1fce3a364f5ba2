"""A node that only pulls: it configures itself from git, without a run of site.yml on it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow, pytest.mark.long]
ROOT = Path(__file__).parents[3]
MANIFEST = """\
name: test-pull
os: debian-13
networks:
  management: {cidr: 10.89.106.0/28, domain: pull.example.org}
node_types:
  small: {cpu: {sockets: 1, cores_per_socket: 4}, memory: 8GiB}
nodes:
  - {name: head, type: service, address: 10.89.106.1, roles: [slurm-controller]}
  - {name: n1, type: small, address: 10.89.106.3}
slurm: {version: "24.11", configless: true}
ansible: {pull: {repository: "http://10.89.106.1:8418/cluster.git"}}
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, lab_class: type[Lab]) -> Iterator[Lab]:
    """A controller, applied, and a node that nothing was applied to."""
    document = yaml.safe_load(MANIFEST)
    made = lab_class(tmp_path_factory.mktemp("alone"), document["name"], document)
    try:
        made.up("--installed")
        first = made.apply("--limit", "head")
        assert first.rc == 0, first.stdout + first.stderr
        yield made
    finally:
        made.verb("down")


PULL = """systemctl start clustergen-pull
run=$(systemctl show -p InvocationID --value clustergen-pull)
journalctl --sync; journalctl -u clustergen-pull -o cat --no-pager "_SYSTEMD_INVOCATION_ID=$run"
systemctl show -p Result clustergen-pull"""


def commit(alone: Lab, directory: Path) -> None:
    """The lab's tree and the package as the next commit of the repository that head serves, without a git server."""
    git = ["git", "-C", str(directory), "-c", "user.name=test", "-c", "user.email=test@example.org"]
    shutil.rmtree(directory / "rendered", ignore_errors=True)
    shutil.copytree(alone.tree, directory / "rendered")
    lab = yaml.safe_load((alone.work.directory / "lab.yml").read_text(encoding="utf-8"))["all"]["vars"]
    text = yaml.safe_dump({name: value for name, value in lab.items() if not name.startswith("ansible_")})
    (directory / "rendered/inventory/group_vars/pull_node.yml").write_text(text, encoding="utf-8")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "next"], ["update-server-info"]):
        subprocess.run([*git, *words], check=True, timeout=300)
    alone.engine("cp", f"{directory}/.git/.", "{head}:/srv/git/cluster.git")


def test_a_node_configures_itself_from_git(alone: Lab, tmp_path: Path) -> None:
    """n1 has git, ansible-core, the program with its unit, and the munge key: no run of site.yml ever reached it."""
    directory = tmp_path / "repository"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "generator/clustergen", directory / "lib/clustergen", ignore=ignored)
    shutil.copytree(ROOT / "playbooks/ansible_collections", directory / "lib/ansible_collections", ignore=ignored)
    alone.out("head", "mkdir -p /srv/git/cluster.git")
    commit(alone, directory)
    alone.out("head", "systemd-run --quiet --unit=git --working-directory=/srv/git python3 -m http.server 8418")
    alone.engine("cp", f"{alone.tree}/overlays/pull_node/.", "{n1}:/")
    alone.out("n1", "test ! -e /var/lib/clustergen && rm -f /etc/munge/munge.key")
    refused = alone.out("n1", f"systemctl daemon-reload; {PULL}", timeout=120)
    assert "/etc/munge/munge.key is not on this node" in refused
    assert "Result=exit-code" in refused
    assert alone.run("n1", "test -e /var/lib/clustergen/state.json").returncode == 1, "nothing was changed"

    key = alone.out("head", "base64 -w0 /etc/munge/munge.key")
    alone.out("n1", f"umask 077; echo {key} | base64 -d >/etc/munge/munge.key")
    done = alone.out("n1", PULL, timeout=300)
    assert "Result=success" in done, done
    alone.waits("head", "sinfo -h -n n1 -o %T", "idle")
    assert alone.out("n1", "timeout 60 srun -w n1 hostname", timeout=70) == "n1"
    again = alone.out("n1", PULL, timeout=120)
    assert re.search(r"n1 +: ok=\d+ +changed=0 ", again), again

    alone.edit(lambda document: document.update(host={"nofile": 65536}))
    commit(alone, directory)
    limits = "grep -rl 65536 /etc/security/limits.d"
    assert alone.run("n1", limits).returncode == 1
    assert "Result=success" in alone.out("n1", PULL, timeout=120)
    assert alone.out("n1", limits)
    head = subprocess.run(
        ["git", "-C", str(directory), "rev-parse", "HEAD"], capture_output=True, timeout=300, check=True
    )
    assert alone.out("n1", "cat /var/lib/clustergen-pull/commit") == head.stdout.decode().strip()
