"""A cluster whose nodes are played by tests/playbooks/hostile_ssh.py: ansible-playbook is real, the machines are not."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

from clustergen.render.write import write
from strategies.trees import GPU, HEAD, manifest, tree_of

ROOT = Path(__file__).parents[2]
PLAYBOOK = Path(sys.executable).parent / "ansible-playbook"
CONF = "/etc/slurm/slurm.conf"
Answer = dict[str, Any]


def packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode()


GOOD: Answer = {
    "changed": False, "differs": [], "leftovers": [], "mounts": {}, "hiding": [], "foreign": [], "slipped": [], "unrecorded": False, "effects_of": {}, "pending": [], "last_run": "none",
    "packages": [], "paths": [], "units": {}, "modules": [], "started": [], "secrets": {}, "running": ["slurmd.service"], "drained": [], "root": True,
    "os": {"id": "debian", "version": "13", "codename": "trixie", "machine": "x86_64"},
    "host": "@HOST@", "clock": "@CLOCK@", "free": {"/": {"mib": 90000, "inodes": 1000000}},
    "read_only": [], "unwritable": None, "systemd": True,
    "outputs": {"files": {"accounts": packed(b"compared\n")}, "late": [], "large": []},
}  # fmt: skip


def differs(before: str | None, target: str = CONF, **more: Any) -> Answer:
    one = {"target": target, "what": ["content"], "there": True, "now": {"mode": "0644", "owner": "root:root"}}
    return {"differs": [{**one, "before": before, **more}]}


class Cluster:
    """A rendered tree whose nodes are played by hostile_ssh.py: one host for each lie, a head and two good nodes.
    `sections` of the manifest replace those of the small one; `slurm=None` leaves Slurm out.
    """

    def __init__(self, directory: Path, hostile: list[str], **sections: Any) -> None:
        self.directory = directory
        self.answers = directory / "answers"
        self.answers.mkdir()
        self.host_of = {name: f"n{index}" for index, name in enumerate(hostile, 1)}
        self.all = ["head", "good1", "good2", *self.host_of.values()]
        head = HEAD if sections.get("slurm", True) else {**HEAD, "roles": ["login"]}
        nodes = [
            head,
            {"name": "good[1-2]", "type": "gpu", "address": "10.0.0.[11-12]"},
        ]
        if hostile:
            last = len(hostile)
            nodes.append({"name": f"n[1-{last}]", "type": "gpu", "address": f"10.0.0.[21-{20 + last}]"})
        data = manifest(nodes=nodes, node_types={"gpu": GPU}, **sections)
        self.tree = tree_of({name: value for name, value in data.items() if value is not None}, directory)
        write(self.tree, directory / "rendered")
        (directory / "bin").mkdir()
        ssh = directory / "bin/ssh"
        program = (ROOT / "tests/playbooks/hostile_ssh.py").read_text(encoding="utf-8")
        ssh.write_text(f"#!{sys.executable} -I\n{program}", encoding="utf-8")
        ssh.chmod(0o755)
        addresses = ["10.0.0.1", "10.0.0.11", "10.0.0.12", *(f"10.0.0.{20 + n}" for n in range(1, len(hostile) + 1))]
        (self.answers / "hosts").write_text(json.dumps(dict(zip(addresses, self.all, strict=True))), encoding="utf-8")
        self.set_answer("node_state", GOOD | {"secrets": {"/etc/munge/munge.key": "0" * 64}})

    def set_answer(self, name: str, answer: Answer) -> None:
        (self.answers / name).write_text(json.dumps(answer), encoding="utf-8")

    def text(self, target: str) -> str:
        """A file of the tree, as all of Slurm's nodes get it."""
        return self.tree.files[f"overlays/slurm_node{target}"].content.decode()

    def play(self, *arguments: str, playbook: str = "site.yml") -> tuple[int, str, int]:
        """Exit status, output and the largest process in bytes."""
        measured = (
            "import resource, subprocess, sys\n"
            "code = subprocess.run(sys.argv[1:], timeout=400).returncode\n"
            "print('RSS', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)\n"
            "sys.exit(code)\n"
        )
        command = [str(PLAYBOOK), playbook, "-e", "ansible_python_interpreter=/usr/bin/python3", *arguments]
        done = subprocess.run(
            [sys.executable, "-c", measured, *command], cwd=self.directory / "rendered", env=self.environment(),
            capture_output=True, timeout=500, check=False,
        )  # fmt: skip
        output = done.stdout.decode("utf-8", "surrogateescape") + done.stderr.decode("utf-8", "surrogateescape")
        return done.returncode, output, int(re.findall(r"^RSS (\d+)$", output, re.MULTILINE)[-1])

    def environment(self) -> dict[str, str]:
        """In which ansible-playbook finds the collection and the program that plays ssh."""
        return {
            "PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.directory),
            "LANG": "C.UTF-8",
            "HOSTILE_ANSWERS": str(self.answers),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "playbooks"),
            "ANSIBLE_FORKS": "4",
            "ANSIBLE_HOST_KEY_CHECKING": "false",
        }
