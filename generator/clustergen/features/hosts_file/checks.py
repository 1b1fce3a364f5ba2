"""/etc/hosts before glibc."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.verify.check import PROGRAM_VERSION, Check, Question, Reader, effective_lines, failure, paths
from clustergen.verify.programs import Answer

_MOST_SIXES = 500


def _sixes(question: Question) -> list[str]:
    """A name of every line with an IPv6 address, which getent does not list; enough of them in a large cluster."""
    lines = (line.split() for line in effective_lines(question))
    return [words[1] for words in lines if ":" in words[0] and len(words) > 1][:_MOST_SIXES]


def _hosts(answer: Answer, question: Question) -> Iterator[str]:
    yield from failure(answer)
    read = [line.split() for line in answer.out.splitlines()]
    sixes = [words for words in read if ":" in words[0]]
    effective = list(effective_lines(question))
    # The sandbox has a line of its own, and glibc lists the loopback of IPv6 as that of IPv4.
    fours = sum(":" not in line or line.startswith("::1 ") for line in effective) + 1
    if len(read) - len(sixes) != fours:
        yield f"{fours - 1} lines name hosts, but glibc reads {len(read) - len(sixes) - 1} of them"
    if len(sixes) < len(_sixes(question)):
        yield f"{len(_sixes(question))} lines have IPv6 addresses, but glibc reads {len(sixes)} of them"
    of_name: dict[str, set[str]] = {}
    for address, *names in read:
        for name in names:
            of_name.setdefault(name, set()).add(address)
    # Another address would send Slurm and Ansible to different machines.
    for host, variables in question.trial.tree.inventory.hosts.items():
        expected_address = variables.get("ansible_host")
        if expected_address and ":" not in expected_address and expected_address not in of_name.get(host, ()):
            has = " ".join(sorted(of_name.get(host, {"nothing"})))
            yield f"{host}: Ansible has {expected_address}, /etc/hosts has {has}"


COMPONENT = "host"
CHECKS = (
    Check(
        name="hosts",
        what="host names",
        parser="glibc",
        proves="The name service reads every line and resolves every node to the address that Ansible uses.",
        reads=paths("/etc/hosts"),
        ask=Reader(
            "getent",
            PROGRAM_VERSION,
            '"$program" hosts; [ $# = 0 ] || "$program" hosts "$@" || true',
            _hosts,
            arguments=_sixes,
        ),
    ),
)
