"""Settings of the operating system."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import Address, Domain, Section, UnixName, field, text
from clustergen.manifest.composition import Place, composed
from clustergen.units import Bytes

KernelValue = Annotated[
    str, text(r"^[A-Za-z0-9_./:,-]+( +[A-Za-z0-9_./:,-]+)*$", "use letters, digits, blanks and _ . / : , -", 500)
]


@composed("host")
class Host(Section):
    """Settings of the operating system on all nodes."""

    timezone: Place
    memlock: Literal["unlimited"] | Bytes = field("unlimited", "Locked memory limit of users; required by RDMA.")
    nofile: Annotated[int, Field(ge=1024, le=1048576)] = field(131072, "Open files limit of users.")
    sysctl: dict[
        Annotated[
            str, text(r"^[a-z][A-Za-z0-9_./*-]*$", "write the name of a kernel setting, as net.core.rmem_max", 100)
        ],
        KernelValue | int,
    ] = field({}, "More kernel settings.")
    hugepages: Annotated[int, Field(ge=0, le=1048576)] = field(0, "Number of 2 MiB huge pages to reserve.")
    hosts_file: bool = field(True, "Render /etc/hosts with all nodes.")
    extra_hosts: dict[Address, tuple[Domain, ...]] = field({}, "More lines of /etc/hosts.")
    chrony: Place
    firewall: bool | Literal["nftables"] = field(
        True,
        "true: on systems with firewalld, allow the cluster's networks access to every port of its nodes; nftables: in"
        " addition, on all systems, drop packets to ports that no service of the cluster uses.",
    )
    ssh_adopt: bool = field(
        True, "Users can ssh only to nodes where they have a job, and the session is accounted to that job."
    )
    admin_group: UnixName | None = field(None, "Unix group whose members can ssh to all nodes.")
