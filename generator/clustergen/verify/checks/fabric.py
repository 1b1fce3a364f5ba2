"""The fabric and what sends over it: opensm in a simulated fabric, UCX, Open MPI, and libnccl's own list of names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clustergen.catalogue.operating_systems import operating_systems
from clustergen.verify.check import Check, Question, Reader, Trial, failure, paths
from clustergen.verify.files import Entry
from clustergen.verify.libnccl import NcclNames, nccl_names
from clustergen.verify.programs import Answer
from clustergen.verify.rows import Row

_OPENSM = r"""
cat >/tmp/net <<'END'
Hca 1 "Hca1"
[1] "Switch1" [1]
Switch 4 "Switch1"
[1] "Hca1" [1]
END
export OSM_TMP_DIR=/tmp OSM_CACHE_DIR=/tmp SIM_HOST=Hca1
sleep 150 | ibsim -s /tmp/net >/tmp/ibsim.log 2>&1 &
until grep -q 'simulator ready' /tmp/ibsim.log || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
log=/run/clustergen/log
timeout -k 2 120 ibsim-run "$program" -F "$1" -o -f $log -D 0x7 >/run/clustergen/said 2>&1
status=$?
kill %1
exit $status
"""
_OPENSM_WRONG = re.compile(r"Unrecognized token|Parsing error|PARSE (?:ERROR|WARN)", re.IGNORECASE)
_SETTING = re.compile(r"^(\w+)\s*=+\s*(.*?)\s*$")


def _opensm_paths(*fields: str) -> tuple[str, ...]:
    """Where the operating systems of the catalogue have these files."""
    return tuple(dict.fromkeys(os.fact(field) for os in operating_systems().values() for field in fields))


def _opensm(answer: Answer, _question: Question) -> Iterator[str]:
    text = answer.notes.get("said", "") + answer.notes.get("log", "")
    yield from (line.strip() for line in text.splitlines() if _OPENSM_WRONG.search(line))
    if "SUBNET UP" not in text:
        yield "the simulated fabric did not come up"
        yield from text.splitlines()[-5:]


def _settings(question: Question) -> list[tuple[str, str]]:
    lines = [line for entry in question.entries for line in entry.text.splitlines() if not line.startswith("#")]
    return [match.groups() for line in lines if (match := _SETTING.match(line))]  # type: ignore[misc]


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
    for name, value in _settings(question):
        if name not in effective:
            yield f"{name}: not a UCX variable"
        elif value not in effective[name]:
            yield f"{name}: UCX reads {' '.join(effective[name])} instead of {value}"


def _open_mpi(answer: Answer, question: Question) -> Iterator[str]:
    yield from failure(answer)
    # From release 5 on mpirun is PRRTE's, which reads the same file for parameters of its own.
    from_file = set(re.findall(r"^mca:\w+:\w+:param:(\w+):source:file", answer.out, re.MULTILINE))
    from_file |= set(re.findall(r'^ +MCA \w+: "(\w+)" \(current', answer.out, re.MULTILINE))
    yield from (f"{name}: not an Open MPI parameter" for name, _ in _settings(question) if name not in from_file)


def _nccl(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    release = str(trial.tree.variables.get("nccl_release", ""))
    lists = nccl_names()
    if not lists:
        why = "no names of libnccl are installed: run clustergen setup nccl, or set CLUSTERGEN_LIBNCCL"
        yield check.row("not run", entries, [why])
        return
    exact = [one for one in lists if one.release == release]
    chosen = exact[0] if exact else _nearest(lists, release)
    unknown = sorted({name for entry in entries for name in _names(entry) if name not in chosen.names})
    words = [f"{name}: libnccl {chosen.version} does not contain this name" for name in unknown]
    if words and not exact:
        note = f"the tree requires NCCL {release}, which is not available"
        yield check.row("not run", entries, [note, *words], version=chosen.version)
    else:
        note = f"the tree requires NCCL {release}; checked with the nearest release that is available"
        yield check.judged(entries, words, () if exact else [note], chosen.version)


def _nearest(lists: Sequence[NcclNames], release: str) -> NcclNames:
    """The first release from the wanted one on, else the newest."""
    target = tuple(map(int, re.findall(r"\d+", release)))
    later = [one for one in lists if one.key >= target]
    return min(later, key=lambda one: one.key) if later else max(lists, key=lambda one: one.key)


def _names(entry: Entry) -> Iterator[str]:
    for line in entry.text.splitlines():
        if not line.startswith("#") and (match := _SETTING.match(line)):
            yield match[1]


CHECKS = (
    Check(
        "opensm",
        "subnet manager",
        "opensm",
        "opensm accepts every key and every line of the partitions, and brings up a simulated fabric (ibsim) of one "
        "switch with them.",
        paths(*_opensm_paths("opensm_conf", "opensm_partitions")),
        Reader(
            "opensm",
            "$program --version | grep -i opensm",
            _OPENSM,
            _opensm,
            arguments=lambda question: sorted(question.targets, key=_opensm_paths("opensm_conf").__contains__)[-1:],
            newest=True,
        ),
    ),
    Check(
        "ucx",
        "UCX",
        "ucx_info -c",
        "UCX accepts every name and value. It opens no device.",
        paths("/etc/ucx/*"),
        Reader("ucx_info", "$program -v | grep -i version", '"$program" -c -f -a', _ucx, newest=True),
    ),
    Check(
        "open mpi",
        "Open MPI",
        "ompi_info",
        "Open MPI accepts every parameter from this file, or its mpirun (PRRTE) accepts it. It sends no message.",
        paths("/etc/openmpi*"),
        Reader(
            "ompi_info",
            "$program --version | head -1",
            'export OMPI_MCA_mca_base_param_files=$1; "$program" --param all all --level 9 --parsable; '
            "if command -v prte_info >/dev/null; then prte_info --param all; fi",
            _open_mpi,
        ),
    ),
    Check(
        "nccl",
        "NCCL: nccl.conf",
        "libnccl",
        "The strings of libnccl.so.2 contain every name. The library is not loaded; the catalogue checks the values.",
        paths("/etc/nccl.conf"),
        _nccl,
    ),
)
