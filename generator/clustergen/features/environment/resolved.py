"""Software for users as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.features.environment import section as manifest
from clustergen.records import record

DIRECTORY = "/home/software"
"""Of Python environments where the manifest has none; an example, too."""


@record
class PythonEnvironment:
    """A virtual environment. `index`: empty for pip's own; `cuda`: of the toolkit whose module it loads, or empty."""

    packages: tuple[str, ...]
    index: str
    cuda: str


@record
class Environment:
    """Software for users. The first toolkit is the default; `cudnn`, `nccl`: empty where they are not installed."""

    cuda: tuple[str, ...]
    cudnn: str
    nccl: str
    directory: str
    python: Mapping[str, PythonEnvironment]  # by module: name and release


@record
class ImagesOfRecord:
    """Container images that job templates use. Absent: those of the catalogue."""

    SECTIONS = ("Images",)
    images: Mapping[str, str]  # by what they are for: pytorch or triton


def resolve(section: manifest.Environment, _: Cluster) -> Environment:
    return Environment(
        cuda=section.cuda,
        cudnn=section.cudnn or "",
        nccl=section.nccl or "",
        directory=(section.directory or DIRECTORY).rstrip("/"),
        python={
            name: PythonEnvironment(one.packages, one.index or "", one.cuda or "")
            for name, one in section.python.items()
        },
    )


def resolve_images(section: manifest.Environment, _: Cluster) -> ImagesOfRecord | None:
    stated = section.images.model_dump(exclude_none=True) if section.images else {}
    return ImagesOfRecord(stated) if stated else None


RECORDS = {Environment: resolve, ImagesOfRecord: resolve_images}
