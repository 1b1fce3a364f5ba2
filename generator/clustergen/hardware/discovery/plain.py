"""Text of a terminal as plain text, and the limit of its lists."""

from __future__ import annotations

import json
import re
from typing import Any

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # nvidia-smi underlines its header even into files
MOST = 4096
"""Rows of any list: a machine has fewer CPUs, disks or ports than that."""


def plain(text: str) -> str:
    return (_ESCAPE.sub("", text) if "\x1b" in text else text).replace("\r", "")


def json_of(text: str) -> Any:
    """Raises ValueError for what is not JSON."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
