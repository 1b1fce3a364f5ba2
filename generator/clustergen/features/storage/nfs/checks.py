"""NFS: what its own programs make of exports and settings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.verify.check import Check, Question, Reader, any_word, paths
from clustergen.verify.programs import Answer

_PAIR = re.compile(r"^\s*([\w-]+)\s*=\s*(\S.*?)\s*$")


def _exportfs(answer: Answer, question: Question) -> Iterator[str]:
    yield from any_word(answer)
    exported = {line.split()[0] for line in answer.out.splitlines() if line.startswith("/")}
    for entry in question.entries:
        for line in entry.text.splitlines():
            words = line.partition("#")[0].split()
            if words and words[0].strip('"') not in exported:
                yield f"not exported: {line}"


def _nfsconf(answer: Answer, question: Question) -> Iterator[str]:
    yield from any_word(answer)
    dumped = {match.groups() for line in answer.out.splitlines() if (match := _PAIR.match(line))}
    for entry in question.entries:
        for line in entry.text.splitlines():
            match = _PAIR.match(line)
            if match and not line.lstrip().startswith("#") and match.groups() not in dumped:
                yield f"not in nfsconf --dump: {line}"


CHECKS = (
    Check(
        name="exportfs",
        what="NFS server: exports",
        parser="exportfs -ra",
        proves="exportfs accepts every option and exports every line, with temporary directories. No kernel serves"
        " them.",
        reads=paths("/etc/exports", "/etc/exports.d/*"),
        ask=Reader(
            "exportfs",
            "dpkg-query -W -f '${Version}' nfs-kernel-server | sed 's/.*://'",
            "sed -E '/^\\s*(#|$)/d; s/\\s.*//' \"$@\" | tr -d '\"' | xargs -r mkdir -p; mkdir -p /var/lib/nfs; "
            '"$program" -ra && cat /var/lib/nfs/etab',
            _exportfs,
            newest=True,
        ),
    ),
    Check(
        name="nfsconf",
        what="NFS: settings",
        parser="nfsconf --dump",
        proves="Every section and value is read as written. Names that no NFS program uses are not detected.",
        reads=paths("/etc/nfs.conf.d/*", "/etc/idmapd.conf.d/*"),
        ask=Reader(
            "nfsconf",
            "dpkg-query -W -f '${Version}' nfs-common | sed 's/.*://'",
            'for main in /etc/nfs.conf /etc/idmapd.conf; do touch $main; "$program" --file $main --dump; done',
            _nfsconf,
            newest=True,
        ),
    ),
)
