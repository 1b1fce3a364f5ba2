"""Settings of the operating system: all of features."""

from clustergen.manifest.base import Section
from clustergen.manifest.composition import Place, composed


@composed("host")
class Host(Section):
    """Settings of the operating system on all nodes."""

    timezone: Place
    memlock: Place
    nofile: Place
    journal_size: Place
    sysctl: Place
    hugepages: Place
    hosts_file: Place
    extra_hosts: Place
    chrony: Place
    firewall: Place
    ssh_adopt: Place
    admin_group: Place
    updates: Place
    file_cache: Place
