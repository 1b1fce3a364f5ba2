"""The manifest as the user wrote it: YAML with the place of every value, and the frozen models of its sections."""

MANIFEST = "manifest.yaml"
"""The name of a manifest, unless somebody says another."""
