"""The folder of a lab: its manifest, tree, keys, and settings for Ansible."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from clustergen.diagnostics import ClustergenError


def home() -> Path:
    """Where all labs are; CLUSTERGEN_LAB names another folder."""
    path = os.environ.get("CLUSTERGEN_LAB")
    return Path(path) if path else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clustergen/lab"


class Work:
    """Paths of one lab, and the small files in it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = home() / "labs" / name
        self.manifest = self.folder / "manifest.yaml"
        self.tree = self.folder / "rendered"
        self.key = self.folder / "key"
        self.known_hosts = self.folder / "known_hosts"
        self.settings = self.folder / "ansible.cfg"
        self.inventory = self.folder / "lab.yml"
        self.shared = self.folder / "shared"
        self.wish = self.folder / "wish.json"

    def make(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.key.exists():
            command = [
                "ssh-keygen",
                "-q",
                "-t",
                "ed25519",
                "-N",
                "",
                "-C",
                f"clustergen lab {self.name}",
                "-f",
                str(self.key),
            ]
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
            if done.returncode:
                raise ClustergenError(f"ssh-keygen failed: {done.stderr.strip()}")

    def write_manifest(self, document: Mapping[str, Any], origin: Path) -> None:
        head = f"# The lab's manifest, created from {origin}. `clustergen lab up` prints the differences.\n"
        body = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
        self.manifest.write_text(head + body, encoding="utf-8")
        site = origin.absolute().parent / "site"
        link = self.folder / "site"
        link.unlink(missing_ok=True)
        if site.is_dir():
            link.symlink_to(site)

    def write_settings(self, variables: Mapping[str, Any]) -> None:
        """ansible.cfg and a second inventory beside the tree's: how containers are reached, what they are without."""
        text = (self.tree / "ansible.cfg").read_text(encoding="utf-8")
        text = text.replace(
            "inventory = inventory/hosts.ini", f"inventory = {self.tree}/inventory/hosts.ini,{self.inventory}"
        )
        self.settings.write_text(text, encoding="utf-8")
        reach = {
            "ansible_user": "root",
            "ansible_become": False,
            "ansible_ssh_private_key_file": str(self.key),
            "ansible_ssh_common_args": f"-o UserKnownHostsFile={self.known_hosts} -o GlobalKnownHostsFile=/dev/null",
        }
        document = {"all": {"vars": {**reach, **variables}}}
        self.inventory.write_text(yaml.safe_dump(document, sort_keys=False, width=120), encoding="utf-8")

    def environment(self) -> dict[str, str]:
        return {**os.environ, "ANSIBLE_CONFIG": str(self.settings)}
