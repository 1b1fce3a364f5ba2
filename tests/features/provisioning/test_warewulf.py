"""Files of a Warewulf server: nodes.conf, and the program that merges it and lays the tree's files out as overlays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from clustergen.records import replace
from clustergen.render.tree import Tree
from clustergen.render.write import write
from strategies.trees import GPU, HEAD, calls, manifest, node_files, tree_of

IS_ROOT = os.geteuid() == 0
SLURM = 64030 if IS_ROOT else 0  # a user namespace with one user has no other number
MACS = ["52:54:00:00:00:11", "52:54:00:00:00:12", "52:54:00:00:00:13", "52:54:00:00:00:14"]
COMPUTE = {"name": "c[1-4]", "type": "gpu", "address": "10.0.0.[11-14]", "macs": MACS}
HOME = {"type": "nfs", "server": "10.0.0.9", "path": "/export/home", "mount": "/home"}
SERVER = """nodeprofiles:
  default: {comment: the server's}
  bmc: {ipmi: {password: hunter2}}
  small.site: {ipmi: {password: hunter3}}
nodes:
  site: {profiles: [small.site]}
  other:
    profiles: [default]
    network devices: {default: {hwaddr: 52:54:00:12:34:56, onboot: true}}
"""


def cluster(**changes: Any) -> dict[str, Any]:
    management = {
        "cidr": "10.0.0.0/24",
        "domain": "cluster.local",
        "interface": "eno1",
        "dns": ["10.0.0.2"],
        "mtu": 9000,
    }
    return manifest(
        nodes=changes.pop("nodes", [HEAD, COMPUTE]),
        networks={"management": management, "fabric": {"type": "infiniband", "rate": "NDR"}},
        node_types={"gpu": {**GPU, "tuning": {"iommu": "pt", "kernel_options": ["console=ttyS0,115200"]}}},
        storage={} if changes.pop("without_storage", False) else {"home": HOME},
        provisioning={"engine": "warewulf", "images": {"gpu": "debian-13"}, **changes},
    )


class Server(NamedTuple):
    """A Warewulf server with one image."""

    directory: Path

    @property
    def nodes_conf(self) -> Path:
        return self.directory / "nodes.conf"

    @property
    def nodes(self) -> dict[str, Any]:
        document: dict[str, Any] = yaml.safe_load(self.nodes_conf.read_bytes())["nodes"]
        return document

    def overlay(self, group: str) -> Path:
        return self.directory / f"overlays/small.{group}/rootfs"

    def install(
        self,
        tree: Tree,
        *arguments: str,
        programs: tuple[str, ...] = ("wwctl", "systemctl"),
        lock: tuple[str, str] = ("", ""),
    ) -> subprocess.CompletedProcess[str]:
        shutil.rmtree(self.directory / "rendered", ignore_errors=True)
        write(tree, self.directory / "rendered")
        lock_file = self.directory / "rendered/clustergen.lock.json"
        lock_file.write_text(lock_file.read_text(encoding="utf-8").replace(*lock), encoding="utf-8")
        for name in programs:
            program = self.directory / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.directory}/calls"\n', encoding="utf-8")
            program.chmod(0o755)
        places = [
            f"--{name}={self.directory / place}"
            for name, place in (("nodes-conf", "nodes.conf"), ("overlays", "overlays"), ("images", "images"))
        ]
        user = [] if IS_ROOT else ["unshare", "--map-root-user"]
        script = str(self.directory / "rendered/warewulf/install.py")
        return subprocess.run(
            [*user, sys.executable, script, *places, *arguments],
            env={**os.environ, "PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def server(tmp_path: Path) -> Server:
    (tmp_path / "overlays").mkdir()
    (tmp_path / "etc").mkdir()
    (tmp_path / "nodes.conf").symlink_to("etc/nodes.conf")
    (tmp_path / "nodes.conf").write_text(SERVER, encoding="utf-8")
    image = tmp_path / "images/debian-13/rootfs/etc"
    (image / "slurm").mkdir(parents=True)
    (image / "slurm").chmod(0o750)
    for table, line in (("passwd", f"slurm:x:{SLURM}:{SLURM}::/:/bin/sh\n"), ("group", f"slurm:x:{SLURM}:\n")):
        (image / table).write_text(f"root:x:0:0::/:\n{line}+::::::\n", encoding="utf-8")
    return Server(tmp_path)


def test_nodes_conf_has_what_a_boot_needs(tmp_path: Path) -> None:
    tree = tree_of(cluster(profiles=["bmc"]), tmp_path)
    document = yaml.safe_load(tree.files["warewulf/nodes.conf"].content)
    profile = document["nodeprofiles"]["small.gpu"]
    assert profile["image name"] == "debian-13"
    assert profile["tags"] == {"clustergen": "small"}
    assert profile["kernel"]["args"] == ["iommu=pt", "console=ttyS0,115200"]
    assert profile["network devices"]["default"] == {
        "type": "ethernet", "onboot": "true", "device": "eno1", "netmask": "255.255.255.0", "mtu": "9000",
        "tags": {"DNS1": "10.0.0.2", "DNSSEARCH": "cluster.local"},
    }  # fmt: skip
    groups = {file.group for file in node_files(tree, "c3").values()}
    assert {f"small.{group}" for group in groups} == {name for name in profile["system overlay"] if "small." in name}
    assert list(document["nodes"]) == ["c1", "c2", "c3", "c4"]
    node = {"hwaddr": "52:54:00:00:00:13", "ipaddr": "10.0.0.13"}
    assert document["nodes"]["c3"] == {"profiles": ["bmc", "small.gpu"], "network devices": {"default": node}}


@pytest.mark.slow
def test_the_program_keeps_what_is_the_servers(server: Server, tmp_path: Path) -> None:
    tree = tree_of(cluster(profiles=["bmc"]), tmp_path)
    assert server.install(tree, "--check").returncode == 1
    assert server.nodes_conf.read_text(encoding="utf-8") == SERVER
    assert list((tmp_path / "overlays").iterdir()) == []

    program = tree.files["warewulf/install.py"]
    program = replace(program, content=program.content.replace(b"AT_ONCE = 500", b"AT_ONCE = 3"))
    tree = replace(tree, files={**tree.files, program.path: program})
    done = server.install(tree)
    assert done.returncode == 0, done.stderr
    assert server.nodes["other"]["network devices"]["default"] == {"hwaddr": "52:54:00:12:34:56", "onboot": True}
    for target, file in node_files(tree, "c1").items():
        place = server.overlay(file.group or "") / target.lstrip("/")
        assert place.read_bytes() == file.content
        assert place.stat().st_mode & 0o7777 == file.mode
    assert (server.overlay("slurm_node") / "etc/slurm").stat().st_mode & 0o777 == 0o750
    link = server.overlay("mount_home") / "etc/systemd/system/remote-fs.target.wants/home.mount"
    assert str(link.readlink()) == "/etc/systemd/system/home.mount"
    assert calls(tmp_path) == [
        "systemctl try-reload-or-restart warewulfd.service",
        "wwctl overlay build c1 c2 c3",
        "wwctl overlay build c4",
    ]
    assert done.stdout.endswith("wwctl configure dhcp\n")
    assert server.install(tree).stdout == "up to date\n"
    assert server.install(tree, "--check").returncode == 0

    changed = server.nodes_conf.read_text(encoding="utf-8").replace("  c2:\n", "  c2:\n    asset key: serial\n")
    server.nodes_conf.write_text(changed, encoding="utf-8")
    fewer = [HEAD, {**COMPUTE, "name": "c[1-2]", "address": "10.0.0.[11-12]", "macs": MACS[:2]}]
    smaller = tree_of(cluster(nodes=fewer, without_storage=True), tmp_path)
    (tmp_path / "etc/nodes.conf.new").mkdir()  # nodes.conf cannot be written, and names all overlays
    assert server.install(smaller).returncode == 1
    assert server.overlay("mount_home").is_dir()
    (tmp_path / "etc/nodes.conf.new").rmdir()
    done = server.install(smaller)
    assert "node c3: removed\nnode c4: removed\n" in done.stdout
    assert not server.overlay("mount_home").exists()
    assert set(server.nodes) == {"other", "site", "c1", "c2"}
    assert server.nodes["c2"]["asset key"] == "serial"
    assert "small.site" in yaml.safe_load(server.nodes_conf.read_bytes())["nodeprofiles"]
    assert server.nodes_conf.is_symlink()


def nodes_conf(text: str) -> Callable[[Path], object]:
    return lambda directory: (directory / "nodes.conf").write_text(text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (nodes_conf(SERVER.replace("other:", "c2:")), "c2 is a node of the server that is not from clustergen"),
        (
            nodes_conf(SERVER.replace("small.site:", "small.gpu:")),
            "small.gpu is a profile of the server that is not from",
        ),
        (nodes_conf(SERVER.replace("  bmc:", "  ipmi:")), "the server has no profile bmc"),
        (nodes_conf("nodes: ["), "nodes.conf: while parsing"),
        (nodes_conf(f"{SERVER}  other: {{}}\n"), "nodes.conf:10: other is listed twice"),
        (nodes_conf("- nodes"), "nodes.conf: it is no mapping"),
        (nodes_conf("nodes: [c1]"), "nodes.conf: nodes is no mapping"),
        (nodes_conf("nodeprofiles: {a: {tags: [b]}}"), "nodeprofiles: a: tags is no mapping"),
        (nodes_conf("nodes: {c1: {profiles: small.gpu}}"), "nodes: c1: profiles is no list"),
        (
            lambda directory: (directory / "images/debian-13/rootfs/etc/systemd").symlink_to("/usr"),
            "/etc/systemd is a link in image debian-13",
        ),
    ],
)
def test_the_program_refuses_before_it_writes(
    server: Server, tmp_path: Path, prepare: Callable[[Path], object], message: str
) -> None:
    prepare(tmp_path)
    before = server.nodes_conf.read_bytes()
    done = server.install(tree_of(cluster(profiles=["bmc"]), tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("refused: ")
    assert message in done.stderr
    assert server.nodes_conf.read_bytes() == before
    assert list((tmp_path / "overlays").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lock", "message"),
    [
        (('"target": "/etc/hosts"', '"target": "/../../../../../escaped"'), "/../../../../../escaped is outside"),
        (('"overlays/all/etc/hosts"', '"../nodes.conf"'), "../nodes.conf or /etc/hosts is outside"),
        (('"mode": "0644"', '"mode": "9644"'), "has the mode '9644'"),
        (('"mode": "0644"', '"mode": 420'), "has values that are no text"),
        (('"owner": "root:root"', '"owner": "root"'), "has the owner 'root'"),
        (('"files":', '"fields":'), "is not as it was rendered ('files')"),
        (('"files":', '"files"'), "is not as it was rendered (Expecting"),
    ],
)
def test_files_of_the_lock_file_stay_in_tree_and_overlay(
    server: Server, tmp_path: Path, lock: tuple[str, str], message: str
) -> None:
    done = server.install(tree_of(cluster(), tmp_path), "--check", lock=lock)
    assert message in done.stderr
    assert done.returncode == 1
    assert not list(tmp_path.rglob("escaped"))


@pytest.mark.slow
def test_a_run_that_was_cut_is_finished_by_the_next(server: Server, tmp_path: Path) -> None:
    tree = tree_of(cluster(), tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/wwctl").mkdir()  # cannot be run
    assert server.install(tree, programs=("systemctl",)).returncode == 1
    (tmp_path / "bin/wwctl").rmdir()
    cut = "previous run was cut off: overlays will be built\n"
    then = "then: wwctl configure hostfile; if DHCP has fixed addresses (template: static), wwctl configure dhcp\n"
    for arguments, status, output in ((("--check",), 1, cut), ((), 0, cut + then)):
        done = server.install(tree, *arguments)
        assert (done.stdout, done.returncode) == (output, status)
    assert calls(tmp_path)[-2:] == [
        "systemctl try-reload-or-restart warewulfd.service",
        "wwctl overlay build c1 c2 c3 c4",
    ]
    assert server.install(tree).returncode == 0
    assert len(calls(tmp_path)) == 3


@pytest.mark.slow
def test_a_tree_that_is_not_as_rendered_removes_no_nodes(server: Server, tmp_path: Path) -> None:
    """After a merge conflict or a killed render, a shorter nodes.conf would remove the other nodes."""
    tree = tree_of(cluster(), tmp_path)
    assert server.install(tree).returncode == 0
    program = tree.files["warewulf/install.py"]
    rendered, script = tmp_path / "rendered", b"import pathlib\nroot = pathlib.Path(__file__).parent\n"
    start = b"\nimport argparse\n"
    edit = b"text = (root / 'nodes.conf').read_text()\n(root / 'nodes.conf').write_text(text.split('  c2')[0])\n"
    journal = b"(root.parent / '.clustergen-render').mkdir()\n"
    journal += b"(root.parent / '.clustergen-render/journal.json').touch()\n"
    for change, message in ((edit, "nodes.conf is not as it was rendered"), (journal, "was interrupted: render again")):
        changed = replace(program, content=program.content.replace(start, b"\n" + script + change + start, 1))
        done = server.install(replace(tree, files={**tree.files, program.path: changed}))
        assert (done.returncode, message in done.stderr) == (1, True), done.stderr
        assert list(server.nodes)[-4:] == ["c1", "c2", "c3", "c4"]
        shutil.rmtree(rendered)


@pytest.mark.slow
def test_merge_keys_of_the_server_keep_their_values(server: Server, tmp_path: Path) -> None:
    """Warewulf's reader resolves them; as plain text they would be lost with all that they bring."""
    merge = "  last: {<<: *base, comment: last}\n"
    nodes_conf(SERVER.replace("  site: {", "  site: &base {comment: first, ") + merge)(tmp_path)
    done = server.install(tree_of(cluster(), tmp_path))
    assert done.returncode == 0, done.stderr
    assert server.nodes["last"] == {"comment": "last", "profiles": ["small.site"]}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_foreign_directory_in_place_of_an_overlay_is_refused_before_any_changes(
    server: Server, tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "overlays/small.slurm_node"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/made-by-clustergen").touch()
    if kind == "file":
        place.touch()
    else:
        place.symlink_to(tmp_path / "elsewhere")
    assert f"{place} is not from clustergen" in server.install(tree_of(cluster(), tmp_path)).stderr
    assert [path.name for path in (tmp_path / "overlays").iterdir()] == [place.name]


@pytest.mark.slow
def test_files_get_the_numbers_that_their_accounts_have_in_the_image(server: Server, tmp_path: Path) -> None:
    tree = tree_of(cluster(), tmp_path)
    hosts = tree.files["overlays/all/etc/hosts"]
    files = {**tree.files, hosts.path: replace(hosts, owner="slurm", owner_group="slurm", mode=0o640)}
    tree = replace(tree, files=files)
    assert server.install(tree).returncode == 0
    info = (server.overlay("all") / "etc/hosts").stat()
    assert (info.st_uid, info.st_gid, info.st_mode & 0o7777) == (SLURM, SLURM, 0o640)
    (tmp_path / "images/debian-13/rootfs/etc/passwd").write_text("root:x:0:0::/:\n", encoding="utf-8")
    before = sorted(tmp_path.glob("overlays/*"))
    assert "image debian-13 has no slurm in /etc/passwd" in server.install(tree).stderr
    assert sorted(tmp_path.glob("overlays/*")) == before
