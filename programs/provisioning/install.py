#!/usr/bin/python3
"""Brings this tree to the Warewulf server that it runs on: an overlay per group, profiles and nodes.

usage: install.py [--check]     --check: shows what would change, and changes nothing
exit   0 done; with --check: nothing would change    1 refused, or with --check: something would change

Files take effect when a node boots. Settings of the server that are not in the tree stay: profiles without the tag
clustergen: CLUSTER, nodes without such a profile, asset keys, passwords of BMCs.
"""

from __future__ import annotations

import argparse
import fcntl
import filecmp
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parent.parent
CLUSTER: str = json.loads((TREE / "warewulf/install.json").read_text(encoding="utf-8"))["cluster"]
TAG = {"clustergen": CLUSTER}  # of profiles; nodes belong to them
MARK = "made-by-clustergen"  # beside rootfs, where Warewulf does not read it
UNITS = "etc/systemd/system"
AT_ONCE = 500  # nodes whose overlays one command builds
Document = dict[str, Any]
Images = dict[str, Path]  # name of an image → its root
Files = list[tuple[str, Path, Document]]  # path on the node, place in the tree, lock entry


class Refused(Exception):  # noqa: N818
    pass


def read_yaml(path: Path) -> Document:
    """Numbers and truth values as Warewulf's reader has them: a MAC address without quotes stays a text."""
    try:
        import yaml
    except ImportError:
        raise Refused("PyYAML is missing: install python3-yaml (python3-pyyaml on Rocky)") from None

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012

    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|false)$"), list("tf"))
    Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(~|null|)$"), ["~", "n", ""])
    Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?(0|[1-9][0-9]*)$"), list("-0123456789"))
    Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"^<<$"), ["<"])
    try:
        loader = Loader(path.read_bytes())
        node = loader.get_single_node()
        refuse_double_keys(path, node)
        document = loader.construct_document(node) if node else {}
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        raise Refused(f"{path}: {' '.join(str(problem).split())}") from None
    refuse_other_shapes(path, document)
    return document


def refuse_double_keys(path: Path, root: Any) -> None:
    """PyYAML would keep the last one, and Warewulf reads no such file."""
    import yaml

    nodes, seen = [root], set[int]()
    while nodes:
        node = nodes.pop()
        if id(node) in seen or not isinstance(node, yaml.CollectionNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            nodes += node.value
            continue
        names = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in names:
                raise Refused(f"{path}:{key.start_mark.line + 1}: {key.value} is listed twice")
            if isinstance(key, yaml.ScalarNode):
                names.add(key.value)
            nodes += [key, value]


def refuse_other_shapes(path: Path, document: Any) -> None:
    """Of what merge() reads; all else is passed on as it is."""

    def check(name: str, value: Any, kind: type) -> Any:
        if value is not None and not isinstance(value, kind):
            raise Refused(f"{path}: {name} is no {'mapping' if kind is dict else 'list'}")
        return value or kind()

    for section in ("nodeprofiles", "nodes"):
        for name, values in check(section, check("it", document, dict).get(section), dict).items():
            values = check(f"{section}: {name}", values, dict)
            for key, kind in (("tags", dict), ("ipmi", dict), ("profiles", list)):
                check(f"{section}: {name}: {key}", values.get(key), kind)


def write_yaml(path: Path, data: Document) -> None:
    """In one step, with mode and owner of the file before."""
    import yaml

    os.umask(0o077)  # it may hold passwords of BMCs
    new, kept = path.with_name(path.name + ".new"), path.with_name(path.name + ".before")
    for left in (new, kept):  # of an earlier run, perhaps with another mode
        left.unlink(missing_ok=True)
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    with new.open("w", encoding="utf-8") as file:
        yaml.dump(data, file, Dumper=dumper, sort_keys=False, default_flow_style=False)
        before = path.stat()
        os.chown(new, before.st_uid, before.st_gid)
        new.chmod(stat.S_IMODE(before.st_mode))
        file.flush()
        os.fsync(file.fileno())  # a rename may reach the disk before the text does
    shutil.copy2(path, kept)
    new.replace(path)


def read_lock() -> Document:
    """The lock file, of a tree that is complete and whose data are as they were rendered."""
    if os.path.lexists(TREE / ".clustergen-render/journal.json"):
        raise Refused(f"a render of {TREE} was interrupted: render again")
    try:
        lock: Document = json.loads((TREE / "clustergen.lock.json").read_text(encoding="utf-8"))
        expected = {name: lock["files"][name]["sha256"] for name in ("warewulf/nodes.conf", "warewulf/install.json")}
        for path, entry in lock["files"].items():
            values = [entry[key] for key in ("target", "mode", "owner", "sha256")] if "group" in entry else []
            if not all(isinstance(value, str) and value.isprintable() for value in [path, *values]):
                raise ValueError(f"{path!r} has values that are no text")
            if "group" in entry and not re.fullmatch("[^:]+:[^:]+", entry["owner"]):
                raise ValueError(f"{path} has the owner {entry['owner']!r}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise Refused(f"clustergen.lock.json is not as it was rendered ({problem}): render again") from None
    for name, checksum in expected.items():
        if hashlib.sha256((TREE / name).read_bytes()).hexdigest() != checksum:
            raise Refused(f"{TREE}/{name} is not as it was rendered: render again")
    return lock


def tree_files(lock: Document, groups: Mapping[str, object]) -> dict[str, Files]:
    """The files of these groups, by group."""
    files: dict[str, Files] = {group: [] for group in groups}
    for group in groups:
        if not re.fullmatch("[a-z0-9_]+", group):
            raise Refused(f"{group!r} is no name of a group: render again")
    for path, entry in lock["files"].items():
        if entry.get("group") not in files:
            continue
        target, place = entry["target"].lstrip("/"), TREE / path
        if ".." in Path(target).parts or not place.resolve().is_relative_to(TREE):
            raise Refused(f"clustergen.lock.json: {path} or /{target} is outside the tree: render again")
        if not re.fullmatch("[0-7]{4}", entry["mode"]):
            raise Refused(f"clustergen.lock.json: {path} has the mode {entry['mode']!r}: render again")
        if hashlib.sha256(place.read_bytes()).hexdigest() != entry["sha256"]:
            raise Refused(f"{place} is not as it was rendered: render again")
        if target.endswith(".ww"):
            raise Refused(f"/{target} would be a template of Warewulf: give the file a name that does not end in .ww")
        files[entry["group"]].append((target, place, entry))
    return files


def number_of(account: str, table: str, images: Images) -> int:
    """Its number in the images, which have to agree: files of an overlay keep the numbers that they have here."""
    if account == "root":
        return 0
    numbers: dict[str, int | None] = {}
    for name, root in images.items():
        rows = [line.split(":") for line in (root / "etc" / table).read_text(encoding="utf-8").splitlines()]
        numbers[name] = {row[0]: int(row[2]) for row in rows if len(row) > 2 and row[2].isdecimal()}.get(account)
    for name, number in numbers.items():
        if number is None:
            advice = "install the packages of the tree in the image"
            raise Refused(f"image {name} has no {account} in /etc/{table}: {advice}")
    if len(set(numbers.values())) > 1:
        shown = ", ".join(f"{number} in {name}" for name, number in numbers.items())
        raise Refused(f"{account} has several numbers: {shown}. Give it one number in all images")
    return next(number for number in numbers.values() if number is not None)


def make_directory(root: Path, path: Path, images: Images) -> None:
    """With mode and owner that the directory has in an image: an overlay sets both on the node."""
    place = root
    for part in path.parts:
        place = place / part
        if place.is_dir():
            continue
        models = {name: image / place.relative_to(root) for name, image in images.items()}
        for name, model in models.items():
            if model.is_symlink():
                shown = f"/{place.relative_to(root)}"
                raise Refused(f"{shown} is a link in image {name}, and /{path} would replace it: use what it leads to")
        place.mkdir()
        place.chmod(0o755)
        for status in [model.stat() for model in models.values() if model.is_dir()][:1]:
            os.chown(place, status.st_uid, status.st_gid)
            place.chmod(stat.S_IMODE(status.st_mode))


def lay_out(root: Path, files: Files, images: Images) -> None:
    root.mkdir(parents=True)
    root.chmod(0o755)
    for target, source, entry in files:
        place = root / target
        make_directory(root, Path(target).parent, images)
        shutil.copyfile(source, place)
        owner, group = entry["owner"].split(":")
        os.chown(place, number_of(owner, "passwd", images), number_of(group, "group", images))
        place.chmod(int(entry["mode"], 8))
    for target, source, _ in files:  # links last: no file is written through one
        if Path(target).parent == Path(UNITS):
            enable(root, Path(target).name, source.read_text(encoding="utf-8"), images)


def enable(root: Path, unit: str, text: str, images: Images) -> None:
    """Links as `systemctl enable` makes them."""
    for kind, names in re.findall(r"^(Wanted|Required)By=(.*)$", text.partition("\n[Install]\n")[2], re.MULTILINE):
        for name in names.split():
            if "/" in name:
                raise Refused(f"/{UNITS}/{unit} is wanted by {name}, which is no unit")
            directory = Path(UNITS) / f"{name}.{'wants' if kind == 'Wanted' else 'requires'}"
            make_directory(root, directory, images)
            link = root / directory / unit
            if not link.is_symlink():
                link.symlink_to(f"/{UNITS}/{unit}")


def state(root: Path) -> dict[str, tuple[int, int, int, str]]:
    """The contents of an overlay: type, mode, owner, and link target of each entry."""
    rows = {}
    for place in sorted(root.rglob("*")):
        info = place.lstat()
        link = str(place.readlink()) if place.is_symlink() else ""
        rows[str(place.relative_to(root))] = (info.st_mode, info.st_uid, info.st_gid, link)
    return rows


def same(old: Path, new: Path) -> bool:
    if not old.is_dir():
        return False
    rows = state(new)
    plain = [name for name, row in rows.items() if stat.S_ISREG(row[0])]
    return state(old) == rows and not any(filecmp.cmpfiles(old, new, plain, shallow=False)[1:])


def lay_out_all(directory: Path, work: Path, files: dict[str, Files], images_of: dict[str, Images]) -> dict[Path, str]:
    """The overlays in work/new, and those that differ: place → new, changed or removed."""
    changed = {}
    for group, rows in files.items():
        place, new = directory / f"{CLUSTER}.{group}", work / "new" / f"{CLUSTER}.{group}"
        if os.path.lexists(place) and (place.is_symlink() or not (place / MARK).exists()):
            raise Refused(f"{place} is not from clustergen: rename that overlay")
        lay_out(new / "rootfs", rows, images_of[group])
        (new / MARK).touch()
        if not same(place / "rootfs", new / "rootfs"):
            changed[place] = "changed" if place.is_dir() else "new"
    for mark in sorted(directory.glob(f"{CLUSTER}.*/{MARK}")):
        if not (work / "new" / mark.parent.name).exists():
            changed[mark.parent] = "removed"
    return changed


def replace(work: Path, places: list[Path]) -> None:
    (work / "old").mkdir()
    for place in places:
        old = work / "old" / place.name
        try:
            if place.is_dir():
                place.rename(old)
            (work / "new" / place.name).rename(place)
        finally:
            if old.is_dir() and not place.exists():
                old.rename(place)


def merge(server: Document, tree: Document) -> tuple[Document, list[str]]:
    """The server's nodes.conf with this cluster's profiles and nodes, and what changed, as lines."""
    profiles, nodes = dict(server.get("nodeprofiles") or {}), dict(server.get("nodes") or {})
    lines = []
    ours = {name for name, values in profiles.items() if TAG.items() <= ((values or {}).get("tags") or {}).items()}

    def is_ours(node: str) -> bool:
        return not ours.isdisjoint((nodes[node] or {}).get("profiles") or ())

    for name in tree["nodeprofiles"]:
        if name in profiles and name not in ours:
            raise Refused(f"{name} is a profile of the server that is not from clustergen: wwctl profile delete {name}")
    ours |= tree["nodeprofiles"].keys()
    for name in tree["nodes"]:
        if name in nodes and not is_ours(name):
            raise Refused(f"{name} is a node of the server that is not from clustergen: wwctl node delete {name}")
    for title, old, new, is_mine in (
        ("profile", profiles, tree["nodeprofiles"], ours.__contains__),
        ("node", nodes, tree["nodes"], is_ours),
    ):
        for name in [name for name in old if name not in new and is_mine(name)]:
            del old[name]
            lines.append(f"{title} {name}: removed")
        for name, values in new.items():
            kept = keep_secrets(old.get(name) or {}, values)
            if old.get(name) != kept:
                lines.append(f"{title} {name}: {'changed' if name in old else 'new'}")
                old[name] = kept
    for name in sorted({name for node in tree["nodes"].values() for name in node["profiles"]}):
        if name not in profiles:
            raise Refused(f"the server has no profile {name}: wwctl profile add {name}")
    return {**server, "nodeprofiles": profiles, "nodes": nodes}, lines


def keep_secrets(old: Document, new: Document) -> Document:
    """Values that only the server has."""
    kept = dict(new)
    if "asset key" in old:
        kept["asset key"] = old["asset key"]
    if "password" in (old.get("ipmi") or {}):
        kept["ipmi"] = {**kept.get("ipmi", {}), "password": old["ipmi"]["password"]}
    return kept


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    if done.returncode:
        raise Refused(f"{' '.join(command[:3])}: {(done.stderr or done.stdout).strip() or done.returncode}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Brings this tree to the Warewulf server that it runs on.")
    parser.add_argument("--check", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--nodes-conf", type=Path, default="/etc/warewulf/nodes.conf", metavar="FILE")
    parser.add_argument("--overlays", type=Path, default="/var/lib/warewulf/overlays", metavar="DIRECTORY")
    parser.add_argument("--images", type=Path, default="/var/lib/warewulf/chroots", metavar="DIRECTORY")
    options = parser.parse_args()
    for path in (options.nodes_conf, options.overlays, options.images):
        if not path.exists():
            raise Refused(f"{path} does not exist: run this on the Warewulf server, or name its place (--help)")
    lock_file = read_lock()
    tree = read_yaml(TREE / "warewulf/nodes.conf")
    images_of: dict[str, Images] = {}
    for profile in tree["nodeprofiles"].values():
        root = options.images / profile["image name"] / "rootfs"
        if not root.is_dir():
            raise Refused(f"image {profile['image name']} does not exist: wwctl image import")
        for overlay in profile["system overlay"]:
            if overlay.startswith(f"{CLUSTER}."):
                images_of.setdefault(overlay[len(CLUSTER) + 1 :], {})[profile["image name"]] = root
    lock = os.open(options.overlays, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refused("another run of install.py is active") from None
    unfinished, work = options.overlays / f".{CLUSTER}.unfinished", options.overlays / f".{CLUSTER}.work"
    nodes_conf = options.nodes_conf.resolve()
    _, lines = merge(read_yaml(nodes_conf), tree)
    files = tree_files(lock_file, images_of)
    was_cut = ["previous run was cut off: overlays will be built"] if unfinished.exists() else []
    shutil.rmtree(work, ignore_errors=True)
    try:
        overlays = lay_out_all(options.overlays, work, files, images_of)
        changes = [f"overlay {place.name}: {what}" for place, what in overlays.items()] + lines + was_cut
        print("\n".join(changes) if changes else "up to date")
        if options.check or not changes:
            return 1 if changes else 0
        unfinished.touch()
        replace(work, [place for place, what in overlays.items() if what != "removed"])
        merged, lines = merge(read_yaml(nodes_conf), tree)  # once more: it may have changed since
        if lines:
            write_yaml(nodes_conf, merged)
        for place, what in overlays.items():  # that no profile names any more
            if what == "removed":
                place.rename(work / "old" / place.name)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if lines or was_cut:
        run("systemctl", "try-reload-or-restart", "warewulfd.service")
    names = list(tree["nodes"])
    for first in range(0, len(names), AT_ONCE):
        run("wwctl", "overlay", "build", *names[first : first + AT_ONCE])
    unfinished.unlink()
    if was_cut or any(line.startswith("node ") for line in lines):
        print("then: wwctl configure hostfile; if DHCP has fixed addresses (template: static), wwctl configure dhcp")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Refused, OSError, subprocess.SubprocessError) as problem:
        sys.exit(f"refused: {problem}")
