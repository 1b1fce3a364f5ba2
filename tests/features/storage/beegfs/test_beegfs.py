"""BeeGFS clients: keys of each release, and the kernel module."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from clustergen.catalogue.storage import beegfs_keys
from clustergen.catalogue.versions import BeegfsVersion
from clustergen.render.formats import RenderError
from strategies.file_systems import BEEGFS, UNITS, options, stored
from strategies.trees import manifest, node_files, text_of, tree_of


def beegfs_conf(text: str) -> dict[str, str]:
    """Parse a file like the client: comments only where a line begins, the last of several values holds."""
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    assert len({key.strip() for key, _, _ in pairs}) == len(pairs), "a key stands twice"
    return {key.strip(): value.strip() for key, _, value in pairs}


@pytest.mark.slow
def test_each_release_has_its_own_port_keys(tmp_path: Path) -> None:
    entry = {**BEEGFS, "mgmtd": "mgmt1:9008"}
    new = beegfs_conf(text_of(stored(tmp_path, bee=entry), "c1", "/etc/beegfs/beegfs-client.conf"))
    assert new["connMgmtdPort"] == "9008"
    assert not {"connMgmtdPortTCP", "connClientPortUDP"} & set(new)
    tree = stored(tmp_path, bee={**entry, "version": "7.4"})
    old = beegfs_conf(text_of(tree, "c1", "/etc/beegfs/beegfs-client.conf"))
    assert old["connMgmtdPortTCP"] == old["connMgmtdPortUDP"] == "9008"
    assert not {"connMgmtdPort", "connClientPort"} & set(old)
    assert "/etc/beegfs/beegfs-helperd.conf" in node_files(tree, "c1")


@pytest.mark.parametrize("version", ["7.4", "8.0", "8.1", "8.2", "8.3"])
def test_every_release_knows_its_keys(tmp_path: Path, version: str) -> None:
    entry = {**BEEGFS, "version": version, "interfaces": ["ibp24s0"], "net_filter": ["10.0.0.0/8"], "quota": True}
    files = node_files(stored(tmp_path, bee=entry), "c1")
    for name in ("beegfs-client.conf", "beegfs-helperd.conf"):
        if (file := files.get(f"/etc/beegfs/{name}")) is not None:
            keys = {key.key for key in beegfs_keys(name, BeegfsVersion(version))}
            assert keys >= set(beegfs_conf(file.content.decode())), name


def test_mount_helper_finds_the_management_host(tmp_path: Path) -> None:
    """mount.beegfs of BeeGFS 8 takes exactly one line of this shape."""
    text = text_of(stored(tmp_path, bee={**BEEGFS, "mgmtd": "mgmt1"}), "c1", "/etc/beegfs/beegfs-client.conf")
    assert re.findall(r"^\s*sysMgmtdHost\s*=\s*(\S+)\s*$", text, re.MULTILINE) == ["mgmt1"]


def test_an_option_takes_the_place_of_ours(tmp_path: Path) -> None:
    entry = {
        **BEEGFS,
        "client_options": {"connUseRDMA": "false", "tuneFileCacheType": "native"},
        "authentication": False,
    }
    conf = beegfs_conf(text_of(stored(tmp_path, bee=entry), "c1", "/etc/beegfs/beegfs-client.conf"))
    assert conf["connUseRDMA"] == "false"
    assert conf["tuneFileCacheType"] == "native"
    assert conf["connDisableAuthentication"] == "true"
    assert "connAuthFile" not in conf


@pytest.mark.parametrize("value", ["native\nsysMgmtdHost = evil", "a\rb", "a\u2028b"])
def test_a_beegfs_value_stays_in_its_line(tmp_path: Path, value: str) -> None:
    data = manifest(storage={"bee": {**BEEGFS, "client_options": {"tuneFileCacheType": value}}})
    with pytest.raises((RenderError, AssertionError)):
        tree_of(data, tmp_path)


AUTOBUILD = "/etc/beegfs/beegfs-client-autobuild.conf"


# As the client's AutoRebuild.mk takes the arguments from the file, and hands them to make.
BUILD = """ARGS = $(shell grep "^\\s*buildArgs\\s*=" "{conf}" | cut --delimiter="=" --fields="2-")
all:
\t@$(MAKE) -s $(ARGS) module
module:
\t@echo "[$(OFED_INCLUDE_PATH)]"
"""


@pytest.mark.parametrize("installed", [True, False])
def test_the_module_is_built_against_the_headers_of_the_installed_ofed(tmp_path: Path, installed: bool) -> None:
    text = text_of(stored(tmp_path, bee=BEEGFS), "c1", AUTOBUILD)
    headers = tmp_path / "ofa_kernel/default/include"
    conf = tmp_path / "autobuild.conf"
    conf.write_text(text.replace("/usr/src/ofa_kernel/default/include", str(headers)), encoding="utf-8")
    if installed:
        headers.mkdir(parents=True)
    (tmp_path / "Makefile").write_text(BUILD.format(conf=conf), encoding="utf-8")
    done = subprocess.run(
        ["make", "--no-print-directory", "-C", str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.splitlines()[-1] == (f"[{headers}]" if installed else "[]"), done.stderr


@pytest.mark.slow
def test_without_rdma_the_module_is_built_as_the_package_has_it(tmp_path: Path) -> None:
    assert AUTOBUILD not in node_files(stored(tmp_path, bee={**BEEGFS, "rdma": False}), "c1")


@pytest.mark.slow
def test_two_file_systems_share_no_port_file_or_secret(tmp_path: Path) -> None:
    tree = stored(
        tmp_path,
        bee=BEEGFS,
        more={**BEEGFS, "mount": "/mnt/more", "interfaces": ["ibp64s0", "ibp24s0"], "net_filter": ["10.0.0.0/8"]},
    )
    one = beegfs_conf(text_of(tree, "c1", "/etc/beegfs/beegfs-client.conf"))
    two = beegfs_conf(text_of(tree, "c1", "/etc/beegfs/beegfs-client-more.conf"))
    for key in ("connClientPort", "connAuthFile"):
        assert one[key] != two[key]
    assert "cfgFile=/etc/beegfs/beegfs-client-more.conf" in options(text_of(tree, "c1", f"{UNITS}/mnt-more.mount"))
    lines = text_of(tree, "c1", two["connInterfacesFile"]).splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["ibp64s0", "ibp24s0"]
