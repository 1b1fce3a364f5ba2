"""`acceptance/` of the tree: the gates of a finished cluster, and the configuration of ReFrame, which runs them."""

from __future__ import annotations

from clustergen.render.file import File
from clustergen.render.views.acceptance.documents import floors_page, gates_json, reframe_yaml

FILES = (
    File("tree/acceptance/gates.json", gates_json),
    File("tree/acceptance/reframe.yaml", reframe_yaml),
    File("tree/acceptance/README.md", floors_page),
)
