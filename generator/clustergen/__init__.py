"""Compiles one manifest into every configuration file of a GPU cluster."""

from __future__ import annotations

__version__ = "0.1.0"
