"""The rules on keys before real Slurm: it starts with what they let through, and not with what they call fatal."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clustergen import compile as compiler
from clustergen.verify import slurm_roots
from clustergen.verify.slurm_daemons import SlurmReport, read_config
from strategies.slurm_manifests import RIGHT, WRONG, options
from strategies.trees import lay_out

pytestmark = pytest.mark.real

# Rules whose finding says that no daemon starts.
FATAL = {
    "a negative number": WRONG["a negative number"][0],
    "a number beyond its type": WRONG["a number beyond its type"][0],
    "an amount of time": WRONG["an amount of time"][0],
    "a word that is no boolean": WRONG["a word that is no boolean"][0],
    "a level of the log": WRONG["a level of the log"][0],
    "flags that exclude each other": WRONG["flags that exclude each other"][0],
    "two units": WRONG["two units"][0],
    "one task per core, of CPUs": WRONG["one task per core, of CPUs"][0],
    "weights of what is not there": WRONG["weights of what is not there"][0],
    "weights in priorities of what is not there": WRONG["weights in priorities of what is not there"][0],
    "weights of GPUs without slurmdbd": WRONG["weights of GPUs without slurmdbd"][0],
    "a partition with a QOS that nobody made": WRONG["a partition with a QOS that nobody made"][0],
    "an option of years ago": WRONG["an option of years ago"][0],
    "a key of cgroup.conf": WRONG["a key of cgroup.conf"][0],
    "a plugin that is gone": options("SelectType: select/cons_res"),
    "a word that SelectTypeParameters does not have": options("SelectTypeParameters: CR_Cores"),
    "a key that never was": options("MaxConcurrentJobs: 64"),
    "a key of a later release": options("PrologTimeout: 60"),
    "a namespace without Contain": options("JobContainerType: job_container/tmpfs, PrologFlags: Alloc"),
    "a log of the scheduler without its file": options("SlurmSchedLogLevel: 1"),
    "states that stand alone": WRONG["states that stand alone"][0],
}


def ask(text: str, directory: Path) -> SlurmReport:
    """Report of the Slurm of the manifest's release about the head node's files, whatever the rules say."""
    directory.mkdir()
    path = directory / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    tree, result = compiler.render(compiler.validate(path), path)
    assert tree is not None, result
    stated = re.search(r'version: "([0-9.]+)"', text)
    install = slurm_roots.for_release(stated[1] if stated else "24.11")
    assert install is not None, "run clustergen setup parsers"
    return read_config(install, lay_out(tree, "head", directory / "root"))


def ask_all(texts: dict[str, str], directory: Path) -> dict[str, SlurmReport]:
    with ThreadPoolExecutor(4) as pool:
        asked = {name: pool.submit(ask, text, directory / str(i)) for i, (name, text) in enumerate(texts.items())}
        return {name: future.result() for name, future in asked.items()}


def is_at_hand(text: str) -> bool:
    """True if a real Slurm of the release is there, with the plugins and accounts that the manifest names."""
    elsewhere = ("pmix_v5", "allow_accounts")
    return bool(re.search(r'version: "(22.05|24.11|26.05)"', text)) and not any(word in text for word in elsewhere)


@pytest.mark.many
@pytest.mark.parametrize("part", range(4))
def test_slurm_starts_with_what_has_no_finding(part: int, tmp_path: Path) -> None:
    texts = dict([pair for pair in RIGHT.items() if is_at_hand(pair[1])][part::4])
    assert len(texts) > 8
    reports = ask_all(texts, tmp_path)
    assert {
        name: output.complaints for name, output in reports.items() if output.complaints or not output.started
    } == {}


def test_slurm_does_not_start_with_what_is_called_fatal(tmp_path: Path) -> None:
    reports = ask_all(FATAL, tmp_path)
    assert [name for name, output in reports.items() if output.started] == []
