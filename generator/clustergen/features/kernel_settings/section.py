"""Kernel settings, as written."""

from typing import Annotated

from pydantic import Field

from clustergen.manifest.base import field, text

KernelKey = Annotated[
    str, text(r"^[a-z][A-Za-z0-9_./*-]*$", "write the name of a kernel setting, as net.core.rmem_max", 100)
]
KernelValue = Annotated[
    str, text(r"^[A-Za-z0-9_./:,-]+( +[A-Za-z0-9_./:,-]+)*$", "use letters, digits, blanks and _ . / : , -", 500)
]

PLACES = {
    "host.sysctl": (dict[KernelKey, KernelValue | int], field({}, "More kernel settings.")),
    "host.hugepages": (Annotated[int, Field(ge=0, le=1048576)], field(0, "Number of 2 MiB huge pages to reserve.")),
}
