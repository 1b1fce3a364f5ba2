"""Software for users: CUDA toolkits, environment modules, Python environments on shared storage, images of record."""

from __future__ import annotations

AREA = "users"
