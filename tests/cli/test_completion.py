"""What the shell is told to complete."""

from __future__ import annotations

import pytest
from click.shell_completion import BashComplete

from clustergen.cli import group


@pytest.mark.parametrize("verb", ["validate", "render", "diff"])
def test_files_are_completed(verb: str) -> None:
    completions = BashComplete(group, {}, "clustergen", "_CLUSTERGEN_COMPLETE").get_completions([verb], "inv")
    assert [item.type for item in completions] == ["file"]
