"""Sampling of expensive tests, and fixtures for real programs, which fail where the program is missing."""

from __future__ import annotations

import gc
import signal
from collections import defaultdict
from pathlib import Path
from typing import Any
from zlib import crc32

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

from clustergen.verify import slurm_roots
from clustergen.verify.slurm_roots import SlurmInstall

SLURM_RELEASES = ("22.05", "24.11", "26.05")

# `--hypothesis-profile=quick`; a test that states its own number of examples keeps it.
hypothesis.settings.register_profile("full", deadline=None, max_examples=100)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=20)
hypothesis.settings.load_profile("full")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # `make test &` starts everything with SIGINT ignored; programs that tests interrupt would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--sample",
        type=int,
        default=1,
        metavar="N",
        help="run one case of N of each test marked `many`, always the same ones",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The run of tests with containers imports only files that have some, a tenth of all."""
    if not config.getoption("markexpr").startswith("container") or collection_path.suffix != ".py":
        return None
    return True if "mark.container" not in collection_path.read_text(encoding="utf-8") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the cases with the lowest checksums of each test, at least one: the same ones in every run."""
    share = config.getoption("sample")
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if share > 1 and item.get_closest_marker("many"):
            cases[item.nodeid.partition("[")[0]].append(item)
    dropped = set()
    for group in cases.values():
        group.sort(key=lambda item: crc32(item.nodeid.encode()))
        dropped.update(group[-(-len(group) // share) :])
    if dropped:
        config.hook.pytest_deselected(items=[item for item in items if item in dropped])
        items[:] = [item for item in items if item not in dropped]


def pytest_collection_finish() -> None:
    """The garbage collector leaves out what lives to the end, ten thousand tests, and looks less often at the rest."""
    gc.freeze()
    gc.set_threshold(5000)


def require_slurm(release: str) -> SlurmInstall:
    """A real Slurm of this release."""
    install = slurm_roots.for_release(release)
    if install is None:
        pytest.fail(f"no Slurm {release} in {slurm_roots.parsers_directory()}: clustergen setup parsers", pytrace=False)
    return install


@pytest.fixture(scope="session", params=SLURM_RELEASES)
def slurm(request: pytest.FixtureRequest) -> SlurmInstall:
    """Every supported real Slurm in turn."""
    return require_slurm(request.param)


@pytest.fixture(scope="session")
def slurms() -> dict[str, SlurmInstall]:
    """All of them, by release."""
    return {release: require_slurm(release) for release in SLURM_RELEASES}


@pytest.fixture(scope="session")
def current_slurm() -> SlurmInstall:
    """One real Slurm, for what does not depend on the release."""
    return require_slurm("24.11")


class LabScheduling(LoadScopeScheduling):
    """Sends tests that share a lab to one worker: those of a file, or of all files in tests/nodes or its pair/."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(nodeid).partition("::")[0]
        directory = file.rpartition("/")[0]
        return directory if "nodes" in directory.split("/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LabScheduling | None:
    """`--dist loadfile` keeps labs together; other ways to spread tests are xdist's own."""
    return LabScheduling(config, log) if config.getvalue("dist") == "loadfile" else None
