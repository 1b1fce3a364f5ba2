"""A lab on paper: what the user wants it to be like, and what it is made of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import ClustergenError
from clustergen.lab.scale import Document
from clustergen.lab.substitutions import Substitution
from clustergen.lab.work import Work
from clustergen.records import fields, record


@record
class Wish:
    """The requested lab. `images`: operating system or "" → an image of the user's. `variables`: for Ansible."""

    scale: Sequence[str] = ()
    subnet: str | None = None
    os: str | None = None
    images: Mapping[str, str] = {}
    engine: str | None = None
    slurm: str | None = None
    variables: Mapping[str, str] = {}
    mounts: Sequence[str] = ()  # file systems that the nodes mount
    installed: bool = False  # images have the packages of the cluster installed

    def write(self, place: Path) -> None:
        place.write_text(json.dumps({name: getattr(self, name) for name in fields(type(self))}), encoding="utf-8")

    def over(self, earlier: Wish) -> Wish:
        """This wish, with the earlier one where it says nothing. Raises ClustergenError with exit code 2 where the lab
        is up with something else that cannot be changed."""
        for name, option in (
            ("subnet", "subnet"),
            ("os", "os"),
            ("images", "image"),
            ("engine", "engine"),
            ("slurm", "slurm"),
            ("mounts", "mount"),
        ):
            asked, has = getattr(self, name), getattr(earlier, name)
            if asked and asked != has and earlier.engine:
                advice = (
                    f"with --{option} {has}" if has and name not in {"images", "mounts"} else f"without that --{option}"
                )
                raise ClustergenError(f"the lab is already up {advice}", "clustergen lab down first", 2)
        return Wish(**{name: getattr(self, name) or getattr(earlier, name) for name in fields(Wish)})

    @classmethod
    def read(cls, place: Path) -> Wish:
        """The options of an earlier `up`; empty where there was none."""
        return cls(**json.loads(place.read_text(encoding="utf-8"))) if place.exists() else cls()


@record
class Lab:
    """A lab on paper: its directory, its cluster, what is not real in it."""

    origin: Path  # the manifest that it is made from
    work: Work
    document: Document
    cluster: Cluster
    substitutions: tuple[Substitution, ...]
