"""Software for users as written."""

import re
from typing import Annotated

from pydantic import AfterValidator

from clustergen.manifest.base import NOT_EMPTY, AbsolutePath, Section, Url, field, text

CudaRelease = Annotated[str, text(r"^[1-9][0-9]\.[0-9]{1,2}$", 'write major and minor release: "12.8"')]
LibraryRelease = Annotated[
    str, text(r"^[0-9]{1,2}\.[0-9]{1,3}(\.[0-9]{1,3}){0,2}$", 'write the release, as "2.27" or "2.27.3"')
]
ModuleName = Annotated[
    str,
    text(r"^[a-z][a-z0-9_-]*/[A-Za-z0-9][A-Za-z0-9_.-]*$", "write a name and a release in lower-case: pytorch/2.8", 80),
]
Requirement = Annotated[
    str,
    text(
        r"^[A-Za-z0-9][A-Za-z0-9._-]*(\x5b[a-z0-9_,-]+\x5d)?==[A-Za-z0-9][A-Za-z0-9.!+_-]*$",
        "write a package with its release, as torch==2.8.0",
        120,
    ),
]
Image = Annotated[
    str,
    text(
        r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9][a-z0-9._-]*)+"
        r"(:[A-Za-z0-9_][A-Za-z0-9_.-]*|@sha256:[0-9a-f]{64})$",
        "write registry, name and tag or digest, as nvcr.io/nvidia/pytorch:25.08-py3",
    ),
]


def _once(packages: tuple[str, ...]) -> tuple[str, ...]:
    """Refuses two releases of a package, as pip does, to which a-b, a_b and A.B are one name."""
    names: dict[str, str] = {}
    for package in packages:
        name = re.sub("[-_.]+", "-", re.split(r"[=\x5b]", package)[0]).lower()
        if (other := names.setdefault(name, package)) != package:
            from pydantic_core import PydanticCustomError

            context = {"one": other, "other": package, "hint": f"remove {other} or {package}"}
            message = "{one} and {other} are one package, of which pip installs one"
            raise PydanticCustomError("value-not-allowed", message, context)
    return packages


class PythonEnvironment(Section):
    """A virtual environment that all nodes see, and its module."""

    packages: Annotated[tuple[Requirement, ...], AfterValidator(_once)] = field(
        ..., "Packages with their releases.", min_length=1
    )
    index: Url | None = field(None, "Index of the packages; default: that of pip on the node, which is PyPI.")
    cuda: CudaRelease | None = field(None, "CUDA toolkit that its module loads as well; one of environment.cuda.")


class Images(Section):
    """Container images of record, which job templates use."""

    pytorch: Image | None = field(None, "Image with PyTorch; default: the one of the catalogue.")
    triton: Image | None = field(None, "Image of Triton; default: the one of the catalogue.")


class Environment(Section):
    """Software for users of login and compute nodes, with a module for each release."""

    cuda: tuple[CudaRelease, ...] = field(
        (), "CUDA toolkits, from NVIDIA's package repository; the first is the default module."
    )
    cudnn: LibraryRelease | None = field(None, "Release of cuDNN, for the first toolkit; default: not installed.")
    nccl: LibraryRelease | None = field(
        None, "Release of NCCL to compile with, for the first toolkit; default: not installed."
    )
    directory: AbsolutePath | None = field(
        None, "Directory of Python environments, on a file system that login and compute nodes mount."
    )
    python: dict[ModuleName, PythonEnvironment] = field(
        {}, "Python environments by module, which clustergen-environments builds in the directory."
    )
    images: Annotated[Images | None, NOT_EMPTY] = field(None, "Container images of record.")


PLACES = {
    "environment": (
        Annotated[Environment | None, NOT_EMPTY],
        field(None, "Software for users, with modules (Lmod); none unless the section is present."),
    )
}
