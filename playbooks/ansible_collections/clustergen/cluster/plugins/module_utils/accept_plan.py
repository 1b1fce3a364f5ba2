"""The jobs of an acceptance run: which nodes are free for it, and how gates make rounds of jobs that share no node."""

from __future__ import annotations

import hashlib
import json

from ansible_collections.clustergen.cluster.plugins.module_utils.controller import DRAINED, UNUSABLE

FORMAT = 1
# Words of a state of a node that does not come back by itself.
OUT = frozenset(("down", "error", "fail", "not_responding", "powered_down", "powering_down", "unknown"))
BUSY = frozenset(("allocated", "mixed", "completing"))
STAGES = ("presence", "node", "pair", "whole")
LIMIT = 8000000  # bytes of gates.json


class UnfitError(Exception):
    """A file of the tree that cannot be used; the text is for people."""


def load(path):
    """gates.json; UnfitError where it is not of this version."""
    with open(path, "rb") as file:
        content = file.read(LIMIT + 1)
    try:
        document = json.loads(content.decode("utf-8"))
        fits = len(content) <= LIMIT and document["format"] == FORMAT and document["types"] and document["gates"]
    except (ValueError, KeyError, TypeError):
        fits = False
    if not fits:
        raise UnfitError(f"{path} was not rendered by a version that fits this collection: render the tree again")
    return document


def digest(document, nodes, gates):
    """The hash that a continued run must share with the one that was cut off."""
    text = json.dumps([document, sorted(nodes), [gate["name"] for gate in gates]], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def chosen(document, stages, without):
    """Gates of these stages; `without` holds names or kinds."""
    left_out = set(without)
    return [
        gate
        for gate in document["gates"]
        if gate["stage"] in stages and not {gate["name"], gate["kind"], gate["type"]} & left_out
    ]


def unknown(document, names):
    """Names that are neither a gate nor a kind nor a type."""
    words = {word for gate in document["gates"] for word in (gate["name"], gate["kind"], gate["type"])}
    return sorted(set(names) - words)


def why_not_free(states):
    """Why no acceptance job may start on a node in these states; empty where it is idle."""
    if states & DRAINED:
        return "drained"
    if states & UNUSABLE:
        return "+".join(sorted(states & UNUSABLE))
    if "idle" not in states:
        return "has jobs" if states & {*BUSY, "planned"} else "+".join(sorted(states))
    return "has jobs" if "completing" in states else ""


def rounds(gate, hosts):
    """Lists of jobs, each a list of hosts; the jobs of one round have no node in common.

    Pairs are neighbours in a ring, so every node is in two of them; with two nodes there is one pair.
    """
    hosts = sorted(set(hosts).intersection(gate["hosts"]) if "hosts" in gate else hosts)
    if gate["nodes"] == 1:
        return [[[host] for host in hosts]] if hosts else []
    if len(hosts) < 2:
        return []
    if gate["nodes"] == 0:
        return [[hosts]]
    pairs = [(hosts[number], hosts[number + 1]) for number in range(len(hosts) - 1)]
    if len(hosts) > 2:
        pairs.append((hosts[-1], hosts[0]))
    closing = [pairs.pop()] if len(hosts) % 2 and len(hosts) > 2 else []
    return [[list(pair) for pair in some] for some in (pairs[::2], pairs[1::2], closing) if some]


def key(gate, hosts):
    return gate["name"] + "@" + ",".join(hosts)
