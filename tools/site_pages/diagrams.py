"""Draws mermaid diagrams when the site is built, so that a reader needs neither network nor JavaScript."""

from __future__ import annotations

import hashlib

import mermaidx
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

# Mermaid's theme for each of the site's: the class hides a picture in the other one.
THEMES = {"only-light": "default", "only-dark": "dark"}


def drawn(source: str, theme: str) -> str:
    """A diagram as SVG whose ID, and with it whose styles, are its own on a page."""
    name = "diagram-" + hashlib.sha256(f"{theme} {source}".encode()).hexdigest()[:12]
    svg = mermaidx.render(source, theme=theme).svg()
    return svg.replace("my-svg", name)


class Diagrams(SphinxTransform):
    """Replaces `mermaid` blocks by pictures."""

    default_priority = 400  # before code is highlighted

    def apply(self) -> None:
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language") == "mermaid":
                source = block.astext()
                pictures = "".join(
                    f'<div class="diagram {kind}">{drawn(source, theme)}</div>' for kind, theme in THEMES.items()
                )
                block.replace_self(nodes.raw("", pictures, format="html"))


def setup(app: Sphinx) -> None:
    """Registers the transform."""
    app.add_transform(Diagrams)
