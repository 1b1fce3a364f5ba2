"""Keys by which other tools describe a mount: one error each, whose hint gives a valid entry."""

from __future__ import annotations

import pytest

from strategies.findings import TINY, changed, diagnosed

ENTRIES = {
    "nfs": {"server": "10.0.0.9", "path": "/srv", "mount": "/data"},
    "lustre": {"mgs": "[10.0.0.9@tcp]", "fsname": "work", "mount": "/data"},
    "beegfs": {"mgmtd": "10.0.0.9", "version": '"7.4"', "mount": "/data"},
    "cephfs": {
        "monitors": "[10.0.0.9]",
        "fsid": "3c1a3a5e-7f0a-4b7e-9d0e-5a1f6f6f1c2d",
        "user": "cluster",
        "mount": "/data",
    },
    "weka": {"backends": "[10.0.0.9]", "filesystem": "default", "mount": "/data"},
    "storage_scale": {"contacts": "[10.0.0.9]", "filesystem": "fs1", "mount": "/data"},
    "local": {"device": "/dev/vdb", "mount": "/data", "filesystem": "xfs"},
}
WRONG = [
    # kind, the keys that it replaces, what stands there instead, the hint
    ("nfs", "path", "export: /srv", "path: /srv"),
    ("nfs", "path", "share: /srv", "path: /srv"),
    ("nfs", "path", "device: /srv", "path: /srv"),
    ("nfs", "server", "host: 10.0.0.9", "server: 10.0.0.9"),
    ("nfs", "server", "servers: [10.0.0.9]", "server: 10.0.0.9"),
    ("nfs", "server path", 'source: "10.0.0.9:/srv"', "server: 10.0.0.9, path: /srv"),
    ("nfs", "server path", 'device: "10.0.0.9:/srv"', "server: 10.0.0.9, path: /srv"),
    ("nfs", "mount", "mountpoint: /data", "mount: /data"),
    ("nfs", "mount", "target: /data", "mount: /data"),
    ("nfs", "", "opts: [noatime]", "options: [noatime]"),
    ("lustre", "mgs", "server: 10.0.0.9@tcp", 'mgs: ["10.0.0.9@tcp"]'),
    ("lustre", "mgs", "mgsnode: [10.0.0.9@tcp]", 'mgs: ["10.0.0.9@tcp"]'),
    ("lustre", "mgs fsname", 'source: "10.0.0.9@tcp:/work"', 'mgs: ["10.0.0.9@tcp"], fsname: work'),
    ("lustre", "fsname", "filesystem: work", "fsname: work"),
    ("lustre", "fsname", "path: /work", "fsname: work"),
    ("beegfs", "mgmtd", "server: 10.0.0.9", "mgmtd: 10.0.0.9"),
    ("beegfs", "mgmtd", "sysMgmtdHost: 10.0.0.9", "mgmtd: 10.0.0.9"),
    ("beegfs", "mount", "path: /data", "mount: /data"),
    ("cephfs", "monitors", "mons: [10.0.0.9]", "monitors: [10.0.0.9]"),
    ("cephfs", "monitors", 'server: "10.0.0.9:6789:/"', 'monitors: ["10.0.0.9:6789"]'),
    ("cephfs", "user", "client: cluster", "user: cluster"),
    ("weka", "backends", "server: 10.0.0.9", "backends: [10.0.0.9]"),
    ("weka", "backends filesystem", "backends: 10.0.0.9/default", "backends: [10.0.0.9], filesystem: default"),
    ("weka", "filesystem", "path: /default", "filesystem: default"),
    ("storage_scale", "filesystem", "device: fs1", "filesystem: fs1"),
    ("local", "device", "devices: [/dev/vdb]", "device: /dev/vdb"),
    ("local", "filesystem", "fstype: xfs", "filesystem: xfs"),
]
_SHAPE = ("key-unknown", "key-missing", "type-wrong", "value-not-allowed", "text-malformed")


def shape(kind: str, replaced: str, instead: str) -> list[str | None]:
    """The hints of what is wrong with the shape of such an entry."""
    rest = [f"{key}: {value}" for key, value in ENTRIES[kind].items() if key not in replaced.split()]
    entry = ", ".join([f"type: {kind}", *filter(None, [instead]), *rest])
    text = changed(TINY, ("slurm: {", f"storage:\n  data: {{{entry}}}\nslurm: {{"))
    return [one.hint for one in diagnosed(text) if one.code in _SHAPE]


@pytest.mark.many
@pytest.mark.parametrize(("kind", "replaced", "instead", "meant"), WRONG, ids=[f"{row[0]} {row[2]}" for row in WRONG])
def test_another_word_is_one_error_with_what_to_write(kind: str, replaced: str, instead: str, meant: str) -> None:
    assert shape(kind, replaced, instead) == [f"write {meant}"]
    assert shape(kind, replaced, meant) == []


def test_a_mount_by_its_keys_gets_its_type() -> None:
    text = changed(TINY, ("slurm: {", "storage: {a: {server: 10.0.0.9, path: /srv, mount: /srv}}\nslurm: {"))
    assert [one.hint for one in diagnosed(text) if one.code == "key-missing"] == ["add type: nfs"]


def test_a_type_above_the_keys_of_a_mount_goes_among_them() -> None:
    keys = "server: 10.0.0.9, path: /srv, mount: /data"
    text = changed(TINY, ("slurm: {", f"storage: {{a: {{nfs: {{{keys}}}}}}}\nslurm: {{"))
    assert [one.hint for one in diagnosed(text) if one.code in _SHAPE] == [f"write {{type: nfs, {keys}}}"]


@pytest.mark.parametrize("kind", ENTRIES)
def test_a_key_that_is_there_already_is_to_be_removed(kind: str) -> None:
    (hint,) = shape(kind, "", "mountpoint: /elsewhere")
    assert hint == "remove it: the entry has mount"
