"""A second cluster beside the pair of controllers, with power saving, a firewall and configured interfaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import yaml

from clustergen.lab import nodes

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

IN_PAIR = "10.89.104.5"  # the second controller's address in the network of the first cluster
EAST = """\
name: test-east
os: debian-13
networks:
  management: {cidr: 10.89.105.0/29, domain: east.example.org, interface: eth0, gateway: 10.89.105.6, configure: true}
node_types:
  small: {cpu: {sockets: 1, cores_per_socket: 4}, memory: 8GiB}
nodes:
  - {name: east, type: service, address: 10.89.105.1, roles: [slurm-controller, monitoring]}
  - {name: e1, type: small, address: 10.89.105.2}
slurm:
  version: "24.11"
  federation: campus
  accounting: {slurmdbd: 10.89.104.1}
  power_saving: {suspend_time: 1h, command: /usr/local/sbin/site-power}
storage:
  site: {type: nfs, mount: /srv/site, server: nfs.example.org, path: /site, clients: [slurm-controller]}
monitoring: {scrape_interval: 5}
host: {firewall: nftables}
"""
RULE = "add rule inet clustergen input ip saddr 10.89.104.0/28 tcp dport 6817 accept"
OPEN = f"mkdir -p /etc/clustergen-firewall/ports.d; echo '{RULE}' >/etc/clustergen-firewall/ports.d/campus.nft"


@pytest.fixture(scope="session")
def east(pair: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A controller and a node, applied with the MUNGE key of the first cluster as docs/slurm.md says."""
    document = yaml.safe_load(EAST)
    made = type(pair)(tmp_path_factory.mktemp("east"), document["name"], document)
    try:
        made.up("--installed")
        made.engine("network", "connect", "--ip", IN_PAIR, nodes.network(pair.work), "{east}")
        path = "/etc/munge/munge.key"
        key = pair.out("head1", f"base64 -w0 {path}")
        made.out("east", f"umask 077; echo {key} | base64 -d >{path}; chown munge: {path}")
        made.out("east", OPEN)
        made.first = made.apply()
        assert made.first.rc == 0, made.first.stdout + made.first.stderr
        made.waits("east", "sinfo -h -o %T", r"\Aidle\s*\Z")
        yield made
    finally:
        pair.run("head1", "scancel -u root; sacctmgr -i modify federation campus set clusters-=test-east")
        made.verb("down")
