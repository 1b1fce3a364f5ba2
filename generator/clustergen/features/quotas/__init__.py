"""Quotas of file systems: limits that clustergen-quota compares and sets."""
