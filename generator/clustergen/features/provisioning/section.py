"""Nodes without a system disk: a provisioning server gives them image, files and addresses at every boot."""

from typing import Annotated, Literal

from clustergen.manifest.base import NOT_EMPTY, Name, Section, field, text

ServerName = Annotated[
    str,
    text(r"^[A-Za-z0-9][A-Za-z0-9._:-]*$", "write the name of an image, overlay or profile, as wwctl shows it", 127),
]
"""Name of something that the provisioning server has."""


class Provisioning(Section):
    """A server boots nodes over the network, with an image and with the files of the tree."""

    engine: Literal["warewulf"] = field(..., "Provisioning system: Warewulf 4.6 or 4.7.")
    images: dict[Name, ServerName] = field(
        ..., "Image by node type; nodes of other types are installed otherwise.", min_length=1
    )
    overlays: tuple[ServerName, ...] | None = field(
        None,
        "Warewulf's own overlays, before those of the tree; default: wwinit, hostname, ssh.host_keys,"
        " ssh.authorized_keys, and those that configure the management interface if its name is known.",
    )
    profiles: tuple[ServerName, ...] = field(
        (), "Profiles of the server that come before those of the tree, as one with the password of the BMCs."
    )


PLACES = {
    "provisioning": (
        Annotated[Provisioning | None, NOT_EMPTY],
        field(None, "Nodes that a server boots over the network; none do unless the section is present."),
    )
}
