"""BeeGFS servers: keys that the release knows, and targets that are complete or absent."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from clustergen.catalogue.storage import beegfs_key
from clustergen.catalogue.versions import BeegfsVersion
from clustergen.features.storage.beegfs.resolved import BeegfsServers
from clustergen.features.storage.beegfs.servers import mirrors
from strategies.trees import HEAD, calls, codes_of, manifest, node_files, run_script, runnable, text_of, tree_of

SCRIPT = "/usr/local/sbin/clustergen-beegfs"
STORAGE = {"name": "stor[1-2]", "type": "cpu", "address": "10.0.0.[21-22]", "roles": []}
CLIENT = {"name": "c1", "type": "cpu", "address": "10.0.0.11"}
SERVERS = {
    "management": "stor1",
    "metadata": "stor1",
    "storage": "stor[1-2]",
    "storage_directories": ["/data/st1", "/data/st2"],
}
# As BeeGFS's own script: it refuses what is not empty, and writes the format and the IDs.
SETUP = """while getopts "Cp:s:i:" option; do
  case $option in p) place=$OPTARG;; s) node=$OPTARG;; i) id=$OPTARG;; esac
done
mkdir -p "$place"; [[ -z $(ls -A "$place") ]] || exit 1
echo version=3 >"$place/format.conf"; mkdir "$place/chunks"
[[ ! -e DIRECTORY/cut ]] || exit 137
[[ -z $id ]] || echo "$id" >"$place/targetNumID"
echo "$node" >"$place/nodeNumID" """


def data(version: str = "8.2", servers: dict[str, Any] | None = None, **entry: Any) -> dict[str, Any]:
    beegfs = {"type": "beegfs", "version": version, "mount": "/mnt/data", "mgmtd": "10.0.0.21", **entry}
    return manifest(
        networks={"management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"}},
        node_types={"cpu": {"cpu": {"sockets": 1, "cores_per_socket": 8}, "memory": "64GiB"}},
        nodes=[HEAD, CLIENT, STORAGE],
        storage={"data": {**beegfs, "servers": {**SERVERS, **(servers or {})}}},
    )


def run(host: str, directory: Path, *arguments: str, version: str = "8.2") -> subprocess.CompletedProcess[str]:
    """The script on directories below `directory`; st1 and st2 of `data` are mount points."""
    changes = {" /data/": f" {directory}/data/", "/var/lib/beegfs": str(directory / "beegfs")}
    script = runnable(tree_of(data(version), directory), host, SCRIPT, directory, changes)
    for mount in ("meta", "st1"):
        (directory / "data" / mount).mkdir(parents=True, exist_ok=True)
    (directory / "beegfs").mkdir(exist_ok=True)
    setup = SETUP.replace("DIRECTORY", str(directory))
    programs = {
        "hostname": f"echo {host}",
        "mountpoint": "[[ $2 != */st2 || -d $2 ]]",
        "systemctl": "",
        "beegfs-mgmtd": f"echo SQLite >{directory}/beegfs/mgmtd.sqlite",
        **{f"beegfs-setup-{kind}": setup for kind in ("meta", "storage", "mgmtd")},
    }
    return run_script(script.read_text(), programs, directory, "data", *arguments)


# As the programs of 7.4 and 8 answer; a group is a line of ID, primary and secondary in the file of its kind.
CTL = """[[ $1 == --cfgFile=/etc/beegfs/beegfs-ctl-data.conf ]] || exit 1; shift
case $1 in
  --listmirrorgroups) echo "BuddyGroupID PrimaryTargetID SecondaryTargetID"; echo "============ ==== ===="
    cat "DIRECTORY/${2#*=}" 2>/dev/null || true ;;
  --addmirrorgroup) echo "${5#*=} ${3#*=} ${4#*=}" >>"DIRECTORY/${2#*=}" ;;
  --getentryinfo) echo "EntryID: root"; cat DIRECTORY/root ;;
esac"""
NEW = """kind=${3#*=}
case "$1 $2" in
  "mirror list") [[ -f DIRECTORY/$kind ]] || { echo "Error: no mirrors configured"; exit 1; }
    echo "ID PRIMARY_TARGET SECONDARY_TARGET"
    while read -r a b c; do echo "$kind:$a $kind:$b $kind:$c"; done <DIRECTORY/$kind ;;
  "mirror create") echo "${4#*=} ${5#*:} ${6#*:}" >>"DIRECTORY/$kind" ;;
  "entry info") echo "Entry type: directory"; cat DIRECTORY/root ;;
esac"""
MIRRORED = {"metadata": "stor[1-2]", "mirror": ["metadata", "storage"]}


def mirror(directory: Path, version: str, host: str = "stor1") -> subprocess.CompletedProcess[str]:
    script = runnable(tree_of(data(version, MIRRORED), directory), host, SCRIPT, directory)
    bodies = {"beegfs-ctl": CTL, "beegfs": NEW, "hostname": f"echo {host}"}
    programs = {name: body.replace("DIRECTORY", str(directory)) for name, body in bodies.items()}
    return run_script(script.read_text(), programs, directory, "data", "mirror")


def groups(directory: Path) -> list[str]:
    return [line for kind in ("meta", "storage") for line in (directory / kind).read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["7.4", "8.2"])
def test_mirror_groups_pair_servers_and_the_owner_of_the_root_is_a_primary(version: str, tmp_path: Path) -> None:
    (tmp_path / "root").write_text("Metadata node: stor2 [ID: 2]\n")
    done = mirror(tmp_path, version)
    assert done.returncode == 1, done.stderr
    assert "metadata are not mirrored yet" in done.stdout
    assert groups(tmp_path) == ["1 2 1", "101 101 201", "102 202 102"]
    (tmp_path / "root").write_text("Metadata buddy group: 1\nCurrent primary metadata node: stor2 [ID: 2]\n")
    (tmp_path / "storage").write_text("101 201 101\n102 202 102\n")
    before = groups(tmp_path)
    assert mirror(tmp_path, version).returncode == 0
    assert groups(tmp_path) == before


def test_the_primaries_of_storage_groups_are_spread_over_both_servers() -> None:
    hosts = ("stor1", "stor2", "stor3", "stor4")
    spec = BeegfsServers("stor1", hosts[:2], "/meta", hosts, ("/st1", "/st2"), ("metadata", "storage"), {}, {}, "", "")
    pairs = [(group.number, group.first, group.second) for group in mirrors(spec) if group.kind == "storage"]
    assert pairs == [(101, 101, 201), (102, 202, 102), (301, 301, 401), (302, 402, 302)]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["7.4", "8.2"])
@pytest.mark.parametrize("other", ["101 101 102", "7 201 301", "101 301 302"])
def test_targets_of_other_mirror_groups_are_refused(other: str, version: str, tmp_path: Path) -> None:
    (tmp_path / "root").write_text("Metadata node: stor1 [ID: 1]\n")
    (tmp_path / "meta").write_text("1 1 2\n")
    (tmp_path / "storage").write_text(f"{other}\n")
    done = mirror(tmp_path, version)
    assert done.returncode == 1
    assert "not mirrored yet" not in done.stdout
    assert f"storage group 101 of 101 and 201: the group {other} exists" in done.stderr
    assert not [line for line in groups(tmp_path) if line.startswith("101 ") and line != other]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["7.4", "8.2"])
@pytest.mark.parametrize("root", [None, "", "Entry type: directory\n"])
def test_a_root_that_cannot_be_read_is_refused(root: str | None, version: str, tmp_path: Path) -> None:
    """Management down, or no such program: the command for the root, which cannot be undone, is not shown."""
    if root is not None:
        (tmp_path / "root").write_text(root)
    (tmp_path / "meta").write_text("1 1 2\n")
    done = mirror(tmp_path, version)
    assert done.returncode == 1
    assert "refused: the root directory cannot be read" in done.stderr
    assert "not mirrored yet" not in done.stdout


@pytest.mark.slow
def test_the_steps_by_hand_have_mirror_groups_where_something_is_mirrored(tmp_path: Path) -> None:
    """The README of the tree is what an administrator follows; mirroring later means to move all data."""
    step = "clustergen-beegfs data mirror on stor1, when all servers run"
    for servers, count in (({}, 0), (MIRRORED, 1)):
        readme = tree_of(data(servers=servers), tmp_path).files["README.md"].content.decode()
        assert " ".join(readme.split()).count(step) == count


@pytest.mark.slow
def test_the_program_of_mirror_groups_has_settings_of_clients(tmp_path: Path) -> None:
    """The 7.4 program reads a client's file, which a server without a mount does not get."""
    tree = tree_of(data("7.4", MIRRORED, mgmtd="10.0.0.21:9008"), tmp_path)
    path = "/etc/beegfs/beegfs-ctl-data.conf"
    lines = [line for line in text_of(tree, "stor1", path).splitlines() if not line.startswith("#")]
    settings = dict(line.split(" = ") for line in lines)
    assert settings["sysMgmtdHost"] == "10.0.0.21"
    assert settings["connMgmtdPortTCP"] == settings["connMgmtdPortUDP"] == "9008"
    assert settings["connAuthFile"] == "/etc/beegfs/conn.auth"
    for key in settings:
        row = beegfs_key("beegfs-client.conf", key)
        assert row is not None, key
        assert row.known_in(BeegfsVersion("7.4")), key
    assert path not in node_files(tree_of(data("7.4"), tmp_path), "stor1")
    assert path not in node_files(tree_of(data("8.2", MIRRORED), tmp_path), "stor1")


@pytest.mark.slow
@pytest.mark.parametrize("root", ["", "Metadata node: unknown\n"])
def test_without_the_owner_of_the_root_no_metadata_group_is_created(root: str, tmp_path: Path) -> None:
    (tmp_path / "root").write_text(root)
    assert "the owner of the root directory is unknown" in mirror(tmp_path, "8.2").stderr
    assert not (tmp_path / "meta").exists()
    assert "run this on the management server, stor1" in mirror(tmp_path, "8.2", "stor2").stderr


def started(directory: Path) -> list[str]:
    return [call.split()[-1] for call in calls(directory) if call.startswith("systemctl")]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["7.4", "8.2"])
def test_targets_are_created_once_and_then_started(version: str, tmp_path: Path) -> None:
    (tmp_path / "data/st2").mkdir(parents=True)
    assert run("stor1", tmp_path, "check", version=version).returncode == 1
    assert not [call for call in calls(tmp_path) if "setup" in call]
    assert run("stor1", tmp_path, "format", version=version).returncode == 0
    before = len([call for call in calls(tmp_path) if "setup" in call or "--init" in call])
    assert before == 4
    done = run("stor1", tmp_path, "format", version=version)
    assert done.returncode == 0, done.stderr
    assert len([call for call in calls(tmp_path) if "setup" in call or "--init" in call]) == before
    assert (tmp_path / "data/st2/beegfs/targetNumID").read_text() == "102\n"
    assert run("stor1", tmp_path, "start", version=version).returncode == 0
    assert started(tmp_path) == ["beegfs-mgmtd.service", "beegfs-meta.service", "beegfs-storage.service"]


@pytest.mark.slow
def test_a_file_system_that_is_not_mounted_stops_its_service_alone(tmp_path: Path) -> None:
    done = run("stor1", tmp_path, "format")
    assert done.returncode == 1
    assert f"refused: {tmp_path}/data/st2 is not a mount point" in done.stderr
    assert (tmp_path / "data/st1/beegfs/nodeNumID").exists()
    done = run("stor1", tmp_path, "start")
    assert "beegfs-storage is not started: a target is missing" in done.stderr
    assert started(tmp_path) == ["beegfs-mgmtd.service", "beegfs-meta.service"]


@pytest.mark.slow
def test_a_cut_run_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "data/st2").mkdir(parents=True)
    (tmp_path / "cut").touch()
    assert run("stor2", tmp_path, "format").returncode == 1
    assert not (tmp_path / "data/st1/beegfs").exists()
    assert (tmp_path / "data/st1/beegfs.new").exists()
    (tmp_path / "cut").unlink()
    (tmp_path / "data/st2/beegfs.new/chunks/u0").mkdir()
    done = run("stor2", tmp_path, "format")
    assert "beegfs.new has other files: chunks/u0" in done.stderr
    assert (tmp_path / "data/st1/beegfs/targetNumID").read_text() == "201\n"
    assert (tmp_path / "data/st2/beegfs.new/chunks/u0").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "name", "message"),
    [
        ("7.4", "beegfs/mgmtd.new/thesis.tex", "has other files: thesis.tex"),
        ("7.4", "beegfs/mgmtd", "is no directory"),
        ("8.2", "beegfs/mgmtd.sqlite", "is empty"),
    ],
)
def test_a_foreign_file_in_place_of_the_management_database_is_left_there(
    version: str, name: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).touch()
    (tmp_path / "data/st2").mkdir(parents=True)
    done = run("stor1", tmp_path, "format", version=version)
    assert (done.returncode, message in done.stderr) == (1, True), done.stderr
    assert (tmp_path / name).is_file()
    done = run("stor1", tmp_path, "start", version=version)
    assert done.returncode == 1
    assert "beegfs-mgmtd.service" not in started(tmp_path)


OTHERS = {
    "another target": {"format.conf": "", "nodeNumID": "1", "targetNumID": "201"},
    "another server": {"format.conf": "", "nodeNumID": "2", "targetNumID": "101"},
    "other data": {"thesis.tex": ""},
    "half a target": {"format.conf": ""},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", OTHERS)
def test_other_data_is_left_as_it_is(case: str, tmp_path: Path) -> None:
    place = tmp_path / "data/st1/beegfs"
    place.mkdir(parents=True)
    for name, text in OTHERS[case].items():
        (place / name).write_text(text, encoding="utf-8")
    done = run("stor1", tmp_path, "format")
    assert done.returncode == 1
    assert f"refused: {place} " in done.stderr
    assert {file.name: file.read_text() for file in place.iterdir()} == OTHERS[case]


@pytest.mark.parametrize("version", ["7.4", "8.0", "8.4"])
@pytest.mark.parametrize("authentication", [True, False])
def test_servers_get_only_keys_that_their_release_knows(version: str, authentication: bool, tmp_path: Path) -> None:
    """A server of BeeGFS stops on a key that it does not know."""
    tree = tree_of(data(version, authentication=authentication, quota=True), tmp_path)
    files = {path: file for path, file in node_files(tree, "stor2").items() if path.startswith("/etc/beegfs/")}
    assert len(files) == 3
    for path, file in files.items():
        name, text = Path(path).name, file.content.decode()
        keys = list(tomllib.loads(text)) if name.endswith(".toml") else []
        if not keys:
            keys = [line.split(" = ")[0] for line in text.splitlines() if not line.startswith("#")]
        for key in keys:
            row = beegfs_key(name, key)
            assert row is not None, (name, key)
            assert row.known_in(BeegfsVersion(version)), (name, key)


def test_servers_have_the_secret_and_the_packages(tmp_path: Path) -> None:
    tree = tree_of(data(), tmp_path)
    variables = tree.files["inventory/group_vars/all.yml"].content.decode()
    assert "serve_data" in variables
    assert "storeStorageDirectory = /data/st1/beegfs,/data/st2/beegfs" in text_of(
        tree, "stor1", "/etc/beegfs/beegfs-storage.conf"
    )


OURS = [
    "sysMgmtdHost",
    "connMgmtdPort",
    "connAuthFile",
    "connDisableAuthentication",
    "connUseRDMA",
    "storeStorageDirectory",
]


@pytest.mark.parametrize(
    ("version", "options", "codes"),
    [
        ("8.2", {"tuneNumWorkers": 64, "connStoragePort": 9003}, []),
        ("8.2", {"tuneNumWorker": 64}, ["beegfs-key-unknown"]),
        ("8.2", {"connStoragePortTCP": 9003}, ["beegfs-key-unknown"]),
        ("8.2", {"storeAllowFirstRunInit": "true"}, ["beegfs-server"]),
        ("7.4", {"connMgmtdPortTCP": 9008, "connMgmtdPortUDP": 9008}, ["beegfs-server"] * 2),
        *(("8.2", {key: "other"}, ["beegfs-server"]) for key in OURS),
    ],
)
def test_options_of_servers_are_keys_of_their_release(
    version: str, options: dict[str, Any], codes: list[str], tmp_path: Path
) -> None:
    manifest = data(version, {"storage_options": options})
    assert codes_of(manifest, tmp_path) == codes
    if not codes:
        lines = text_of(tree_of(manifest, tmp_path), "stor2", "/etc/beegfs/beegfs-storage.conf").splitlines()
        assert {"connStoragePort = 9003", "tuneNumWorkers = 64", "storeAllowFirstRunInit = false"} <= set(lines)


BAD: dict[str, dict[str, Any]] = {
    "an odd number of servers": {"mirror": ["metadata"]},
    "an unknown server": {"storage": "stor[1-3]"},
    "another management server": {"management": "stor2"},
    "one directory twice": {"storage_directories": ["/data/st1", "/data/st1"]},
    "metadata among storage": {"metadata_directory": "/data/st1"},
}


@pytest.mark.parametrize("case", BAD)
def test_servers_that_cannot_be_set_up_are_errors(case: str, tmp_path: Path) -> None:
    assert codes_of(data(servers=BAD[case]), tmp_path) == ["beegfs-server"]
