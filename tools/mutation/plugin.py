"""The pytest plugin of tools/mutate.

It records what tests reach (MUTATE_RECORD), or runs the tests of a list in its order (MUTATE_TESTS).
"""

from __future__ import annotations

import os
import pickle
import time
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest


class Recorder:
    """`tests` has the seconds of each test, and the bytes of its lines, compressed: also of those that fail, since some
    do so in the instrumented copy alone. Functions that run while the tests are imported, as decorators, count for the
    tests of whole outputs.
    """

    def __init__(self, output: str) -> None:
        from clustergen import _reach  # exists in the instrumented copy only

        self.reach, self.output = _reach, Path(output)
        _reach.patch_caches()
        self.tests: dict[str, tuple[float, bytes]] = {}
        self.fixtures: dict[Any, tuple[int, ...]] = {}
        self.failed: set[str] = set()

    def pytest_collection_finish(self) -> None:
        self.imported = [line for line, is_reached in enumerate(self.reach.REACHED[:]) if is_reached]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self.reach.start()
        if item.nodeid.startswith("tests/clusters/"):
            self.reach.add(self.imported)
        start = time.perf_counter()
        result = yield
        self.tests[item.nodeid] = time.perf_counter() - start, zlib.compress(bytes(self.reach.REACHED[:]), 1)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        with self.reach.Part() as part:
            result = yield
        self.fixtures[fixturedef] = part.lines
        return result

    def pytest_runtest_call(self, item: Any) -> None:
        for fixture in item._request._fixture_defs.values():
            self.reach.add(self.fixtures.get(fixture, ()))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.output.write_bytes(pickle.dumps((self.tests, sorted(self.failed))))


class Order:
    """Runs the tests of a list, in its order."""

    def __init__(self, path: str) -> None:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        self.places = {line: place for place, line in enumerate(lines)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.places), key=lambda item: self.places[item.nodeid]
        )


def pytest_configure(config: pytest.Config) -> None:
    if path := os.environ.get("MUTATE_TESTS"):
        config.pluginmanager.register(Order(path))
    if _recorder is not None:
        config.pluginmanager.register(_recorder)


# Made when pytest loads its plugins: before a module of the package is imported, and with it a cache.
_recorder = Recorder(os.environ["MUTATE_RECORD"]) if "MUTATE_RECORD" in os.environ else None
