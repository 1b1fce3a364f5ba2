"""Filters for lists of nodes as Slurm writes them."""

from __future__ import annotations

from ansible.errors import AnsibleFilterError

from ansible_collections.clustergen.cluster.plugins.plugin_utils import hosts, manifest


def expanded(text):
    from clustergen.hostlist import HostlistError

    try:
        return hosts.expanded(text)
    except HostlistError as err:
        raise AnsibleFilterError(f"nodes={hosts.as_text(text)}: {err}") from None


class FilterModule:
    """`expanded`: `compute[01-02]` → names. `folded`: names → `compute[01-02]`. `not_nodes`: why a list is no list of nodes
    that are known. `after_adding`: what other nodes need when some joined, by release.
    `named_in`: where the manifest of a tree names nodes.
    """

    def filters(self):
        return {
            "expanded": expanded,
            "folded": hosts.folded,
            "not_nodes": hosts.wrong_with,
            "after_adding": hosts.after_adding,
            "named_in": manifest.named_in,
        }
