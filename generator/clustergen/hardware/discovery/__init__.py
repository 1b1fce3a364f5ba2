"""Output of machines about themselves, and the parts of a manifest that follow from it."""
