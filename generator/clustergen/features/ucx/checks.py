"""UCX and Open MPI read their files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.verify.check import Check, Question, Reader, failure, paths, settings
from clustergen.verify.programs import Answer

COMPONENT = "fabric"


def _ucx(answer: Answer, question: Question) -> Iterator[str]:
    yield from failure(answer)
    effective: dict[str, set[str]] = {}
    names: list[str] = []
    for line in answer.out.splitlines():
        if line.startswith("# inherits:"):  # a name that several settings take their value from
            names = line.removeprefix("# inherits:").replace(",", " ").split()
        elif line.startswith("UCX_"):
            name, _, value = line.partition("=")
            for one in (name, *names):
                effective.setdefault(one, set()).add(value)
            names = []
    for name, value in settings(question.entries):
        if name not in effective:
            yield f"{name}: not a UCX variable"
        elif value not in effective[name]:
            yield f"{name}: UCX reads {' '.join(effective[name])} instead of {value}"


def _open_mpi(answer: Answer, question: Question) -> Iterator[str]:
    yield from failure(answer)
    # From release 5 on mpirun is PRRTE's, which reads the same file for parameters of its own.
    from_file = set(re.findall(r"^mca:\w+:\w+:param:(\w+):source:file", answer.out, re.MULTILINE))
    from_file |= set(re.findall(r'^ +MCA \w+: "(\w+)" \(current', answer.out, re.MULTILINE))
    yield from (f"{name}: not an Open MPI parameter" for name, _ in settings(question.entries) if name not in from_file)


CHECKS = (
    Check(
        name="ucx",
        what="UCX",
        parser="ucx_info -c",
        proves="UCX accepts every name and value. It opens no device.",
        reads=paths("/etc/ucx/*"),
        ask=Reader("ucx_info", "$program -v | grep -i version", '"$program" -c -f -a', _ucx, newest=True),
    ),
    Check(
        name="open mpi",
        what="Open MPI",
        parser="ompi_info",
        proves="Open MPI accepts every parameter from this file, or its mpirun (PRRTE) accepts it. It sends no"
        " message.",
        reads=paths("/etc/openmpi*"),
        ask=Reader(
            "ompi_info",
            "$program --version | head -1",
            'export OMPI_MCA_mca_base_param_files=$1; "$program" --param all all --level 9 --parsable; '
            "if command -v prte_info >/dev/null; then prte_info --param all; fi",
            _open_mpi,
        ),
    ),
)
