"""The nodes' own interfaces: clustergen-network renders the files of a node, and the tools of its system read them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.verify.check import Check, Question, Reader, failure, paths
from clustergen.verify.programs import Answer

_DIRECTORY = "/etc/clustergen-network"
_RENDER = r"""
mkdir -p {0}
/usr/local/sbin/clustergen-network render {0} 2>/tmp/rendered || {{ cat /tmp/rendered >&2; exit 1; }}
cp /tmp/rendered /run/clustergen
"""
_VERSION = "dpkg-query -W -f '${{Version}}' {}"
_RENAMED = ("master=", "slave-type=")  # NetworkManager 1.44 and newer list controller and port-type
_HAS = re.compile(r"^\w+: (\S+) has (\S+?),", re.MULTILINE)

_NETPLAN = (
    _RENDER.format("/tmp/node/etc/netplan")
    + "/usr/libexec/netplan/generate --root-dir /tmp/node && cat /tmp/node/run/systemd/network/*"
)
_IFUPDOWN = (
    _RENDER.format("/tmp/node")
    + """
cat /tmp/node/* >/tmp/interfaces
"$program" --no-act --force --verbose --interfaces=/tmp/interfaces --all 2>&1
"""
)
_KEYFILES = (
    _RENDER.format("/tmp/node")
    + """
for file in /tmp/node/*; do
  "$program" --offline connection modify connection.permissions "" <"$file" || exit 1
done
"""
)


def _applied(answer: Answer, question: Question) -> Iterator[str]:
    """Complaints of the tool, and the addresses of the node that its output lacks."""
    yield from failure(answer) or [line for line in answer.err.splitlines() if line.strip()]
    if answer.code == 0:
        rendered = _HAS.findall(answer.notes.get("rendered", ""))
        for name, address in rendered:
            if not re.search(rf"(?<![\w.:]){re.escape(address)}/\d", answer.out):
                yield f"{name}: {address} is not configured"
        if not rendered:
            yield f"{question.node.name} has no address in any of these networks"


def _profiles(answer: Answer, question: Question) -> Iterator[str]:
    """The same for NetworkManager, which ignores keys that it does not know and does not list them."""
    yield from _applied(answer, question)
    if answer.code == 0:
        lines = (line for entry in question.entries for line in entry.text.splitlines() if not line.startswith("#"))
        for line in lines:
            pattern = re.escape(line).replace("@address@", "[0-9a-f.:]+")
            if (
                "=" in line
                and not line.startswith(_RENAMED)
                and not re.search(f"^{pattern}$", answer.out, re.MULTILINE)
            ):
                yield f"not listed: {line}"


CHECKS = (
    Check(
        name="rules for DCGM",
        what="access to DCGM",
        parser="nft --check",
        proves="The kernel of this machine accepts the rules, in a network namespace of its own.",
        reads=paths("/etc/clustergen/dcgm.nft"),
        ask=Reader("nft", _VERSION.format("nftables"), '"$program" --check --file /etc/clustergen/dcgm.nft'),
    ),
    Check(
        name="netplan",
        what="interfaces for netplan",
        parser="netplan generate",
        proves="netplan accepts every key with the addresses of a node of each type, and its units for"
        " systemd-networkd contain these addresses. No interface is configured.",
        reads=paths(f"{_DIRECTORY}/*.yaml"),
        ask=Reader("netplan", _VERSION.format("netplan.io"), _NETPLAN, _applied, newest=True, whole=True),
    ),
    Check(
        name="ifupdown",
        what="interfaces for ifupdown",
        parser="ifup --no-act",
        proves="ifup accepts every stanza with the addresses of a node of each type, and its commands set these"
        " addresses. ifup passes options that it does not know to scripts, so a typo in one is not found.",
        reads=paths(f"{_DIRECTORY}/*/clustergen-management", f"{_DIRECTORY}/*/clustergen-storage"),
        ask=Reader("ifup", _VERSION.format("ifupdown"), _IFUPDOWN, _applied, whole=True),
    ),
    Check(
        name="NetworkManager profiles",
        what="interfaces for NetworkManager",
        parser="nmcli --offline",
        proves="NetworkManager's keyfile reader accepts every profile with the addresses of a node of each type, and"
        " lists these addresses.",
        reads=paths(f"{_DIRECTORY}/*.nmconnection"),
        ask=Reader("nmcli", _VERSION.format("network-manager"), _KEYFILES, _profiles, newest=True, whole=True),
    ),
)
