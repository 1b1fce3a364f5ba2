"""Nodes and counts as people write them, `compute[01-08],login1`, `1 file`; nodes against those of the inventory."""

from __future__ import annotations

from difflib import get_close_matches


def wrong_with(text, all_hosts):
    """Why these are not names of nodes in `all_hosts`, in one sentence; empty where they all are."""
    from clustergen.hostlist import HostlistError

    try:
        names = expanded(text)
    except HostlistError as err:
        return f"nodes={as_text(text)}: {err}"
    if not names:
        return "set the nodes: -e nodes=compute[01-08]"
    existing = set(all_hosts)
    absent = [name for name in names if name not in existing]
    if not absent:
        return ""
    similar = get_close_matches(absent[0], sorted(existing), 1)
    hint = f", did you mean {similar[0]}?" if similar else ""
    return (
        f"{folded(absent)} {'is not a node' if len(absent) == 1 else 'are not nodes'} that this playbook acts on{hint}"
    )


def as_text(text):
    return text if isinstance(text, str) else ",".join(map(str, text))


def expanded(text):
    """The names, each once; raises HostlistError."""
    from clustergen.hostlist import expand

    text = as_text(text)
    return list(dict.fromkeys(expand(text))) if text else []


def folded(names):
    """The names in their natural order, as Slurm folds them."""
    from clustergen import hostlist

    return hostlist.folded(map(str, names))


def counted(number, thing):
    return f"{number} {thing}{'' if number == 1 else 's'}"


def after_adding(release):
    """The effects on the nodes that were not touched when others joined, in one sentence."""
    from clustergen.catalogue.slurm_effects import effect
    from clustergen.catalogue.versions import SlurmRelease

    row = effect("slurm.conf", "", SlurmRelease(str(release)), "NodeName", "added")
    if row.is_everywhere:
        text = f"in Slurm {release} {row.note}, so run `ansible-playbook site.yml` now; it restarts slurmd there, and running jobs continue"
    else:
        text = "no restart is required, and the next `ansible-playbook site.yml` updates their files"
        if row.note:
            text += f"; until then {row.note}"
    return text
