"""A file that a trial moves is the same file under another name only where no other one can be meant."""

from __future__ import annotations

from typing import cast

import pytest

from clustergen.cluster.model import Cluster
from clustergen.explain.trials import Renderer
from clustergen.render.tree import RenderedFile


@pytest.mark.parametrize(
    ("paths", "lines"),
    [
        (("facility/b.csv",), ("facility/b.csv",)),
        (("facility/b.csv", "facility/kept.csv"), ("facility/b.csv",)),
        (("facility/b.csv", "facility/c.csv"), None),
        (("facility/kept.csv",), None),
    ],
)
def test_the_one_new_file_is_the_moved_one(paths: tuple[str, ...], lines: tuple[str, ...] | None) -> None:
    trees = iter((("facility/a.csv", "facility/kept.csv"), paths))
    old = RenderedFile("facility/a.csv", b"")
    renderer = Renderer(lambda _: {path: RenderedFile(path, path.encode()) for path in next(trees)}, old)
    cluster = cast(Cluster, None)
    renderer.start(cluster)
    assert renderer.lines(cluster) == lines
