"""WEKA."""
