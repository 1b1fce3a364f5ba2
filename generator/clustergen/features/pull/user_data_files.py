"""User data for cloud-init: the first boot of a node that brings itself to the tree from git."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.features.pull.files import TARGETS
from clustergen.features.pull.resolved import ANSIBLE, GROUP, Pull, installs_itself
from clustergen.records import record
from clustergen.render.file import File
from clustergen.render.formats import YAML, Format
from clustergen.render.tree import Outline

# cloud-init knows user data by its first line.
_FORMAT = Format("YAML", None, YAML.plain)


@record
class WrittenFile:
    """`mode`: octal digits; `text`: without its last line end."""

    path: str
    mode: str
    text: str


@record
class UserData:
    """Of one operating system. `venv`: where ansible-core is installed from PyPI; empty where a package has it."""

    system: str
    packages: tuple[str, ...]
    venv: str
    files: tuple[WrittenFile, ...]


def user_data(cluster: Cluster, outline: Outline) -> Mapping[str, UserData]:
    """By operating system, of those with an ansible-core or a Python that is new enough."""
    collected = {}
    for group in outline.groups.get(GROUP, ()):
        os = group.type.os
        packages = tuple(os.fact("package_pull").split())
        if os.key in collected or not installs_itself(os):
            continue
        members = {name for name, groups in outline.groups.items() if group in groups}
        files = [
            WrittenFile(file.target, f"{file.mode:04o}", file.content.decode().rstrip("\n"))
            for file in outline.files.values()
            if file.group in members and file.target in TARGETS
        ]
        place = "" if ANSIBLE in packages else cluster.of(Pull).programs.rpartition("/bin")[0]
        collected[os.key] = UserData(os.key, packages, place, tuple(files))
    return collected


FILES = (
    File(
        "tree/cloud-init/{system}.yaml",
        user_data,
        per="tree",
        format=_FORMAT,
        source="tree/cloud-init/user-data.yaml",
    ),
)
