"""Parts and samples of the tests, runs that continue, and fixtures for real programs, which fail without them."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

from clustergen.verify import slurm_roots
from clustergen.verify.slurm_roots import SlurmInstall

SLURM_RELEASES = ("22.05", "24.11", "26.05")
CURRENT = "24.11"
EACH_RELEASE = [CURRENT, *(pytest.param(each, marks=pytest.mark.long) for each in SLURM_RELEASES if each != CURRENT)]
"""Values of a parameter: `make test` has the release that most examples have, `make long` all."""
PARTS = {
    "fast": "tests without real programs",
    "docs": "tests/docs and tests/site: sessions of the guides, the site in a browser",
    "real": "real programs other than Slurm, and tests that compare Slurm's releases",
    **{f"real-{release}": f"real Slurm {release}" for release in SLURM_RELEASES},
    "containers": "nodes in containers",
}
"""Parts of `make test PART=…`; every test is in one."""

# `--hypothesis-profile=quick`; a test that states its own number of examples keeps it.
hypothesis.settings.register_profile("full", deadline=None, max_examples=100)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=20)
hypothesis.settings.load_profile("full")

gc.disable()  # until all tests are collected: what is made then lives to the end

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
    parser.addoption("--part", metavar="NAME", help=f"run one part: {', '.join(PARTS)}")
    parser.addoption(
        "--resume",
        type=Path,
        metavar="DIRECTORY",
        help="leave out what has passed with the same files before; DIRECTORY has a list per state of the files",
    )


def pytest_configure(config: pytest.Config) -> None:
    part = config.getoption("part")
    if part and part not in PARTS:
        table = "\n".join(f"  {name:12} {content}" for name, content in PARTS.items())
        raise pytest.UsageError(f"{part} is not a part of the tests. Parts:\n{table}")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config.getoption("resume")), "progress")


class Progress:
    """Of the process that collects the reports: names failures at once, and records what has passed."""

    def __init__(self, directory: Path | None) -> None:
        self.record = directory / f"{_state_of_files(directory)}.passed" if directory else None
        self.passed: list[str] = []
        if self.record and self.record.exists():
            self.passed = self.record.read_text(encoding="utf-8").splitlines()
        self.failed: set[str] = set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["passed"] = self.passed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
            sys.stderr.write(f"\nfailed: {report.nodeid} ({report.when})\n")
            sys.stderr.flush()
        elif self.record and report.when == "teardown" and report.nodeid not in self.failed:
            with self.record.open("a", encoding="utf-8") as record:
                record.write(f"{report.nodeid}\n")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.passed and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.record:
            count = len(self.record.read_text(encoding="utf-8").splitlines()) if self.record.exists() else 0
            terminalreporter.write_line(f"{count} tests have passed with these files: {self.record}")


def _state_of_files(directory: Path) -> str:
    """The hash of all files of the checkout as they are, committed or not."""
    directory.mkdir(parents=True, exist_ok=True)
    index = directory / "index"
    git = ["git", "-C", str(Path(__file__).parent)]
    environment = {**os.environ, "GIT_INDEX_FILE": str(index.absolute())}
    subprocess.run([*git, "add", "--all", ":/"], env=environment, check=True, timeout=300)
    done = subprocess.run(
        [*git, "write-tree"], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    index.unlink()
    return done.stdout.strip()[:16]


def part_of(item: pytest.Item) -> str:
    if item.get_closest_marker("container"):
        return "containers"
    if _is_of_docs(item.path):
        return "docs"
    if not item.get_closest_marker("real"):
        return "fast"
    parameters = getattr(getattr(item, "callspec", None), "params", {}).values()
    release = next((value for value in parameters if value in SLURM_RELEASES), None)
    if release is None and "current_slurm" in getattr(item, "fixturenames", ()):
        release = CURRENT
    return f"real-{release}" if release else "real"


def _is_of_docs(path: Path) -> bool:
    return path.parent.name in ("docs", "site")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files without a test of the selection are not imported: collecting all takes ten seconds of each worker."""
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    selection = config.getoption("markexpr")
    of_module = re.search(r"^pytestmark = (.*)", text, re.MULTILINE)
    if of_module and any(f"not {marker}" in selection for marker in re.findall(r"mark\.(\w+)", of_module[1])):
        return True
    part = "containers" if selection.startswith("container") else config.getoption("part") or "fast"
    if part == "docs":
        return True if not _is_of_docs(collection_path) else None
    marker = {"fast": "", "containers": "mark.container"}.get(part, "mark.real")
    return True if marker not in text else None


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Leaves out the long cases of a test where the selection has none, and all of its many cases but those with the
    lowest checksums: of a case that is left out no item is made.
    """
    yield
    calls: list[Any] = metafunc._calls
    test, share = metafunc.definition, metafunc.config.getoption("sample")
    of_test = {mark.name for mark in test.iter_markers()}
    marks = {call.id: of_test | {mark.name for mark in call.marks} for call in calls}
    if "not long" in metafunc.config.getoption("markexpr"):  # one stays: without any, pytest makes a test of no case
        calls[:] = [call for call in calls if "long" not in marks[call.id]] or calls[:1]
    many = [name for name, marks_of_case in marks.items() if "many" in marks_of_case and "long" not in marks_of_case]
    many.sort(key=lambda name: crc32(f"{test.nodeid}[{name}]".encode()))  # the same ones in every run, at least one
    dropped = set(many[-(-len(many) // share) :])
    calls[:] = [call for call in calls if call.id not in dropped]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out other parts, and what has passed before."""
    dropped = set(_other_parts(config, items)) | set(_passed_before(config, items))
    if dropped:
        config.hook.pytest_deselected(items=[item for item in items if item in dropped])
        items[:] = [item for item in items if item not in dropped]


def _other_parts(config: pytest.Config, items: list[pytest.Item]) -> Iterator[pytest.Item]:
    part = config.getoption("part")
    return (item for item in items if part and part_of(item) != part)


def _passed_before(config: pytest.Config, items: list[pytest.Item]) -> Iterator[pytest.Item]:
    progress = config.pluginmanager.get_plugin("progress")
    passed = set(getattr(config, "workerinput", {}).get("passed", ()) if progress is None else progress.passed)
    return (item for item in items if item.nodeid in passed)


def pytest_collection_finish() -> None:
    """The garbage collector leaves out what lives to the end, ten thousand tests, and looks less often at the rest."""
    gc.freeze()
    gc.set_threshold(5000)
    gc.enable()


def require_slurm(release: str) -> SlurmInstall:
    """A real Slurm of this release."""
    install = slurm_roots.for_release(release)
    if install is None:
        pytest.fail(f"no Slurm {release} in {slurm_roots.parsers_directory()}: clustergen setup parsers", pytrace=False)
    return install


@pytest.fixture(
    scope="session",
    params=[each if each == CURRENT else pytest.param(each, marks=pytest.mark.many) for each in SLURM_RELEASES],
)
def slurm(request: pytest.FixtureRequest) -> SlurmInstall:
    """Every supported real Slurm in turn; `make test` asks the current one, and others for a sample of the cases."""
    return require_slurm(request.param)


@pytest.fixture(scope="session")
def slurms() -> dict[str, SlurmInstall]:
    """All of them, by release."""
    return {release: require_slurm(release) for release in SLURM_RELEASES}


@pytest.fixture(scope="session")
def current_slurm() -> SlurmInstall:
    """One real Slurm, for what does not depend on the release."""
    return require_slurm(CURRENT)


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
