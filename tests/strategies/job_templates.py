"""Manifests with a guide for users, and the job templates and pages that it renders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clustergen.catalogue.job_templates import template_kinds
from strategies.trees import COMPUTE, HEAD, manifest, node_files, tree_of

LOGIN = {"name": "login1", "type": "service", "address": "10.0.0.2", "roles": ["login"]}
HOME = {"home": {"type": "nfs", "server": "10.0.0.20", "path": "/export/home", "mount": "/home"}}
PLACE = "/usr/local/share/doc/cluster"
LIBRARY = "/usr/local/lib/clustergen/job.sh"


def guided(slurm: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    settings = {"version": "24.11", **(slurm or {})}
    usual: dict[str, Any] = {"nodes": [HEAD, LOGIN, COMPUTE], "storage": HOME, "user_guide": {}}
    return manifest(slurm=settings, **{**usual, **changes})


def files_of(data: dict[str, Any], directory: Path, host: str = "login1") -> dict[str, str]:
    """Texts by their path below the guide's directory."""
    files = node_files(tree_of(data, directory), host)
    return {
        path.removeprefix(PLACE + "/"): file.content.decode()
        for path, file in files.items()
        if path.startswith(PLACE + "/")
    }


def runnable_jobs(data: dict[str, Any], directory: Path) -> dict[str, str]:
    """The same, with the library that job scripts call below the directory, which all users can read."""
    library = directory / "library.sh"
    (text,) = (file.content for file in tree_of(data, directory) if file.target == LIBRARY)
    library.write_bytes(text)
    library.chmod(0o644)
    return {path: text.replace(LIBRARY, str(library)) for path, text in files_of(data, directory).items()}


def all_templates() -> dict[str, Any]:
    """A cluster that can run every template of the catalogue."""
    return guided(
        {"pyxis": {"enabled": True}},
        user_guide={"templates": list(template_kinds())},
        containers={"podman": {"storage": "/srv/podman"}, "apptainer": {}},
    )
