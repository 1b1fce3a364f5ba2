"""Held packages and security updates, before this machine's apt with a repository of its own."""

from __future__ import annotations

import hashlib
import re
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from clustergen.catalogue.operating_systems import operating_systems
from clustergen.catalogue.package_effects import held_patterns
from strategies.trees import manifest, tree_of

CONTROL = "Package: {}\nVersion: {}\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n"


def overlay(tmp_path: Path, target: str, **updates: Any) -> str:
    """The text of a file of a cluster with `host.updates`."""
    tree = tree_of(manifest(host={"updates": updates}), tmp_path)
    (text,) = [file.content.decode() for path, file in tree.files.items() if path.endswith(target)]
    return text


@pytest.mark.parametrize("os", operating_systems().values(), ids=lambda os: os.id)
@pytest.mark.parametrize(
    ("hold", "purposes"),
    [
        ("driver", r"nvidia_(driver|pinning|fabric|imex)"),
        ("dcgm", r"dcgm_(\d|exporter)"),
        ("slurm", r"slurm(ctld|d|dbd|restd|_client)$"),
        ("file_systems", r"lustre|beegfs|zfs|ceph|storage_scale"),
    ],
)
def test_packages_of_the_catalogue_are_held(os: Any, hold: str, purposes: str) -> None:
    held = held_patterns([hold], os.fact("family"))
    for name, text in os.facts.items():
        if re.match(f"package_({purposes})", name):
            unheld = [word for word in text.split() if not any(fnmatchcase(word, pattern) for pattern in held)]
            assert set(unheld) <= {"libpmix-dev"}, name


class Apt:
    """apt of this machine, with a state and a repository below a directory."""

    def __init__(self, directory: Path, files: dict[str, str]) -> None:
        self.root = directory / "root"
        for name in (
            "etc/apt/apt.conf.d",
            "etc/apt/preferences.d",
            "var/lib/apt/lists/partial",
            "var/cache/apt/archives/partial",
            "repository",
        ):
            (self.root / name).mkdir(parents=True)
        for target, text in files.items():
            place = self.root / target.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text.replace("/etc/clustergen", f"{self.root}/etc/clustergen"), encoding="utf-8")
        names = (("slurmd", "1.0"), ("slurmd", "2.0"), ("slurm-client", "2.0"), ("hello", "1.0"), ("hello", "2.0"))
        index = [self._package(name, version) for name, version in names]
        (self.root / "repository/Packages").write_text("\n".join(index), encoding="utf-8")
        (self.root / "etc/apt/sources.list").write_text(f"deb [trusted=yes] file:{self.root}/repository ./\n")
        status = [CONTROL.format(name, "1.0") + "Status: install ok installed\n" for name in ("slurmd", "hello")]
        (self.root / "status").write_text("\n".join(status), encoding="utf-8")
        self.run("apt-get", "-qq", "update")

    def _package(self, name: str, version: str) -> str:
        place = self.root / f"repository/{name}_{version}_all.deb"
        source = self.root / f"source-{name}-{version}"
        (source / "DEBIAN").mkdir(parents=True)
        (source / "DEBIAN/control").write_text(CONTROL.format(name, version), encoding="utf-8")
        subprocess.run(["dpkg-deb", "-b", str(source), str(place)], check=True, capture_output=True, timeout=300)
        content = place.read_bytes()
        more = f"Filename: ./{place.name}\nSize: {len(content)}\nSHA256: {hashlib.sha256(content).hexdigest()}\n"
        return CONTROL.format(name, version) + more

    def run(self, program: str, *words: str, config: str = "") -> str:
        """`config`: another file that APT_CONFIG names."""
        settings = f'Dir "{self.root}";\nDir::State::status "{self.root}/status";\nAPT::Sandbox::User "root";\n'
        if config:
            settings += (self.root / config.lstrip("/")).read_text(encoding="utf-8")
        (self.root / "apt.conf").write_text(settings, encoding="utf-8")
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "APT_CONFIG": f"{self.root}/apt.conf"}
        done = subprocess.run(
            [program, *words], env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    def installs(self, *words: str, config: str = "") -> set[str]:
        """Names and versions that a command would install."""
        output = self.run("apt-get", "-s", *words, config=config)
        return set(map("=".join, re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+)", output, re.MULTILINE)))


@pytest.mark.real
@pytest.mark.slow
def test_apt_holds_what_only_playbooks_replace(tmp_path: Path) -> None:
    targets = {
        "/etc/apt/preferences.d/clustergen-holds": "apt/preferences.d/clustergen-holds",
        "/etc/clustergen/apt-replace.conf": "clustergen/apt-replace.conf",
        "/etc/clustergen/apt-replace.pref": "clustergen/apt-replace.pref",
    }
    files = {target: overlay(tmp_path, ending) for target, ending in targets.items()}
    (tmp_path / "free").mkdir()
    free = Apt(tmp_path / "free", {})
    assert free.installs("upgrade") == {"slurmd=2.0", "hello=2.0"}
    held = Apt(tmp_path / "held", files)
    assert held.installs("upgrade") == {"hello=2.0"}
    assert held.installs("install", "slurmd") == set()
    assert held.installs("install", "slurm-client") == {"slurm-client=2.0"}
    assert held.installs("install", "slurmd=2.0") == {"slurmd=2.0"}
    assert held.installs("install", "slurmd", config="/etc/clustergen/apt-replace.conf") == {"slurmd=2.0"}


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize(("security", "number"), [(True, "1"), (False, "0")])
def test_unattended_upgrades_read_origins_and_names(tmp_path: Path, security: bool, number: str) -> None:
    """Origins of the package come first: what it allows beside security goes, and its lists are extended."""
    name = "/etc/apt/apt.conf.d/52clustergen-updates"
    before = 'Unattended-Upgrade::Origins-Pattern { "origin=*"; };\nUnattended-Upgrade::Package-Blacklist { "own"; };\n'
    text = overlay(tmp_path, "52clustergen-updates", hold=["driver", "file_systems"], security=security)
    apt = Apt(tmp_path / "apt", {"/etc/apt/apt.conf.d/50unattended-upgrades": before, name: text})
    rows = re.findall(r'^(\S+) "(.*)";$', apt.run("apt-config", "dump"), re.MULTILINE)
    assert ("APT::Periodic::Unattended-Upgrade", number) in rows
    origins = [value for key, value in rows if key == "Unattended-Upgrade::Origins-Pattern::"]
    assert origins == [f"origin=${{distro_id}},{key}=${{distro_codename}}-security" for key in ("codename", "archive")]
    expressions = [value for key, value in rows if key == "Unattended-Upgrade::Package-Blacklist::"]
    assert expressions[0] == "own"

    def is_held(package: str) -> bool:
        return any(re.match(expression, package) for expression in expressions)

    assert all(map(is_held, ("libnvidia-compute-580", "nvlsm", "gpfs.base", "nvidia-driver-580-open")))
    assert not any(map(is_held, ("slurmd", "libnvidia-container1", "nvlsm2", "gpfsXbase")))
