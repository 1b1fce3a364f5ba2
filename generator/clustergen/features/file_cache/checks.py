"""The cache of NFS files before cachefilesd, with a regular file in place of the kernel's device."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.verify.check import Check, Question, Reader, effective_lines, paths
from clustergen.verify.programs import Answer

_DEVICE = "commands: "


def _transferred(answer: Answer, question: Question) -> Iterator[str]:
    """The daemon writes each command to the device, without anything between them, and then `bind`."""
    sent = next((line.removeprefix(_DEVICE) for line in answer.out.splitlines() if line.startswith(_DEVICE)), "")
    if sent != f"{''.join(effective_lines(question))}bind":
        yield from answer.err.splitlines() or [f"not all lines were transferred to the kernel: {sent or 'none'}"]


COMPONENT = "storage"
CHECKS = (
    Check(
        name="cachefilesd",
        what="cache of NFS files",
        parser="cachefilesd",
        proves="cachefilesd finds the directory, accepts the form of each line and transfers all of them to its"
        " device, here a regular file. The kernel, which judges the values, is not asked.",
        reads=paths("/etc/cachefilesd.conf"),
        ask=Reader(
            "cachefilesd",
            "$program -v",
            ': >/dev/cachefiles; awk \'$1 == "dir" { print $2 }\' "$1" | xargs -r mkdir -p; '
            f'"$program" -n -s -f "$1"; printf "{_DEVICE}"; cat /dev/cachefiles; echo',
            _transferred,
            newest=True,
        ),
    ),
)
