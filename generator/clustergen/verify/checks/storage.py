"""File systems: what libmount makes of mount units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clustergen.verify.check import Check, Question, Reader, failure, paths
from clustergen.verify.programs import Answer

_SETTING = re.compile(r"^(What|Where|Type|Options)=(.*)$", re.MULTILINE)
_PARSE_ERRORS = re.compile(r"(\d+) parse errors?")


def _fstab(question: Question, directory: Path) -> list[tuple[Path, str]]:
    """The node's mount units as lines of fstab(5), beside its own tables of that form."""
    lines = []
    for entry in question.entries:
        if (entry.target or "").endswith(".mount"):
            settings = dict(_SETTING.findall(entry.text))
            words = [settings.get(key, "") or "defaults" for key in ("What", "Where", "Type", "Options")]
            lines.append(" ".join(word.replace(" ", "\\040") for word in words) + " 0 0\n")
    directory.mkdir(parents=True)
    (directory / "fstab").write_text("".join(lines), encoding="utf-8")
    return [(directory, "/fstab/")]


def _findmnt(answer: Answer, _question: Question) -> Iterator[str]:
    for line in answer.lines:
        match = _PARSE_ERRORS.search(line)
        if (match and match[1] != "0") or ("parse error" in line and not match):
            yield line.strip()
    if answer.code is None or not any(_PARSE_ERRORS.search(line) or "Success" in line for line in answer.lines):
        yield from failure(answer)


CHECKS = (
    Check(
        name="findmnt",
        what="mounts, as lines of an fstab",
        parser="findmnt --verify",
        proves="libmount can parse every line; mount units are converted to fstab lines for this check. It looks up"
        " neither sources nor file systems, so it does not prove options: the catalogue checks those of NFS, Lustre"
        " and others.",
        reads=paths("/etc/systemd/system/*.mount", "/etc/enroot/mounts.d/*"),
        ask=Reader(
            "findmnt",
            "$program --version",
            'for file in /fstab/fstab "$@"; do\n'
            '  [[ $file == *.mount ]] || "$program" --verify --tab-file "$file"\ndone\ntrue',
            _findmnt,
            stand_ins=_fstab,
            whole=True,
        ),
    ),
)
