"""The summary of a check of the nodes: totals, why nodes were not compared, and the next step."""

from __future__ import annotations

import re

from clustergen.apply.playbook import Check
from clustergen.diagnostics import printable
from clustergen.hostlist import folded

_MOST_CAUSES = 10
# What differs from node to node in one cause: nodes that share it are folded into one line.
_OWN_ADDRESS = (
    (re.compile(r"^(unreachable: ).*\bssh: connect to host \S+ port"), r"\1ssh: connect to port"),
    (re.compile(r"^(unreachable: .+?) Connection to \S+ port \d+ timed out$"), r"\1"),  # ssh repeats the time-out
    (re.compile(r"^(unreachable: .*)\bConnection to \S+ (?=port \d+ timed out)"), r"\1connection to "),
    (re.compile(r"^(unreachable: )ssh: Could not resolve hostname \S+:"), r"\1ssh: could not resolve the hostname:"),
    (re.compile(r"^(unreachable: )\S+@\S+: (?=Permission denied)"), r"\1"),
)


def summary(check: Check) -> str:
    """`Plan: 2 of 8 nodes to change, 1 node failed (n3).`, with a line for each cause of a failure."""
    lines = [f"Plan: {_totals(check)}."]
    if check.failed:
        causes = _causes(check)
        lines += [f"  {hosts}: {cause}" for hosts, cause in causes[:_MOST_CAUSES]]
        if len(causes) > _MOST_CAUSES:
            lines.append(f"  … and {len(causes) - _MOST_CAUSES} more causes, above")
        lines.append(f"   hint: {_next_step(check)}")
    return "\n".join(map(printable, lines))


def _totals(check: Check) -> str:
    if len(check.failed) == check.hosts:
        verb = "could be reached" if _is_unreachable(check) else "answered as expected"
        return f"nothing was compared, because none of {check.hosts} nodes {verb}"
    noun = "node" if check.hosts == 1 else "nodes"
    if check.changed:
        text = f"{len(check.changed)} of {check.hosts} {noun} to change"
    elif check.failed:
        text = f"no changes on {len(check.unchanged)} of {check.hosts} {noun}"
    else:
        return "no changes"
    if check.failed:
        text += f", {len(check.failed)} {'node' if len(check.failed) == 1 else 'nodes'} failed"
        text += f" and could not be compared ({folded(check.failed)})"
    return text


def _causes(check: Check) -> list[tuple[str, str]]:
    """Nodes that failed for one reason, and the reason; the most nodes first."""
    nodes: dict[str, list[str]] = {}
    for host in check.failed:
        cause = check.causes.get(host, "failed: see above")
        for pattern, replacement in _OWN_ADDRESS:
            cause = pattern.sub(replacement, cause)
        nodes.setdefault(cause, []).append(host)
    return [(folded(hosts), cause) for cause, hosts in sorted(nodes.items(), key=lambda item: -len(item[1]))]


def _next_step(check: Check) -> str:
    if len(check.failed) == check.hosts and _is_unreachable(check):
        return "check the addresses in the manifest, log in to one node with ssh, then run it again"
    if len(check.failed) == check.hosts:
        return "correct the cause, then run it again"
    return "correct the cause, then run it again; --limit HOSTS selects nodes"


def _is_unreachable(check: Check) -> bool:
    return all(check.causes.get(host, "").startswith("unreachable") for host in check.failed)
