"""Lustre servers: targets are created on empty devices only, and nothing is mounted that another server may have."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from strategies.trees import HEAD, calls, codes_of, manifest, node_files, run_script, runnable, text_of, tree_of

MIB = 1 << 20
SCRIPT = "/usr/local/sbin/clustergen-lustre"
VALUES = "/etc/clustergen/lustre-train.sh"
NICS = [{"device": "mlx5_0", "interface": "ib0", "model": "cx7"}]
GPU = {"cpu": {"sockets": 1, "cores_per_socket": 8}, "memory": "64GiB", "nics": NICS}
SERVERS = [
    {
        "name": "mds[1-2]",
        "type": "gpu",
        "address": "10.0.0.[21-22]",
        "addresses": {"fabric": "10.1.0.[21-22]"},
        "roles": [],
    },
    {
        "name": "oss[1-2]",
        "type": "gpu",
        "address": "10.0.0.[31-32]",
        "addresses": {"fabric": "10.1.0.[31-32]"},
        "roles": [],
    },
]
TARGETS: list[dict[str, Any]] = [
    {"kind": "OST", "index": 1, "server": "oss2", "device": "tank/ost1", "pool": "flash"},
    {"kind": "OST", "index": 0, "server": "oss1", "device": "/dev/disk/by-id/ost0", "size": "64MiB", "pool": "flash"},
    {"kind": "MDT", "index": 0, "server": "mds1", "standby": ["mds2"], "device": "/dev/mapper/mdt0"},
    {"kind": "MGT", "server": "mds1", "device": "/dev/disk/by-id/mgt"},
]
# mkfs.lustre makes an ext4 with the label of a target that has not been mounted yet, and then writes into it.
PROGRAMS = {
    "lsblk": "echo loop0",
    "blockdev": 'stat --format=%s "$2"',
    "systemctl": "",
    "mkfs.lustre": """name=MGS
for word; do case $word in --ost) name=train:OST0000;; --mdt) name=train:MDT0000;; esac; done
mkdir -p tree/CONFIGS; touch tree/CONFIGS/mountdata; mkfs.ext4 -q -L "$name" -d tree "${!#}" """,
}


def data(targets: list[dict[str, Any]] = TARGETS, **entry: Any) -> dict[str, Any]:
    lustre = {"type": "lustre", "mount": "/mnt/train", "mgs": ["10.1.0.21@o2ib"], "targets": targets, **entry}
    return manifest(
        os="rocky-9",
        networks={
            "management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"},
            "fabric": {"type": "infiniband", "rate": "NDR", "cidr": "10.1.0.0/24"},
        },
        node_types={"gpu": GPU},
        nodes=[
            HEAD,
            {"name": "c1", "type": "gpu", "address": "10.0.0.11", "addresses": {"fabric": "10.1.0.11"}},
            *SERVERS,
        ],
        slurm={"version": "24.11", "build": "schedmd", "accounts": {}},
        host={"ssh_adopt": False},
        storage={"train": lustre},
    )


def run(
    host: str, directory: Path, *arguments: str, programs: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The script on image files, as real blkid and wipefs see them."""
    devices = ("/dev/disk/by-id/ost0", "/dev/disk/by-id/mgt", "/dev/mapper/mdt0")
    changes = {device: str(directory / Path(device).name) for device in devices} | {"[[ -b $2 ]]": "[[ -f $2 ]]"}
    text = runnable(tree_of(data(), directory), host, SCRIPT, directory, changes).read_text()
    programs = {"hostname": f"echo {host}", **PROGRAMS, **(programs or {})}
    return run_script(text, programs, directory, "train", *arguments)


def image(directory: Path, name: str, size: int = 64 * MIB) -> Path:
    place = directory / name
    with place.open("wb") as file:
        file.truncate(size)
    return place


def made(directory: Path) -> list[str]:
    return [call for call in calls(directory) if call.startswith("mkfs")]


@pytest.mark.slow
def test_an_empty_device_becomes_a_target_once(tmp_path: Path) -> None:
    device = image(tmp_path, "ost0")
    assert run("oss1", tmp_path, "check").returncode == 1
    assert made(tmp_path) == []
    assert run("oss1", tmp_path, "format").returncode == 0
    assert run("oss1", tmp_path, "format").returncode == 0
    words = "--ost --fsname=train --index=0 --mgsnode=10.1.0.21@o2ib --backfstype=ldiskfs"
    assert made(tmp_path) == [f"mkfs.lustre {words} {device}"]
    done = run("oss1", tmp_path, "check")
    assert (done.returncode, done.stdout) == (0, f"train-OST0000: present on {device}\n")


def foreign(directory: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", "-L", "home", image(directory, "ost0")], check=True, timeout=300)


def other_target(directory: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", "-L", "train-OST0001", image(directory, "ost0")], check=True, timeout=300)


def partitioned(directory: Path) -> None:
    with image(directory, "ost0").open("r+b") as file:
        file.seek(510)
        file.write(b"\x55\xaa")
        file.seek(446)
        file.write(b"\x00\x20\x21\x00\x83\x45\x04\x08\x00\x08\x00\x00\x00\xf0\x01\x00")


def smaller(directory: Path) -> None:
    image(directory, "ost0", 32 * MIB)


REFUSED = {
    "another file system": (foreign, {}, "is not empty"),
    "another target": (other_target, {}, "is not empty"),
    "a partition table": (partitioned, {}, "is not empty"),
    "another size": (smaller, {}, "has 33554432 bytes, not 67108864"),
    "no device": (lambda _: None, {}, "is not a block device"),
    "a holder": (lambda directory: image(directory, "ost0"), {"lsblk": "printf 'sdb\\nmpatha\\n'"}, "is in use: sdb"),
    "mounted": (lambda directory: image(directory, "ost0"), {"lsblk": "echo 'sdb /data'"}, "is in use: sdb /data"),
    "wipefs fails": (lambda directory: image(directory, "ost0"), {"wipefs": "exit 1"}, "cannot be read"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED)
def test_unexpected_devices_are_refused(case: str, tmp_path: Path) -> None:
    prepare, programs, message = REFUSED[case]
    prepare(tmp_path)
    done = run("oss1", tmp_path, "format", programs=programs)
    assert done.returncode == 1
    assert message in done.stderr
    assert made(tmp_path) == []


@pytest.mark.slow
def test_a_cut_run_is_continued(tmp_path: Path) -> None:
    """The MGT was created; mkfs.lustre of the MDT was killed before it wrote the label."""
    image(tmp_path, "mgt")
    image(tmp_path, "mdt0")
    killed = {"mkfs.lustre": PROGRAMS["mkfs.lustre"].replace("mkfs.ext4", "[[ $name == MGS ]] || exit 137; mkfs.ext4")}
    done = run("mds1", tmp_path, "format", programs=killed)
    assert done.returncode == 1
    assert "train-MDT0000: mkfs.lustre failed" in done.stderr
    assert run("mds1", tmp_path, "format").returncode == 0
    assert [call.split()[1] for call in made(tmp_path)] == ["--mgs", "--mdt", "--mdt"]


@pytest.mark.slow
def test_a_label_without_what_comes_after_it_is_no_target(tmp_path: Path) -> None:
    """By the real debugfs: mkfs.lustre was killed between the two."""
    device = image(tmp_path, "ost0")
    cut = PROGRAMS["mkfs.lustre"].replace("-d tree", "").replace('"${!#}"', '"${!#}"; exit 137')
    assert run("oss1", tmp_path, "format", programs={"mkfs.lustre": cut}).returncode == 1
    for verb in ("check", "format"):
        done = run("oss1", tmp_path, verb)
        assert done.returncode == 1
        assert f"{device} has its label and no CONFIGS/mountdata" in done.stderr
    assert len(made(tmp_path)) == 1


@pytest.mark.slow
def test_only_targets_without_a_standby_server_are_mounted_by_themselves(tmp_path: Path) -> None:
    image(tmp_path, "mgt")
    image(tmp_path, "mdt0")
    assert "not created yet" in run("mds1", tmp_path, "mount").stdout
    assert run("mds1", tmp_path, "format").returncode == 0
    done = run("mds1", tmp_path, "mount")
    assert "train-MDT0000: left to Pacemaker" in done.stdout
    assert run("mds2", tmp_path, "mount").stdout == "mds2 is the first server of no target\n"
    assert run("mds2", tmp_path, "mount", "train-MDT0000").returncode == 0
    assert run("oss1", tmp_path, "mount", "train-MDT0000").returncode == 1
    started = [call for call in calls(tmp_path) if call.startswith("systemctl")]
    assert started == ["systemctl start srv-lustre-MGS.mount", "systemctl start srv-lustre-train-MDT0000.mount"]


def test_the_label_of_a_target_has_its_index_in_hexadecimal_digits(tmp_path: Path) -> None:
    text = text_of(tree_of(data([*TARGETS[1:], {**TARGETS[0], "index": 26}]), tmp_path), "oss2", VALUES)
    assert "train-OST001a" in text
    assert "--index=26 " in text


def test_both_servers_of_a_pair_are_named_in_the_target(tmp_path: Path) -> None:
    text = text_of(tree_of(data(mgs=["10.1.0.21@o2ib", "10.1.0.22@o2ib"]), tmp_path), "mds1", VALUES)
    nodes = "--mgsnode=10.1.0.21@o2ib --mgsnode=10.1.0.22@o2ib"
    assert f"--index=0 {nodes} --servicenode=10.1.0.21@o2ib --servicenode=10.1.0.22@o2ib'\n" in text


@pytest.mark.parametrize(
    ("mgs", "nids"),
    [
        ("10.1.0.{0}@o2ib", "10.1.0.{0}@o2ib"),
        ("10.1.1.{0}@o2ib", "10.1.1.{0}@o2ib"),
        ("10.1.0.{0}@o2ib,10.1.1.{0}@o2ib1", "10.1.0.{0}@o2ib,10.1.1.{0}@o2ib1"),
        ("10.1.0.{0}@o2ib,10.1.1.{0}@o2ib", "10.1.0.{0}@o2ib,10.1.1.{0}@o2ib"),
    ],
)
def test_a_server_has_nids_on_the_rails_of_the_mgs(mgs: str, nids: str, tmp_path: Path) -> None:
    rails = data(mgs=[mgs.format(21), mgs.format(22)])
    rails["networks"]["fabric"] = {"type": "roce", "rate": "400Gb/s", "rails": ["10.1.0.0/24", "10.1.1.0/24"]}
    rails["node_types"] = {"gpu": {**GPU, "nics": [*NICS, {"device": "mlx5_1", "interface": "ib1", "model": "cx7"}]}}
    for place, node in enumerate(rails["nodes"][1:], 1):
        first = node["addresses"]["fabric"]
        rails["nodes"][place] = {**node, "addresses": {"fabric": [first, first.replace("10.1.0.", "10.1.1.")]}}
    text = text_of(tree_of(rails, tmp_path), "mds1", VALUES)
    assert f" --servicenode={nids.format(21)} --servicenode={nids.format(22)}'\n" in text


ZFS = {"zpool": "exit 0", "zfs": "[[ $1 == get ]] && cat {directory}/label || [[ -f {directory}/label ]]"}


@pytest.mark.parametrize(
    ("label", "pool", "code", "made_by"),
    [("", 0, 0, 1), ("train:OST0001", 0, 0, 0), ("-", 0, 1, 0), ("train-OST0002", 0, 1, 0), ("", 1, 1, 0)],
)
def test_datasets_are_distinguished_by_their_target(
    label: str, pool: int, code: int, made_by: int, tmp_path: Path
) -> None:
    if label:
        (tmp_path / "label").write_text(label, encoding="utf-8")
    programs = {name: text.replace("{directory}", str(tmp_path)) for name, text in ZFS.items()} | {
        "zpool": f"exit {pool}",
        "mkfs.lustre": f"echo train:OST0001 >{tmp_path}/label",
    }
    assert run("oss2", tmp_path, "format", programs=programs).returncode == code
    assert len(made(tmp_path)) == made_by


@pytest.mark.slow
def test_pools_get_what_is_missing(tmp_path: Path) -> None:
    lists = "[[ $1 != pool_list ]] || { [[ $2 == train ]] && echo train.flash || echo train-OST0000_UUID; }"
    assert run("mds1", tmp_path, "pools", programs={"lctl": lists}).returncode == 0
    changes = [call for call in calls(tmp_path) if call.startswith("lctl") and "list" not in call]
    assert changes == ["lctl pool_add train.flash train-OST0001"]
    assert run("oss1", tmp_path, "pools", programs={"lctl": lists}).returncode == 1


def test_servers_have_lnet_and_no_client(tmp_path: Path) -> None:
    files = node_files(tree_of(data(), tmp_path), "oss1")
    assert b"net type: o2ib" in files["/etc/lnet.conf"].content
    unit = files["/etc/systemd/system/srv-lustre-train-MDT0000.mount"].content.decode()
    assert "ConditionHost=|mds1\nConditionHost=|mds2\n" in unit
    assert "[Install]" not in unit
    unit = files["/etc/systemd/system/srv-lustre-train-OST0001.mount"].content.decode()
    assert "After=lnet.service network-online.target srv-lustre-MGS.mount zfs-import.target\n" in unit
    assert "/etc/systemd/system/mnt-train.mount" not in files


MGT = TARGETS[3]
BAD: dict[str, list[dict[str, Any]]] = {
    "no such server": [MGT, {**TARGETS[1], "server": "oss9"}],
    "one device twice": [MGT, {**TARGETS[2], "device": MGT["device"]}],
    "its own standby": [{**MGT, "standby": ["mds1"]}],
    "no MGT": [{**TARGETS[2], "standby": []}],
    "the MGT elsewhere": [{**MGT, "server": "mds2"}],
    "a pool of MDTs": [MGT, {**TARGETS[2], "pool": "flash"}],
    "a client": [MGT, {**TARGETS[1], "server": "c1"}],
    "a standby without a device": [{"kind": "OST", "index": 0, "server": "x", "standby": ["y"]}],
}


@pytest.mark.parametrize("case", BAD)
def test_targets_that_cannot_be_created_are_errors(case: str, tmp_path: Path) -> None:
    assert codes_of(data(BAD[case]), tmp_path) == ["lustre-target"]


@pytest.mark.parametrize("device", ["/dev/sdb", "/dev/nvme0n1", "tank", "/dev/disk/by-id/../sda"])
def test_devices_have_lasting_names(device: str, tmp_path: Path) -> None:
    assert "text-malformed" in codes_of(data([{**MGT, "device": device}]), tmp_path)
