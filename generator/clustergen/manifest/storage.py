"""Storage: the model of any file system, which `clustergen.filesystems` has by kind."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clustergen.filesystems import file_systems
from clustergen.manifest.mount import Mount

if TYPE_CHECKING:
    Storage = Mount
else:
    Storage = Annotated[reduce(or_, (kind.model for kind in file_systems())), Field(discriminator="type")]
