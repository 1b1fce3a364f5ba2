"""Mount units that systemd accepts, with options that the manifest decides."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustergen.catalogue.storage import mount_option
from clustergen.render.mounts import merged
from clustergen.render.unit_names import escape_path, mount_unit
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.file_systems import BEEGFS, CEPH, LOCAL, LUSTRE, NFS, UNITS, WEKA, options, stored
from strategies.trees import COMPUTE, HEAD, codes_of, lay_out, manifest, node_files, text_of, tree_of

PATHS = st.lists(st.text("abzAZ019-_.:@+,%", min_size=1, max_size=8), min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(part for part in parts if set(part) != {"."}) or "/x"
)


@pytest.mark.real
@settings(max_examples=10, deadline=None)
@given(st.lists(PATHS.filter(lambda path: path.strip("/.")), min_size=30, max_size=30))
def test_unit_names_are_systemds(paths: list[str]) -> None:
    root = root_with("systemd-escape")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    result = sandbox.run(sandbox.Sandbox(root), ["systemd-escape", "-p", "--suffix=mount", "--", *paths], timeout=300)
    assert result.code == 0, result.stderr
    assert result.stdout.split() == [str(mount_unit(path)) for path in paths]


@pytest.mark.parametrize("path", ["relative", "/a/../b", "/.."])
def test_paths_that_name_no_unit(path: str) -> None:
    with pytest.raises(ValueError, match="no plain absolute path"):
        escape_path(path)


def test_unit_of_the_root_and_of_a_trailing_slash() -> None:
    assert escape_path("/") == "-"
    assert mount_unit("/mnt/x/") == "mnt-x.mount"


@pytest.mark.parametrize(
    ("ours", "theirs", "result"),
    [
        (["hard", "nosuid"], ["soft"], ["nosuid", "soft"]),
        (["noatime"], ["relatime"], ["relatime"]),
        (["flock"], ["localflock"], ["localflock"]),
        (["vers=4.2"], ["nfsvers=3"], ["nfsvers=3"]),
        (["net=ib0", "net=ib1"], ["net=eth0"], ["net=eth0"]),
        (["nosuid", "nodev"], ["suid"], ["nodev", "suid"]),
        (["num_cores=2"], ["core=3", "core=5"], ["core=3", "core=5"]),
        (["nconnect=8"], ["noac"], ["nconnect=8", "noac"]),
        (["ro"], ["ro"], ["ro"]),
    ],
)
def test_the_manifests_options_win(ours: list[str], theirs: list[str], result: list[str]) -> None:
    assert merged(ours, theirs) == result


def test_options_reach_the_unit_once(tmp_path: Path) -> None:
    tree = stored(
        tmp_path, home={**NFS, "nconnect": 8, "options": ["nconnect=2", "suid"], "required": False, "read_only": True}
    )
    findings = options(text_of(tree, "c1", f"{UNITS}/home.mount"))
    assert [word for word in findings if word.startswith("nconnect")] == ["nconnect=2"]
    assert {"suid", "ro", "_netdev", "vers=4.2", "hard"} <= set(findings)
    assert "nosuid" not in findings


@pytest.mark.slow
def test_our_options_are_known_to_the_catalogue(tmp_path: Path) -> None:
    entries = {
        "lus": LUSTRE,
        "home": NFS,
        "weka": WEKA,
        "bee": BEEGFS,
        "ceph": CEPH,
        "more": {**NFS, "mount": "/more", "rdma": True},
    }
    tree = stored(tmp_path, **entries)
    kinds = set()
    for target, file in node_files(tree, "c1").items():
        if target.endswith(".mount"):
            text = file.content.decode()
            kind = re.findall(r"^Type=(\w+)$", text, re.MULTILINE)[0]
            kinds.add(kind)
            for option in options(text):
                row = mount_option(kind, option)
                assert row is not None, (kind, option)
                assert row.takes_value == ("=" in option), (kind, option)
                assert not row.ignored, (kind, option)
    assert kinds == {"lustre", "nfs", "wekafs", "beegfs", "ceph"}


@pytest.mark.parametrize("option", ["a,b", "a b", 'a"', "a\nb", "a=%i\n", "a=$(x)", "{{x}}"])
def test_options_that_break_out_are_refused(tmp_path: Path, option: str) -> None:
    assert codes_of(manifest(storage={"home": {**NFS, "options": [option]}}), tmp_path)


PACKAGES = ("lnet", "weka-agent", "beegfs-client", "beegfs-helperd", "openibd", "zfs-mount")


def verify_units(directory: Path, root_directory: Path) -> str:
    """Messages of systemd about all units below a directory; units and programs of packages are stood in for."""
    root = root_with("systemd-analyze")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    stands = root_directory / "stands"
    (stands / "usr/lib/systemd/system").mkdir(parents=True)
    (stands / "usr/sbin").mkdir()
    for name in PACKAGES:
        text = "[Service]\nType=oneshot\nExecStart=/usr/bin/true\n"
        (stands / f"usr/lib/systemd/system/{name}.service").write_text(text, encoding="utf-8")
    (stands / "usr/sbin/lctl").write_text("#!/bin/sh\n", encoding="utf-8")
    (stands / "usr/sbin/lctl").chmod(0o755)
    names = [path.name for path in (directory / UNITS.lstrip("/")).iterdir() if path.is_file()]
    units = sorted(f"{UNITS}/{name.replace('@.', '@home.mount.')}" for name in names)
    assert units
    box = sandbox.Sandbox(root, files=((stands, "/"), (directory, "/")))
    result = sandbox.run(box, ["systemd-analyze", "verify", "--man=no", *units], timeout=300)
    lines = [
        line for line in result.stderr.splitlines() if not line.startswith("/usr/lib/systemd/")
    ]  # of systemd's own
    return "\n".join([str(result.code), *lines])


@pytest.mark.real
def test_systemd_accepts_every_unit(tmp_path: Path) -> None:
    tree = stored(
        tmp_path,
        lus={**LUSTRE, "parameters": {"osc.*.max_rpcs_in_flight": 32, "jobid_name": "%e.$u x"}},
        home=NFS,
        weka=WEKA,
        bee={**BEEGFS, "version": "7.4"},
        ceph=CEPH,
        disk=LOCAL,
    )
    assert verify_units(lay_out(tree, "c1", tmp_path / "node"), tmp_path) == "0"


@pytest.mark.real
def test_systemd_would_see_a_wrong_unit(tmp_path: Path) -> None:
    """The check above can fail: a unit whose name does not fit its path."""
    directory = lay_out(stored(tmp_path, disk=LOCAL), "c1", tmp_path / "node")
    unit = directory / "etc/systemd/system/scratch.mount"
    unit.rename(unit.with_name("other.mount"))
    assert "doesn't match unit name" in verify_units(directory, tmp_path)


@pytest.mark.slow
def test_the_host_of_slurmdbd_mounts_the_directory_of_backups(tmp_path: Path) -> None:
    books = {"name": "db", "type": "service", "address": "10.0.0.2", "roles": ["slurm-accounting"]}
    nodes = [{**HEAD, "roles": ["slurm-controller"]}, books, COMPUTE]
    entry = {**NFS, "mount": "/backup", "clients": ["slurm-controller"]}
    more = {"nodes": nodes, "backups": {"directory": "/backup/slurm"}}
    assert codes_of(manifest(storage={"backup": entry}, **more), tmp_path) == ["path-not-mounted"]
    entry["clients"] = ["slurm-controller", "slurm-accounting"]
    tree = tree_of(manifest(storage={"backup": entry}, **more), tmp_path)
    assert "What=filer:/export/home\n" in text_of(tree, "db", f"{UNITS}/backup.mount")
