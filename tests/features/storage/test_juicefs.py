"""The extension in `examples/extension`: a kind of file system from another package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from strategies.extensions import EXAMPLES, installed, run

CHECKOUT = Path(__file__).resolve().parents[3]
EXTENSION = EXAMPLES / "extension"
MANIFEST = """
name: vision
os: debian-13
networks:
  management: {cidr: 10.0.0.0/24, domain: vision.example.org}
node_types:
  h100: {system: dgx-h100}
nodes:
  - {name: head, type: service, address: 10.0.0.10, roles: [slurm-controller, monitoring]}
  - {name: "gpu[1-4]", type: h100, address: "10.0.0.[11-14]"}
slurm: {version: "24.11", accounts: {}}
host: {firewall: nftables}
storage:
  data: {type: juicefs, metadata: "redis://10.0.0.20:6379/1", mount: /data, password: true, options: [writeback]}
"""
SECOND = '  more: {type: juicefs, metadata: "redis://10.0.0.20:6379/2", mount: /more}\n'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory on the search path that has the package, as an installation lays it out, and a rendered tree."""
    directory = installed(tmp_path_factory.mktemp("juicefs"), "extension", "storage.juicefs", "clustergen_juicefs")
    (directory / "m.yaml").write_text(MANIFEST, encoding="utf-8")
    done = run(directory, "render", "m.yaml", path=directory)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory


@pytest.mark.slow
def test_its_files_are_in_the_tree(place: Path) -> None:
    tree = place / "rendered"
    unit = (tree / "overlays/mount_data/etc/systemd/system/data.mount").read_text(encoding="utf-8")
    assert "\nWhat=redis://10.0.0.20:6379/1\n" in unit
    assert "\nType=juicefs\n" in unit
    assert "cache-size=102400,metrics=0.0.0.0:9567,nosuid,nodev,writeback\n" in unit
    drop_in = tree / "overlays/mount_data/etc/systemd/system/data.mount.d/50-juicefs.conf"
    assert drop_in.read_text(encoding="utf-8").endswith("[Mount]\nEnvironmentFile=/etc/juicefs/data.env\n")
    lock = json.loads((tree / "clustergen.lock.json").read_text(encoding="utf-8"))
    assert lock["extensions"] == {"storage.juicefs": "clustergen-juicefs 0.1.0"}


@pytest.mark.slow
def test_existing_roles_install_its_package_open_its_port_and_place_its_secret(place: Path) -> None:
    tree = place / "rendered"
    variables = yaml.safe_load((tree / "inventory/group_vars/all.yml").read_text(encoding="utf-8"))
    assert variables["cluster_packages"]["juicefs_client"] == ["juicefs_client"]
    assert {"name": "data", "path": "/etc/juicefs/data.env", "groups": ["mount_data"]}.items() <= next(
        secret for secret in variables["cluster_secrets"] if secret["name"] == "data"
    ).items()
    of_system = yaml.safe_load((tree / "inventory/group_vars/os_debian_13.yml").read_text(encoding="utf-8"))
    assert of_system["os_packages"]["juicefs_client"] == ["fuse3"]
    firewall = tree / "overlays/mount_data/etc/clustergen-firewall/ports.d/mount_data.nft"
    assert "9567" in firewall.read_text(encoding="utf-8")
    readme = (tree / "README.md").read_text(encoding="utf-8")
    assert "/etc/juicefs/data.env" in readme
    assert "link /sbin/mount.juicefs to it" in readme


@pytest.mark.real
def test_verify_asks_its_check_and_systemd(place: Path) -> None:
    done = run(place, "verify", "--only", "juicefs,systemd", path=place)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "JuiceFS: metadata engines" in done.stdout


@pytest.mark.slow
def test_its_rule_and_its_page(place: Path, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(MANIFEST + SECOND, encoding="utf-8")
    done = run(tmp_path, "validate", "two.yaml", path=place)
    assert done.returncode == 2
    assert (
        "error[juicefs-port-twice]: the clients of data and more would both serve metrics on port 9567" in done.stdout
    )
    shown = run(tmp_path, "explain", "juicefs-port-twice", path=place)
    assert "The second mount of one node could not open the port" in " ".join(shown.stdout.split())


@pytest.mark.slow
def test_a_cluster_without_it_has_the_tree_that_it_has_where_it_is_not_installed(place: Path, tmp_path: Path) -> None:
    """Its rows of the catalogue are not in the inventory."""
    (tmp_path / "plain.yaml").write_text(MANIFEST.partition("storage:")[0], encoding="utf-8")
    assert run(tmp_path, "render", "plain.yaml", path=place).returncode == 0
    done = run(tmp_path, "render", "plain.yaml", "--check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_without_the_package_its_kind_is_unknown(place: Path) -> None:
    done = run(place, "validate", "m.yaml")
    assert done.returncode == 2
    assert "storage.data.type cannot be 'juicefs'" in done.stdout
    assert "the package that adds it may be missing (clustergen features)" in done.stdout


@pytest.mark.long
def test_wheels_of_both_in_a_new_environment(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    for source in (CHECKOUT, EXTENSION):
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(wheels), str(source)]
        subprocess.run(build, check=True, capture_output=True, timeout=300)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=120)
    python = str(tmp_path / "venv" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", *map(str, wheels.glob("*.whl"))]
    constraints = {**os.environ, "PIP_CONSTRAINT": str(CHECKOUT / "constraints.txt")}
    subprocess.run(install, check=True, capture_output=True, timeout=600, env=constraints)
    (tmp_path / "m.yaml").write_text(MANIFEST, encoding="utf-8")
    listed = run(tmp_path, "features", python=python)
    assert "(clustergen-juicefs 0.1.0)" in listed.stdout
    assert run(tmp_path, "render", "m.yaml", python=python).returncode == 0
    assert run(tmp_path, "verify", "--only", "tree,juicefs", python=python).returncode == 0
    shown = run(tmp_path, "explain", "m.yaml", "/etc/systemd/system/data.mount", python=python)
    assert "storage.data.metadata" in shown.stdout
