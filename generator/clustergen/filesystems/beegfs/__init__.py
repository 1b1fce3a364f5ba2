"""BeeGFS."""
