#!/usr/bin/python3
"""Builds the Python environments of the manifest where they are missing or other than stated.

    clustergen-environments [--check] [NAME/RELEASE...]

Run it on one node, as the account that owns their directory. Each environment is a symbolic link to a directory whose
name ends in a digest of its packages: another list is built beside it, and jobs that use the old one keep it. Ends with
status 1 if one is missing or could not be built.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

VALUES: dict[str, Any] = json.loads(Path("/etc/clustergen/environments.json").read_text(encoding="utf-8"))
DIRECTORY: Path = Path(VALUES["directory"])
SECONDS = 3600


def digest(one: dict[str, Any]) -> str:
    """Of the packages and the release of Python, in 12 hexadecimal digits."""
    parts = [f"{sys.version_info[0]}.{sys.version_info[1]}", one["index"], *sorted(one["packages"])]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def is_current(one: dict[str, Any]) -> bool:
    link = DIRECTORY / str(one["name"])
    return link.is_symlink() and link.resolve() == target(one).resolve() and (link / "complete").exists()


def target(one: dict[str, Any]) -> Path:
    link = DIRECTORY / str(one["name"])
    return link.with_name(f".{link.name}-{digest(one)}")


def build(one: dict[str, Any]) -> str:
    """The last line of the program that failed; empty where the environment is in its place."""
    place = target(one)
    place.parent.mkdir(parents=True, exist_ok=True)
    if not (place / "complete").exists():
        shutil.rmtree(place, ignore_errors=True)
        pip = [str(place / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        index = [f"--index-url={one['index']}"] if one["index"] else []
        for command in ([sys.executable, "-m", "venv", str(place)], [*pip, *index, *one["packages"]]):
            done = subprocess.run(
                ["timeout", str(SECONDS), *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            if done.returncode:
                shutil.rmtree(place, ignore_errors=True)
                lines = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
                return (lines or done.stdout.splitlines() or [f"status {done.returncode}"])[-1]
        (place / "complete").touch()
    work = Path(tempfile.mkdtemp(dir=str(place.parent), prefix=".new-"))
    (work / "link").symlink_to(place.name)
    (work / "link").replace(DIRECTORY / one["name"])
    work.rmdir()
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the Python environments of the manifest.")
    parser.add_argument("--check", action="store_true", help="only report what is missing")
    parser.add_argument("names", nargs="*", metavar="NAME/RELEASE", help="default: all")
    arguments = parser.parse_args()
    names = [one["name"] for one in VALUES["environments"]]
    for name in arguments.names:
        if name not in names:
            parser.error(f"there is no environment {name}: choose from {', '.join(names)}")
    os.umask(0o022)
    status = 0
    for one in VALUES["environments"]:
        if arguments.names and one["name"] not in arguments.names:
            continue
        if is_current(one):
            print(f"{one['name']}: up to date")
        elif arguments.check:
            print(f"{one['name']}: missing")
            status = 1
        elif problem := build(one):
            print(f"{one['name']}: failed: {problem}", file=sys.stderr)
            status = 1
        else:
            print(f"{one['name']}: built")
    return status


if __name__ == "__main__":
    sys.exit(main())
