"""/etc/hosts, as written."""

from clustergen.manifest.base import Address, Domain, field

PLACES = {
    "host.hosts_file": (bool, field(True, "Render /etc/hosts with all nodes.")),
    "host.extra_hosts": (dict[Address, tuple[Domain, ...]], field({}, "More lines of /etc/hosts.")),
}
