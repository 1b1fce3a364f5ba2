"""The command line of the programs in this directory: --help prints what one does, a wrong argument ends it with 2."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import NoReturn


def arguments(text: str | None, most: int | None = 0, least: int = 0, options: Collection[str] = ()) -> list[str]:
    """The arguments of this run, at least `least` and at most `most` besides `options`; None: any number.

    `text` is the program's docstring.
    """
    words = sys.argv[1:]
    if words[:1] in (["--help"], ["-h"]):
        sys.stdout.write(f"{(text or '').strip()}\n")
        sys.exit(0)
    others = [word for word in words if word not in options]
    if unknown := [word for word in others if word.startswith("-")]:
        wrong(text, f"there is no option {unknown[0]}")
    if not least <= len(others) <= (len(others) if most is None else most):
        wrong(text, f"{len(others)} arguments, not {least if len(others) < least else most}")
    return words


def wrong(text: str | None, message: str) -> NoReturn:
    """Ends the program because of its arguments."""
    sys.stderr.write(f"{Path(sys.argv[0]).name}: {message}\n\n{(text or '').strip()}\n")
    sys.exit(2)
