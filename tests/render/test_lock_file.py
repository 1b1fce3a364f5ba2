"""The lock file is untrusted: with any content, every reader of a tree ends with a message and exit code 3."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleError

from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import Tree as AnsibleTree
from clustergen.diagnostics import ClustergenError
from clustergen.diff.snapshot import is_fresh, manifest_name, of_directory
from clustergen.render.compare import differences
from clustergen.render.lock_file import LockFileError, parse_lock, read_lock
from clustergen.render.tree import LOCK, LOCK_LIMIT
from clustergen.render.write import write
from clustergen.verify.files import read_tree
from strategies.output_faults import plain_tree
from strategies.trees import manifest, tree_of

ROOT = Path(__file__).parents[2]
TREE = plain_tree({"a": "1"})
LOCKED: dict[str, Any] = json.loads(TREE.lock())
ENTRY = LOCKED["files"]["a"]
HARDWARE = {"sockets": 2, "cores": 8, "threads": 2, "numa": 1, "numbering": "sockets", "cpus": ["0-7,16-23"]}
READERS = {
    "render": lambda directory: write(TREE, directory),
    "render --check": lambda directory: differences(TREE, directory),
    "diff": lambda directory: of_directory("old", directory),
    "verify": read_tree,
    "playbook": AnsibleTree,
}


def entry(**changes: Any) -> dict[str, Any]:
    return {**LOCKED, "files": {"a": {key: value for key, value in {**ENTRY, **changes}.items() if value != "gone"}}}


BROKEN: dict[str, tuple[Any, str]] = {
    "empty": (b"", "not JSON"),
    "not text": (b"\xff\x00\x80", "not JSON"),
    "cut off": (TREE.lock()[:200], "not JSON"),
    "deep": (b"[" * 200_000, "nested too deeply"),
    "deep mappings": (b'{"a":' * 200_000, "nested too deeply"),
    "digits": (b'{"format": ' + b"9" * 5000 + b"}", "not JSON"),
    "a list": ([], "not a mapping"),
    "null": (None, "not a mapping"),
    "no format": ({}, "no format number"),
    "a format that is none": ({**LOCKED, "format": True}, "no format number"),
    "another format": ({**LOCKED, "format": -1}, "has format -1, this clustergen reads format 2"),
    "a later format": ({**LOCKED, "format": 99, "clustergen": "9.1"}, r"clustergen 9\.1 rendered this tree"),
    "a later format of nobody": ({**LOCKED, "format": 99, "clustergen": "\x1b[2K"}, "this clustergen reads format 2"),
    "no version": ({**LOCKED, "clustergen": None}, "clustergen is None"),
    "no manifest": ({**LOCKED, "manifest": "m.yaml"}, "no mapping 'manifest'"),
    "a manifest elsewhere": ({**LOCKED, "manifest": {"name": "../m.yaml", "meaning": "0" * 64}}, r"manifest\.name is"),
    "a name of two lines": ({**LOCKED, "manifest": {"name": "m\n.yaml", "meaning": "0" * 64}}, r"manifest\.name is"),
    "hardware as a list": ({**LOCKED, "hardware": [1]}, "no mapping 'hardware'"),
    **{
        f"hardware: {case}": ({**LOCKED, "hardware": {"type_a": {**HARDWARE, **changes}}}, "hardware of 'type_a'")
        for case, changes in {
            "no cores": {"cores": 0},
            "a number in words": {"threads": "2"},
            "a name of two lines": {"gpu": "H100\ngpu 1"},
            "CPUs that are none": {"cpus": ["0-3;4"]},
            "links in words": {"links": [["many"]]},
            "links that are no rows": {"links": [1]},
            "more GPUs than a node has": {"cpus": ["0"] * 65},
            "an unknown numbering": {"numbering": "random"},
            "links to other GPUs than there are": {"links": [[-1, 4]]},
            "more CPUs than a machine has": {"cores": 4096},
            "a disk in words": {"disk": "1TB"},
            "a device outside of /dev": {"devices": ["/dev/../etc/passwd"]},
            "an unknown key": {"colour": "green"},
        }.items()
    },
    "files as a list": ({**LOCKED, "files": [1]}, "no mapping 'files'"),
    "an entry as a number": ({**LOCKED, "files": {"a": 1}}, "a has no mapping"),
    "no hash": (entry(sha256="gone"), "a: sha256 is None"),
    "a hash that is none": (entry(sha256="00"), "a: sha256 is '00'"),
    "a mode in words": (entry(mode="rw-r--r--"), "a: mode is 'rw-r--r--'"),
    "a mode as a number": (entry(mode=644), "a: mode is 644"),
    "no owner": (entry(owner="gone"), "a: owner is None"),
    "an unknown effect": (entry(effect="explode"), "no effect is called 'explode'"),
    "a group elsewhere": (entry(group="../x"), "a: group is"),
    "a target without a group": (entry(group="gone"), "effect without a group"),
    "a relative target": (entry(target="etc/passwd"), "a: target is"),
    "a target elsewhere": (entry(target="/../../etc/passwd"), "outside the tree of a node"),
    "escapes": (entry(owner="\x1b[2K:root"), r"a: owner is '\\x1b\[2K:root'"),
    **{
        f"the path {path!a}": ({**LOCKED, "files": {path: ENTRY}}, "is outside the tree")
        for path in (
            "", ".", "..", "/etc/passwd", "../a", "a/../../b", "a/..", "./a", "a//b", "a/", "a\nb", "\x1b[2Ka", "a\0",
            "\udcff", ".clustergen-render/x", ".clustergen-render.owner",
            ".git", "a/.Git/HEAD", "GIT~1/HEAD", ".git./x",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_lock_file(case: str) -> None:
    content, message = BROKEN[case]
    with pytest.raises(ValueError, match=message):
        parse_lock(content if isinstance(content, bytes) else json.dumps(content).encode())


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("put", ["deep", "files as a list", "the path '../a'", "large", "FIFO", "link", "directory"])
def test_every_reader_refuses_it(tmp_path: Path, reader: str, put: str) -> None:
    directory = tmp_path / "rendered"
    write(TREE, directory)
    place = directory / LOCK
    place.unlink()
    if put in BROKEN:
        content = BROKEN[put][0]
        place.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    else:
        makers: dict[str, Callable[[Path], object]] = {
            "large": lambda place: place.write_bytes(b" " * (LOCK_LIMIT + 1)),
            "FIFO": os.mkfifo,
            "link": lambda place: place.symlink_to("/dev/zero"),
            "directory": Path.mkdir,
        }
        makers[put](place)
    with pytest.raises((ClustergenError, AnsibleError), match=rf"{LOCK} cannot be read: ") as caught:
        READERS[reader](directory)
    assert getattr(caught.value, "exit_code", 3) == 3
    assert manifest_name(directory) is None
    assert not is_fresh(directory, tmp_path / "manifest.yaml")


def test_a_written_lock_file_is_read(tmp_path: Path) -> None:
    for path in ROOT.glob("inventories/*/rendered"):
        assert read_lock(path) == json.loads((path / LOCK).read_text())
    assert read_lock(tmp_path) is None
    (tmp_path / LOCK).write_text("x")
    with pytest.raises(LockFileError, match=r"main:rendered/clustergen\.lock\.json cannot be read"):
        read_lock(tmp_path, "main:rendered")


@pytest.mark.parametrize("reader", ["render --check", "diff", "verify", "playbook"])
def test_no_verb_reads_a_tree_while_a_journal_is_open(tmp_path: Path, reader: str) -> None:
    directory = tmp_path / "rendered"
    write(tree_of(manifest(), tmp_path), directory)
    READERS[reader](directory)
    (directory / ".clustergen-render").mkdir()
    (directory / ".clustergen-render/journal.json").write_text("{}")
    with pytest.raises((ClustergenError, AnsibleError), match=r"a render was interrupted.*") as caught:
        READERS[reader](directory)
    assert getattr(caught.value, "exit_code", 3) == 3
