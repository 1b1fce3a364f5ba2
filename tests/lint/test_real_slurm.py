"""Real Slurm of three releases and lint agree about every fragment: what stops, what is complained of, what is fine.

A warning may stand where Slurm is silent, since much harm comes in silence. An error may not, and nothing that Slurm
says may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import Severity
from clustergen.lint.plugins import FUNCTIONS
from clustergen.lint.run import lint
from clustergen.verify.slurm_daemons import SlurmReport, read_config
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.lint_fragments import FRAGMENTS, HEAD, NODES, PARTITIONS, Fragment
from strategies.lint_mutants import GPU_NODE, Mutant, one_line_variants, related_mutants
from strategies.lint_verdicts import depends_on_machine, disagreement

pytestmark = [pytest.mark.real, pytest.mark.slow]

RELEASES = ("22.05", "24.11", "26.05")
CLI_FILTER = FUNCTIONS["cli_filter.lua"]
JOB = "#!/bin/sh\n#SBATCH --mem=100\ntrue\n"
MISSED = {
    # the sandbox has an account of any name
    "slurm.conf: SlurmUser==slurm": RELEASES,
    # lint warns; 22.05 reads one name with four addresses
    "slurm.conf: NodeName=gpu[01-04 NodeAddr=10.0.0.[1-4] Sockets=2 CoresPerSocket=8 RealMemory=256000 Gres=gpu:a100:4"
    " Feature=a100,ib": RELEASES[:1],
    "ResumeRate=INFINITE": RELEASES[2:],
    # this build lacks the plugins
    "AcctGatherEnergyType=acct_gather_energy/rsmi": RELEASES[:1],
    "SwitchType=switch/hpe_slingshot": RELEASES,
}
_PMIX = "MpiDefault=pmix + mpi.conf: PMIxDebug=0 PMIxTimeout=x +  | mpi.conf: PMIxDebug="
_NO_TYPES = "Gres=gpu:a100:2 | Name=gpu Type=a100 File=/dev/nvidia[0-1] +  | gres.conf: "
_NVME = "Gres=nvme:2 | Name=nvme File=/dev/nvme[0-1]n1 +  | gres.conf: "
MISSED_BESIDE = {
    # the sandbox takes the value away before slurmd reads it
    'cgroup.conf: CgroupPlugin=cgroup/v1 +  | cgroup.conf: CgroupPlugin=cgroup/v1"': RELEASES,
    # this build lacks PMIx
    f"{_PMIX}0m PMIxTimeout=x": RELEASES[2:],
    f"{_PMIX}99999999999 PMIxTimeout=x": RELEASES[2:],
    # slurmd reads no gres.conf where slurm.conf has no GresTypes
    f"{_NO_TYPES}; Name=gpu Type=a100 File=/dev/nvidia[0-1]": RELEASES[1:],
    f"{_NO_TYPES}Name=gpu Type=a100 File /dev/nvidia[0-1]": RELEASES[1:],
    # Slurm takes the last Name, and NVME for nvme
    f"{_NVME}Name=nvme File=/dev/nvme[0-1]n1 Name=nnvme": RELEASES[1:],
    "Gres=nvme:4 | NodeName=n1 Name=nvme Count=2 + Name=nvme Count=2 +  | gres.conf: Name=NVME Count=2": RELEASES,
}
_PARTS = 4  # of the fragments, so that workers share them
_SHARE = 12  # of fragments that all releases take alike, CI asks about every twelfth one


def laid_out(fragment: Fragment, directory: Path) -> Path:
    directory.mkdir()
    (directory / "slurm.conf").write_bytes(fragment.slurm_conf.encode("utf-8", "surrogateescape"))
    for name, text in fragment.files.items():
        (directory / name).write_text(text)
    return directory


def verdict(directory: Path, release: str) -> set[tuple[str, Severity]]:
    return {(one.code, one.severity) for one in lint(directory, SlurmRelease(release)).diagnostics}


def compare(slurm: SlurmInstall, fragments: Sequence[Fragment], directories: Sequence[Path]) -> None:
    """Asks Slurm about all of them, and lint."""

    def ask(fragment: Fragment, directory: Path) -> SlurmReport:
        return read_config(slurm, directory, nodes_for_gres=("n1",) if fragment.slurmd else (), timeout=300)

    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(ask, fragments, directories))
    wrong = {
        fragment.name: words
        for fragment, directory, report in zip(fragments, directories, reports, strict=True)
        if (words := disagreement(directory, slurm.release, report))
    }
    assert wrong == {}
    assert sum(not report.started for report in reports) >= max(1, len(fragments) // 8), (
        "the fragments break nothing any more"
    )


@pytest.mark.many
@pytest.mark.parametrize("part", range(_PARTS))
def test_fragments(slurms: Mapping[str, SlurmInstall], part: int, tmp_path: Path) -> None:
    """Of releases that take a fragment alike, as lint says, one is asked; all of them in `make long`."""
    asked: dict[str, list[tuple[Fragment, Path]]] = {release: [] for release in RELEASES}
    for number, fragment in list(enumerate(FRAGMENTS))[part::_PARTS]:
        directory = laid_out(fragment, tmp_path / str(number))
        alike: dict[frozenset[tuple[str, Severity]], list[str]] = {}
        for release in RELEASES:
            alike.setdefault(frozenset(verdict(directory, release)), []).append(release)
        turn = number // _PARTS
        for releases in alike.values():
            if len(alike) > 1 or turn % _SHARE == 0:
                asked[releases[turn // _SHARE % len(releases)]].append((fragment, directory))
    for release, pairs in asked.items():
        compare(slurms[release], *zip(*pairs, strict=True))


@pytest.mark.long
@pytest.mark.parametrize("part", range(_PARTS))
def test_every_fragment(slurm: SlurmInstall, part: int, tmp_path: Path) -> None:
    fragments = FRAGMENTS[part::_PARTS]
    compare(slurm, fragments, [laid_out(fragment, tmp_path / str(n)) for n, fragment in enumerate(fragments)])


def test_the_line_that_slurm_names(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    """Where slurmctld says a line, lint has an error on it."""
    named = 0
    for number, fragment in enumerate(FRAGMENTS):
        if not any(mark in fragment.slurm_conf for mark in ("; ", "100 ", '"a b', "=\n", "Foo=", "=x", "NoSuch=")):
            continue
        directory = laid_out(fragment, tmp_path / str(number))
        output = read_config(current_slurm, directory, timeout=300)
        lines = {int(line) for line in re.findall(r"slurm\.conf line (\d+)", " ".join(output.complaints))}
        diagnostics = lint(directory, SlurmRelease(current_slurm.release)).diagnostics
        errors = {one.place.line for one in diagnostics if one.severity is Severity.ERROR and one.place}
        assert lines <= errors, fragment.name
        named += len(lines)
    assert named == 10


@pytest.mark.parametrize("required", [(), CLI_FILTER])
def test_functions_of_a_cli_filter(slurm: SlurmInstall, required: tuple[str, ...], tmp_path: Path) -> None:
    """sbatch, not a daemon, loads the script: it misses each function that lint misses, and no other."""
    text = "".join(f"function {name}() return 0 end\n" for name in CLI_FILTER if name not in required)
    files = {"slurm.conf": f"{HEAD}CliFilterPlugins=lua\n{NODES}{PARTITIONS}", "cli_filter.lua": text}
    for name, content in {**{f"etc/slurm/{name}": each for name, each in files.items()}, "a.sh": JOB}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    answer = read_config(slurm, tmp_path, jobs=("/a.sh",), timeout=300).jobs["/a.sh"]
    assert answer.startswith("failed" if required else "passed"), answer
    assert tuple(re.findall("missing required function ([a-z_]+)", answer)) == required, answer
    diagnostics = lint(tmp_path / "etc/slurm", SlurmRelease(slurm.release)).diagnostics
    messages = "".join(one.message for one in diagnostics if one.severity is Severity.ERROR)
    assert tuple(name for name in CLI_FILTER if name in messages) == required, messages


def _parts(number: int) -> list[object]:
    """The first part of a seeded list is asked in `make test`, the others in `make long`."""
    return [pytest.param(part, marks=pytest.mark.long if part else ()) for part in range(number)]


def _wrong(slurm: SlurmInstall, made: Sequence[Mutant], node: str, tmp_path: Path) -> dict[str, str]:
    """Disagreements of real Slurm and lint, by name of the mutant."""
    directories = [tmp_path / str(number) for number in range(len(made))]
    for mutant, directory in zip(made, directories, strict=True):
        directory.mkdir()
        for name, text in mutant.files.items():
            (directory / name).write_text(text)

    def ask(directory: Path) -> SlurmReport:
        return read_config(slurm, directory, nodes_for_gres=(node,), timeout=300)

    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(ask, directories))
    assert sum(bool(report.complaints) for report in reports) > len(made) // 4, "the mistakes break nothing any more"
    return {
        mutant.name: words
        for mutant, directory, report in zip(made, directories, reports, strict=True)
        if not depends_on_machine(report) and (words := disagreement(directory, slurm.release, report))
    }


@pytest.mark.parametrize("part", _parts(7))
def test_one_line_variants(slurm: SlurmInstall, part: int, tmp_path: Path) -> None:
    """140 slips of the pen in a whole slurm.conf, of which docs/lint.md has those that lint misses."""
    made = list(islice(one_line_variants(140), 140))[part::7]
    expected = {name for name, releases in MISSED.items() if slurm.release in releases}
    assert _wrong(slurm, made, GPU_NODE, tmp_path).keys() == expected & {mutant.name for mutant in made}


@pytest.mark.parametrize("part", _parts(30))
def test_mistakes_in_other_files(slurm: SlurmInstall, part: int, tmp_path: Path) -> None:
    """300 of them, in gres.conf, cgroup.conf, topologies and files of plugins."""
    made = list(islice(related_mutants(300), 300))[part::30]
    expected = {name for name, releases in MISSED_BESIDE.items() if slurm.release in releases}
    assert _wrong(slurm, made, "n1", tmp_path).keys() == expected & {mutant.name for mutant in made}
