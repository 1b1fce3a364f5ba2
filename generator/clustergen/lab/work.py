"""The directory of a lab: its manifest, tree, keys, and settings for Ansible and ssh."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from clustergen.diagnostics import ClustergenError
from clustergen.manifest import MANIFEST
from clustergen.render.tree import RENDERED

_FIRST_USER = 2001
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


def home() -> Path:
    """The directory of all labs; CLUSTERGEN_LAB names another."""
    path = os.environ.get("CLUSTERGEN_LAB")
    return Path(path) if path else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clustergen/lab"


def labs() -> list[Work]:
    """The labs of this user, by name."""
    return [work for work in directories() if work.manifest.is_file()]


def directories() -> list[Work]:
    """Every directory that `down` can remove: the labs, and what an interrupted `up` left."""
    directory = home() / "labs"
    names = sorted(path.name for path in directory.iterdir() if path.is_dir()) if directory.is_dir() else []
    return [Work(name) for name in names if _NAME.fullmatch(name)]


class Work:
    """Paths of one lab, and the small files in it.

    Raises ClustergenError for a name that would lead out of the directory of all labs: `down` removes what it names.
    """

    def __init__(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            hint = "a name has letters, digits, '_', '-' and '.', and starts with a letter or a digit"
            raise ClustergenError(f"{name!r} cannot be the name of a lab", hint, exit_code=2)
        self.name = name
        self.directory = home() / "labs" / name
        self.manifest = self.directory / MANIFEST
        self.tree = self.directory / RENDERED
        self.key = self.directory / "key"
        self.known_hosts = self.directory / "known_hosts"
        self.settings = self.directory / "ansible.cfg"
        self.inventory = self.directory / "lab.yml"
        self.shared = self.directory / "shared"
        self.wish = self.directory / "wish.json"
        self.ssh_config = self.directory / "ssh_config"
        self.substitutions = self.directory / "substitutions.txt"
        self.users = self.directory / "users.json"

    def make(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
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

    def make_shared(self, names: Iterable[str]) -> None:
        """Directories in place of file systems. Nodes see all of them, but their users only those that are mounted."""
        self.shared.mkdir(parents=True, exist_ok=True)
        self.shared.chmod(0o700)
        for name in names:
            place = self.shared / name
            if not place.exists():
                place.mkdir(exist_ok=True)
                place.chmod(0o1777)

    def user_numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Users with their numbers, which they keep when others come and go."""
        numbers: dict[str, int] = json.loads(self.users.read_text(encoding="utf-8")) if self.users.exists() else {}
        chosen = {}
        for name in names:
            chosen[name] = numbers.setdefault(name, _FIRST_USER + len(numbers))
        self.users.write_text(json.dumps(numbers), encoding="utf-8")
        return chosen

    def write_manifest(self, document: Mapping[str, Any], origin: Path) -> None:
        head = f"# The lab's manifest, created from {origin}. `clustergen lab up` prints the differences.\n"
        body = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
        self.manifest.write_text(head + body, encoding="utf-8")
        (self.directory / "origin").write_text(str(origin.absolute()), encoding="utf-8")

    def write_ssh_config(self, addresses: Mapping[str, str]) -> None:
        """A configuration for `ssh -F`, with an entry per node."""
        common = f"Host *\n  User root\n  IdentityFile {self.key}\n  UserKnownHostsFile {self.known_hosts}\n"
        entries = "".join(f"Host {host}\n  HostName {address}\n" for host, address in addresses.items())
        self.ssh_config.write_text(entries + common, encoding="utf-8")

    def origin(self) -> Path:
        """The manifest that the lab was made from."""
        link = self.directory / "origin"
        return Path(link.read_text(encoding="utf-8")) if link.exists() else self.manifest

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
