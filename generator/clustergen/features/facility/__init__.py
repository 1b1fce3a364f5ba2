"""The machine room: what is bought, where it stands, what it draws and how it is cabled, in `facility/` of the tree."""

from __future__ import annotations

AREA = "facility"
ORDER = ("checks", "picture_checks", "fabric_plan_checks")
