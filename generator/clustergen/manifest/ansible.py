"""How Ansible reaches the nodes."""

from typing import Annotated

from pydantic import Field

from clustergen.catalogue.network import ports
from clustergen.manifest.base import AbsolutePath, OneLine, PortNumber, Section, UnixName, field, text
from clustergen.manifest.composition import Place, composed


@composed("ansible")
class Ansible(Section):
    """How to reach the nodes."""

    user: UnixName = field("root", "Login.")
    become: bool | None = field(None, "Use sudo; default: unless the user is root.")
    port: PortNumber = field(ports()["ssh"].port, "ssh port.")
    jump: (
        Annotated[str, text(r"^[A-Za-z0-9_][A-Za-z0-9_.@:-]*$", "write host, user@host or user@host:port", 255)] | None
    ) = field(None, "ssh jump host.")
    forks: Annotated[int, Field(ge=1, le=500)] | None = field(
        None, "Number of parallel hosts; default: by cluster size."
    )
    python: AbsolutePath | None = field(None, "Python interpreter on the nodes; default: Ansible detects it.")
    variables: dict[
        Annotated[str, text(r"^[a-z_][a-z0-9_]*$", "use lower-case letters, digits and _, and begin with a letter")],
        OneLine | int | bool | float,
    ] = field({}, "More group variables, for the site's own roles.")
    pull: Place
