"""Health of local disks, which smartctl reads."""
