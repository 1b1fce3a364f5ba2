"""Storage: the model of any file system, composed of those of all kinds."""

from typing import TYPE_CHECKING

from clustergen.manifest.composition import union
from clustergen.manifest.mount import Mount

if TYPE_CHECKING:
    Storage = Mount
else:
    Storage = union("storage.*", "type")
