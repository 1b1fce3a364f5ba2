"""The documentation site, built once for all tests, and a browser that looks at it."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from strategies.once import shared_directory

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium-headless-shell", "chromium")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages; the workers of one run share them."""
    output = shared_directory(tmp_path_factory, "site")
    with (output / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (output / "built").exists():
            done = subprocess.run(
                [sys.executable, ROOT / "tools" / "build-site", output],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout
            (output / "built").touch()
    return output / "html"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser without a window; tools/setup-browser installs it."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--allow-file-access-from-files"]
        started = playwright.chromium.launch(executable_path=program, args=arguments)
        yield started
        started.close()
