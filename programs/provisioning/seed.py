#!/usr/bin/python3
"""Writes what cloud-init reads at the first boot of a node: a NoCloud seed of meta-data, user-data and network-config.

usage: seed.py [--user-data FILE] [--output DIRECTORY] [NODE...]     default: all nodes, into the directory `seeds`

Each node gets DIRECTORY/NODE. Nodes that pull have the tree's user data; others those of --user-data, or none.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import stat
import sys
from pathlib import Path

DIRECTORY = Path(__file__).resolve().parent
CLUSTER: str = json.loads((DIRECTORY / "seed.json").read_text(encoding="utf-8"))["cluster"]
NO_USER_DATA = b"#cloud-config\n{}\n"
Row = dict[str, str]  # by column


def read_nodes() -> dict[str, Row]:
    """The rows of the table by node."""
    lines = (DIRECTORY / "nodes").read_text(encoding="utf-8").splitlines()
    columns = next(line for line in lines if line.startswith("# node ")).split()[1:]
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return {row[0]: dict(zip(columns, row)) for row in rows}


def seed_of(row: Row, user_data: bytes | None) -> dict[str, bytes]:
    """The three files of a node; meta-data last, without which cloud-init takes a directory for no seed."""
    text = (DIRECTORY / f"network-config.{row['network-config']}").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    network = re.sub("@([a-z]+)@", lambda match: row[match[1]], "\n".join(lines))
    if user_data is None:
        listed = row["user-data"]
        user_data = NO_USER_DATA if listed == "-" else (DIRECTORY / f"{listed}.yaml").read_bytes()
    # In quotation marks, as YAML reads a node named 0x1 or on as something else.
    meta_data = f"instance-id: {json.dumps(CLUSTER + '-' + row['node'])}\nlocal-hostname: {json.dumps(row['node'])}\n"
    return {"user-data": user_data, "network-config": f"{network}\n".encode(), "meta-data": meta_data.encode()}


def write_seed(directory: Path, files: dict[str, bytes]) -> None:
    """Each file is complete or absent, and readable by this user alone, whatever an earlier one was."""
    directory.mkdir(parents=True, exist_ok=True)
    status = directory.lstat()
    if stat.S_ISLNK(status.st_mode) or status.st_uid != os.geteuid():
        sys.exit(f"refused: {directory} is a link or belongs to another user")
    directory.chmod(0o700)
    (directory / "meta-data").unlink(missing_ok=True)
    for name, content in files.items():
        new = directory / f".{name}.new"
        new.unlink(missing_ok=True)
        new.write_bytes(content)
        new.replace(directory / name)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes NoCloud seeds for cloud-init.")
    parser.add_argument("--user-data", type=Path, metavar="FILE", help="for these nodes, instead of the tree's")
    parser.add_argument("--output", type=Path, default=Path("seeds"), metavar="DIRECTORY")
    parser.add_argument("nodes", nargs="*", metavar="NODE")
    options = parser.parse_args()
    os.umask(0o077)  # user data of the site may hold secrets, such as the token to join something
    rows = read_nodes()
    unknown = [name for name in options.nodes if name not in rows]
    if unknown:
        sys.exit(f"refused: no node with an address in the management network is named {', '.join(unknown)}")
    user_data = options.user_data.read_bytes() if options.user_data else None
    seeds = {name: seed_of(rows[name], user_data) for name in options.nodes or rows}
    for name, files in seeds.items():
        write_seed(options.output / name, files)


if __name__ == "__main__":
    try:
        main()
    except OSError as problem:
        sys.exit(f"refused: {problem}")
