"""The one form of JSON that every verb prints: an object that begins with `version`.

Fields may be added; where one changes its meaning or goes, `version` counts up, in all verbs at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

VERSION = 1


def json_document(fields: Mapping[str, Any]) -> str:
    """The fields behind `version`, as text with its line end; only ASCII, for terminals and logs of any encoding."""
    return json.dumps({"version": VERSION, **fields}, indent=2, ensure_ascii=True, default=str) + "\n"
