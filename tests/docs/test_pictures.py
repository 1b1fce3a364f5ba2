"""The pictures of the documentation are what the commands print."""

from __future__ import annotations

import subprocess
import sys

import pytest

from strategies.pages import ROOT

pytestmark = pytest.mark.slow


def test_the_pictures_are_what_the_commands_print() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools/draw-pictures", "--check"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
