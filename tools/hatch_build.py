"""Wheel build hook: carries the checkout's data directories inside the package, so that a wheel works on its own."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CARRIED = {
    "templates": "clustergen/_templates",
    "programs": "clustergen/_programs",
    "playbooks/ansible_collections": "ansible_collections",  # where ansible-core looks for collections
    "docs/codes": "clustergen/_codes",
}


class CarryData(BuildHookInterface):  # type: ignore[type-arg]
    """An editable install reads the directories where they are; only a standard wheel gets copies."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "standard":
            return
        for directory, target in CARRIED.items():
            if (Path(self.root) / directory).is_dir():
                build_data["force_include"][directory] = target
