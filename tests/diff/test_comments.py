"""Changes of comments have no effect."""

from __future__ import annotations

import pytest

from clustergen.diff.comments import same_but_for_comments


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("# made from a\nWhat=x\n", "# made from b\n\nWhat=x\n", True),
        ("What=x\n", "What=y\n", False),
        ("What=x  # why\n", "What=x  # another why\n", False),  # told by nobody: it might be a value
        ("#!/bin/sh\n", "#!/bin/bash\n", False),
        ("a\nb\n", "b\na\n", False),
    ],
)
def test_lines_of_comment_do_not_count(old: str, new: str, same: bool) -> None:
    assert same_but_for_comments(old, new) is same
