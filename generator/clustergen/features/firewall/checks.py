"""The firewall's files before firewalld and nft."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.verify.check import Check, Question, Reader, paths
from clustergen.verify.programs import Answer, NotHere

_FIREWALLD = r"""
"$program" - "$@" <<'END'
import sys
from firewall.core.io.zone import zone_reader
for path in sys.argv[1:]:
    directory, _, name = path.rpartition("/")
    print(*zone_reader(name, directory).sources, sep="\n")
END
"""


def _firewalld(answer: Answer, question: Question) -> Iterator[str]:
    if "No module named 'firewall'" in answer.err:
        raise NotHere("python3-firewall is not installed for this Python: run clustergen setup parsers")
    if answer.code != 0:
        yield answer.lines[-1] if answer.code is None or not answer.err else answer.err.splitlines()[-1]
    sources = answer.out.split()
    for entry in question.entries:
        for source in re.findall(r'<source address="([^"]+)"', entry.text):
            if answer.code == 0 and source not in sources:
                yield f"{entry.path}: firewalld does not list {source}"


COMPONENT = "host"
CHECKS = (
    Check(
        name="firewalld",
        what="firewalld: zones",
        parser="firewalld's zone reader",
        proves="firewalld's zone reader accepts every element, and every network is a source. Nothing is filtered.",
        reads=paths("/etc/firewalld/zones/*"),
        ask=Reader(
            "python3",
            "$program -c 'import firewall.config as c; print(c.VERSION)'",
            _FIREWALLD,
            _firewalld,
            newest=True,
        ),
    ),
    Check(
        name="nftables",
        what="firewall: nftables",
        parser="nft --check",
        proves="The kernel of this machine accepts the whole set of rules of each kind of node, in a network namespace"
        " of its own. No packet is filtered.",
        reads=paths("/etc/clustergen-firewall/*.nft"),
        ask=Reader(
            "nft",
            "dpkg-query -W -f '${Version}' nftables",
            '"$program" --check --file /etc/clustergen-firewall/main.nft',
        ),
    ),
)
