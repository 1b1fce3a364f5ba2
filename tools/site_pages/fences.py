"""Names of languages in this project's fenced blocks that Pygments does not have."""

from __future__ import annotations

from pygments.lexers.configs import IniLexer
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

LEXERS = {"conf": IniLexer, "tsv": TextLexer}


def setup(app: Sphinx) -> None:
    """Registers the lexers."""
    for name, lexer in LEXERS.items():
        app.add_lexer(name, lexer)
