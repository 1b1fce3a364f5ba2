"""Limits of users and services: locked memory and open files."""

from __future__ import annotations

AREA = "host"
