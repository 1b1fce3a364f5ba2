"""File systems: what libmount, the NFS server's programs and Ceph's library make of the files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clustergen.verify.checks.base import Check, Question, Reader, any_word, failure, paths
from clustergen.verify.programs import Answer

_SETTING = re.compile(r"^(What|Where|Type|Options)=(.*)$", re.MULTILINE)
_PARSE_ERRORS = re.compile(r"(\d+) parse errors?")
_PAIR = re.compile(r"^\s*([\w-]+)\s*=\s*(\S.*?)\s*$")


def _fstab(question: Question, folder: Path) -> list[tuple[Path, str]]:
    """The node's mount units as lines of fstab(5), beside its own tables of that form."""
    lines = []
    for entry in question.entries:
        if (entry.target or "").endswith(".mount"):
            found = dict(_SETTING.findall(entry.text))
            words = [found.get(key, "") or "defaults" for key in ("What", "Where", "Type", "Options")]
            lines.append(" ".join(word.replace(" ", "\\040") for word in words) + " 0 0\n")
    folder.mkdir(parents=True)
    (folder / "fstab").write_text("".join(lines), encoding="utf-8")
    return [(folder, "/fstab/")]


def _findmnt(answer: Answer, _question: Question) -> Iterator[str]:
    for line in answer.lines:
        found = _PARSE_ERRORS.search(line)
        if (found and found[1] != "0") or ("parse error" in line and not found):
            yield line.strip()
    if answer.code is None or not any(_PARSE_ERRORS.search(line) or "Success" in line for line in answer.lines):
        yield from failure(answer)


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
        "findmnt",
        "mounts, as lines of an fstab",
        "findmnt --verify",
        "libmount finds no line that it cannot parse; mount units were turned into lines for that. Neither "
        "sources nor file systems were looked for, so options are not proven by it: those of NFS, Lustre and "
        "others are checked against the catalogue.",
        paths("/etc/systemd/system/*.mount", "/etc/enroot/mounts.d/*"),
        Reader(
            "findmnt",
            "$program --version",
            'for file in /fstab/fstab "$@"; do\n'
            '  [[ $file == *.mount ]] || "$program" --verify --tab-file "$file"\ndone\ntrue',
            _findmnt,
            stand_ins=_fstab,
            whole=True,
        ),
    ),
    Check(
        "exportfs",
        "NFS server: exports",
        "exportfs -ra",
        "exportfs knows every option and exports every line; its folders were made for that. No kernel served them.",
        paths("/etc/exports", "/etc/exports.d/*"),
        Reader(
            "exportfs",
            "dpkg-query -W -f '${Version}' nfs-kernel-server | sed 's/.*://'",
            "sed -E '/^\\s*(#|$)/d; s/\\s.*//' \"$@\" | tr -d '\"' | xargs -r mkdir -p; mkdir -p /var/lib/nfs; "
            '"$program" -ra && cat /var/lib/nfs/etab',
            _exportfs,
            newest=True,
        ),
    ),
    Check(
        "nfsconf",
        "NFS: settings",
        "nfsconf --dump",
        "Every section and value arrives as it was written. Names that no program of NFS asks for would not be "
        "noticed.",
        paths("/etc/nfs.conf.d/*", "/etc/idmapd.conf.d/*"),
        Reader(
            "nfsconf",
            "dpkg-query -W -f '${Version}' nfs-common | sed 's/.*://'",
            'for main in /etc/nfs.conf /etc/idmapd.conf; do touch $main; "$program" --file $main --dump; done',
            _nfsconf,
            newest=True,
        ),
    ),
    Check(
        "ceph",
        "CephFS client",
        "ceph-conf",
        "Ceph's library parses the file. Names that it does not know it keeps without a word, and no monitor was "
        "asked.",
        paths("/etc/ceph/*.conf"),
        Reader(
            "ceph-conf",
            "$program --version",
            'for file; do "$program" -c "$file" --lookup mon_host || exit 1; done',
            newest=True,
        ),
    ),
)
