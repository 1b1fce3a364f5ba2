"""Seeds for cloud-init: what each node gets, and a first boot of the real cloud-init from one."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.render.write import write
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import GPU, HEAD, manifest, tree_of

MACS = ["52:54:00:00:00:11", "52:54:00:00:00:12"]
COMPUTE = {"name": "c[1-2]", "type": "gpu", "address": "10.0.0.[11-12]", "macs": MACS}
ON_STORAGE = {"name": "c[3-4]", "type": "gpu", "address": "10.0.0.[13-14]", "addresses": {"storage": "10.2.0.[13-14]"}}
PULL = {"repository": "https://git.example.org/cluster.git"}


def cluster(**management: Any) -> dict[str, Any]:
    networks = {
        "management": {"cidr": "10.0.0.0/24", "interface": "eno1", "gateway": "10.0.0.254", "configure": True},
        "storage": {"cidr": "10.2.0.0/24", "interface": "eno1.20", "vlan": 20, "configure": True},
        "fabric": {"type": "infiniband", "rate": "NDR"},
    }
    networks["management"].update(management)
    slurm = {"version": "24.11", "configless": True}
    nodes = [HEAD, COMPUTE, ON_STORAGE]
    return manifest(networks=networks, nodes=nodes, node_types={"gpu": GPU}, slurm=slurm, ansible={"pull": PULL})


def seeds(directory: Path, *arguments: str, **management: Any) -> subprocess.CompletedProcess[str]:
    """Writes the seeds of these nodes into `directory`/seeds."""
    write(tree_of(cluster(**management), directory), directory / "rendered")
    script = str(directory / "rendered/cloud-init/seed.py")
    command = [sys.executable, script, "--output", str(directory / "seeds"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
def test_each_node_gets_its_addresses_and_the_user_data_of_its_system(tmp_path: Path) -> None:
    done = seeds(tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(place.name for place in (tmp_path / "seeds").iterdir()) == ["c1", "c2", "c3", "c4", "head"]
    files = {
        node: {
            name: (tmp_path / "seeds" / node / name).read_text()
            for name in ("meta-data", "user-data", "network-config")
        }
        for node in ("head", "c2", "c4")
    }
    assert yaml.safe_load(files["c4"]["meta-data"]) == {"instance-id": "small-c4", "local-hostname": "c4"}
    networks = {node: yaml.safe_load(texts["network-config"]) for node, texts in files.items()}
    port = networks["c2"]["ethernets"]["eno1"]
    assert (port["match"], port["set-name"]) == ({"macaddress": MACS[1]}, "eno1")
    assert port["addresses"] == ["10.0.0.12/24"]
    assert "vlans" not in networks["c2"], "it has no storage address"
    assert networks["c4"]["vlans"]["eno1.20"]["addresses"] == ["10.2.0.14/24"]
    assert "match" not in networks["c4"]["ethernets"]["eno1"], "its MAC address is not stated"
    assert list(networks["c4"]["ethernets"]) == ["eno1"]
    assert "clustergen-pull.service" in files["c2"]["user-data"]
    assert files["head"]["user-data"] == "#cloud-config\n{}\n"


@pytest.mark.slow
def test_user_data_of_the_site_replace_those_of_the_tree(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("#cloud-config\nusers: []\n", encoding="utf-8")
    assert seeds(tmp_path, "--user-data", str(tmp_path / "mine"), "c1").returncode == 0
    assert [place.name for place in (tmp_path / "seeds").iterdir()] == ["c1"]
    assert (tmp_path / "seeds/c1/user-data").read_text() == "#cloud-config\nusers: []\n"
    modes = {place.name: oct(place.stat().st_mode & 0o777) for place in (tmp_path / "seeds").rglob("*")}
    files = dict.fromkeys(("meta-data", "user-data", "network-config"), "0o600")
    assert modes == {"c1": "0o700", **files}, "they may hold a token"


@pytest.mark.slow
def test_seeds_are_replaced_whole_with_any_bytes_and_are_private(tmp_path: Path) -> None:
    """cloud-init also reads compressed user data; an earlier seed may have been readable."""
    (tmp_path / "mine").write_bytes(gzip.compress(b"#cloud-config\r\n"))
    place = tmp_path / "seeds/c1"
    place.mkdir(parents=True, mode=0o755)
    (place / "user-data").write_text("token")
    (place / "user-data").chmod(0o644)
    done = seeds(tmp_path, "--user-data", str(tmp_path / "mine"), "c1")
    assert done.returncode == 0, done.stderr
    assert (place / "user-data").read_bytes() == (tmp_path / "mine").read_bytes()
    assert {oct(file.stat().st_mode & 0o777) for file in place.iterdir()} == {"0o600"}
    assert place.stat().st_mode & 0o777 == 0o700
    (place / "network-config").unlink()
    (place / "network-config").mkdir()
    assert seeds(tmp_path, "c1").returncode == 1
    assert not (place / "meta-data").exists(), "a seed that is not complete is none"


@pytest.mark.slow
@pytest.mark.parametrize("planted", ["link", "directory"] if os.geteuid() == 0 else ["link"])
def test_a_seed_is_not_written_where_another_user_planted_something(planted: str, tmp_path: Path) -> None:
    """A directory of another user could be read and replaced by it; the output may be in /tmp."""
    (tmp_path / "seeds").mkdir()
    place = tmp_path / "elsewhere" if planted == "link" else tmp_path / "seeds/c1"
    place.mkdir(mode=0o755)
    if planted == "link":
        (tmp_path / "seeds/c1").symlink_to(place)
    else:
        os.chown(place, 65534, 65534)
    done = seeds(tmp_path, "c1")
    message = f"refused: {tmp_path}/seeds/c1 is a link or belongs to another user\n"
    assert (done.returncode, done.stderr) == (1, message)
    assert not list(place.iterdir())
    assert place.stat().st_mode & 0o777 == 0o755


@pytest.mark.slow
def test_names_that_yaml_would_read_as_numbers_stay_names(tmp_path: Path) -> None:
    data = cluster()
    data["nodes"][1] = {**COMPUTE, "name": "0x[1-2]"}
    write(tree_of(data, tmp_path), tmp_path / "rendered")
    script = tmp_path / "rendered/cloud-init/seed.py"
    subprocess.run([sys.executable, script, "0x1"], cwd=tmp_path, timeout=300, check=True)
    meta_data = yaml.safe_load((tmp_path / "seeds/0x1/meta-data").read_text())
    assert meta_data == {"instance-id": "small-0x1", "local-hostname": "0x1"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["c1", "c9"], "refused: no node with an address in the management network is named c9"),
        (["--user-data", "/nowhere"], "refused: [Errno 2] No such file or directory: '/nowhere'"),
    ],
)
def test_a_missing_host_is_refused_before_anything_is_written(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = seeds(tmp_path, *arguments)
    assert (done.returncode, done.stderr.strip()) == (1, message)
    assert not (tmp_path / "seeds").exists()


@pytest.mark.slow
def test_without_the_management_network_there_is_no_configuration(tmp_path: Path) -> None:
    tree = tree_of(cluster(configure=False), tmp_path)
    assert [path for path in tree.files if path.startswith("cloud-init/")] == ["cloud-init/debian-13.yaml"]


@pytest.mark.real
@pytest.mark.slow
def test_cloud_init_boots_from_a_seed(tmp_path: Path) -> None:
    """The port has another name than in the manifest, and is recognized by its MAC address."""
    assert seeds(tmp_path, "c1").returncode == 0
    root = root_with("cloud-init")
    assert root is not None, "clustergen setup parsers makes the root with cloud-init"
    script = """
python3 -c 'import ctypes; ctypes.CDLL(None).mount(b"sysfs", b"/sys", b"sysfs", 0, None)'  # no mount(8) in this root
ip link add ens9 address 52:54:00:00:00:11 type veth peer name far
mkdir -p /etc/netplan
cloud-init init --local >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
hostname
ip -o link show dev eno1 | awk '{ print $17 }'
grep -rhoE '10[.]0[.]0[.]11/24' $(find /etc/systemd/network /etc/netplan /etc/network -name '*cloud-init*')
"""
    box = sandbox.Sandbox(root, files=((tmp_path / "seeds/c1", "/var/lib/cloud/seed/nocloud"),), hostname="localhost")
    done = sandbox.run(box, ["/bin/bash", "-c", script], timeout=180)
    assert done.code == 0, done.stdout + done.stderr
    assert done.stdout.split() == ["c1", "52:54:00:00:00:11", "10.0.0.11/24"]
