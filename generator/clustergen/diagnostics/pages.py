"""The page of a code: the why, a wrong example, a right one. `docs/codes/<code>.md`, shipped in the wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
# A wheel carries the pages inside the package; in a checkout they lie beside the source root.
_FOLDERS = (_PACKAGE / "_codes", _PACKAGE.parents[1] / "docs" / "codes")


def folder() -> Path | None:
    """Where the pages lie, or None in an installation without them."""
    return next((place for place in _FOLDERS if place.is_dir()), None)


def page(code: str) -> str | None:
    """The page of one code as Markdown; None when there is none."""
    home = folder()
    path = home / f"{code}.md" if home else None
    return path.read_text(encoding="utf-8") if path and path.is_file() else None
