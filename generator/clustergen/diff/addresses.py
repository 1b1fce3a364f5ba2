"""Addresses of machines on networks beside that of management, which /etc/hosts of a tree names."""

from __future__ import annotations

from clustergen.diff.snapshot import Snapshot


def readdressed(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """Hosts that both trees have, with another address under a name such as `c1-ib0`, each once."""
    before, after = _addresses(old), _addresses(new)
    hosts: dict[str, None] = {}
    for name, address in after.items():
        host = name.rpartition("-")[0]
        if host in new.inventory.hosts and before.get(name, address) != address:
            hosts[host] = None
    return tuple(hosts)


def _addresses(side: Snapshot) -> dict[str, str]:
    """First name of each line → address."""
    text = next((file.text for file in side.files.values() if file.target == "/etc/hosts"), "")
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return {words[1]: words[0] for words in lines if len(words) > 1}
