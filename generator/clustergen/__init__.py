"""Compiles one manifest into every configuration file of a GPU cluster."""

__version__ = "0.1.0"
