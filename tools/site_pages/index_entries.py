"""Makes the rows of the manifest's reference known to Sphinx: links may lead to a field, and the search finds it."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PAGE = "manifest"
_ANCHOR = re.compile(r'<a id="(?P<path>[^"]+)">')


class FieldEntries(SphinxTransform):
    """Gives every field's row its path as ID, a target for links and an index entry."""

    default_priority = 700

    def apply(self) -> None:
        if self.env.docname != PAGE:
            return
        targets = self.env.metadata[PAGE].setdefault("myst_slugs", {})
        for anchor in list(self.document.findall(nodes.raw)):
            match = _ANCHOR.fullmatch(anchor.astext())
            if match:
                path = match["path"]
                targets[path] = (anchor.line, path, path)
                names = (path.replace(".NAME", "").lower(), path.rpartition(".")[2])  # as `explain` takes it, and alone
                entry = addnodes.index(entries=[("single", name, path, "main", None) for name in dict.fromkeys(names)])
                place = anchor.parent.index(anchor)
                anchor.parent[place : place + 2] = [entry, nodes.inline(ids=[path])]  # the second one is `</a>`


def setup(app: Sphinx) -> None:
    """Registers the transform."""
    app.add_transform(FieldEntries)
