"""CephFS."""
