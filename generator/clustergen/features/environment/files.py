"""Modules for each release, pins of libraries, and the program that builds Python environments."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.features.environment.needs import GROUP, PROGRAM
from clustergen.features.environment.resolved import Environment
from clustergen.records import record
from clustergen.render.file import Context, File


@record
class PythonModule:
    """A Python environment. `cuda`: of the toolkit's module that it loads; empty for none."""

    name: str
    release: str
    root: str
    cuda: str


def cuda_modules(_: Cluster, __: OperatingSystem, environment: Environment) -> dict[str, Context]:
    """A toolkit."""
    return {release: {"release": release, "root": f"/usr/local/cuda-{release}"} for release in environment.cuda}


def python_modules(_: Cluster, __: OperatingSystem, environment: Environment) -> dict[str, PythonModule]:
    return {
        module: PythonModule(name, release, f"{environment.directory}/{module}", one.cuda)
        for module, one in environment.python.items()
        for name, _, release in [module.partition("/")]
    }


def defaults(_: Cluster, __: OperatingSystem, environment: Environment) -> dict[str, Context]:
    """By name of the software: the first release in the manifest."""
    modules = [*(f"cuda/{release}" for release in environment.cuda), *environment.python]
    return {module.partition("/")[0]: {"module": module} for module in reversed(modules)}


def pins(_: Cluster, os: OperatingSystem, environment: Environment) -> Context | None:
    """Packages with their version, as apt compares them."""
    if os.fact("family") != "debian":
        return None
    result = []
    for release in environment.cuda[:1]:
        if environment.cudnn:
            result.append(("cudnn* libcudnn*", f"{environment.cudnn}[.-]*"))
        if environment.nccl:
            result.append((" ".join(os.packages("nccl")), f"{environment.nccl}[.-]*+cuda{release}"))
    return {"pins": tuple(result)} if result else None


def values(_: Cluster, environment: Environment) -> Context | None:
    """The program's."""
    if not environment.python:
        return None
    builds: list[dict[str, object]] = [
        {"name": name, "packages": list(one.packages), "index": one.index} for name, one in environment.python.items()
    ]
    return {"directory": environment.directory, "environments": tuple(builds)}


_MODULES = f"{GROUP}/{{os.module_dir}}"
_SOURCE = f"{GROUP}/module_dir"
FILES = (
    File(f"{_MODULES}/cuda/{{release}}.lua", cuda_modules, per="os", source=f"{_SOURCE}/cuda.lua"),
    File(f"{_MODULES}/{{module}}.lua", python_modules, per="os", source=f"{_SOURCE}/python.lua"),
    File(f"{_MODULES}/{{software}}/.modulerc.lua", defaults, per="os", source=f"{_SOURCE}/modulerc.lua"),
    File(f"{GROUP}/etc/apt/preferences.d/clustergen-environment", pins, per="os"),
    File(f"{GROUP}{PROGRAM}", values, mode=0o755, program="environment/clustergen-environments.py"),
    File(f"{GROUP}/etc/clustergen/environments.json", values, values=True),
)
